"""What a result says of labels that it has not seen: the posterior predictive, item by item.

Given the annotators' matrices Psi and the class balance pi, the labels of one item are independent
but for what annotators share, which tempers them as in the fit. Averaged over draws,

    p(t | labels) in proportion to E[ pi[t]  prod over labels (l, c) of Psi[l, t, c]^tau(n) ],

with tau(n) = 1 / (1 + rho (n - 1)) for n labels of the item. An item of the run starts from what
the run says of it instead of pi; a new one is mixed with its votes as the model's reports are
(:mod:`coterie.kernels.vote`). Nothing is learnt about people from the new labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data.annotations import Annotations
from coterie.data.frames import table
from coterie.data.table import look_up
from coterie.errors import Argument, CoterieError, DataError, DataWarning
from coterie.kernels.vote import mix, tempering
from coterie.posterior.items import runners_up

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior

FloatArray = NDArray[np.float64]

LEAST = 1e-12
"""No answer is impossible: probabilities are this at least."""
ROOM = 4_000_000
"""Numbers that are worked on at once."""


class Crowd(NamedTuple):
    """How everybody answers, and how often the classes are, in every draw."""

    log_matrix: NDArray[np.floating[Any]]  # (draws, annotators, classes, answers)
    log_newcomer: FloatArray  # (draws, classes, answers)   somebody of whom nothing is known
    log_balance: FloatArray  # (draws, classes)


class New(NamedTuple):
    """New labels in the codes of the run."""

    annotations: Annotations
    item: NDArray[Any]  # (items,)    place among the run's items, or -1
    annotator: NDArray[Any]  # (labels,)   place among the run's annotators, or -1
    answer: NDArray[Any]  # (labels,)


@table
def predict(self: Posterior, /, more: Any, **reading: Any) -> pd.DataFrame:
    """Say what items are by labels that the result has not seen, without fitting again.

    Annotators of the run answer as their matrices say, in every draw; anybody else as all
    annotators do on average. An item of the run starts from its probabilities there, a new one
    from the class balance; labels are tempered, and mixed with the vote, as in the fit. Each
    item is looked at alone: nothing is learnt about people from the new labels. For that, fit
    again with all of them.

    Parameters
    ----------
    more
        New labels: whatever :func:`coterie.read` takes, with answers that the run knows.
    reading
        Options of :func:`coterie.read`: ``item=``, ``annotator=``, ``label=``, ...

    Returns
    -------
    DataFrame
        One row per item of ``more``: item, label, probability, entropy, n_labels, n_newcomers
        (labels by annotators whom the run does not know), runner_up, and ``p(class)`` of every
        class.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=60, annotators=9, random_state=0)
    >>> posterior = coterie.DawidSkene().fit(crowd.annotations).posterior_
    >>> more = [("new", "a1", "a"), ("new", "a2", "a"), ("new", "nobody", "b")]
    >>> posterior.predict(more)[["item", "label", "n_labels", "n_newcomers"]]
      item label  n_labels  n_newcomers
    0  new     a         3            1
    """
    if not self.abilities.accuracies:
        raise CoterieError(
            f"{self.model} weighs everybody alike and can say nothing of new labels; fit a "
            "model that weighs, such as Consensus"
        )
    if self.mixing.skill_share > 0:
        raise CoterieError(
            f"{self.model} reports a share of a skill model, of which a result keeps no skills"
            " to weigh new labels by",
            remedy=["fit all labels together, or with ", Argument("skill_share", 0)],
        )
    new = read_more(self.annotations, more, reading)
    p = probabilities(self, new)
    a, labels = self.annotations, new.annotations
    chosen = p.argmax(axis=1)
    starts = np.repeat(np.arange(labels.n_items), labels.labels_per_item)
    return pd.DataFrame(
        {
            "item": labels.items,
            "label": a.classes[chosen],
            "probability": p.max(axis=1),
            "entropy": np.abs((p * np.log(np.maximum(p, LEAST))).sum(axis=1)),
            "n_labels": labels.labels_per_item,
            "n_newcomers": np.bincount(starts, new.annotator < 0, labels.n_items).astype(int),
            "runner_up": runners_up(p, chosen, a.classes),
            **{f"p({word})": p[:, t] for t, word in enumerate(a.classes)},
        }
    )


def read_more(a: Annotations, more: Any, reading: dict[str, Any]) -> New:
    """Give new labels in the codes of a run; an answer that it does not know is a DataError."""
    if not isinstance(more, Annotations):
        from coterie.io.read import read

        words = {"classes": a.classes.tolist(), "extra_answers": a.extra_answers.tolist() or None}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # one item, one annotator: as it should be
            more = read(more, **words, **reading)
    answer = look_up(more.answers, a.answers)[more.codes.item_answer]
    if (answer < 0).any():
        word = more.answers[more.codes.item_answer[np.argmax(answer < 0)]]
        known = ", ".join(map(repr, a.answers.tolist()[:8]))
        raise DataError(
            f"the new labels hold {word!r}, which is no answer of this run ({known}); write it as "
            "there, or fit again with all labels"
        )
    annotator = look_up(more.annotators, a.annotators)[more.codes.item_annotator]
    return New(more, look_up(more.items, a.items), annotator, answer)


def probabilities(posterior: Posterior, new: New) -> FloatArray:
    """Give the probabilities of the new labels' items, shape (items, classes)."""
    a, labels = posterior.annotations, new.annotations
    crowd, known = crowd_of(posterior), new.item >= 0
    before = np.where(known, a.labels_per_item[new.item], 0)
    tau = tempering(before + labels.labels_per_item, posterior.mixing.overlap)
    found = np.empty((labels.n_items, a.n_classes))
    for some in blocks(labels, crowd.log_matrix.shape[0] * a.n_classes):
        start = np.broadcast_to(
            crowd.log_balance, (some.stop - some.start, *crowd.log_balance.shape)
        )
        own = np.log(np.maximum(posterior.item_probability[new.item[some]], LEAST))
        start = np.where(known[some, None, None], own[:, None], start)
        evidence = log_evidence(crowd, new, some) * tau[some, None, None]
        joint = start + evidence  # log p(t, labels) in each draw, (items, draws, classes)
        joint = np.exp(joint - joint.max(axis=(1, 2), keepdims=True)).mean(axis=1)
        found[some] = joint / joint.sum(axis=1, keepdims=True)
    votes = np.zeros((labels.n_items, a.n_answers), np.int32)
    np.add.at(votes, (labels.item_of_label, new.answer), 1)
    as_is = known | (labels.labels_per_item == 0)
    mixed = mix(found, votes[:, : a.n_classes], posterior.mixing)
    found = np.where(as_is[:, None], found, mixed)
    gold = look_up(labels.classes, a.classes)[labels.codes.gold]
    sure = (labels.codes.gold >= 0) & (gold >= 0)
    found[sure] = np.eye(a.n_classes)[gold[sure]]
    return found


def crowd_of(posterior: Posterior) -> Crowd:
    """Give everybody's matrices, as they are in the draws; a newcomer answers as all do."""
    a, balance = posterior.annotations, posterior.class_balance[None]
    matrix: NDArray[np.floating[Any]] = posterior.confusion_mean[None]
    if posterior.abilities.uncertainty:
        draws = posterior.require_draws("matrices")
        matrix, balance = draws.matrices, draws.balances
    heard = a.labels_per_annotator > 0
    newcomer = matrix[:, heard].mean(axis=1, dtype=np.float64)
    return Crowd(*(np.log(np.maximum(x, LEAST)) for x in (matrix, newcomer, balance)))


def blocks(labels: Annotations, per_label: int) -> Iterator[slice]:
    """Cut the items into parts whose labels take a limited room."""
    most = max(1, ROOM // max(per_label, 1))
    starts = labels.codes.item_start
    first = 0
    while first < labels.n_items:
        last = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
        last = min(max(last, first + 1), first + most, labels.n_items)
        yield slice(first, last)
        first = last


def log_evidence(crowd: Crowd, new: New, some: slice) -> FloatArray:
    """Give the log probability of the labels of some items, shape (items, draws, classes)."""
    start = new.annotations.codes.item_start[some.start : some.stop + 1]
    part = slice(int(start[0]), int(start[-1]))
    who, what = new.annotator[part], new.answer[part]
    known = crowd.log_matrix[:, who, :, what]  # (labels, draws, classes)
    newcomers = crowd.log_newcomer[:, :, what].transpose(2, 0, 1)
    each = np.where((who < 0)[:, None, None], newcomers, known)
    summed = np.zeros((some.stop - some.start, *each.shape[1:]))
    np.add.at(summed, np.repeat(np.arange(len(summed)), np.diff(start)), each)
    return summed
