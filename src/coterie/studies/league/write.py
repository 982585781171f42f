"""The league to files: JSON for a machine, a page and Markdown for people."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from coterie.errors import DataError
from coterie.io.write import write_together
from coterie.studies.league.league import League
from coterie.studies.league.markdown import make_markdown
from coterie.studies.league.page import make_page
from coterie.studies.league.record import About, make_record

NAMES = ("compare.json", "compare.html", "compare.md")


def check_target(out: Path, *, force: bool) -> None:
    """Refuse, before any work is done, to write where an earlier league lies."""
    if out.exists() and not out.is_dir():
        raise DataError(f"{out} is a file, not a folder; choose another --out")
    there = [name for name in NAMES if (out / name).exists()]
    if there and not force:
        raise DataError(
            f"{out} already holds {', '.join(there)}; choose another --out, or pass --force"
        )


def write_league(league: League, about: About, out: Path) -> list[Path]:
    """Write ``compare.json``, ``compare.html`` and ``compare.md``, all or none."""
    record = json.dumps(make_record(league, about), indent=1, ensure_ascii=False, allow_nan=False)
    texts = (record + "\n", make_page(league, about), make_markdown(league, about))
    paths = [out / name for name in NAMES]
    try:
        out.mkdir(parents=True, exist_ok=True)
        writers = zip(paths, texts, strict=True)
        write_together({path: partial(_write, text) for path, text in writers})
    except OSError as error:
        raise DataError(f"cannot write to {out}: {error.strerror or error}") from error
    return paths


def _write(text: str, path: Path) -> None:
    path.write_text(text, "utf-8")
