"""One chain: how long it runs, where it starts, and what it needs to stop and go on.

Where a chain is, is a dictionary of arrays; what it has kept of its sweeps and draws are
dictionaries of arrays with room for a whole run (the system gives memory only to what is written).
Collapsed chains move one item after the other; all others draw what the items need, and have
them swept where they are. Chains start far apart, so that their agreement means something.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.inference.shards import Blocks, Given, Order, Session, Sizes
from coterie.kernels import collapsed
from coterie.kernels.cells import Items
from coterie.kernels.consensus import ConsensusPeople
from coterie.kernels.expected import is_counted
from coterie.kernels.people import Kept, People, SeatedPeople, Streams
from coterie.kernels.vote import ClearVotes
from coterie.numeric import Array, IntArray, State
from coterie.numeric.dirichlet import draw_crp

BLOCK_SECONDS = 0.1  # about how long a block runs before the chain can be stopped
DRAWS = 1000  # that a chain keeps unless the user says otherwise
CHECK = 500  # sweeps after burn-in between two looks at convergence
PARTITION_BYTES, MATRIX_BYTES = 256 * 2**20, 64 * 2**20
"""Room for the partitions and matrices that a chain keeps; large crowds keep those of fewer draws.
Of every draw, and not only of those whose matrices are kept, are ``EVERY_DRAW``."""
EVERY_DRAW = ("vote_agreement", "partition")
KINDS = {"partition": np.int32, "confusion": np.float32}  # of what is kept, if not doubles
CELLS = "cells"  # of the models whose items are in cells
NOISE = 0.3  # share of items whose starting class is drawn from their labels instead of the vote
MOST_GROUPS = 500  # coteries that a chain starts with at most: weighing each takes time


class Plan(NamedTuple):
    """How long a chain runs and what is kept of it."""

    sweeps: int  # in all
    burn_in: int  # of which dropped
    thin: int  # sweeps between draws that are kept
    matrix_thin: int  # draws between those whose matrices are kept
    check: int  # sweeps between two looks at convergence, a multiple of thin

    @property
    def draws(self) -> int:
        return (self.sweeps - self.burn_in) // self.thin

    @property
    def end(self) -> int:
        """Sweeps of a whole run; what is left over after the last draw is not run."""
        return self.burn_in + self.draws * self.thin

    def next_look(self, done: int) -> int:
        """Give the first sweep number, not before ``done``, at which all chains are looked at."""
        if done <= self.burn_in:
            return self.burn_in
        looks = -(-(done - self.burn_in) // self.check)
        return min(self.burn_in + looks * self.check, self.end)


def make_plan(sweeps: int, burn_in: int, thin: int | None, people: People) -> Plan:
    """Plan chains for so many annotators, and numbers in one draw of everybody's matrices."""
    kept, crowd = sweeps - burn_in, people.crowd
    n_annotators = len(crowd.n_labels)
    if thin is None:
        draws = min(DRAWS, max(1, PARTITION_BYTES // (4 * max(n_annotators, 1))))
        thin = max(1, kept // draws)
    numbers = n_annotators * crowd.n_classes * crowd.n_answers + 2 * people.n_extra  # twice as wide
    matrices = max(1, MATRIX_BYTES // (4 * max(numbers, 1)))
    matrix_thin = -(-(kept // thin) // matrices)
    return Plan(sweeps, burn_in, thin, matrix_thin, thin * max(1, CHECK // thin))


@dataclass(frozen=True, kw_only=True)
class Sampler:
    """What is sampled: people and items, on what data, and how much is kept."""

    people: People
    sizes: Sizes
    data: Codes  # of items that lie in files only how many labels they have, and gold
    plan: Plan
    votes: IntArray  # (items, classes)   labels of each class
    clear: ClearVotes  # who won them
    items: NDArray[Any]  # (items,)   what they are called
    collapsed: str = ""  # the model, or CELLS, if items are moved one after the other
    blocks: Blocks | None = None  # of all others, the items in shards
    at_vote: bool = False  # all chains start at the vote, and everybody in one coterie
    ended: Callable[[int, State], State] | None = None  # where chains of an earlier run ended


def starting_truth(number: int, data: Codes, votes: IntArray, rng: np.random.Generator) -> IntArray:
    """Give items the vote, but in later chains some the class of one of their own labels."""
    n_classes, n_labels = data.n_classes, np.diff(data.item_start)
    truth: IntArray = votes.argmax(axis=1).astype(np.int32)
    if number > 0:
        (labelled,) = np.nonzero(n_labels)  # the others draw nothing: they change nobody's bits
        noisy = labelled[rng.random(len(labelled)) < NOISE]
        said = data.item_answer[data.item_start[noisy] + rng.integers(0, n_labels[noisy])]
        truth[noisy] = np.where(said < n_classes, said, truth[noisy])
    return truth


def starting_group(number: int, data: Codes, rng: np.random.Generator) -> IntArray:
    """Seat everybody with labels: all together, all alone, then by CRP draws; others are -1."""
    labelled = np.diff(data.annotator_start) > 0
    n_labelled = int(np.count_nonzero(labelled))
    group = np.full(len(labelled), -1, np.int32)
    if number == 0:
        group[labelled] = 0
    elif number == 1:
        group[labelled] = np.arange(n_labelled) % MOST_GROUPS
    else:
        group[labelled] = draw_crp(n_labelled, 1.0, rng)
    return group


class Chain:
    """One chain: where it is and what it has kept; all of it can be stored and restored."""

    def __init__(
        self, sampler: Sampler, number: int, seed: np.random.SeedSequence,
        session: Session | None = None,
    ) -> None:  # fmt: skip
        self.sampler, self.number, self.people = sampler, number, sampler.people
        self._session: Any = session  # these are of a chain whose items are swept for it
        self._places = sampler.blocks.places if sampler.blocks else ()
        self.streams = Streams(*(np.random.default_rng(child) for child in seed.spawn(3)))
        low, high = seed.generate_state(2, np.uint32)
        self.key = np.array([low, high], np.uint64)  # of the items' numbers
        self.state = self._started()
        n_columns = sampler.sizes.n_columns
        self.sums = np.zeros((len(sampler.data.gold), n_columns))
        self.others = np.zeros(n_columns)  # what items without labels would be
        self.done = self.n_coteries = 0
        self.used = np.zeros(3, np.int64)  # sweeps, draws and matrices that are kept
        self.trace, self.kept = self._rooms()
        self._block = 1  # sweeps; how sweeps are cut into blocks changes no bit

    def _started(self) -> State:  # what the chain starts in
        raise NotImplementedError

    def _advance(self, n: int) -> dict[str, Any]:  # what is noted of at most n sweeps
        raise NotImplementedError

    def _agreement(self) -> float:  # share of items with a clear vote whose class it is
        raise NotImplementedError

    def rest(self) -> None:
        """Have all that the chain knows in its arrays."""

    def wake(self) -> None:
        """Go on from what was written to its arrays."""

    def end(self) -> None:
        """Have all in its arrays, and nothing elsewhere any more."""
        self.rest()

    def steps(self, until: int) -> Iterator[int]:
        """Run on to sweep ``until``, yielding the sweeps done after every block."""
        burn_in = self.sampler.plan.burn_in
        while self.done < until:
            stop = min(burn_in, until) if self.done < burn_in else until
            goal, begin = min(self.done + self._block, stop), time.perf_counter()
            while self.done < goal:
                self._run(goal - self.done)
            seconds = time.perf_counter() - begin
            if seconds < BLOCK_SECONDS / 2:
                self._block *= 2
            elif seconds > BLOCK_SECONDS * 2:
                self._block = max(1, self._block // 2)
            yield self.done

    def _run(self, most: int) -> None:
        """Run until a draw is due, but no longer; note the sweeps, and keep the draw."""
        plan, people = self.sampler.plan, self.people
        kept = self.done - plan.burn_in
        if kept >= 0:
            most = min(most, plan.thin - kept % plan.thin)
        noted = self._advance(most)
        n = len(noted["log_joint"])
        self.done += n
        if people.coteries:
            self.n_coteries = int(noted["n_coteries"][-1])
        if kept >= 0:
            for name, values in noted.items():
                self.trace[name][kept : kept + n] = values
            self.used[0] += n
            if self.used[0] % plan.thin == 0:
                self._keep_draw()

    def _keep_draw(self) -> None:
        _, draw, matrix = self.used.tolist()
        whole = (draw + 1) % self.sampler.plan.matrix_thin == 0
        found = self.people.keep(self.state, self.streams, whole)
        found["vote_agreement"] = np.array(self._agreement())
        self.kept["confusion_sum"] += found.pop("confusion_mean")
        for name, values in found.items():
            self.kept[name][draw if name in EVERY_DRAW else matrix] = values
        self.used += (0, 1, whole)

    def _noted(self, log_labels: float) -> dict[str, Any]:  # of one sweep
        noted = self.people.trace(self.state, log_labels)
        space, total = self.people.space, self.state["cell_total"]
        n = np.bincount(space.cell_class, total, space.n_classes)
        noted["class_total"] = n.astype(np.int64)
        return {name: np.asarray(x)[None] for name, x in noted.items()}

    def _rooms(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """Make room for a whole run, for what is noted of a sweep and kept of a draw."""
        plan, aside = self.sampler.plan, Streams(*(np.random.default_rng(k) for k in range(3)))
        state = {name: array.copy() for name, array in self.state.items()}
        kept: Kept = self.people.keep(state, aside, True)
        rooms: dict[str, Array] = {"confusion_sum": np.zeros_like(kept.pop("confusion_mean"))}
        kept["vote_agreement"] = np.zeros(())
        for name, values in kept.items():
            n = plan.draws if name in EVERY_DRAW else plan.draws // plan.matrix_thin
            rooms[name] = np.zeros((n, *np.shape(values)), KINDS.get(name, np.float64))
        n = plan.draws * plan.thin
        return {k: np.zeros((n, *x.shape[1:]), x.dtype) for k, x in self._noted(0.0).items()}, rooms


class CollapsedChain(Chain):
    """A chain that moves one item after the other, matrices integrated out."""

    def _started(self) -> State:
        sampler, rng = self.sampler, self.streams.moves
        data = sampler.data
        truth = starting_truth(self.number, data, sampler.votes, rng)
        group = starting_group(self.number, data, rng)
        state = self.people.start(group, rng)
        truth = np.where(data.gold >= 0, data.gold, truth)
        state["truth"] = np.where(is_counted(data), truth, -1).astype(np.int32)
        if sampler.ended is not None:
            state = sampler.ended(self.number, state)
        return state | self.count(state["truth"])

    def count(self, truth: IntArray) -> State:
        """Count items by cell, and labels by annotator, answer and cell."""
        return count_truth(truth, self.sampler.data, len(self.people.space.cell_class))

    def _advance(self, n: int) -> dict[str, Any]:
        sampler, sweep, people = self.sampler, self.done, self.people
        if isinstance(people, SeatedPeople):
            people.regroup(self.state, people.proposals(sweep, 0), self.streams.moves)
            n = next((k for k in range(1, n) if people.proposals(sweep + k, 0)), n)
        sums = self.sums if sweep >= sampler.plan.burn_in else None
        return collapsed.sweep(
            sampler.collapsed, self.state, sampler.data, people, n, self.streams.moves, sums
        )

    def _agreement(self) -> float:
        clear, cell_class = self.sampler.clear, self.people.space.cell_class
        same = cell_class[self.state["truth"][clear.item]] == clear.winner
        return float(same.mean()) if len(same) else 1.0


class CellsChain(CollapsedChain):
    """A chain that moves one item after the other, among cells; people are as in a blocked one."""

    def _started(self) -> State:
        sampler, rng, people = self.sampler, self.streams.moves, self.people
        data = sampler.data
        self.items = Items(data, people.space, people.kinds)
        vote = starting_truth(self.number, data, sampler.votes, rng)
        state = people.start(starting_group(self.number, data, rng), rng)
        truth = self.items.start(np.where(data.gold >= 0, data.gold, vote), rng)
        state["truth"] = truth
        if sampler.ended is not None:
            state = sampler.ended(self.number, state)
            may = self.items.opened[np.arange(len(truth)), state["truth"]]
            state["truth"] = np.where(may, state["truth"], truth)
        return state | self.count(state["truth"])

    def _advance(self, n: int) -> dict[str, Any]:
        people, state, rng = self.people, self.state, self.streams.moves
        noted = self.done >= self.sampler.plan.burn_in
        people.draw_parameters(state, rng)
        self.items.sweep(state, people, self.sums if noted else self.sums[:0], rng)
        log_labels = people.move(state, self.done, rng)
        if noted:
            self.others += people.space.shares(state["cell_total"])
        return self._noted(log_labels)

    def rest(self) -> None:
        """Say what items without labels would be, and where those are that may not move."""
        items, free = self.items, np.zeros(len(self.sums), np.bool_)
        free[items.free] = True
        self.sums[~items.counted] = self.others
        self.sums[items.counted & ~free] = self.used[0] * items.opened[items.counted & ~free]


class BlockedChain(Chain):
    """A chain that draws what items are given, and has them swept, shard by shard."""

    agreed: NDArray[np.int64]  # (1,)   items that agree with a clear vote

    def _started(self) -> State:
        sampler, rng, number = self.sampler, self.streams.moves, self.number
        group = starting_group(0 if sampler.at_vote else number, sampler.data, rng)
        state = self.people.start(group, rng)
        noise = NOISE if number > 0 and not sampler.at_vote else 0.0
        order = Order(number, self._stream(0), None, noise, sampler.at_vote)
        self._take(state, order)
        return state if sampler.ended is None else sampler.ended(number, state)

    def _stream(self, sweep: int) -> NDArray[np.uint64]:
        return np.append(self.key, np.uint64(sweep))

    def _take(self, state: State, order: Order) -> None:
        """Have items swept; their counts are part of the state."""
        totals = self._session.sweep(order)
        state |= {"said": totals.said, "cell_total": totals.cell_total}
        if self.sampler.sizes.tempered:
            state |= {n: getattr(totals, n) for n in ("kind_total", "source", "guessed")}
        self.agreed = totals.agreed

    def _advance(self, n: int) -> dict[str, Any]:
        people, state, rng, sizes = self.people, self.state, self.streams.moves, self.sampler.sizes
        tallied = self.done - self.sampler.plan.burn_in
        log_chance = people.draw(state, rng)
        kinds, hard = np.ones(1), np.zeros(0)
        if isinstance(people, ConsensusPeople):
            kinds, hard = people.draw_guesses(state, rng)
        log_share = people.space.draw(state["cell_total"], rng)
        open_cells = sizes.space.open_cells()
        weight = np.exp(log_share) * open_cells
        log_weight = np.where(open_cells, log_share, -np.inf)
        given = Given(weight, log_weight, np.exp(log_chance), log_chance, kinds, hard)
        stream = self._stream(self.done + 1)
        self._take(state, Order(self.number, stream, given, tallied=max(tallied, -1)))
        log_labels = people.move(state, self.done, rng)
        if tallied >= 0:
            shares = people.space.shares(state["cell_total"])
            self.others[: sizes.n_cells] += shares
            if sizes.tempered:
                self.others[sizes.n_cells : 2 * sizes.n_cells] += shares
                of_kinds = people.kind_weight + state["kind_total"]  # type: ignore[attr-defined]
                self.others[2 * sizes.n_cells :] += of_kinds / of_kinds.sum()
        return self._noted(log_labels)

    def _agreement(self) -> float:
        n_clear = self._session.n_clear
        return float(self.agreed[0]) / n_clear if n_clear else 1.0

    def rest(self) -> None:
        """Bring home what is summed of the items: those not drawn are known, or as classes are."""
        data, sizes = self.sampler.data, self.sampler.sizes
        for place, sums in zip(self._places, self._session.sums(self.number), strict=True):
            self.sums[place] = sums
        silent, known = np.diff(data.item_start) == 0, data.gold >= 0
        self.sums[silent if sizes.tempered else silent & ~known] = self.others
        if not sizes.tempered:  # known items were in their cells
            return
        certain, rows = np.eye(sizes.n_classes) * self.used[0], np.flatnonzero(known)
        for first in (0, sizes.n_cells):
            self.sums[rows, first : first + sizes.n_cells] = certain[data.gold[rows]]

    def wake(self) -> None:
        if self.used[0]:
            sums = [self.sums[place] for place in self._places]
            self._session.restore(self.number, sums, int(self.used[0]))

    def end(self) -> None:
        self.rest()
        self._session.forget(self.number)


def make_chain(
    sampler: Sampler, number: int, seed: np.random.SeedSequence, session: Session | None
) -> Chain:
    kind = BlockedChain if session is not None else CollapsedChain
    kind = CellsChain if sampler.collapsed == CELLS else kind
    return kind(sampler, number, seed, session)


def count_truth(truth: NDArray[np.int32], data: Codes, n_cells: int) -> State:
    """Count items by cell, and labels by annotator, answer and cell."""
    item = np.repeat(np.arange(len(truth)), np.diff(data.item_start))
    said = np.zeros((len(data.annotator_start) - 1, data.n_answers, n_cells), np.int32)
    np.add.at(said, (data.item_annotator, data.item_answer, truth[item]), 1)
    return {"said": said, "cell_total": np.bincount(truth[truth >= 0], minlength=n_cells)}
