"""The port of the engines: who holds shards of items, and does with them what a sweep asks.

A sweep sends down what items are given and brings up counts, which are integers: their sum is the
same whoever held which shard. Shards stay where they were opened. Of a shard nothing is kept beside
its labels but sums of probabilities over sweeps, which can be read, and put back elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from coterie.data.shards import Shards
from coterie.errors import DataError
from coterie.kernels.gibbs.blocked.items import Given, Totals
from coterie.kernels.gibbs.consensus.items import Given as HardGiven
from coterie.numeric.keyed import Stream
from coterie.registry import Registry
from coterie.words.visible import quoted

FloatArray = NDArray[np.float64]


class Sizes(NamedTuple):
    """Of the whole crowd."""

    n_annotators: int
    n_classes: int
    n_answers: int
    n_kinds: int = 0  # of hard items; Consensus has them

    @property
    def n_columns(self) -> int:
        """Numbers that are summed of every item: classes; of Consensus, tempered, and kinds too."""
        return 2 * self.n_classes + self.n_kinds if self.n_kinds else self.n_classes


def sizes_of(shards: Shards, n_kinds: int) -> Sizes:
    """Give the sizes of a crowd in shards."""
    return Sizes(shards.n_annotators, shards.n_classes, shards.n_answers, n_kinds)


class Order(NamedTuple):
    """What one chain asks of all items in one sweep."""

    chain: int
    stream: Stream
    given: Given | HardGiven | None  # None: items start
    noise: float = 0.0  # share of items that start with the class of one of their own labels
    tallied: int = -1  # sweeps whose probabilities are summed before this one; -1 sums none


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

    def open(self, shards: Shards, n_kinds: int = 0) -> Session:
        """Have every shard opened by somebody, for a model with so many kinds of hard items."""


Connect = Callable[[Any, int | None], Engine]
"""From what the user gave as ``engine`` and ``n_jobs`` to an engine."""

ENGINES: Registry[Connect] = Registry(
    "engine",
    {
        "threads": "coterie.inference.threads:connect",
        "dask": "coterie.engines.dask:connect",
    },
    entry_points="coterie.engines",
)
"""By short name. Where a cluster is needed the adapter lies above the models; none is imported
before it is asked for."""


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


def add_totals(parts: Iterable[tuple[Totals, Any]], out: Totals) -> None:
    """Add counts to ``out``, each with the annotators whose they are; None is everybody."""
    for part, rows in parts:
        for name in ("class_total", "agreed", "kind_total", "source", "guessed"):
            getattr(out, name)[...] += getattr(part, name)
        if rows is None:
            np.add(out.said, part.said, out=out.said)
        else:
            out.said[rows] += part.said


def matrices_of(given: Any) -> Any:
    """Give the arrays of what items are given."""
    return given.drawn if isinstance(given, HardGiven) else given


def with_matrices(given: Any, matrices: Any) -> Any:
    """Give the same with other arrays."""
    return given._replace(drawn=matrices) if isinstance(given, HardGiven) else matrices
