"""Items in shards: who holds them, and does with them what a sweep asks.

A sweep sends down what items are given and brings up counts, which are whole numbers: their sum is
the same whoever held which shard. Of a shard nothing is kept beside its labels but sums of
probabilities over sweeps, which can be read, and put back elsewhere. Items in memory are one shard,
held by the thread that sweeps the chain.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes, Shard, Shards, codes_of, count_votes
from coterie.errors import DataError
from coterie.kernels.items import count_drawn, start_items, sweep_of
from coterie.kernels.space import Space
from coterie.kernels.vote import clear_votes
from coterie.numeric import Array, FloatArray, IntArray, LongArray
from coterie.registry import Registry
from coterie.words.visible import quoted

MOST_COLUMNS = 2**31  # answers of all annotators: a label is one number of 32 bits
FIXED_CELLS = (2, 3, 4)  # numbers of cells that the compiler is told: half the time of any number
ROUND_SWEEP = 2**32 - 1
"""The sweep of numbers that draw classes from what is reported: no chain comes so far."""
COUNTED_BYTES, MOST_AT_ONCE = 2**19, 64
"""Counts of so many draws are made in one pass over the labels: they should stay in the cache."""
QUOTA = Path("/sys/fs/cgroup/cpu.max")  # what a container gets per period, on Linux


@dataclass(frozen=True, eq=False)
class Sizes:
    """Of the whole crowd: how counts are laid out, and what is summed of every item."""

    n_rows: int  # of the counts: annotators, or annotators at moments
    n_classes: int
    n_answers: int
    space: Space
    guessing: FloatArray  # (kinds,)   share of guesses on items of each kind
    tempered: bool = False  # whether tempered probabilities and kinds are summed too
    design_effect: float = 0.0

    @property
    def n_cells(self) -> int:
        return len(self.space.cell_class)

    @property
    def n_columns(self) -> int:
        """Numbers that are summed of every item."""
        return 2 * self.n_cells + len(self.guessing) if self.tempered else self.n_cells

    @property
    def sweep_items(self) -> Callable[..., None]:
        """The loop over items, compiled for these sizes."""
        cells = self.n_cells if self.n_cells in FIXED_CELLS else 0
        kinds = len(self.guessing) if len(self.guessing) in (1, 3) else 0
        loop: Callable[..., None] = sweep_of(cells, kinds, self.tempered)
        return loop


class Totals(NamedTuple):
    """What items are counted in: sums over parts of the items are the counts of all."""

    said: IntArray  # (rows, answers, cells)   labels, but those that are guesses
    cell_total: LongArray  # (cells,)
    agreed: LongArray  # (1,)   items whose class is the vote's clear winner
    kind_total: LongArray  # (kinds,)   items with labels; of models with guesses, as what follows
    source: LongArray  # (kinds, 2)   labels that are guesses, and that are not
    guessed: LongArray  # (answers,)   labels that are guesses

    @classmethod
    def none(cls, sizes: Sizes, n_rows: int | None = None) -> Self:
        kinds = len(sizes.guessing) if sizes.tempered else 0
        rows, guessed = sizes.n_rows if n_rows is None else n_rows, sizes.n_answers * (kinds > 0)
        shapes = sizes.n_cells, 1, kinds, (kinds, 2), guessed
        said = np.zeros((rows, sizes.n_answers, sizes.n_cells), np.int32)
        return cls(said, *(np.zeros(shape, np.int64) for shape in shapes))

    def add(self, other: Totals, rows: LongArray | None = None) -> None:
        """Add counts; ``rows`` says whose they are, None: everybody's."""
        for array, more in zip(self[1:], other[1:], strict=True):
            array += more
        if rows is None:
            np.add(self.said, other.said, out=self.said)
        else:
            self.said[rows] += other.said


class Given(NamedTuple):
    """What the items of one sweep are given, so that they are independent."""

    weight: FloatArray  # (rows of items, cells)   prior; zero where a cell is closed
    log_weight: FloatArray
    chance: FloatArray  # (rows, answers, cells)   Psi
    log_chance: FloatArray
    kinds: FloatArray  # (kinds,)   rho
    hard: FloatArray  # (answers,)   v


class Order(NamedTuple):
    """What one chain asks of all items in one sweep."""

    chain: int
    stream: NDArray[np.uint64]  # (3,)   the chain's key in two words, and the sweep
    given: Given | None  # None: items start
    noise: float = 0.0  # share of items that start with the class of one of their own labels
    ties: bool = False  # whether classes that tie start by chance
    tallied: int = -1  # sweeps whose probabilities are summed before this one; -1 sums none

    def for_rows(self, rows: LongArray | None) -> Order:
        """Leave out the matrices of all but these annotators, where they are few."""
        if self.given is None or rows is None:
            return self
        chance, log_chance = self.given.chance[rows], self.given.log_chance[rows]
        return self._replace(given=self.given._replace(chance=chance, log_chance=log_chance))


class Items(NamedTuple):
    """Some items and their labels, as loops read them."""

    key: NDArray[np.uint64]  # (items,)
    start: LongArray  # (items + 1,)
    column: IntArray  # (labels,)   row * answers + answer
    row: IntArray  # (items,)   of prior weights: by kind and known class
    winner: IntArray  # (items,)   the vote's clear winner, or -1


class Lost(Exception):
    """Sums of probabilities that should be here are not: another held them, and is gone."""


def opened(shards: Shards, number: int) -> Shard:
    """Open a shard; say which it was if that fails."""
    try:
        return shards.open(number)
    except (OSError, ValueError, LookupError, EOFError) as error:
        raise DataError(
            f"shard {number + 1} of {len(shards)} cannot be read: {error}; read the labels anew, or"
            " put the file back"
        ) from error


def shown(
    shard: Shard, sizes: Sizes, kind: Array | None = None, rows: Array | None = None
) -> Items:
    """Show a shard to the loops; whose rows are few are numbered by their place among ``rows``."""
    if sizes.n_rows * sizes.n_answers >= MOST_COLUMNS:
        raise DataError(
            f"{sizes.n_rows:,} annotators times {sizes.n_answers:,} answers are more than a sweep"
            f" can number, {MOST_COLUMNS:,}; leave out annotators with a label or two"
        )
    who = shard.item_annotator
    column = np.array(who if rows is None else np.searchsorted(rows, who), np.int32)
    column *= np.int32(sizes.n_answers)
    column += shard.item_answer
    winner = np.full(len(shard.gold), -1, np.int32)
    clear = clear_votes(count_votes(codes_of(shard, sizes.n_classes, sizes.n_answers)), shard.gold)
    winner[clear.item] = clear.winner
    items = Items(
        np.asarray(shard.key, np.uint64), np.asarray(shard.item_start, np.int64), column,
        sizes.space.row_of(shard.gold, kind), winner,
    )  # fmt: skip
    for array in items:
        array.setflags(write=False)  # as those from files are: loops are compiled once
    return items


class Holder:
    """Holds shards by number, whose items may be of known kinds, and per chain what is summed.

    If ``sparse``, only annotators who have labels here are counted, where those are few: less
    travels.
    """

    def __init__(
        self, sizes: Sizes, shards: dict[int, Shard], sparse: bool = False,
        kind: Callable[[int], Array | None] = lambda number: None,
    ) -> None:  # fmt: skip
        self.sizes, self.rows = sizes, None
        if sparse:
            present = np.zeros(sizes.n_rows, bool)
            for shard in shards.values():
                present[shard.item_annotator] = True
            rows = np.flatnonzero(present)
            self.rows = rows if 2 * len(rows) < sizes.n_rows else None
        self.items = {k: shown(shard, sizes, kind(k), self.rows) for k, shard in shards.items()}
        self.n_clear = sum(int((items.winner >= 0).sum()) for items in self.items.values())
        self._sums: dict[int, tuple[int, list[FloatArray]]] = {}  # of so many sweeps, by chain

    def sweep(self, order: Order) -> Totals:
        """Do what is ordered with every shard here; give the counts, of ``rows`` if few."""
        sizes, space, given = self.sizes, self.sizes.space, order.given
        totals = Totals.none(sizes, None if self.rows is None else len(self.rows))
        counts = totals.said.reshape(-1), totals.cell_total, totals.kind_total, totals.source
        if given is None:
            open_cells = space.open_cells().astype(np.float64)
            for items in self.items.values():
                start_items(
                    *items[:4], sizes.n_answers, sizes.n_classes, space.cell_class, open_cells,
                    order.noise, order.ties, order.stream, *counts,
                )  # fmt: skip
            return totals
        if order.tallied == 0:
            self.forget(order.chain)
        sums = [np.zeros((0, sizes.n_columns))] * len(self.items)
        if order.tallied >= 0:
            sums = self.sums(order.chain, order.tallied)
        for items, some in zip(self.items.values(), sums, strict=True):
            sizes.sweep_items(
                *items, sizes.n_answers, space.cell_class, given.kinds, given.weight,
                given.log_weight, sizes.guessing, given.chance.reshape(-1),
                given.log_chance.reshape(-1), given.hard, sizes.design_effect, order.stream,
                *counts, totals.guessed, totals.agreed, np.zeros(0, np.int32), some,
            )  # fmt: skip
        if order.tallied >= 0:
            self._sums[order.chain] = order.tallied + 1, sums
        return totals

    def sums(self, chain: int, tallied: int | None = None) -> list[FloatArray]:
        """Give a chain's summed probabilities, (items, columns) per shard; if told, of so many."""
        done, sums = self._sums.get(chain, (0, []))
        if tallied and tallied != done:
            raise Lost(f"of chain {chain} at sweep {tallied}")
        width = self.sizes.n_columns
        return sums or [np.zeros((len(items.row), width)) for items in self.items.values()]

    def restore(
        self, chain: int, sums: Sequence[FloatArray] | None, tallied: int,
        orders: Sequence[Order] = (),
    ) -> None:  # fmt: skip
        """Put sums back, of so many sweeps; then sweep again what was swept since."""
        if sums is not None:
            self._sums[chain] = tallied, [np.array(one) for one in sums]
        for order in orders:
            self.sweep(order)

    def forget(self, chain: int) -> None:
        self._sums.pop(chain, None)


@dataclass(frozen=True)
class Blocks:
    """Shards of the items, and the place of theirs among all items of the run's data."""

    shards: Shards
    places: Sequence[Any]  # per shard, an index of items
    kinds: Array | None = None  # (items,)   known kinds

    def kind(self, number: int) -> Array | None:
        """Give the known kinds of a shard's items, if kinds are known."""
        return None if self.kinds is None else self.kinds[self.places[number]]


class Session:
    """Shards in the hands of an engine, for one run. Its methods may be called from threads.

    Shards are dealt to slots in turn. An engine says who these are, ``slots``, each of which tells
    its ``rows`` and ``n_clear``, and how their holders are asked: :meth:`ask`.
    """

    def __init__(self, sizes: Sizes, n_shards: int, n_slots: int) -> None:
        self.sizes = sizes
        self.numbers = [range(k, n_shards, n_slots) for k in range(n_slots)]
        self.slots: list[Any] = []

    def ask(self, do: Callable[..., Any], told: Callable[[int], tuple[Any, ...]]) -> list[Any]:
        """Have every slot's holder do something: a method, with what this slot is told."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of the shards."""

    @property
    def n_clear(self) -> int:
        """Number of items without gold whose vote has a clear winner."""
        return sum(slot.n_clear for slot in self.slots)

    def sweep(self, order: Order) -> Totals:
        """Do what is ordered with every shard, and give the counts of all."""
        found = self.ask(Holder.sweep, lambda k: (order.for_rows(self.slots[k].rows),))
        totals = Totals.none(self.sizes)
        for slot, some in zip(self.slots, found, strict=True):
            totals.add(some, slot.rows)
        return totals

    def sums(self, chain: int, tallied: int | None = None) -> list[FloatArray]:
        """Give the summed probabilities of a chain, one array (items, columns) per shard."""
        found, n = self.ask(Holder.sums, lambda k: (chain, tallied)), len(self.numbers)
        return [found[k % n][k // n] for k in range(sum(map(len, found)))]

    def restore(self, chain: int, sums: Sequence[FloatArray], tallied: int) -> None:
        self.ask(Holder.restore, lambda k: (chain, [sums[n] for n in self.numbers[k]], tallied))

    def forget(self, chain: int) -> None:
        self.ask(Holder.forget, lambda k: (chain,))


class Engine(Protocol):
    """Where shards are held: the port that adapters fill, with a :class:`Session` of theirs."""

    def open(self, blocks: Blocks, sizes: Sizes) -> Session:
        """Have every shard opened by somebody."""


@dataclass(frozen=True)
class Threads:
    """Threads of this process; with none, the thread of a chain does its own work."""

    n_slots: int

    def open(self, blocks: Blocks, sizes: Sizes) -> Held:
        return Held(self.n_slots, blocks, sizes)


class Held(Session):
    """Shards held in this process, by so many threads or none."""

    def __init__(self, n_threads: int, blocks: Blocks, sizes: Sizes) -> None:
        shards = blocks.shards
        super().__init__(sizes, len(shards), max(min(n_threads, len(shards)), 1))
        n_slots = len(self.numbers)
        self._pool = ThreadPoolExecutor(n_slots, "coterie-shards") if n_threads else None

        def hold(numbers: range) -> Holder:
            return Holder(sizes, {k: opened(shards, k) for k in numbers}, kind=blocks.kind)

        try:
            self.slots = self._map(hold, self.numbers)
        except BaseException:  # Ctrl-C too: the threads would outlive it
            self.close()
            raise

    def _map(self, work: Callable[[Any], Any], parts: Iterable[Any]) -> list[Any]:
        return list(map(work, parts) if self._pool is None else self._pool.map(work, parts))

    def ask(self, do: Callable[..., Any], told: Callable[[int], tuple[Any, ...]]) -> list[Any]:
        return self._map(lambda k: do(self.slots[k], *told(k)), range(len(self.slots)))

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
        self.slots = []


def cores(n_jobs: int | None = None) -> int:
    """Give as many threads as are wanted; untold the cores of our affinity, up to our CPU quota."""
    if n_jobs is not None and n_jobs >= 0:
        return n_jobs
    known = hasattr(os, "sched_getaffinity")  # not on macOS or Windows
    ours = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    return max(1, min(ours, cpu_quota()))


def cpu_quota(file: Path = QUOTA) -> int:
    """Give how many cores' time a container grants, rounded up; many if it has no limit."""
    try:
        quota, period = file.read_text("ascii").split()
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError):  # no container, another system, or "max"
        return 2**31


BUILT_IN = {
    "threads": "coterie.inference.shards:in_threads",
    "dask": "coterie.engines.dask:connect",
}
ENGINES: Registry[Callable[[Any, int | None], Engine]] = Registry(
    "engine", BUILT_IN, entry_points="coterie.engines"
)
"""By short name, from what the user gave as ``engine`` and ``n_jobs``. Where a cluster is needed
the adapter lies above the models; none is imported before it is asked for."""


def in_threads(engine: Any, n_jobs: int | None) -> Threads:
    return Threads(cores(n_jobs))


def connect(engine: Any, n_jobs: int | None = None) -> Engine:
    """Give the engine that a user names: threads, dask, a Dask client or a scheduler's address."""
    if engine is None:
        engine = "threads"
    if isinstance(engine, str) and engine in ENGINES:
        return ENGINES[engine](engine, n_jobs)
    is_client = type(engine).__module__.partition(".")[0] == "distributed"
    if is_client or (isinstance(engine, str) and "://" in engine):
        return ENGINES["dask"](engine, n_jobs)
    raise DataError(
        f"no engine {quoted(engine)}",
        argument="engine",
        remedy="choose 'threads', 'dask', a Dask client or the address of a scheduler, such as"
        " 'tcp://127.0.0.1:8786'",
    )


def without_items(shards: Shards) -> Codes:
    """Give codes that know how many labels everybody has, and of no item."""
    start = np.concatenate([[0], np.cumsum(shards.labels_per_annotator)])
    none = np.zeros(0, np.int32)
    empty = Shard(none.astype(np.uint64), np.zeros(1, np.int64), none, none, none)
    return codes_of(empty, shards.n_classes, shards.n_answers)._replace(annotator_start=start)


def counted_under(
    blocks: Blocks, sizes: Sizes, probability: FloatArray, words: tuple[int, int], n_threads: int
) -> Callable[[int, int], Iterable[IntArray]]:
    """Give what counts labels by classes drawn from probabilities, (annotators, C, T) a draw."""
    stream = np.array([*words, ROUND_SWEEP], np.uint64)
    each = sizes.n_rows * sizes.n_classes * sizes.n_answers
    at_once = 2 * int(np.clip(COUNTED_BYTES // max(4 * each, 1) // 2, 1, MOST_AT_ONCE // 2))
    n_shards = len(blocks.shards)
    n_threads = max(1, min(n_threads, n_shards))
    whole = shown(opened(blocks.shards, 0), sizes) if n_shards == 1 else None

    def some(first: int, n: int, thread: int) -> IntArray:
        said = np.zeros((n, sizes.n_rows * sizes.n_answers, sizes.n_classes), np.int32)
        for k in range(thread, n_shards, n_threads):  # those of files are opened again
            items = whole or shown(opened(blocks.shards, k), sizes)
            found = np.ascontiguousarray(probability[blocks.places[k]])
            count_drawn(items.key, items.start, items.column, found, stream, first, said)
        return said

    def counted(first: int, last: int) -> Iterable[IntArray]:
        with ThreadPoolExecutor(n_threads) as pool:
            for start in range(first, last, at_once):
                n = min(at_once, last - start)
                said, *others = pool.map(lambda t: some(start, n, t), range(n_threads))  # noqa: B023
                for more in others:
                    said += more
                yield from said.reshape(n, sizes.n_rows, sizes.n_answers, sizes.n_classes)

    return counted
