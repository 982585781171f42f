"""A crowd: who is in it, what they say, and what only a simulation knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from coterie.data.annotations import Annotations

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class HardItems(NamedTuple):
    """Items that are answered by guesses, whoever answers and whatever is true."""

    share: FloatArray  # (kinds,)     of the items, sums to one
    guessing: FloatArray  # (kinds,)     share of guesses on items of each kind
    guess: FloatArray  # (answers,)   what a guess is, sums to one


class ItemKinds(NamedTuple):
    """Kinds of items, each answered by other matrices."""

    names: tuple[str, ...]
    share: FloatArray  # (kinds,)   of the items, sums to one
    confusion: FloatArray  # (kinds, annotators, classes, answers)


class People(NamedTuple):
    """The annotators of a crowd, and the classes its items are drawn from."""

    groups: list[str] | list[int]  # one name or number per annotator
    confusion: FloatArray  # (annotators, classes, answers), rows sum to one
    balance: FloatArray  # (classes,), sums to one
    hard: HardItems | None = None  # None: no item is hard
    copies: tuple[IntArray, FloatArray] | None = None  # who is copied, -1 for nobody; how often
    kinds: ItemKinds | None = None  # None: all items are answered alike
    turn: tuple[FloatArray, FloatArray] | None = None  # matrices before and after one's middle


@dataclass(frozen=True, eq=False, repr=False)
class Crowd:
    """Annotations whose truth is known. Made by :func:`coterie.simulate`.

    Parameters
    ----------
    annotations
        Who said what about which item; no gold labels.
    truth
        Series item -> label.
    groups
        Series annotator -> group: a name in the named crowds, a number in prior draws.
    confusion
        Every annotator's true matrix, shape (annotators, classes, answers): the rows are the true
        classes and sum to one.
    copied
        Series annotator -> the annotator whose answers are copied; missing for who copies nobody.
    kinds
        Series item -> kind, in crowds whose items have kinds.

    Examples
    --------
    >>> from coterie.simulation import simulate
    >>> simulate("mixed", random_state=0)
    <Crowd: 300 items x 30 annotators, 1,800 labels, 3 classes, 80.0 % missing;
    groups: novice 11, expert 8, spammer 6, biased 4, adversary 1>
    """

    annotations: Annotations
    truth: pd.Series
    groups: pd.Series
    confusion: FloatArray
    copied: pd.Series | None = None
    kinds: pd.Series | None = None

    def __post_init__(self) -> None:
        self.confusion.setflags(write=False)

    def __repr__(self) -> str:
        sizes = self.groups.value_counts()
        if len(sizes) <= 8 and isinstance(sizes.index[0], str):
            groups = "groups: " + ", ".join(f"{name} {size}" for name, size in sizes.items())
        else:  # numbers say nothing
            groups = f"{len(sizes)} group{'s' if len(sizes) > 1 else ''}"
        return f"<Crowd: {self.annotations.describe()}; {groups}>"


def draw_log_dirichlet(shape: ArrayLike, rng: np.random.Generator) -> FloatArray:
    """Draw log p, p ~ Dir(shape[..., :]), for each leading index.

    Gamma draws of small shape underflow (Gamma(0.001) is 0 in half of all draws), so they are
    drawn as logarithms: Gamma(s) = Gamma(s + 1) * U^(1/s).
    """
    shape = np.asarray(shape, np.float64)
    log_u = -rng.standard_exponential(shape.shape)
    with np.errstate(divide="ignore", over="ignore"):
        log_gamma = np.log(rng.standard_gamma(shape + 1)) + log_u / shape
    log_p: FloatArray = log_gamma - logsumexp(log_gamma, axis=-1, keepdims=True)
    return log_p


def draw_dirichlet(shape: ArrayLike, rng: np.random.Generator) -> FloatArray:
    """Draw p ~ Dir(shape[..., :]) for each leading index; the shape of the result is the same."""
    return np.exp(draw_log_dirichlet(shape, rng))


def draw_answers(
    confusion: FloatArray, annotator: IntArray, truth: IntArray, rng: np.random.Generator
) -> IntArray:
    """Draw each label's answer from its annotator's row of the truth, shape (labels,)."""
    below = np.cumsum(confusion, axis=2)
    u = rng.random(len(annotator))
    answer = np.zeros(len(annotator), np.int64)
    # A loop over answers: one column in memory at a time, not labels x answers.
    for c in range(confusion.shape[2] - 1):
        answer += u >= below[annotator, truth, c]
    return answer


def copy_answers(
    labels: tuple[IntArray, IntArray, IntArray],
    truth: IntArray,
    people: People,
    rng: np.random.Generator,
) -> IntArray:
    """Put what the source says, or would say, in place of own answers, shape (labels,).

    ``labels`` are the item, annotator and own answer of each; ``truth`` is that of each item.
    """
    item, annotator, answer = labels
    assert people.copies is not None
    source, share = people.copies
    copied = rng.random(len(answer)) < share[annotator]
    for s in np.unique(source[source >= 0]):
        said = draw_answers(people.confusion, np.full(len(truth), s), truth, rng)
        given = annotator == s
        said[item[given]] = answer[given]
        answer = np.where(copied & (source[annotator] == s), said[item], answer)
    return answer


def answer_by_kind(
    kinds: ItemKinds, label: tuple[IntArray, IntArray], truth: IntArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw the kind of every item, shape (items,), and every answer, shape (labels,)."""
    item, annotator = label
    kind = rng.choice(len(kinds.share), size=len(truth), p=kinds.share)
    answer = np.zeros(len(item), np.int64)
    for k, confusion in enumerate(kinds.confusion):
        of_kind = kind[item] == k
        who, what = annotator[of_kind], truth[item[of_kind]]
        answer[of_kind] = draw_answers(confusion, who, what, rng)
    return kind, answer


def answer_in_turn(
    people: People, label: tuple[IntArray, IntArray], truth: IntArray, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Draw when every label is given, a step each in random order, and the answers."""
    assert people.turn is not None
    item, annotator = label
    order = rng.permutation(len(item))
    by_person = order[np.argsort(annotator[order], kind="stable")]
    n = np.bincount(annotator, minlength=len(people.confusion))
    start = np.concatenate([[0], np.cumsum(n)])
    time = np.empty(len(item))
    time[by_person] = np.arange(len(item)) - start[annotator[by_person]]
    before, after = (draw_answers(one, annotator, truth[item], rng) for one in people.turn)
    return time, np.where(time >= n[annotator] / 2, after, before)
