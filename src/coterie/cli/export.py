"""coterie export: a saved result as the file that a platform imports."""

from __future__ import annotations

from pathlib import Path

from typer import Argument, Option

from coterie.cli.guard import guarded
from coterie.cli.options import Force, a_path
from coterie.cli.report import saved_at

NAMES = {"label-studio": "label-studio.json", "argilla": "argilla.json", "prodigy": "prodigy.jsonl"}
"""What the file is called if nobody says; gold.csv for a table."""


@guarded
def export(
    run: Path = Argument(..., help="A run.coterie, or the folder that holds one."),
    to: str = Option(..., help="label-studio, argilla, prodigy or csv-gold."),
    out: Path | None = a_path(None, "--out", "-o", help="The file to write."),
    kind: str = Option(
        "suggestions", help="suggestions (with the probability as score), or truth."
    ),
    tasks: Path | None = Option(
        None, help="The export with the items' own data (default: as read)."
    ),
    question: str | None = Option(
        None, help="Name of the question (default: the one that was read)."
    ),
    to_name: str | None = Option(
        None, help="toName of the Label Studio control (default: as read)."
    ),
    least: float = Option(0.0, min=0, max=1, help="Leave out items that are less probable."),
    force: Force = False,
) -> None:
    """Write a saved result as the file that a platform imports."""
    from coterie.cli import show
    from coterie.files.atomic import check_free, write_files
    from coterie.io.exports.back import Result, consensus_of, target, writer_of
    from coterie.posterior import load

    saved = saved_at(run)
    name = NAMES.get(target(to), "gold.csv")
    path = saved.with_name(name) if out is None else out / name if out.is_dir() else out
    posterior = load(saved)
    check_free(path.parent, [path], force=force)
    result = Result(posterior.annotations, posterior.labels(), posterior.model)
    consensus = consensus_of(
        result, kind=kind, tasks=tasks, question=question, to_name=to_name, least=least
    )
    write_files({path: writer_of(consensus, to)})
    show.files([path])
