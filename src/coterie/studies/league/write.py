"""The league to files: JSON for a machine, a page and Markdown for people."""

from __future__ import annotations

import json
from pathlib import Path

from coterie.files.atomic import check_free, text_writer, write_files
from coterie.studies.league.league import League
from coterie.studies.league.markdown import make_markdown
from coterie.studies.league.page import make_page
from coterie.studies.league.record import About, make_record

NAMES = ("compare.json", "compare.html", "compare.md")


def check_target(out: Path, *, force: bool) -> None:
    """Refuse, before any work is done, to write where an earlier league lies."""
    check_free(out, [out / name for name in NAMES], force=force)


def write_league(league: League, about: About, out: Path) -> list[Path]:
    """Write ``compare.json``, ``compare.html`` and ``compare.md``, all or none."""
    record = json.dumps(make_record(league, about), indent=1, ensure_ascii=False, allow_nan=False)
    texts = (record + "\n", make_page(league, about), make_markdown(league, about))
    paths = [out / name for name in NAMES]
    write_files({path: text_writer(text) for path, text in zip(paths, texts, strict=True)})
    return paths
