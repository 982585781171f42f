"""A blocked truth sweep against the same in C with OpenMP, and on one and two Dask workers."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from coterie.data.codes import Shard, key_of
from coterie.inference.shards import (
    Blocks,
    Given,
    Holder,
    Order,
    Session,
    Sizes,
    Threads,
    Totals,
    connect,
)
from coterie.kernels.space import classes_alone

CLASSES, PER_ITEM = 3, 10
FLAGS = ("-O3", "-march=native", "-std=c11", "-fopenmp")
POINTERS = (
    "key", "item_start", "item_annotator", "item_answer", "gold", "balance", "chance",
    "class_total", "said", "sums",
)  # fmt: skip


class MadeShards:
    """Random labels, made where they are opened: ten per item, three classes."""

    def __init__(
        self, n_labels: int, n_annotators: int, n_shards: int, *, right: bool = False,
        classes: int = CLASSES,
    ) -> None:  # fmt: skip
        self.right = right  # labels of three items of four are their truth
        self.n_classes = self.n_answers = classes
        self.n_items, self.n_labels = n_labels // PER_ITEM, n_labels
        self.n_annotators, self.n_shards = n_annotators, n_shards
        self.labels_per_annotator = np.full(n_annotators, n_labels // n_annotators)

    def __len__(self) -> int:
        return self.n_shards

    def open(self, k: int) -> Shard:
        """Make the k-th shard."""
        first, last = (self.n_items * part // self.n_shards for part in (k, k + 1))
        n, rng = last - first, np.random.default_rng(k)
        annotator = rng.integers(0, self.n_annotators, (n, PER_ITEM), np.int32)
        annotator.sort(axis=1)
        answer = rng.integers(0, self.n_classes, n * PER_ITEM, np.int32)
        if self.right:
            truth = np.repeat(rng.integers(0, self.n_classes, n, np.int32), PER_ITEM)
            known = np.repeat(rng.random(n) < 0.75, PER_ITEM)
            answer = np.where(known & (rng.random(len(answer)) < 0.8), truth, answer)
        start = np.arange(n + 1, dtype=np.int64) * PER_ITEM
        key = key_of(np.arange(first, last))
        return Shard(key, start, annotator.reshape(-1), answer, np.full(n, -1, np.int32))


def sizes_of(shards: MadeShards, hard: bool = False) -> Sizes:
    """How items are counted; one in four is hard, if any is."""
    space = classes_alone(np.ones(shards.n_classes))
    guessing = np.array([0.0, 0.5, 0.9] if hard else [0.0])
    sizes = (shards.n_annotators, shards.n_classes, shards.n_answers, space, guessing)
    return Sizes(*sizes, tempered=hard, design_effect=0.05 * hard)


def given_for(sizes: Sizes) -> Given:
    """Matrices of people who are mostly right."""
    rng, n = np.random.default_rng(1), sizes.n_classes
    matrix = rng.dirichlet(np.ones(n), (sizes.n_rows, n))
    matrix = np.ascontiguousarray((matrix + 2 * np.eye(n)).swapaxes(1, 2) / 3)
    open_cells = sizes.space.open_cells()
    return Given(
        weight=open_cells / n,
        log_weight=np.where(open_cells, -np.log(n), -np.inf),
        chance=matrix,
        log_chance=np.log(matrix),
        kinds=np.array([0.75, 0.15, 0.1]) if sizes.tempered else np.ones(1),
        hard=np.full(n, 1 / n) if sizes.tempered else np.zeros(0),
    )


def held_by(engine: Any, shards: MadeShards, sizes: Sizes) -> Session:
    """The shards in the hands of an engine."""
    session: Session = engine.open(Blocks(shards, range(len(shards))), sizes)
    return session


class Crowd(ctypes.Structure):
    """As in blocked.c."""

    _fields_ = (
        *((n, ctypes.c_int64) for n in ("n_items", "n_annotators", "n_classes", "n_answers")),
        *((name, ctypes.c_void_p) for name in POINTERS),
        *((name, ctypes.c_uint64) for name in ("low", "high", "sweep")),
    )


def build() -> Any:
    """The compiled loop; None without gcc.

    Its threads sleep when they have done their part: if they span, they would hold the core that
    the other side of the comparison has next, and the clock of processor time would lose them.
    """
    if shutil.which("gcc") is None:
        return None
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    with tempfile.TemporaryDirectory() as folder:
        library, source = Path(folder, "blocked.so"), Path(__file__).with_name("blocked.c")
        subprocess.run(
            ["gcc", *FLAGS, "-Wall", "-shared", "-fPIC", "-o", library, source], check=True
        )
        return ctypes.CDLL(str(library))


class CSweep:
    """The loop on all shards at once."""

    def __init__(self, library: Any, shards: MadeShards, given: Given) -> None:
        parts = [shards.open(k) for k in range(len(shards))]
        names = ("key", "item_annotator", "item_answer", "gold")
        self.arrays = {n: np.concatenate([getattr(part, n) for part in parts]) for n in names}
        self.totals = Totals.none(sizes_of(shards))
        self.arrays |= {
            "item_start": np.arange(shards.n_items + 1, dtype=np.int64) * PER_ITEM,
            "balance": given.weight[0],
            "chance": given.chance,
            "class_total": self.totals.cell_total,
            "said": self.totals.said,
            "sums": np.zeros((shards.n_items, CLASSES)),
        }
        sizes = (shards.n_items, shards.n_annotators, CLASSES, CLASSES)
        pointers = {name: self.arrays[name].ctypes.data for name in POINTERS}
        self.crowd, self.library = Crowd(*sizes, low=1, high=2, sweep=3, **pointers), library

    def run(self, threads: int) -> Totals:
        """One sweep."""
        self.library.sweep(ctypes.byref(self.crowd), ctypes.c_int64(threads))
        return self.totals


def best(
    run: Callable[[], Any], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The least seconds of several rounds: a busy machine only adds."""
    times = []
    for _ in range(rounds):
        start = clock()
        run()
        times.append(clock() - start)
    return min(times)


def timed(run: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of processor time, and by the clock."""
    start = time.process_time(), time.perf_counter()
    run()
    return time.process_time() - start[0], time.perf_counter() - start[1]


def sweeper(session: Session, given: Given) -> Callable[[], Totals]:
    """Sweeps one after the other, tallied."""
    done = iter(range(10**9))

    def sweep() -> Totals:
        return session.sweep(Order(0, np.array([1, 2, 3], np.uint64), given, tallied=next(done)))

    return sweep


def against_c(library: Any, n_labels: int, n_annotators: int, rounds: int = 7) -> dict[str, Any]:
    """Nanoseconds of processor time per label of both, on one thread and on two, in turns.

    Beside their ratio that of the clock on the wall, which means something on a machine at rest.
    """
    shards = MadeShards(n_labels, n_annotators, 8)
    given = given_for(sizes_of(shards))
    row: dict[str, Any] = {"labels": n_labels, "annotators": n_annotators}
    loop = CSweep(library, shards, given)
    for threads in (1, 2):
        session = held_by(Threads(threads), shards, sizes_of(shards))
        sweep = sweeper(session, given)
        for found, expected in zip(sweep()[:2], loop.run(threads)[:2], strict=True):
            np.testing.assert_array_equal(found, expected)
        ours, theirs = np.full(2, np.inf), np.full(2, np.inf)
        for _ in range(rounds):
            ours = np.minimum(ours, timed(sweep))
            theirs = np.minimum(theirs, timed(lambda n=threads: loop.run(n)))
        session.close()
        row |= {
            f"ns/label, {threads}": 1e9 * ours[0] / n_labels,
            f"C, {threads}": 1e9 * theirs[0] / n_labels,
            f"ratio, {threads}": ours[0] / theirs[0],
            f"by clock, {threads}": ours[1] / theirs[1],
        }
    return row


def of_consensus(n_labels: int, n_annotators: int, rounds: int = 5) -> dict[str, Any]:
    """Nanoseconds of processor time per label of a sweep of Consensus, on one thread and on two.

    Labels are right in three of four items, so that most items are plain.
    """
    shards = MadeShards(n_labels, n_annotators, 8, right=True)
    sizes = sizes_of(shards, hard=True)
    row: dict[str, Any] = {"labels": n_labels, "annotators": n_annotators}
    for threads in (1, 2):
        session = held_by(Threads(threads), shards, sizes)
        sweep = sweeper(session, given_for(sizes))
        kinds = sweep().kind_total
        took = best(sweep, rounds, time.process_time)
        session.close()
        row[f"ns/label, {threads}"] = 1e9 * took / n_labels
    row["hard items"] = float(kinds[1:].sum() / kinds.sum())
    return row


def bytes_per_label(n_labels: int, n_annotators: int) -> float:
    """What a holder of all shards keeps, the sums of probabilities left out."""
    shards = MadeShards(n_labels, n_annotators, 1)
    holder = Holder(sizes_of(shards), {0: shards.open(0)})
    return sum(array.nbytes for array in holder.items[0]) / n_labels


def on_dask(n_labels: int, n_annotators: int, rounds: int = 5) -> dict[str, Any]:
    """Seconds per sweep of two threads, of one Dask worker and of two."""
    import distributed

    shards = MadeShards(n_labels, n_annotators, 16)
    sizes = sizes_of(shards)
    given = given_for(sizes)
    row: dict[str, Any] = {"labels": n_labels, "annotators": n_annotators}
    session = held_by(Threads(2), shards, sizes)
    sweep = sweeper(session, given)
    sweep()
    row["two threads"] = best(sweep, rounds)
    session.close()
    for n_workers in (1, 2):
        with (
            distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            held = held_by(connect(client), shards, sizes)
            sweep = sweeper(held, given)
            sweep()
            row[f"{n_workers} Dask"] = best(sweep, rounds)
            held.close()
    row["2 against 1"] = row["1 Dask"] / row["2 Dask"]
    row["2 against threads"] = row["2 Dask"] / row["two threads"]
    return row
