"""coterie export: a saved result as the file that a platform imports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coterie.cli import show
from coterie.files.atomic import check_free, write_files
from coterie.io.exports.back import Result, consensus_of, target, writer_of
from coterie.posterior import load

NAMES = {"label-studio": "label-studio.json", "argilla": "argilla.json", "prodigy": "prodigy.jsonl"}
"""What the file is called if nobody says; gold.csv for a table."""


def run(source: Path, to: str, out: Path | None, asked: Mapping[str, Any], force: bool) -> None:
    """Write the consensus of a saved run, by default beside it."""
    saved = source / "run.coterie" if source.is_dir() else source
    name = NAMES.get(target(to), "gold.csv")
    path = saved.with_name(name) if out is None else out / name if out.is_dir() else out
    posterior = load(saved)
    check_free(path.parent, [path], force=force)
    result = Result(posterior.annotations, posterior.labels(), posterior.model)
    write_files({path: writer_of(consensus_of(result, **asked), to)})
    show.files([path])
