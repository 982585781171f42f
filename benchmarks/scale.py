"""Scale: a blocked truth sweep against C with OpenMP, bytes per label, Dask against threads.

``python -m benchmarks scale --labels 100000000`` adds sizes up to that; the default stops at ten
million. Last, end to end: labels as Parquet are scanned, the default model makes 200 sweeps in each
of four chains, and parts of labels are written; every size in a process of its own.
"""

from __future__ import annotations

import sys
import tempfile
from typing import Any

from benchmarks import scan
from benchmarks.blocked import against_c, build, bytes_per_label, of_consensus, on_dask

CROWDS = (1_000, 100_000)
LEAST_ON_DASK = 10**7
"""Labels from which on a cluster is asked; or the most there are, if those are fewer."""


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows of one table."""
    print(f"\n{title}")
    if rows:
        print("  ".join(f"{name:>14}" for name in rows[0]))
    for row in rows:
        print(
            "  ".join(
                f"{value:>14,.3f}" if isinstance(value, float) else f"{value:>14,}"
                for value in row.values()
            ),
            flush=True,
        )


def main(most: int) -> None:
    """Print the tables, each size up to ``most`` labels."""
    sizes = [size for size in (10**5, 10**6, 10**7, 10**8) if size <= most]
    pairs = [(n, people) for n in sizes for people in CROWDS if people < n]
    library = build()
    if library is None:
        print("no gcc: no C loop to compare with")
    else:
        rows = [against_c(library, *pair) for pair in pairs]
        show("blocked truth sweep, nanoseconds per label, against C with OpenMP", rows)
    rows = [of_consensus(*pair) for pair in pairs]
    show("the items of Consensus, nanoseconds per label", rows)
    print(f"\nbytes per label held: {bytes_per_label(sizes[-1], CROWDS[0]):.1f}")
    rows = [on_dask(n, CROWDS[0]) for n in sizes if n >= min(LEAST_ON_DASK, sizes[-1])]
    show("seconds per sweep, 1,000 annotators", rows)
    for n in sizes[1:]:
        print("\nend to end")
        with tempfile.TemporaryDirectory() as folder:
            scan.show(folder, n, "consensus")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10**7)
