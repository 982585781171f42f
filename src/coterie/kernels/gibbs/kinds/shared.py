"""What the models with kinds share: pairs of annotator and kind, the kinds of items, draws."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.cells.space import Space, independent_space, known_space
from coterie.kernels.cells.state import NOWHERE, draw_kinds
from coterie.kernels.keep import Keep, Streams
from coterie.kernels.layout import Layout, PerDraw, PerItem, PerSweep
from coterie.kernels.record import Trace
from coterie.numeric.draws import draw_dirichlet
from coterie.numeric.jit import part, piece

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


class Kinds(NamedTuple):
    """Which kinds there are, and what is known of the items'."""

    n_kinds: int
    known: IntArray  # (items,)   a kind each; empty: all are latent
    weight: float  # w, shared evenly by latent kinds


NO_KINDS = Kinds(1, NOWHERE, 1.0)


class Mixing(NamedTuple):
    """Room to mix the matrices of an annotator's pairs."""

    matrices: FloatArray  # (pairs, classes, answers)
    balance: FloatArray  # (kinds, classes)
    totals: FloatArray  # (kinds,)   for sorting
    seat: IntArray  # (annotators,)   of their main pair


def space_of(class_weight: FloatArray, kinds: Kinds) -> Space:
    """Give the cells k T + t: latent kinds are drawn, known ones have a class balance each."""
    if len(kinds.known):
        return known_space(class_weight, kinds.n_kinds)
    weight = np.full(kinds.n_kinds, kinds.weight / kinds.n_kinds)
    return independent_space(class_weight, weight)


def with_kinds(prior: Any, kinds: Kinds) -> dict[str, Any]:
    """Give the fields of a base model's packed prior, and those of the kinds."""
    return {"kinds": kinds, "space": space_of(prior.class_weight, kinds), **prior._asdict()}


def pair_codes(data: Codes, n_kinds: int) -> Codes:
    """Give codes whose annotators are pairs, each as large as its annotator: for sizes only.

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> data = encode([0, 1], [0, 0], [0, 1], sizes=(2, 2, 2, 2))
    >>> np.diff(pair_codes(data, 2).annotator_start)
    array([2, 2, 0, 0])
    """
    sizes = np.repeat(np.diff(data.annotator_start), n_kinds)
    return data._replace(annotator_start=np.concatenate([[0], np.cumsum(sizes)]))


def starting_kinds(data: Codes, kinds: Kinds, rng: np.random.Generator) -> IntArray:
    """Give a kind to every item, shape (N,): the known one, or one drawn evenly."""
    if len(kinds.known):
        return kinds.known
    return draw_kinds(data, kinds.n_kinds, rng)


def layout_of(data: Codes, prior: Any) -> Layout:
    """Say what is recorded: of latent kinds their probabilities, of known ones who can do what.

    Latent kinds permute from chain to chain, so that nothing is kept of people by kind.
    """
    kinds: Kinds = prior.kinds
    n_annotators = len(data.annotator_start) - 1
    if not len(kinds.known):
        names = tuple(str(k + 1) for k in range(kinds.n_kinds))
        return Layout(
            per_sweep=(PerSweep("kind_total", kinds.n_kinds),), per_item=(PerItem("kind", names),)
        )
    shape, dims = (n_annotators, kinds.n_kinds), ("annotator", "kind")
    return Layout(per_draw=(PerDraw("accuracy_by_kind", shape, dims),))


@piece
def note_kinds(
    sweep: int, chosen: LongArray, kinds: Kinds, totals: FloatArray, trace: Trace
) -> None:
    """Write how many items are of each latent kind, the largest first: kinds permute."""
    if len(kinds.known) > 0:
        return
    n, n_classes = kinds.n_kinds, len(chosen) - kinds.n_kinds
    for k in range(n):
        totals[k] = chosen[n_classes + k]
    for j in range(1, n):  # a handful: by insertion
        k = j
        while k > 0 and totals[k - 1] < totals[k]:
            totals[k - 1], totals[k] = totals[k], totals[k - 1]
            k -= 1
    for k in range(n):
        trace.per_sweep[sweep, k] = totals[k]


@piece
def count_pair(p: int, said: IntArray) -> int:
    """Count the labels of pair p, said of shape (pairs, answers, classes)."""
    total = 0
    for c in range(said.shape[1]):
        for t in range(said.shape[2]):
            total += said[p, c, t]
    return total


@part
def find_main_pairs(seat: IntArray, own: IntArray, n_kinds: int, mixing: Mixing) -> None:
    """Seat every annotator where most of their labels are, as pairs sit, seat (pairs,)."""
    for l in range(len(mixing.seat)):
        most, main = -1, l * n_kinds
        for p in range(l * n_kinds, (l + 1) * n_kinds):
            n = count_pair(p, own)
            if n > most:
                most, main = n, p
        mixing.seat[l] = seat[main]


@piece
def pair_share(p: int, own: IntArray, n_kinds: int) -> float:
    """Give the share of the annotator's labels that pair p has; the first has all of none."""
    first, total = p - p % n_kinds, 0
    for other in range(first, first + n_kinds):
        total += count_pair(other, own)
    if total == 0:
        return 1.0 if p == first else 0.0
    return count_pair(p, own) / total


@piece
def keep_mixture(
    own: IntArray, state: Any, prior: Any, streams: Streams, mixing: Mixing, keep: Keep
) -> None:
    """Keep the class balance and everybody's matrix; own counts what the pairs said."""
    draw_balances(
        state.class_total, state.chosen, prior.class_weight, prior.kinds, streams.draws,
        mixing, keep.class_balance[keep.used[2]],
    )  # fmt: skip
    mix_matrices(own, prior.kinds, mixing, keep)


@part
def draw_balances(
    class_total: LongArray,
    chosen: LongArray,
    class_weight: FloatArray,
    kinds: Kinds,
    rng: np.random.Generator,
    mixing: Mixing,
    out: FloatArray,
) -> None:
    """Draw the class balance of every kind, and write that of all items to ``out``, shape (T,)."""
    n_classes = len(class_weight)
    known = len(kinds.known) > 0
    n_items = 0
    for t in range(n_classes):
        n_items += class_total[t]
        out[t] = 0.0
    for k in range(kinds.n_kinds if known else 1):
        n_of_kind = 0
        for t in range(n_classes):
            n = chosen[k * n_classes + t]  # latent kinds: the first choice is of the class
            n_of_kind += n
            mixing.balance[k, t] = n + class_weight[t]
        draw_dirichlet(mixing.balance[k], rng)
        share = n_of_kind / n_items if n_items > 0 else 1.0 / kinds.n_kinds
        for t in range(n_classes):
            out[t] += (share if known else 1.0) * mixing.balance[k, t]


@part
def mix_matrices(own: IntArray, kinds: Kinds, mixing: Mixing, keep: Keep) -> None:
    """Mix the drawn matrices of everybody's pairs, in the shares of their labels."""
    out, extra = keep.confusion[keep.used[2]], keep.per_draw[keep.used[2]]
    _, n_classes, n_answers = mixing.matrices.shape
    for l in range(len(out)):
        for k in range(kinds.n_kinds):
            p = l * kinds.n_kinds + k
            share, accuracy = pair_share(p, own, kinds.n_kinds), 0.0
            for t in range(n_classes):
                accuracy += mixing.balance[k, t] * mixing.matrices[p, t, t]
                for c in range(n_answers):
                    before = out[l, t, c] if k > 0 else 0.0
                    out[l, t, c] = before + share * mixing.matrices[p, t, c]
            if len(kinds.known) > 0:
                extra[p] = accuracy


def new_mixing(data: Codes, n_kinds: int) -> Mixing:
    """Give room to mix."""
    n_annotators = len(data.annotator_start) - 1
    return Mixing(
        np.zeros((n_annotators * n_kinds, data.n_classes, data.n_answers)),
        np.zeros((n_kinds, data.n_classes)),
        np.zeros(n_kinds),
        np.zeros(n_annotators, np.int32),
    )
