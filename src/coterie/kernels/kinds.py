"""Models whose items are of kinds: everybody has a matrix for each, or one is everybody's.

A *pair* of an annotator and a kind is, to iBCC, cBCC and hcBCC, what an annotator is without kinds:
coteries are of pairs, all of one partition, so that an expert is the same in every kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from coterie.kernels.collapsed import log_marginal
from coterie.kernels.people import (
    Crowd,
    Kept,
    People,
    Streams,
    mean_of,
    own_matrices,
)
from coterie.kernels.space import Space, with_kinds
from coterie.numeric import Array, BoolArray, FloatArray, IntArray, State
from coterie.numeric.dirichlet import canonical_groups, log_dirichlet
from coterie.priors import EasyHardPrior

EASY, HARD = 0, 1


def pairs_of(crowd: Crowd, n_kinds: int) -> Crowd:
    """Give pairs as a crowd: all pairs of an annotator with labels count as such."""
    return crowd._replace(n_labels=np.repeat(crowd.n_labels, n_kinds))


class KindsPeople(People):
    """Everybody has a matrix per kind.

    Parameters
    ----------
    crowd
        Who there is.
    space
        Cells k T + t.
    pairs
        What is believed of pairs.
    kinds
        The known kinds of the items.
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
        """Show the state as pairs have it."""
        return {**state, "said": self.to_pairs(state["said"])}

    def outer(self, state: State, inner: State) -> None:
        """Take over what has become of the pairs."""
        state |= {name: array for name, array in inner.items() if name not in COUNTS}

    def start(self, group: IntArray, rng: np.random.Generator) -> State:
        """Start all pairs of an annotator in one coterie."""
        return self.pairs.start(np.repeat(group, self.n_kinds), rng)

    def draw(self, state: State, rng: np.random.Generator) -> FloatArray:
        """Draw what is the pairs'."""
        inner = self.inner(state)
        log_chance = self.pairs.draw(inner, rng)
        self.outer(state, inner)
        return self.from_pairs(log_chance)

    def move(self, state: State, sweep: int, rng: np.random.Generator) -> float:
        """Move the pairs."""
        inner = self.inner(state)
        log_labels = self.pairs.move(inner, sweep, rng)
        self.outer(state, inner)
        return log_labels

    def log_rest(self, state: State) -> float:
        """Give that of the pairs."""
        return self.pairs.log_rest(state)

    def trace(self, state: State, log_labels: float) -> dict[str, Any]:
        """Note coteries of pairs that have labels now, and the sizes of latent kinds, sorted."""
        found = super().trace(state, log_labels)
        if self.coteries:
            found["n_coteries"] = len(np.unique(state["group"][self.spoken(self.inner(state))]))
            found["concentration"] = np.exp(state["log_concentration"][0])
        if not self.space.known:
            n = np.bincount(self.space.cell_kind, state["cell_total"], self.n_kinds)
            found["kind_total"] = -np.sort(-n)
        return found

    def spoken(self, inner: State) -> BoolArray:
        """Say which pairs have labels now."""
        return np.asarray(inner["said"].any(axis=(1, 2)))

    def seat_everybody(self, state: State, spare: np.random.Generator) -> Any:
        """Seat the pairs of those without labels too."""
        return self.pairs.seat_everybody(self.inner(state), spare)

    def notes(self, state: State, seats: Any) -> Kept:
        """Keep a partition of annotators: everybody sits where most of their labels are."""
        if not self.coteries:
            return {}
        n = self.to_pairs(state["said"]).sum(axis=(1, 2)).reshape(-1, self.n_kinds)
        seat = seats.seat.reshape(n.shape)[np.arange(len(n)), n.argmax(axis=1)]
        return {"partition": canonical_groups(seat)}

    def means(self, state: State, seats: Any) -> FloatArray:
        """Give those of the pairs, (annotators, C, K T)."""
        return self.from_pairs(self.pairs.means(self.inner(state), seats))

    def matrices(self, state: State, seats: Any, streams: Streams) -> FloatArray:
        """Draw those of the pairs."""
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

    def extra(
        self, state: State, drawn: FloatArray, shares: FloatArray, balance: FloatArray
    ) -> Kept:
        """Give who can do what, where kinds are known; latent ones permute from chain to chain."""
        if not self.space.known:
            return {}
        right = np.diagonal(self.to_pairs(drawn), axis1=1, axis2=2)  # (pairs, T)
        within = shares.reshape(self.n_kinds, -1)
        by_kind = right.reshape(-1, *within.shape) * within
        return {"accuracy_by_kind": by_kind.sum(axis=2)}

    def check(self, state: State) -> None:
        """Raise ValueError unless pairs can be so."""
        self.pairs.check(state)


COUNTS = ("said", "cell_total")


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
        self.easy, self.hard = easy, (np.asarray(prior.strength)[:, None] * prior.mean).T

    def parts(self, state: State) -> tuple[Array, Array]:
        """Give all labels of easy items together, (1, C, T), and everybody's of hard ones."""
        n = self.space.n_classes
        return state["said"][:, :, :n].sum(axis=0, keepdims=True), state["said"][:, :, n:]

    def draw(self, state: State, rng: np.random.Generator) -> FloatArray:
        """Draw both."""
        easy, hard = self.parts(state)
        one = log_dirichlet(easy + self.easy, rng, 1, np.log(self.easy))
        log_chance, heard = np.zeros(state["said"].shape), self.crowd.heard
        log_chance[:, :, : one.shape[2]] = one
        own = log_dirichlet(hard[heard] + self.hard, rng, 1, np.log(self.hard))
        log_chance[heard, :, one.shape[2] :] = own
        return log_chance

    def move(self, state: State, sweep: int, rng: np.random.Generator) -> float:
        """Nobody belongs with anybody."""
        easy, hard = self.parts(state)
        return log_marginal(easy, self.easy) + log_marginal(hard[self.crowd.heard], self.hard)

    def n_hard(self, state: State) -> float:
        """Count hard items."""
        return float(state["cell_total"][self.space.cell_kind == HARD].sum())

    def trace(self, state: State, log_labels: float) -> dict[str, Any]:
        """Note also how many items are hard."""
        return {**super().trace(state, log_labels), "n_hard": self.n_hard(state)}

    def means(self, state: State, seats: Any) -> FloatArray:
        """Give the mean of one matrix for easy items, of everybody's own for hard ones."""
        easy, hard = self.parts(state)
        one = mean_of(easy, self.easy, np.log(self.easy))
        own = mean_of(hard, self.hard, np.log(self.hard))
        return np.concatenate([np.repeat(one, len(own), axis=0), own], axis=2)

    def matrices(self, state: State, seats: Any, streams: Streams) -> FloatArray:
        """Draw them."""
        easy, hard = self.parts(state)
        one = np.exp(log_dirichlet(easy + self.easy, streams.draws, 1, np.log(self.easy)))
        weight = np.broadcast_to(self.hard, hard.shape)
        own = own_matrices(hard, weight, np.log(weight), self.crowd.heard, streams)
        return np.concatenate([np.repeat(one, len(own), axis=0), own], axis=2)

    def extra(
        self, state: State, drawn: FloatArray, shares: FloatArray, balance: FloatArray
    ) -> Kept:
        """Give the share of hard items, the matrix of easy ones, and who is good at hard ones."""
        n, hard = self.space.n_classes, self.space.cell_kind == HARD
        right = np.diagonal(drawn[:, :, n:], axis1=1, axis2=2)
        easy = drawn[0, :, :n].T if len(drawn) else (self.easy / self.easy.sum(axis=0)).T
        return {
            "hard_share": np.array(shares[hard].sum()),
            "easy_confusion": easy,
            "hard_accuracy": (right * balance).sum(axis=1),
        }
