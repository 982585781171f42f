"""Items in shards: who holds them, and does with them what a sweep asks.

A sweep sends down what items are given and brings up counts, which are whole numbers: their sum is
the same whoever held which shard. Of a shard nothing is kept beside its labels but sums of
probabilities over sweeps, which can be read, and put back elsewhere. Items in memory are one shard,
held by the thread that sweeps the chain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.data.shards import CutAnnotations, Shard, Shards, codes_of
from coterie.data.votes import count_votes
from coterie.errors import DataError
from coterie.inference.cores import cores
from coterie.kernels.items import count_drawn, start_items, sweep_of
from coterie.kernels.space import Space
from coterie.kernels.vote import clear_votes
from coterie.registry import Registry
from coterie.words.visible import quoted

Array = NDArray[Any]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]

MOST_COLUMNS = 2**31
"""Answers of all annotators: a label is one number of 32 bits."""
FIXED_CELLS = (2, 3, 4)
"""Numbers of cells that the compiler is told: half the time of any number."""
ROUND_SWEEP = 2**32 - 1
"""The sweep of numbers that draw classes from what is reported: no chain comes so far."""


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
        """Cells of an item."""
        return len(self.space.cell_class)

    @property
    def n_columns(self) -> int:
        """Numbers that are summed of every item."""
        kinds = len(self.guessing)
        return 2 * self.n_cells + kinds if self.tempered else self.n_cells

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
        """Count nothing."""
        kinds = len(sizes.guessing) if sizes.tempered else 0
        rows = sizes.n_rows if n_rows is None else n_rows
        return cls(
            said=np.zeros((rows, sizes.n_answers, sizes.n_cells), np.int32),
            cell_total=np.zeros(sizes.n_cells, np.int64),
            agreed=np.zeros(1, np.int64),
            kind_total=np.zeros(kinds, np.int64),
            source=np.zeros((kinds, 2), np.int64),
            guessed=np.zeros(sizes.n_answers if kinds else 0, np.int64),
        )

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


class Items(NamedTuple):
    """Some items and their labels, as loops read them."""

    key: NDArray[np.uint64]  # (items,)
    start: LongArray  # (items + 1,)
    column: IntArray  # (labels,)   row * answers + answer
    gold: IntArray  # (items,)   the known class, or -1
    row: IntArray  # (items,)   of prior weights
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
        np.asarray(shard.gold, np.int32), sizes.space.row_of(shard.gold, kind), winner,
    )  # fmt: skip
    for array in items:
        array.setflags(write=False)  # as those from files are: loops are compiled once
    return items


class Holder:
    """Holds shards and, per chain, the summed probabilities of their items.

    Parameters
    ----------
    sizes
        Of the whole crowd.
    shards
        The shards, by number.
    sparse
        Count only annotators who have labels here, where those are few: less travels.
    kind
        The known kind of every item, of each shard by its number.
    """

    def __init__(
        self, sizes: Sizes, shards: dict[int, Shard], sparse: bool = False,
        kind: Callable[[int], Array | None] = lambda number: None,
    ) -> None:  # fmt: skip
        self.sizes, self.rows = sizes, few_rows(sizes.n_rows, shards) if sparse else None
        self.items = {k: shown(shard, sizes, kind(k), self.rows) for k, shard in shards.items()}
        self.n_clear = sum(int((items.winner >= 0).sum()) for items in self.items.values())
        self._sums: dict[tuple[int, int], tuple[FloatArray, int]] = {}

    def sweep(self, order: Order) -> Totals:
        """Do what is ordered with every shard here; give the counts, of ``rows`` if few."""
        totals = Totals.none(self.sizes, None if self.rows is None else len(self.rows))
        for number, items in self.items.items():
            if order.given is None:
                self._start(items, order, totals)
            else:
                self._sweep(number, items, order, order.given, totals)
        return totals

    def _start(self, items: Items, order: Order, totals: Totals) -> None:
        sizes, space = self.sizes, self.sizes.space
        open_cells = space.open_cells().astype(np.float64)
        start_items(
            items.key, items.start, items.column, items.gold, items.row, sizes.n_answers,
            sizes.n_classes, space.cell_class, open_cells, order.noise, order.ties, order.stream,
            totals.said.reshape(-1), totals.cell_total, totals.kind_total, totals.source,
        )  # fmt: skip

    def _sweep(self, number: int, items: Items, order: Order, given: Given, totals: Totals) -> None:
        sizes, place = self.sizes, (order.chain, number)
        sums = np.zeros((0, sizes.n_columns))
        if order.tallied == 0:
            sums = np.zeros((len(items.gold), sizes.n_columns))
        elif order.tallied > 0:
            sums, tallied = self._sums.get(place, (sums, -1))
            if tallied != order.tallied:
                raise Lost(f"of shard {number} and chain {order.chain} at sweep {order.tallied}")
        sizes.sweep_items(
            *items, sizes.n_answers, sizes.space.cell_class, given.kinds, given.weight,
            given.log_weight, sizes.guessing, given.chance.reshape(-1),
            given.log_chance.reshape(-1), given.hard, sizes.design_effect, order.stream,
            totals.said.reshape(-1), totals.cell_total, totals.kind_total, totals.source,
            totals.guessed, totals.agreed, np.zeros(0, np.int32), sums,
        )  # fmt: skip
        if order.tallied >= 0:
            self._sums[place] = sums, order.tallied + 1

    def has(self, chain: int, tallied: int) -> bool:
        """Say whether the sums of so many sweeps are here."""
        found = [self._sums.get((chain, number)) for number in self.items]
        return tallied == 0 or all(one is not None and one[1] == tallied for one in found)

    def sums(self, chain: int, number: int) -> FloatArray:
        """Give the summed probabilities of a shard, shape (items, columns)."""
        found = self._sums.get((chain, number))
        n_items = len(self.items[number].gold)
        return np.zeros((n_items, self.sizes.n_columns)) if found is None else found[0]

    def restore(self, chain: int, number: int, sums: FloatArray, tallied: int) -> None:
        """Put sums back, of so many sweeps."""
        self._sums[chain, number] = np.array(sums), tallied

    def forget(self, chain: int) -> None:
        """Let go of a chain's sums."""
        for number in self.items:
            self._sums.pop((chain, number), None)


def few_rows(n_rows: int, shards: dict[int, Shard]) -> LongArray | None:
    """Give who has labels in these shards, where that is less than half of all."""
    present = np.zeros(n_rows, bool)
    for shard in shards.values():
        present[shard.item_annotator] = True
    rows = np.flatnonzero(present)
    return rows if 2 * len(rows) < n_rows else None


@dataclass(frozen=True)
class Blocks:
    """Shards of the items, and the place of theirs among all items of the run's data."""

    shards: Shards
    places: Sequence[Any]  # per shard, an index of items
    kinds: Array | None = None  # (items,)   known kinds

    def kind(self, number: int) -> Array | None:
        """Give the known kinds of a shard's items, if kinds are known."""
        return None if self.kinds is None else self.kinds[self.places[number]]


class Session(Protocol):
    """Shards in the hands of an engine, for one run. Its methods may be called from threads."""

    @property
    def n_clear(self) -> int:
        """Number of items without gold whose vote has a clear winner."""

    def sweep(self, order: Order) -> Totals:
        """Do what is ordered with every shard, and give the counts of all."""

    def sums(self, chain: int) -> list[FloatArray]:
        """Give the summed probabilities of a chain, one array (items, columns) per shard."""

    def restore(self, chain: int, sums: Sequence[FloatArray], tallied: int) -> None:
        """Put sums back, of so many sweeps."""

    def forget(self, chain: int) -> None:
        """Let go of a chain's sums: it has come to its end."""

    def close(self) -> None:
        """Let go of the shards."""


class Engine(Protocol):
    """Where shards are held."""

    name: str

    def open(self, blocks: Blocks, sizes: Sizes) -> Session:
        """Have every shard opened by somebody."""


@dataclass(frozen=True)
class Threads:
    """Threads of this process; with none, the thread of a chain does its own work."""

    n_slots: int
    name: str = "threads"

    def open(self, blocks: Blocks, sizes: Sizes) -> Held:
        """Open every shard, each thread its own."""
        return Held(self, blocks, sizes)


class Held:
    """Shards held in this process."""

    def __init__(self, engine: Threads, blocks: Blocks, sizes: Sizes) -> None:
        self._sizes, shards = sizes, blocks.shards
        n_slots = max(min(engine.n_slots, len(shards)), 1)
        self._pool = ThreadPoolExecutor(n_slots, "coterie-shards") if engine.n_slots else None
        self._slot_of = [number % n_slots for number in range(len(shards))]

        def hold(slot: int) -> Holder:
            numbers = range(slot, len(shards), n_slots)
            return Holder(sizes, {k: opened(shards, k) for k in numbers}, kind=blocks.kind)

        try:
            self._holders = list(self._map(hold, range(n_slots)))
        except BaseException:  # Ctrl-C too: the threads would outlive it
            self.close()
            raise

    def _map(self, work: Callable[[Any], Any], parts: Iterable[Any]) -> Iterable[Any]:
        return map(work, parts) if self._pool is None else self._pool.map(work, parts)

    @property
    def n_clear(self) -> int:
        """Number of items without gold whose vote has a clear winner."""
        return sum(holder.n_clear for holder in self._holders)

    def sweep(self, order: Order) -> Totals:
        """Do what is ordered with every shard, and give the counts of all."""
        totals = Totals.none(self._sizes)
        for found in self._map(lambda holder: holder.sweep(order), self._holders):
            totals.add(found)
        return totals

    def sums(self, chain: int) -> list[FloatArray]:
        """Give the summed probabilities of a chain, one array (items, columns) per shard."""
        return [self._holders[s].sums(chain, number) for number, s in enumerate(self._slot_of)]

    def restore(self, chain: int, sums: Sequence[FloatArray], tallied: int) -> None:
        """Put sums back, of so many sweeps."""
        for number, (slot, array) in enumerate(zip(self._slot_of, sums, strict=True)):
            self._holders[slot].restore(chain, number, array, tallied)

    def forget(self, chain: int) -> None:
        """Let go of a chain's sums."""
        for holder in self._holders:
            holder.forget(chain)

    def close(self) -> None:
        """Let the threads go, and the shards."""
        if self._pool is not None:
            self._pool.shutdown()
        self._holders = []


Connect = Callable[[Any, int | None], Engine]
"""From what the user gave as ``engine`` and ``n_jobs`` to an engine."""

ENGINES: Registry[Connect] = Registry(
    "engine",
    {
        "threads": "coterie.inference.shards:in_threads",
        "dask": "coterie.engines.dask:connect",
    },
    entry_points="coterie.engines",
)
"""By short name. Where a cluster is needed the adapter lies above the models; none is imported
before it is asked for."""


def in_threads(engine: Any, n_jobs: int | None) -> Threads:
    """Give as many threads as there are cores, unless told."""
    return Threads(cores() if n_jobs is None or n_jobs < 0 else n_jobs)


def connect(engine: Any, n_jobs: int | None = None) -> Engine:
    """Give the engine that a user names: threads, dask, a Dask client or a scheduler's address.

    Examples
    --------
    >>> connect(None, 2).name, connect("threads", 2)
    ('threads', Threads(n_slots=2, name='threads'))
    >>> connect("spark")
    Traceback (most recent call last):
    coterie.errors.DataError: no engine 'spark'; choose 'threads', 'dask', a Dask client or ...
    """
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


def with_rows(shards: CutAnnotations, row: IntArray) -> CutAnnotations:
    """Give the same labels as of other rows than annotators, in the order of the codes."""
    return replace(shards, codes=shards.codes._replace(item_annotator=row))


def without_items(shards: Shards) -> Codes:
    """Give codes that know how many labels everybody has, and of no item."""
    start = np.concatenate([[0], np.cumsum(shards.labels_per_annotator)])
    nothing = np.zeros(0, np.int32)
    return Codes(
        item_start=np.zeros(1, np.int64), item_annotator=nothing, item_answer=nothing,
        annotator_start=start, annotator_item=nothing, annotator_answer=nothing, gold=nothing,
        n_classes=shards.n_classes, n_answers=shards.n_answers,
    )  # fmt: skip


COUNTED_BYTES, MOST_AT_ONCE = 2**19, 64
"""Counts of so many draws are made in one pass over the labels: they should stay in the cache."""


def counted_under(
    blocks: Blocks, sizes: Sizes, probability: FloatArray, words: tuple[int, int], n_threads: int
) -> Callable[[int, int], Iterable[IntArray]]:
    """Give what counts labels by classes drawn from probabilities, (annotators, C, T) a draw.

    An item's class in a draw is chosen by a number of its own, counts are summed over shards.
    """
    stream = np.array([*words, ROUND_SWEEP], np.uint64)
    each = sizes.n_rows * sizes.n_classes * sizes.n_answers
    at_once = 2 * int(np.clip(COUNTED_BYTES // max(4 * each, 1) // 2, 1, MOST_AT_ONCE // 2))
    n_shards = len(blocks.shards)
    n_threads = max(1, min(n_threads, n_shards))
    held: dict[int, Items] = {}

    def items_of(k: int) -> Items:
        if n_shards > 1:  # those of files are opened again
            return shown(opened(blocks.shards, k), sizes)
        return held.setdefault(k, held.get(k) or shown(opened(blocks.shards, k), sizes))

    def some(first: int, n: int, thread: int) -> IntArray:
        said = np.zeros((n, sizes.n_rows * sizes.n_answers, sizes.n_classes), np.int32)
        for k in range(thread, n_shards, n_threads):
            items, found = items_of(k), np.ascontiguousarray(probability[blocks.places[k]])
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
