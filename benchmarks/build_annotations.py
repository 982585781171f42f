"""Building Annotations from a frame, against pandas.factorize of its three columns.

``python -m benchmarks.build_annotations [rows]``. The target: at most 3 times as long, and at most
24 bytes per label held, for 10 million rows, with integer ids and with string ids.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from coterie.data import annotations_from
from coterie.data.annotations import Annotations

ROWS = 10_000_000
REPEATS = 5


def crowd(rows: int, kind: str) -> pd.DataFrame:
    """A random crowd of 5 classes, 20 labels per item, 10,000 annotators, no repeated label."""
    rng = np.random.default_rng(0)
    n_items, n_annotators = max(rows // 20, 1), 10_000
    place = rng.permutation(np.arange(rows))
    item = place // 20
    # Twenty different annotators an item: a random first one, then steps of 500.
    annotator = (rng.integers(n_annotators, size=n_items + 1)[item] + 500 * (place % 20)) % 10_000
    frame = pd.DataFrame(
        {"task": item * 7 + 3, "worker": annotator * 3, "label": rng.integers(5, size=rows)}
    )
    if kind == "integer":
        return frame
    return pd.DataFrame(
        {
            "task": words("task-{:07d}", frame["task"]),
            "worker": words("w{:05d}", frame["worker"]),
            "label": words("class {}", frame["label"]),
        }
    )


def words(pattern: str, numbers: pd.Series) -> pd.Series:
    distinct = pd.Series([pattern.format(n) for n in range(numbers.max() + 1)])
    return distinct.take(numbers).reset_index(drop=True)


def fastest(*works: Callable[[], object]) -> list[float]:
    """The shortest time of each, measured in turns, so that a busy machine is fair to all."""
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(REPEATS):
        for work, taken in zip(works, seconds, strict=True):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    return list(map(min, seconds))


def bytes_held(annotations: Annotations) -> int:
    """Codes and vocabularies, with the strings that the vocabularies point to."""
    total = annotations.nbytes
    for values in (annotations.items, annotations.annotators, annotations.classes):
        total += values.nbytes
        if values.dtype == object:
            total += sum(map(sys.getsizeof, values))
    return total


def measure(rows: int, kind: str) -> str:
    frame = crowd(rows, kind)
    annotations = annotations_from(frame)
    factorize, build = fastest(
        lambda: [pd.factorize(frame[column]) for column in frame],
        lambda: annotations_from(frame),
    )
    return (
        f"{kind:8s} {rows:12,d} {factorize:12.2f} {build:10.2f} {build / factorize:8.2f} "
        f"{bytes_held(annotations) / rows:12.1f}"
    )


def main(rows: int = ROWS) -> None:
    print("Annotations from a frame; target: ratio at most 3, at most 24 bytes per label")
    titles = f"{'ids':8s} {'rows':>12s} {'factorize s':>12s} {'build s':>10s} {'ratio':>8s}"
    print(f"{titles} {'bytes/label':>12s}")
    for kind in ("integer", "string"):
        print(measure(rows, kind), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
