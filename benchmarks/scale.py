"""Scale: a blocked truth sweep against C with OpenMP, bytes per label, Dask against threads.

``python -m benchmarks scale --labels 100000000`` adds sizes up to that; the default stops at ten
million.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.blocked import against_c, build, bytes_per_label, on_dask

CROWDS = (1_000, 100_000)


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
    library = build()
    if library is None:
        print("no gcc: no C loop to compare with")
    else:
        rows = [against_c(library, n, people) for n in sizes for people in CROWDS if people < n]
        show("blocked truth sweep, nanoseconds per label, against C with OpenMP", rows)
    print(f"\nbytes per label held: {bytes_per_label(sizes[-1], CROWDS[0]):.1f}")
    rows = [on_dask(n, CROWDS[0]) for n in sizes if n >= 10**7]
    show("seconds per sweep, 1,000 annotators", rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10**7)
