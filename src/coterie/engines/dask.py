"""Dask as an engine: shards stay on their workers, matrices go down, counts come up.

A worker may die at any time. Its shards are opened elsewhere from where they came, and what was
summed of their items is computed again: from the sums that were last brought home and from what
items were given since, which the driver keeps. So nothing of the result changes.
"""

from __future__ import annotations

import importlib
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.shards import CutAnnotations
from coterie.engines import worker
from coterie.errors import CoterieError, MissingExtraError
from coterie.inference.cores import cores
from coterie.inference.shards import Blocks, Order, Sizes, Totals, opened

FloatArray = NDArray[np.float64]

LOOK_SECONDS = 1.0
"""So often the driver looks whether those it waits for are still there."""
PATIENCE_SECONDS = 60.0
"""So long it waits for a worker where there is none; Dask starts killed ones again."""
CONNECT_SECONDS = 10
"""So long it waits for a scheduler."""
KEPT_BYTES = 2**27
"""What items were given is kept up to so many bytes per chain; then sums are brought home."""


class Slot(NamedTuple):
    """A thread of a worker, and what it holds."""

    address: str
    generation: int  # how often the slot has moved
    rows: NDArray[np.int64] | None
    n_clear: int


@dataclass
class Backlog:
    """What a chain's sums are made of: those brought home, and what was ordered since."""

    stored: list[FloatArray] | None = None  # per shard
    tallied: int = 0
    orders: list[Order] = field(default_factory=list)
    n_bytes: int = 0


class DaskEngine:
    """The workers of a Dask cluster.

    Parameters
    ----------
    client
        The client.
    owned
        What was started for this engine, and ends with it.
    """

    name = "dask"

    def __init__(self, client: Any, owned: Sequence[Any] = ()) -> None:
        self.client, self._owned = client, owned

    def open(self, blocks: Blocks, sizes: Sizes) -> DaskSession:
        """Have every shard opened by a worker."""
        try:
            return DaskSession(self, blocks, sizes)
        except BaseException:  # Ctrl-C too: nobody else would close it
            self.close()
            raise

    def map(self, work: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Have workers call ``work`` with each of these arguments; give the results in order.

        Dask has the work of a worker that died done again by another.
        """
        asked = [submitted(self, work, *call) for call in calls]
        try:
            for future in asked:
                yield self._done(future)
        finally:
            with suppress(Exception):
                self.client.cancel(asked)

    def _done(self, future: Any) -> Any:
        distributed = _distributed()
        while True:
            try:
                return future.result(timeout=LOOK_SECONDS)
            except TimeoutError:
                self.wait_for_workers()
            except distributed.KilledWorker as error:
                raise CoterieError(
                    f"workers of the Dask cluster at {self.address} die, the last one at"
                    f" {error.last_worker.address}; see its log (too little memory?), and start"
                    " again"
                ) from error
            except (distributed.CancelledError, OSError) as error:
                if future.status == "error":  # of the work itself
                    raise
                raise self.gone() from error

    def close(self) -> None:
        """End what was started."""
        for one in self._owned:
            with suppress(Exception):
                one.close()

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        scheduler = getattr(self.client, "scheduler", None)
        return str(getattr(scheduler, "address", "unknown"))

    def workers(self) -> dict[str, int]:
        """Give the threads of every living worker, by address."""
        if self.client.status != "running":
            raise self.gone()
        try:
            info = self.client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, ValueError) as error:
            raise self.gone() from error
        return {address: int(facts["nthreads"]) for address, facts in info.items()}

    def wait_for_workers(self) -> dict[str, int]:
        """Wait until there is a worker."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (found := self.workers()):
            if time.monotonic() > deadline:
                raise CoterieError(
                    f"the Dask cluster at {self.address} has no worker; start some, and fit again:"
                    " with a checkpoint the run goes on"
                )
            time.sleep(LOOK_SECONDS / 4)
        return found

    def gone(self) -> CoterieError:
        """Say that the scheduler is gone."""
        return CoterieError(
            f"the Dask scheduler at {self.address} does not answer any more; start it again, and"
            " fit again: with a checkpoint the run goes on"
        )


class DaskSession:
    """Shards on the workers of a cluster, for one run."""

    def __init__(self, engine: DaskEngine, blocks: Blocks, sizes: Sizes) -> None:
        shards = blocks.shards
        self._engine, self._shards, self._sizes = engine, shards, sizes
        self._run = uuid.uuid4().hex
        self._lock = threading.RLock()
        self._backlog: dict[int, Backlog] = {}
        workers = engine.wait_for_workers()
        addresses = [address for address, n in workers.items() for _ in range(n)]
        addresses = addresses[: max(len(shards), 1)]
        self._numbers = [range(k, len(shards), len(addresses)) for k in range(len(addresses))]
        self._slots = [Slot(address, 0, None, 0) for address in addresses]
        asked = {k: self._send(k, slot.address) for k, slot in enumerate(self._slots)}
        for k, taken in self._results(asked).items():
            if taken is None:
                self._move(k, 0)
            else:
                self._slots[k] = self._slots[k]._replace(rows=taken.rows, n_clear=taken.n_clear)

    @property
    def n_clear(self) -> int:
        """Number of items without gold whose vote has a clear winner."""
        return sum(slot.n_clear for slot in self._slots)

    def sweep(self, order: Order) -> Totals:
        """Do what is ordered with every shard, and give the counts of all."""
        found = self._everywhere(lambda k, slot: (worker.sweep, _for_slot(order, slot)))
        totals = Totals.none(self._sizes)
        for k, slot in enumerate(self._slots):
            totals.add(found[k], slot.rows)
        if order.tallied >= 0:
            self._note(order)
        return totals

    def sums(self, chain: int) -> list[FloatArray]:
        """Give the summed probabilities of a chain, one array (items, columns) per shard."""
        backlog = self._backlog.setdefault(chain, Backlog())
        tallied = backlog.tallied + len(backlog.orders)
        found = self._everywhere(lambda k, slot: (worker.sums, chain, tallied))
        sums: list[Any] = [None] * len(self._shards)
        for k, numbers in enumerate(self._numbers):
            for number, array in zip(numbers, found[k], strict=True):
                sums[number] = array
        with self._lock:
            self._backlog[chain] = Backlog(sums, tallied)
        return sums

    def restore(self, chain: int, sums: Sequence[FloatArray], tallied: int) -> None:
        """Put sums back, of so many sweeps."""
        with self._lock:
            self._backlog[chain] = Backlog(list(sums), tallied)
        self._everywhere(
            lambda k, slot: (worker.restore, chain, self._stored(chain, k), tallied, [])
        )

    def forget(self, chain: int) -> None:
        """Let go of a chain's sums."""
        with self._lock:
            self._backlog.pop(chain, None)
        self._everywhere(lambda k, slot: (worker.forget, chain))

    def close(self) -> None:
        """Let go of the shards."""
        with suppress(Exception):
            if self._engine.client.status == "running":
                self._engine.client.run(worker.drop, self._run)
        self._engine.close()

    def _note(self, order: Order) -> None:
        """Keep what was given; bring sums home before it gets too much."""
        with self._lock:
            backlog = self._backlog.setdefault(order.chain, Backlog())
            if order.tallied == 0:
                backlog = self._backlog[order.chain] = Backlog()
            backlog.orders.append(order)
            backlog.n_bytes += sum(array.nbytes for array in order.given or ())
            full = backlog.n_bytes > KEPT_BYTES
        if full:
            self.sums(order.chain)

    def _stored(self, chain: int, k: int) -> list[FloatArray] | None:
        stored = self._backlog[chain].stored
        return None if stored is None else [stored[number] for number in self._numbers[k]]

    def _everywhere(self, task: Callable[[int, Slot], tuple[Any, ...]]) -> dict[int, Any]:
        """Ask every slot; move those that cannot answer, and ask again."""
        found: dict[int, Any] = {}
        while len(found) < len(self._slots):
            slots = {k: slot for k, slot in enumerate(self._slots) if k not in found}
            asked = {}
            for k, slot in slots.items():
                do, *args = task(k, slot)
                asked[k] = self._submit(slot.address, do, self._run, k, *args)
            for k, answer in self._results(asked).items():
                if answer is None or answer is False:
                    self._move(k, slots[k].generation)
                else:
                    found[k] = answer
        return found

    def _submit(self, address: str, do: Callable[..., Any], *args: Any) -> tuple[Any, str]:
        return submitted(self._engine, do, *args, workers=[address], retries=0), address

    def _results(self, asked: dict[int, tuple[Any, str]]) -> dict[int, Any]:
        """Wait for answers; None from those who are gone."""
        return {k: self._result(future, address) for k, (future, address) in asked.items()}

    def _result(self, future: Any, address: str) -> Any:
        client, distributed = self._engine.client, _distributed()
        while True:
            try:
                return future.result(timeout=LOOK_SECONDS)
            except TimeoutError:
                if address not in self._engine.workers():
                    return None
            except (distributed.CancelledError, distributed.KilledWorker, OSError) as error:
                if isinstance(error, CoterieError):
                    raise
                if client.status != "running":
                    raise self._engine.gone() from error
                return None

    def _send(self, k: int, address: str) -> tuple[Any, str]:
        """Hand a slot's shards to a worker: those in memory themselves, others by name."""
        source: Any = self._shards
        if isinstance(source, CutAnnotations):
            parts = {number: opened(source, number) for number in self._numbers[k]}
            source = self._engine.client.scatter(parts, workers=[address], hash=False)
            if isinstance(source, dict):  # Dask scatters the values of a dictionary
                source = {number: source[number] for number in parts}
        numbers = list(self._numbers[k])
        return self._submit(address, worker.hold, self._run, k, self._sizes, source, numbers)

    def _move(self, k: int, generation: int) -> None:
        """Have another worker hold the shards of a slot, with what was summed of them."""
        with self._lock:
            slot = self._slots[k]
            if slot.generation != generation:
                return  # another chain has seen to it
            self._slots[k] = slot = slot._replace(generation=generation + 1)
            taken = None
            while taken is None:
                living = self._engine.wait_for_workers()
                busy = [other.address for other in self._slots]
                address = min(living, key=lambda one: busy.count(one) / living[one])
                taken = self._results({k: self._send(k, address)})[k]
                if taken is not None and not self._repeat(k, address):
                    taken = None
            self._slots[k] = slot._replace(address=address, rows=taken.rows, n_clear=taken.n_clear)

    def _repeat(self, k: int, address: str) -> bool:
        """Have the sums of every chain made again by a worker that has just taken shards."""
        rows = self._slots[k].rows
        slot = Slot(address, 0, rows, 0)
        for chain, backlog in self._backlog.items():
            orders = [_for_slot(order, slot) for order in backlog.orders]
            args = (chain, self._stored(chain, k), backlog.tallied, orders)
            asked = {k: self._submit(address, worker.restore, self._run, k, *args)}
            if not self._results(asked)[k]:
                return False
        return True


def submitted(engine: DaskEngine, do: Callable[..., Any], *args: Any, **where: Any) -> Any:
    """Ask for something; give its future."""
    try:
        return engine.client.submit(do, *args, pure=False, **where)
    except Exception as error:  # of a lost cluster distributed raises almost anything
        if engine.client.status != "running":
            raise engine.gone() from error
        raise


def _for_slot(order: Order, slot: Slot) -> Order:
    """Leave out the matrices of annotators who have no labels there."""
    if order.given is None or slot.rows is None:
        return order
    given, rows = order.given, slot.rows
    few = given._replace(chance=given.chance[rows], log_chance=given.log_chance[rows])
    return order._replace(given=few)


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise MissingExtraError("engine='dask'", "distributed", "dask") from error


def connect(engine: Any, n_jobs: int | None) -> DaskEngine:
    """Give the engine of a client, of a scheduler's address, or of a cluster on this machine."""
    distributed = _distributed()
    if isinstance(engine, distributed.Client):
        return DaskEngine(engine)
    if engine != "dask":
        try:
            client = distributed.Client(engine, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise CoterieError(
                f"no Dask scheduler answers at {engine}; start one there with `dask scheduler`, or"
                " choose engine='threads'"
            ) from error
        return DaskEngine(client, [client])
    with suppress(ValueError):
        return DaskEngine(distributed.get_client())  # the one that is in use
    n_workers = cores() if n_jobs is None or n_jobs < 0 else n_jobs
    cluster = distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address=None,
        silence_logs="CRITICAL",
        preload=[worker.__name__],
    )
    client = distributed.Client(cluster, set_as_default=False)
    return DaskEngine(client, [client, cluster])
