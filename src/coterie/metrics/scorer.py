"""The one scorer: every number that compares probabilities with the truth, and what it left out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from coterie.arguments import checked
from coterie.metrics.matching import (
    Labels,
    Ties,
    check_items,
    insist_on_probabilities,
    known_series,
    match_rows,
    with_plain_ids,
)
from coterie.metrics.scores import (
    BINS,
    calibration_table,
    count_by_class,
    floored_loss,
    mean_by_class,
    mean_gap,
    of_truth,
    squared_distance,
)

FLOOR = 1e-4
"""The log loss counts smaller probabilities of the truth as this one, unless told otherwise."""


@dataclass(frozen=True, eq=False, repr=False)
class Score:
    """How good labels and their probabilities are, against a truth that no model has seen.

    Parameters
    ----------
    items
        How many items were scored. Without any, every measure is NaN.
    accuracy
        Share of the items whose most probable class is the true one. If k classes are equally
        probable, the true one among them counts 1/k; with ``ties="lowest"``, only the first of
        them counts.
    balanced_accuracy
        The accuracy within each true class, averaged over the classes that occur.
    log_loss
        Mean of -log p(truth), in nats, where a probability below ``floor`` counts as ``floor``:
        one truth that was called impossible costs -log(floor), and not infinity.
    brier_score
        Mean squared distance of the probabilities from the truth, 0 (best) to 2.
    calibration_error
        Mean gap, over the items, between how sure they are and how often they are right.
    calibration
        The table behind it, one row per bin: low, high, items, confidence, accuracy; see
        :func:`coterie.metrics.reliability`.
    confusion
        Number of items by truth (rows) and label (columns); classes that tie share an item.
    right, confidence
        How far each scored item is right, 0 to 1, and how sure its label is: Series by item.
    ties, floor
        How ties were counted, and the floor of the log loss.
    n_floored
        Scored items whose truth has a probability below the floor.
    n_not_a_class
        Scored items whose true label is not among the classes, because nobody gave it: they are
        wrong, and cost the floor's log loss. They are among ``n_floored`` (unless the floor is 0).
    n_gold
        Items with a truth that are left out because their label was given to the model (gold).
    n_without_truth
        Items that are left out because their truth is not known.
    n_not_in_data
        True labels that are left out because the data have no such item.
    """

    items: int
    accuracy: float
    balanced_accuracy: float
    log_loss: float
    brier_score: float
    calibration_error: float
    calibration: pd.DataFrame
    confusion: pd.DataFrame
    right: pd.Series
    confidence: pd.Series
    ties: Ties
    floor: float
    n_floored: int
    n_not_a_class: int
    n_gold: int
    n_without_truth: int
    n_not_in_data: int

    def numbers(self) -> dict[str, Any]:
        """Give everything but the tables, under its name: numbers, and how ties were counted."""
        return {name: getattr(self, name) for name in NUMBERS}

    def __repr__(self) -> str:
        return (
            f"<Score of {self.items:,} items: accuracy {self.accuracy:.3f} (ties {self.ties}), "
            f"balanced {self.balanced_accuracy:.3f}, log loss {self.log_loss:.3f} "
            f"(floor {self.floor:g}), Brier {self.brier_score:.3f}, "
            f"calibration error {self.calibration_error:.3f}>"
        )


TABLES = ("calibration", "confusion", "right", "confidence")
NUMBERS = tuple(field.name for field in fields(Score) if field.name not in TABLES)
"""The names of :meth:`Score.numbers`."""


@checked
def score(
    probabilities: pd.DataFrame,
    truth: Labels,
    *,
    ties: Ties = "shared",
    floor: float = FLOOR,
    bins: int = BINS,
    gold: Collection[Any] = (),
) -> Score:
    """Score probabilities against the truth, whoever made them.

    :meth:`coterie.Posterior.score` does this for a result of coterie.

    Parameters
    ----------
    probabilities
        DataFrame: index item, one column per class; rows sum to one.
    truth
        Series or dict, item -> label. Only items with probabilities and a truth are scored. A true
        label that has no column is a miss; if none has, the two are written in different ways,
        which is an error.
    ties
        ``"shared"``: k equally probable classes count 1/k each, as if one were drawn, so that the
        order of the classes cannot matter. ``"lowest"``: only the first in the order of the
        columns counts, which is what the tables of the paper do.
    floor
        The log loss counts smaller probabilities of the truth as this one; 0 for none.
    bins
        Bins of the calibration table.
    gold
        Items whose label was given to the model: it is no achievement, and they are left out.

    Examples
    --------
    >>> p = pd.DataFrame({"no": [0.5, 0.2], "yes": [0.5, 0.8]}, index=["q1", "q2"])
    >>> score(p, {"q1": "no", "q2": "yes"}).accuracy
    0.75
    >>> score(p, {"q1": "no", "q2": "yes"}, ties="lowest").accuracy
    1.0
    >>> score(p, {"q1": "no", "q2": "yes", "q3": "no"}, gold=["q1"]).numbers()["n_gold"]
    1
    """
    insist_on_probabilities(probabilities)
    known, frame = known_series(truth), with_plain_ids(probabilities)
    check_items(frame.index, known.index)
    has_truth, given = frame.index.isin(known.index), frame.index.isin(list(gold))
    frame = frame[has_truth & ~given]
    matched = match_rows(frame, known.loc[frame.index], ties=ties)
    table = calibration_table(matched, bins)
    some = len(frame) > 0
    return Score(
        items=len(frame),
        accuracy=float(matched.hit.mean()) if some else np.nan,
        balanced_accuracy=mean_by_class(matched) if some else np.nan,
        log_loss=floored_loss(matched, floor) if some else np.nan,
        brier_score=squared_distance(matched) if some else np.nan,
        calibration_error=mean_gap(table),
        calibration=table,
        confusion=count_by_class(matched),
        right=pd.Series(matched.hit, index=frame.index, name="right"),
        confidence=frame.max(axis=1).rename("confidence"),
        ties=ties,
        floor=floor,
        n_floored=int((of_truth(matched) < floor).sum()),
        n_not_a_class=int((matched.truth >= frame.shape[1]).sum()),
        n_gold=int((has_truth & given).sum()),
        n_without_truth=int((~has_truth).sum()),
        n_not_in_data=len(known) - int(has_truth.sum()),
    )
