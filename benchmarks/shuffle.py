"""Who brings the labels of an item together: ``python -m benchmarks.shuffle [labels]``.

The same files, once by this process alone, then by one and by two Dask workers; the shards must be
the same to the last byte. Beside them what dask.dataframe's own shuffle (p2p) takes on two workers
to bring the same rows together by item, without a check, a vocabulary or a shard. Seconds by the
clock; of the processor, all processes, and the busiest of them, which is what a machine at rest
with enough cores would take; megabytes of the largest process.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import scan as files

LABELS = 10_000_000
N_FILES = 8


def make(folder: Path, labels: int) -> None:
    """Write the labels of :mod:`benchmarks.scan`, cut into files of consecutive rows."""
    import pyarrow.parquet as pq

    files.make(folder, labels)
    whole = sorted(folder.iterdir())
    each = -(-labels // N_FILES)
    for n, path in enumerate(whole):
        table = pq.read_table(path)
        for k, first in enumerate(range(0, len(table), each)):
            pq.write_table(table[first : first + each], folder / f"labels-{n:03d}-{k}.parquet")
        path.unlink()


def used() -> tuple[float, float]:
    """Seconds of the processor and megabytes at most, of whoever calls."""
    return time.process_time(), files.peak()


def timed(client: Any, work: Callable[[], Any]) -> tuple[Any, list[float]]:
    """Do it; give what it gave, and what it took."""

    def all_used() -> list[tuple[float, float]]:
        return [used(), *(client.run(used).values() if client else ())]

    before, start = all_used(), time.perf_counter()
    result = work()
    wall, after = time.perf_counter() - start, all_used()
    cpu = [now[0] - then[0] for now, then in zip(after, before, strict=True)]
    return result, [wall, sum(cpu), max(cpu), max(one[1] for one in after)]


def p2p(folder: Path, client: Any, n_parts: int) -> int:
    """Bring rows of an item into one partition by Dask's own shuffle; give how many rows."""
    import dask.dataframe as dd

    frame = dd.read_parquet(str(folder / "*.parquet"), columns=["item", "annotator", "label"])
    shuffled = frame.shuffle("item", npartitions=n_parts, shuffle_method="p2p")
    return int(client.compute(shuffled.map_partitions(len).sum()).result())


def shard_bytes(scan: Any) -> list[bytes]:
    return [scan.path(k).read_bytes() for k in range(len(scan))]


def main(labels: int = LABELS) -> None:
    import distributed

    import coterie

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        command = [sys.executable, "-m", "benchmarks.shuffle", "make", place, str(labels)]
        subprocess.run(command, check=True)  # what it takes is not counted here
        print(f"{labels:,} labels in {len(list(folder.iterdir()))} files")
        print("| | seconds by the clock | of the processor | busiest process | MB at most |")
        print("|---|--:|--:|--:|--:|", flush=True)
        coterie.scan(sorted(folder.iterdir())[0])  # imports, compiled kernels
        alone = show("this process alone", None, lambda: coterie.scan(folder / "*.parquet"))
        for n in (1, 2):
            with distributed.Client(cluster_of(n)) as client, client.cluster:
                client.run(__import__, "coterie.io.scan.hands")
                work = partial(coterie.scan, folder / "*.parquet", engine=client)
                made = show(f"{n} Dask worker{'s' * (n > 1)}", client, work)
                assert shard_bytes(made) == shard_bytes(alone)
        with distributed.Client(cluster_of(2)) as client, client.cluster:
            client.run(__import__, "dask.dataframe")
            work = partial(p2p, folder, client, len(alone))
            name = "dask.dataframe's p2p on two workers, rows brought together alone"
            assert show(name, client, work) == labels


def show(name: str, client: Any, work: Callable[[], Any]) -> Any:
    result, (wall, cpu, busiest, most) = timed(client, work)
    print(f"| {name} | {wall:.1f} | {cpu:.1f} | {busiest:.1f} | {most:,.0f} |", flush=True)
    return result


def cluster_of(n_workers: int) -> Any:
    import distributed

    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=None, silence_logs="ERROR"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        make(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(*map(int, sys.argv[1:2]))
