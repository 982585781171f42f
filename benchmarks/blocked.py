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

from coterie.data.keys import key_of
from coterie.data.shards import Shard
from coterie.inference.blocked import without_items
from coterie.inference.engine import Order, Session, Sizes, connect
from coterie.inference.work import work_of
from coterie.kernels.gibbs.blocked import consensus
from coterie.kernels.gibbs.blocked.items import Given, Totals, new_totals
from coterie.kernels.gibbs.consensus.items import Given as HardGiven
from coterie.numeric.keyed import Stream
from coterie.priors import ConsensusPrior

CLASSES, PER_ITEM = 3, 10
FLAGS = ("-O3", "-march=native", "-std=c11", "-fopenmp")
POINTERS = (
    "key", "item_start", "item_annotator", "item_answer", "gold", "balance", "chance",
    "class_total", "said", "sums",
)  # fmt: skip


class MadeShards:
    """Random labels, made where they are opened: ten per item, three classes."""

    n_classes = n_answers = CLASSES

    def __init__(
        self, n_labels: int, n_annotators: int, n_shards: int, *, right: bool = False
    ) -> None:
        self.right = right  # labels of three items of four are their truth
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
        answer = rng.integers(0, CLASSES, n * PER_ITEM, np.int32)
        if self.right:
            truth = np.repeat(rng.integers(0, CLASSES, n, np.int32), PER_ITEM)
            known = np.repeat(rng.random(n) < 0.75, PER_ITEM)
            answer = np.where(known & (rng.random(len(answer)) < 0.8), truth, answer)
        start = np.arange(n + 1, dtype=np.int64) * PER_ITEM
        key = key_of(np.arange(first, last))
        return Shard(key, start, annotator.reshape(-1), answer, np.full(n, -1, np.int32))


def given_for(n_annotators: int) -> Given:
    """Matrices of people who are mostly right."""
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.ones(CLASSES), (n_annotators, CLASSES))
    matrix = np.ascontiguousarray((matrix + 2 * np.eye(CLASSES)).swapaxes(1, 2) / 3)
    balance = np.full(CLASSES, 1 / CLASSES)
    return Given(balance, np.log(balance), matrix, np.log(matrix))


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
        self.totals = new_totals(shards.n_annotators, CLASSES, CLASSES)
        self.arrays |= {
            "item_start": np.arange(shards.n_items + 1, dtype=np.int64) * PER_ITEM,
            "balance": given.balance,
            "chance": given.chance,
            "class_total": self.totals.class_total,
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


def sweeper(session: Session, given: Given | HardGiven) -> Callable[[], Totals]:
    """Sweeps one after the other, tallied."""
    done = iter(range(10**9))

    def sweep() -> Totals:
        return session.sweep(Order(0, Stream(1, 2, 3), given, tallied=next(done)))

    return sweep


def against_c(library: Any, n_labels: int, n_annotators: int, rounds: int = 7) -> dict[str, Any]:
    """Nanoseconds of processor time per label of both, on one thread and on two, in turns.

    Beside their ratio that of the clock on the wall, which means something on a machine at rest.
    """
    shards, given = MadeShards(n_labels, n_annotators, 8), given_for(n_annotators)
    row: dict[str, Any] = {"labels": n_labels, "annotators": n_annotators}
    loop = CSweep(library, shards, given)
    for threads in (1, 2):
        session = connect("threads", threads).open(shards)
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


def hard_given(shards: MadeShards, given: Given) -> HardGiven:
    """The same matrices for the items of Consensus, one in four of which is hard."""
    prior = consensus.pack_prior(ConsensusPrior(class_weights=1.0).resolve(CLASSES, CLASSES), 0.05)
    data, rng = without_items(shards), np.random.default_rng(0)
    start = np.zeros(0, np.int32), np.zeros(shards.n_annotators, np.int32)
    state = consensus.initial_state(data, prior, *start, rng)
    found = consensus.new_scratch(state, data, prior).whole.given
    told = {
        "balance": given.balance,
        "kinds": np.array([0.75, 0.15, 0.1]),
        "hard": np.full(CLASSES, 1 / CLASSES),
        "chance": given.chance,
    }
    for name, values in told.items():
        getattr(found.drawn, name)[:] = values
        getattr(found.drawn, f"log_{name}")[:] = np.log(values)
    return found


def of_consensus(n_labels: int, n_annotators: int, rounds: int = 5) -> dict[str, Any]:
    """Nanoseconds of processor time per label of a sweep of Consensus, on one thread and on two.

    Labels are right in three of four items, so that most items are plain.
    """
    shards = MadeShards(n_labels, n_annotators, 8, right=True)
    given = hard_given(shards, given_for(n_annotators))
    row: dict[str, Any] = {"labels": n_labels, "annotators": n_annotators}
    for threads in (1, 2):
        session = connect("threads", threads).open(shards, 3)
        sweep = sweeper(session, given)
        kinds = sweep().kind_total
        took = best(sweep, rounds, time.process_time)
        session.close()
        row[f"ns/label, {threads}"] = 1e9 * took / n_labels
    row["hard items"] = float(kinds[1:].sum() / kinds.sum())
    return row


def bytes_per_label(n_labels: int, n_annotators: int, n_kinds: int = 0) -> float:
    """What a holder of all shards keeps, the sums of probabilities left out."""
    sizes = Sizes(n_annotators, CLASSES, CLASSES, n_kinds)
    items, _ = work_of(sizes).take(MadeShards(n_labels, n_annotators, 1).open(0), None)
    return sum(getattr(array, "nbytes", 0) for array in items) / n_labels


def on_dask(n_labels: int, n_annotators: int, rounds: int = 5) -> dict[str, Any]:
    """Seconds per sweep of two threads, of one Dask worker and of two."""
    import distributed

    shards, given = MadeShards(n_labels, n_annotators, 16), given_for(n_annotators)
    row: dict[str, Any] = {"labels": n_labels, "annotators": n_annotators}
    session = connect("threads", 2).open(shards)
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
            held = connect(client).open(shards)
            sweep = sweeper(held, given)
            sweep()
            row[f"{n_workers} Dask"] = best(sweep, rounds)
            held.close()
    row["2 against 1"] = row["1 Dask"] / row["2 Dask"]
    row["2 against threads"] = row["2 Dask"] / row["two threads"]
    return row
