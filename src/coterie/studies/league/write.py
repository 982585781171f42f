"""The league to files: JSON for a machine, a page and Markdown for people."""

from __future__ import annotations

from pathlib import Path

from coterie.files.atomic import check_free, text_writer, write_set
from coterie.files.values import as_json
from coterie.studies.league import tables
from coterie.studies.league.calibration import pooled_table
from coterie.studies.league.league import League
from coterie.studies.league.page import make_curves, make_page
from coterie.studies.league.record import About, make_record
from coterie.studies.table import escape, listing
from coterie.words.visible import visible

CURVES = "compare-calibration.svg"
NAMES = ("compare.json", "compare.html", "compare.md", CURVES)

POOLED = (
    "How often labels of so high a probability are right, in %, and which share of all labels they "
    "are: all data sets pooled, each counting once. The last row is the expected calibration error "
    "of the pool."
)


def check_target(out: Path, *, force: bool) -> None:
    """Refuse, before any work is done, to write where an earlier league lies."""
    check_free(out, [out / name for name in NAMES], force=force)


def write_league(league: League, about: About, out: Path, *, force: bool = True) -> list[Path]:
    """Write ``compare.json``, ``compare.html``, ``compare.md`` and its picture, all or none."""
    record = as_json(make_record(league, about))
    markdown = make_markdown(league, about)
    texts = (record, make_page(league, about), markdown, make_curves(league))
    paths = [out / name for name in NAMES]
    writers = {path: text_writer(text) for path, text in zip(paths, texts, strict=True)}
    write_set(out, writers, force=force)
    return paths


def make_markdown(league: League, about: About) -> str:
    """Write the league as Markdown: the command, the means, every row, and what failed."""
    parts = [
        "# League of models",
        f"Made by `{visible(about.command)}`; with `--out`, it writes this page, one in HTML, and"
        " JSON.",
        escape(tables.headline(league)),
        "## On average",
        tables.explanation(league),
        tables.standing_table(league).markdown(),
    ]
    calibration = pooled_table(league)
    if calibration.rows:
        parts += ["## How sure, and how right", POOLED, calibration.markdown()]
        parts += [f"![Right against sure, model by model]({CURVES})"]
    for table in tables.details(league):
        parts += [f"## {table.title}", table.markdown()]
    parts += ["## How to read it", listing(tables.glossary())]
    parts += ["## Settings", listing(tables.settings(about.settings))]
    if about.passed_over:
        parts += [escape(f"Passed over, without labels.csv: {', '.join(about.passed_over)}.")]
    return "\n\n".join(parts) + "\n"
