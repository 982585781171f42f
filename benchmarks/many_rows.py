"""A file of ten million labels through the door: ``python -m benchmarks.many_rows [labels]``.

Simulated annotators, ten labels per item, written once as CSV and once as Parquet; then, each in a
process of its own, what reading takes, and reading and fitting: processor time and peak memory.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import coterie

WORK = {
    "read": lambda path: coterie.read(path),
    "majority": lambda path: coterie.aggregate(path, model="majority"),
    "quick": lambda path: coterie.aggregate(path, model="quick"),
}


def measure(what: str, path: str) -> None:
    """Do one thing, and print what it took."""
    start = time.process_time()
    WORK[what](path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"| {what} | {Path(path).suffix[1:]} | {time.process_time() - start:.0f} | {peak:.1f} |")


def main(labels: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sizes = {"items": labels // 10, "annotators": 1_000, "labels_per_item": 10}
        frame = coterie.simulate("mixed", random_state=0, **sizes).annotations.to_frame()
        paths = [Path(folder, f"labels.{kind}") for kind in ("csv", "parquet")]
        frame.to_csv(paths[0], index=False)
        frame.to_parquet(paths[1], index=False)
        print(f"| {labels:,} labels | file | seconds of processor | GB at most |")
        print("|---|---|--:|--:|", flush=True)
        for path in paths:
            for what in WORK:
                command = [sys.executable, "-m", "benchmarks.many_rows", what, str(path)]
                subprocess.run(command, check=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(sys.argv[1], sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
