"""coterie datasets: the real data sets that coterie knows."""

from __future__ import annotations

from coterie.cli.guard import guarded


@guarded
def datasets() -> None:
    """List the real data sets that coterie can load, with licence and citation."""
    from coterie.cli import show
    from coterie.datasets import describe

    out, frame = show.console(), describe()
    show.print_frame(frame[["name", "items", "annotators", "labels", "classes"]], "Data sets", out)
    for row in frame.itertuples():
        out.print()
        out.print(f"{row.name}: {row.note}", markup=False, soft_wrap=True)
        out.print(f"  licence: {row.licence}", markup=False, soft_wrap=True)
        out.print(f"  cite: {row.citation}", markup=False, soft_wrap=True)
    out.print()
    out.print('In Python: coterie.datasets.load("rte")', markup=False)
