"""coterie datasets: the real data sets that coterie knows."""

from __future__ import annotations

from coterie import datasets
from coterie.cli import show
from coterie.cli.tables import print_frame


def run() -> None:
    """List the data sets with sizes, licence and citation; nothing is downloaded."""
    out = show.console()
    frame = datasets.describe()
    print_frame(frame[["name", "items", "annotators", "labels", "classes"]], "Data sets", out)
    for row in frame.itertuples():
        out.print()
        out.print(f"{row.name}: {row.note}", markup=False, soft_wrap=True)
        out.print(f"  licence: {row.licence}", markup=False, soft_wrap=True)
        out.print(f"  cite: {row.citation}", markup=False, soft_wrap=True)
    out.print()
    out.print('In Python: coterie.datasets.load("rte")', markup=False)
