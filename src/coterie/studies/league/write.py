"""The league to files: JSON for a machine, a page and Markdown for people."""

from __future__ import annotations

from pathlib import Path

from coterie.files.atomic import check_free, text_writer, write_files
from coterie.files.json_text import as_json
from coterie.studies.league import tables
from coterie.studies.league.league import League
from coterie.studies.league.page import make_page
from coterie.studies.league.record import About, make_record
from coterie.studies.table import escape, listing

NAMES = ("compare.json", "compare.html", "compare.md")


def check_target(out: Path, *, force: bool) -> None:
    """Refuse, before any work is done, to write where an earlier league lies."""
    check_free(out, [out / name for name in NAMES], force=force)


def write_league(league: League, about: About, out: Path) -> list[Path]:
    """Write ``compare.json``, ``compare.html`` and ``compare.md``, all or none."""
    record = as_json(make_record(league, about))
    texts = (record, make_page(league, about), make_markdown(league, about))
    paths = [out / name for name in NAMES]
    write_files({path: text_writer(text) for path, text in zip(paths, texts, strict=True)})
    return paths


def make_markdown(league: League, about: About) -> str:
    """Write the league as Markdown: the command, the means, every row, and what failed."""
    parts = [
        "# League of models",
        f"Made by `{about.command}`; with `--out`, it writes this page, one in HTML, and JSON.",
        escape(tables.headline(league)),
        "## On average",
        tables.explanation(league),
        tables.standing_table(league).markdown(),
    ]
    for table in tables.details(league):
        parts += [f"## {table.title}", table.markdown()]
    parts += ["## How to read it", listing(tables.glossary())]
    parts += ["## Settings", listing(tables.settings(about.settings))]
    if about.passed_over:
        parts += [escape(f"Passed over, without labels.csv: {', '.join(about.passed_over)}.")]
    return "\n\n".join(parts) + "\n"
