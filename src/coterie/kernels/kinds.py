"""Models whose items are of kinds: everybody has a matrix for each, or one is everybody's.

A *pair* of an annotator and a kind is, to iBCC, cBCC and hcBCC, what an annotator is without kinds:
coteries are of pairs, all of one partition, so that an expert is the same in every kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.random import Generator

from coterie.kernels.people import Columns, Crowd, Kept, OwnPeople, People, Streams
from coterie.kernels.space import Space, with_kinds
from coterie.numeric import Array, FloatArray, IntArray, State
from coterie.numeric.dirichlet import canonical_groups
from coterie.priors import EasyHardPrior

HARD = 1
T = TypeVar("T")


def pairs_of(crowd: Crowd, n_kinds: int) -> Crowd:
    """Give pairs as a crowd: all pairs of an annotator with labels count as such."""
    return crowd._replace(n_labels=np.repeat(crowd.n_labels, n_kinds))


class KindsPeople(People):
    """Everybody has a matrix per kind: in cells k T + t, what is believed of pairs.

    ``kinds`` are those of the items, where they are known.
    """

    dims: ClassVar[Mapping[str, tuple[str, ...]]] = {"accuracy_by_kind": ("annotator", "kind")}

    def __init__(
        self, crowd: Crowd, space: Space, pairs: People, kinds: IntArray | None = None
    ) -> None:
        super().__init__(crowd, space)
        self.kinds, self.n_extra = kinds, len(crowd.n_labels) * space.n_kinds
        self.pairs, self.n_kinds = pairs, space.n_kinds
        self.coteries, self.of_coteries = pairs.coteries, pairs.of_coteries  # type: ignore[misc]
        self.watched = () if space.known else ("kind_total",)  # type: ignore[misc]
        if not space.known:
            self.dims = {}  # type: ignore[misc]

    def to_pairs(self, array: Array) -> Array:
        """Give (annotators, C, K T) as (pairs, C, T)."""
        parts = array.reshape(*array.shape[:2], self.n_kinds, -1).swapaxes(1, 2)
        return np.ascontiguousarray(parts).reshape(-1, array.shape[1], self.space.n_classes)

    def from_pairs(self, array: Array) -> Array:
        """Give (pairs, C, T) as (annotators, C, K T)."""
        parts = array.reshape(-1, self.n_kinds, *array.shape[1:]).swapaxes(1, 2)
        return np.ascontiguousarray(parts).reshape(len(parts), array.shape[1], -1)

    def inner(self, state: State) -> State:
        return {**state, "said": self.to_pairs(state["said"])}

    def moved(self, state: State, step: Callable[[State], T]) -> T:
        """Have pairs make a step, and take over what has become of them."""
        inner = self.inner(state)
        found = step(inner)
        state |= {name: array for name, array in inner.items() if name != "said"}
        return found

    def start(self, group: IntArray, rng: Generator) -> State:
        """Start all pairs of an annotator in one coterie."""
        return self.pairs.start(np.repeat(group, self.n_kinds), rng)

    def draw(self, state: State, rng: Generator) -> FloatArray:
        return self.from_pairs(self.moved(state, lambda pairs: self.pairs.draw(pairs, rng)))

    def draw_parameters(self, state: State, rng: Generator) -> None:
        self.moved(state, lambda pairs: self.pairs.draw_parameters(pairs, rng))

    def columns(self, state: State) -> Columns:
        """Give those of the pairs: pair l K + k and class t are annotator l and cell k T + t."""
        found = self.pairs.columns(self.inner(state))
        return found._replace(place=found.place.reshape(len(state["said"]), -1))

    def move(self, state: State, sweep: int, rng: Generator) -> float:
        return self.moved(state, lambda pairs: self.pairs.move(pairs, sweep, rng))

    def log_rest(self, state: State) -> float:
        return self.pairs.log_rest(state)

    def trace(self, state: State, log_labels: float) -> dict[str, Any]:
        """Note coteries of pairs that have labels now, and the sizes of latent kinds, sorted."""
        found = super().trace(state, log_labels)
        if self.coteries:
            spoken = self.to_pairs(state["said"]).any(axis=(1, 2))
            found["n_coteries"] = len(np.unique(state["group"][spoken]))
            found["concentration"] = np.exp(state["log_concentration"][0])
        if not self.space.known:
            n = np.bincount(self.space.cell_kind, state["cell_total"], self.n_kinds)
            found["kind_total"] = -np.sort(-n)
        return found

    def seat_everybody(self, state: State, spare: Generator) -> Any:
        return self.pairs.seat_everybody(self.inner(state), spare)

    def notes(self, state: State, seats: Any) -> Kept:
        """Keep a partition of annotators: everybody sits where most of their labels are."""
        if not self.coteries:
            return {}
        n = self.to_pairs(state["said"]).sum(axis=(1, 2)).reshape(-1, self.n_kinds)
        seat = seats.seat.reshape(n.shape)[np.arange(len(n)), n.argmax(axis=1)]
        return {"partition": canonical_groups(seat)}

    def means(self, state: State, seats: Any) -> FloatArray:
        return self.from_pairs(self.pairs.means(self.inner(state), seats))

    def matrices(self, state: State, seats: Any, streams: Streams) -> FloatArray:
        return self.from_pairs(self.pairs.matrices(self.inner(state), seats, streams))

    def by_class(self, state: State, matrices: FloatArray, shares: FloatArray) -> FloatArray:
        """Mix everybody's matrices in the shares of their labels; who has none has the first."""
        n = self.to_pairs(state["said"]).sum(axis=(1, 2)).reshape(-1, self.n_kinds)
        none = n.sum(axis=1) == 0
        share = n / np.where(none, 1, n.sum(axis=1))[:, None]
        share[none, 0] = 1.0
        parts = self.to_pairs(matrices).reshape(*n.shape, *matrices.shape[1:2], -1)
        mixed = (share[:, :, None, None] * parts).sum(axis=1)
        return np.asarray(mixed.swapaxes(1, 2))

    def extra(self, state: State, drawn: Array, shares: Array, balance: Array) -> Kept:
        """Give who can do what, where kinds are known; latent ones permute from chain to chain."""
        if not self.space.known:
            return {}
        right = np.diagonal(self.to_pairs(drawn), axis1=1, axis2=2)  # (pairs, T)
        within = shares.reshape(self.n_kinds, -1)
        by_kind = right.reshape(-1, *within.shape) * within
        return {"accuracy_by_kind": by_kind.sum(axis=2)}

    def check(self, state: State) -> None:
        self.pairs.check(state)


class EasyHardPeople(People):
    """Easy items are answered from one matrix, hard ones from everybody's own.

    Psi0[t] ~ Dir(beta0 eta0[t]) for easy items, Psi[l, t] ~ Dir(beta[t] eta[t]) for hard ones.
    """

    watched: ClassVar[tuple[str, ...]] = ("n_hard",)
    dims: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "hard_share": (),
        "easy_confusion": ("true", "answer"),
        "hard_accuracy": ("annotator",),
    }

    def __init__(self, prior: EasyHardPrior, crowd: Crowd) -> None:
        kinds = np.array(prior.kind_weights)
        super().__init__(crowd, with_kinds(np.array(prior.class_weights), kinds))
        self.n_extra = 1 + crowd.n_classes * crowd.n_answers + len(crowd.n_labels)
        easy = (np.asarray(prior.easy_strength)[:, None] * prior.easy_mean).T
        hard = (np.asarray(prior.strength)[:, None] * prior.mean).T
        self.easy = OwnPeople(crowd._replace(n_labels=np.ones(1, int)), self.space, easy)
        self.hard = OwnPeople(crowd, self.space, hard)

    def parts(self, state: State) -> tuple[State, State]:
        """Count all labels of easy items together, (1, C, T), and everybody's of hard ones."""
        n, said = self.space.n_classes, state["said"]
        return {"said": said[:, :, :n].sum(axis=0, keepdims=True)}, {"said": said[:, :, n:]}

    def draw(self, state: State, rng: Generator) -> FloatArray:
        easy, hard = self.parts(state)
        return side_by_side(self.easy.draw(easy, rng), self.hard.draw(hard, rng))

    def columns(self, state: State) -> Columns:
        """Give labels of easy items one column for each class, those of hard ones everybody's."""
        easy, hard = map(OwnPeople.columns, (self.easy, self.hard), self.parts(state))
        n = len(easy.base)
        place = np.hstack([np.repeat(easy.place, len(hard.place), axis=0), n + hard.place])
        base, logs = np.append(easy.base, n + hard.base), np.vstack([easy.logs, hard.logs])
        return Columns(place, base, logs, shared=True)

    def move(self, state: State, sweep: int, rng: Generator) -> float:
        easy, hard = self.parts(state)
        return self.easy.move(easy, sweep, rng) + self.hard.move(hard, sweep, rng)

    def trace(self, state: State, log_labels: float) -> dict[str, Any]:
        n_hard = float(state["cell_total"][self.space.cell_kind == HARD].sum())
        return {**super().trace(state, log_labels), "n_hard": n_hard}

    def means(self, state: State, seats: Any) -> FloatArray:
        easy, hard = self.parts(state)
        return side_by_side(self.easy.means(easy, seats), self.hard.means(hard, seats))

    def matrices(self, state: State, seats: Any, streams: Streams) -> FloatArray:
        easy, hard = self.parts(state)
        one = self.easy.matrices(easy, seats, streams)
        return side_by_side(one, self.hard.matrices(hard, seats, streams))

    def extra(self, state: State, drawn: Array, shares: Array, balance: Array) -> Kept:
        """Give the share of hard items, the matrix of easy ones, and who is good at hard ones."""
        n, hard = self.space.n_classes, self.space.cell_kind == HARD
        right = np.diagonal(drawn[:, :, n:], axis1=1, axis2=2)
        prior = self.easy.weight / self.easy.weight.sum(axis=0)
        easy = drawn[0, :, :n].T if len(drawn) else prior.T
        return {
            "hard_share": np.array(shares[hard].sum()),
            "easy_confusion": easy,
            "hard_accuracy": (right * balance).sum(axis=1),
        }


def side_by_side(one: FloatArray, own: FloatArray) -> FloatArray:
    """Put a matrix that is everybody's before everybody's own, (annotators, C, 2 T)."""
    return np.concatenate([np.repeat(one, len(own), axis=0), own], axis=2)
