"""coterie report: a saved result as a page to pass around."""

from __future__ import annotations

from pathlib import Path

from coterie.cli import show
from coterie.io.write import check_free
from coterie.posterior import load
from coterie.report import write

NAME = "report.html"


def run(source: Path, out: Path | None, truth: Path | None, title: str | None, force: bool) -> None:
    """Write the report of a saved run, by default beside it."""
    saved = source / "run.coterie" if source.is_dir() else source
    path = saved.with_name(NAME) if out is None else out / NAME if out.is_dir() else out
    posterior = load(saved)
    check_free(path.parent, [path], force=force)
    write(posterior, path, truth=truth, title=title)
    show.files([path])
