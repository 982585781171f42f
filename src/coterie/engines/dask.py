"""Dask as an engine: shards stay on their workers, matrices go down, counts come up.

A worker may die at any time. Its shards are opened elsewhere from where they came, and what was
summed of their items is computed again: from the sums that were last brought home and from what
items were given since, which the driver keeps. So nothing of the result changes.
"""

from __future__ import annotations

import importlib
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import CutAnnotations, Shard, Shards
from coterie.errors import CoterieError, MissingExtraError
from coterie.inference import shards as port
from coterie.inference.shards import Blocks, Holder, Order, Session, Sizes, Totals
from coterie.numeric import FloatArray

Rows = NDArray[np.int64] | None  # annotators who have labels in some shards, where those are few

LOOK_SECONDS = 1.0  # so often the driver looks whether those it waits for are still there
PATIENCE_SECONDS = 60.0  # so long it waits for a worker, if none; Dask starts killed ones again
CONNECT_SECONDS = 10  # so long it waits for a scheduler
KEPT_BYTES = 2**27  # what items were given is kept so far, per chain; then sums are brought home


HOLDERS: dict[tuple[str, int], Holder] = {}
"""What a worker's process holds, by run and slot. One that has taken another's place holds nothing:
it says so, and is handed the shards and what was summed of them."""


def dask_setup(worker: object) -> None:
    """Leave Ctrl-C, which a terminal sends to all, to the driver: Dask calls it in each worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def hold(
    run: str, slot: int, sizes: Sizes, source: Shards | dict[int, Shard], numbers: Sequence[int]
) -> tuple[Rows, int]:
    """Open shards, or take those that were sent; give a slot's ``rows`` and ``n_clear``."""
    shards = source if isinstance(source, dict) else {k: port.opened(source, k) for k in numbers}
    holder = HOLDERS[run, slot] = Holder(sizes, shards, sparse=True)
    return holder.rows, holder.n_clear


def answer(run: str, slot: int, do: Callable[..., Any], *told: Any) -> tuple[Any] | None:
    """Have a holder do something; None if it is not here, or what it had summed is not."""
    holder = HOLDERS.get((run, slot))
    try:
        return None if holder is None else (do(holder, *told),)
    except port.Lost:
        return None


def drop(run: str) -> None:
    for key in [key for key in HOLDERS if key[0] == run]:
        HOLDERS.pop(key, None)


class Slot(NamedTuple):
    """A thread of a worker, and what it holds."""

    address: str
    generation: int = 0  # how often the slot has moved
    rows: Rows = None
    n_clear: int = 0


@dataclass
class Backlog:
    """What a chain's sums are made of: those brought home, and what was ordered since."""

    stored: list[FloatArray] | None = None  # per shard
    tallied: int = 0
    orders: list[Order] = field(default_factory=list)


class DaskEngine:
    """The workers of a Dask cluster; ``owned`` was started for them, and ends with them."""

    def __init__(self, client: Any, owned: Sequence[Any] = ()) -> None:
        self.client, self._owned = client, owned
        scheduler = getattr(client, "scheduler", None)
        self.address = str(getattr(scheduler, "address", "unknown"))

    def open(self, blocks: Blocks, sizes: Sizes) -> DaskSession:
        try:
            return DaskSession(self, blocks, sizes)
        except BaseException:  # Ctrl-C too: nobody else would close it
            self.close()
            raise

    def map(self, work: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Have workers call ``work`` with each of these arguments; give the results in order."""
        asked = [self.submit(work, *call) for call in calls]
        try:
            for future in asked:
                yield self._done(future)
        finally:
            with suppress(Exception):
                self.client.cancel(asked)

    def _done(self, future: Any) -> Any:
        """Wait for a result; Dask has the work of a worker that died done again by another."""
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

    def submit(self, do: Callable[..., Any], *args: Any, **where: Any) -> Any:
        try:
            return self.client.submit(do, *args, pure=False, **where)
        except Exception as error:  # of a lost cluster distributed raises almost anything
            if self.client.status != "running":
                raise self.gone() from error
            raise

    def close(self) -> None:
        for one in self._owned:
            with suppress(Exception):
                one.close()

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
        return CoterieError(
            f"the Dask scheduler at {self.address} does not answer any more; start it again, and"
            " fit again: with a checkpoint the run goes on"
        )


class DaskSession(Session):
    """Shards on the workers of a cluster, for one run."""

    def __init__(self, engine: DaskEngine, blocks: Blocks, sizes: Sizes) -> None:
        self._engine, self._shards = engine, blocks.shards
        self._run = uuid.uuid4().hex
        self._lock = threading.RLock()
        self._backlog: dict[int, Backlog] = {}
        workers = engine.wait_for_workers()
        addresses = [address for address, n in workers.items() for _ in range(n)]
        addresses = addresses[: max(len(self._shards), 1)]
        super().__init__(sizes, len(self._shards), len(addresses))
        self.slots = [Slot(address) for address in addresses]
        asked = [self._send(k, address) for k, address in enumerate(addresses)]
        for k, (future, address) in enumerate(zip(asked, addresses, strict=True)):
            taken = self._result(future, address)
            if taken is None:
                self._move(k, 0)
            else:
                self.slots[k] = Slot(address, 0, *taken)

    def sweep(self, order: Order) -> Totals:
        """Do what is ordered; keep it, and bring sums home before that gets too much."""
        totals = super().sweep(order)
        if order.tallied < 0:
            return totals
        with self._lock:
            if order.tallied == 0:
                self._backlog[order.chain] = Backlog()
            backlog = self._backlog.setdefault(order.chain, Backlog())
            backlog.orders.append(order)
        n_bytes = sum(array.nbytes for array in order.given or ())
        if len(backlog.orders) * n_bytes > KEPT_BYTES:
            self.sums(order.chain)
        return totals

    def sums(self, chain: int, tallied: int | None = None) -> list[FloatArray]:
        """Bring the summed probabilities of a chain home."""
        backlog = self._backlog.setdefault(chain, Backlog())
        tallied = backlog.tallied + len(backlog.orders)
        sums = super().sums(chain, tallied)
        with self._lock:
            self._backlog[chain] = Backlog(sums, tallied)
        return sums

    def restore(self, chain: int, sums: Sequence[FloatArray], tallied: int) -> None:
        with self._lock:
            self._backlog[chain] = Backlog(list(sums), tallied)
        super().restore(chain, sums, tallied)

    def forget(self, chain: int) -> None:
        with self._lock:
            self._backlog.pop(chain, None)
        super().forget(chain)

    def close(self) -> None:
        with suppress(Exception):
            if self._engine.client.status == "running":
                self._engine.client.run(drop, self._run)
        self._engine.close()

    def ask(self, do: Callable[..., Any], told: Callable[[int], tuple[Any, ...]]) -> list[Any]:
        """Ask every slot; move those that cannot answer, and ask again."""
        found: dict[int, Any] = {}
        while len(found) < len(self.slots):
            slots = {k: slot for k, slot in enumerate(self.slots) if k not in found}
            asked = {
                k: self._submit(k, slot.address, answer, do, *told(k)) for k, slot in slots.items()
            }
            for k, future in asked.items():
                answered = self._result(future, slots[k].address)
                if answered is None:
                    self._move(k, slots[k].generation)
                else:
                    (found[k],) = answered
        return [found[k] for k in range(len(found))]

    def _submit(self, k: int, address: str, do: Callable[..., Any], *told: Any) -> Any:
        return self._engine.submit(do, self._run, k, *told, workers=[address], retries=0)

    def _result(self, future: Any, address: str) -> Any:
        """Wait for an answer; None from those who are gone."""
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

    def _send(self, k: int, address: str) -> Any:
        """Hand a slot's shards to a worker: those in memory themselves, others by name."""
        source: Any = self._shards
        if isinstance(source, CutAnnotations):
            parts = {number: port.opened(source, number) for number in self.numbers[k]}
            sent = self._engine.client.scatter(parts, workers=[address], hash=False)
            source = {number: sent[number] for number in parts}  # in their order
        return self._submit(k, address, hold, self.sizes, source, list(self.numbers[k]))

    def _move(self, k: int, generation: int) -> None:
        """Have another worker hold the shards of a slot, with what was summed of them."""
        with self._lock:
            slot = self.slots[k]
            if slot.generation != generation:
                return  # another chain has seen to it
            self.slots[k] = slot = slot._replace(generation=generation + 1)
            taken = None
            while taken is None:
                living = self._engine.wait_for_workers()
                busy = [other.address for other in self.slots]
                address = min(living, key=lambda one: busy.count(one) / living[one])
                taken = self._result(self._send(k, address), address)
                if taken is not None and not self._repeat(k, address, taken[0]):
                    taken = None
            self.slots[k] = Slot(address, slot.generation, *taken)

    def _repeat(self, k: int, address: str, rows: Rows) -> bool:
        """Have the sums of every chain made again by a worker that has just taken shards."""
        for chain, backlog in self._backlog.items():
            stored = backlog.stored and [backlog.stored[number] for number in self.numbers[k]]
            orders = [order.for_rows(rows) for order in backlog.orders]
            told = Holder.restore, chain, stored, backlog.tallied, orders
            if self._result(self._submit(k, address, answer, *told), address) is None:
                return False
        return True


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
    quiet = {"dashboard_address": None, "silence_logs": "CRITICAL"}
    cluster = distributed.LocalCluster(
        n_workers=port.cores(n_jobs), threads_per_worker=1, preload=[__name__], **quiet
    )
    client = distributed.Client(cluster, set_as_default=False)
    return DaskEngine(client, [client, cluster])
