"""The default in one line: from labels, of whatever kind, to a posterior; and what gold says of it.

Gold measures: every known item is predicted without its own gold, and set against what was claimed.
"""

from __future__ import annotations

import copy
import inspect
import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.arguments import checked
from coterie.data.annotations import Annotations
from coterie.errors import Argument, CoterieWarning, DataError
from coterie.io.read import read
from coterie.io.scan.scanned import Scan
from coterie.metrics.matching import best_shares
from coterie.metrics.scores import chance_interval
from coterie.models.base import Estimator
from coterie.models.registry import DEFAULT, make_model
from coterie.posterior import Posterior
from coterie.words.numbers import typed_percent
from coterie.words.values import did_you_mean, join

READING = inspect.signature(read).parameters.keys() - {"source"}
BOTH = ("duplicates",)
"""What reading and fitting must agree on."""
FOLDS = 5
SURPRISE = 1.96
"""Standard deviations beyond which claimed and right differ by more than chance."""
PRECISION = 0.03
"""Half the width of the interval that pins a share of right labels down."""
TEMPERATURES = (0.25, 50.0)
SMALLEST = 1e-12

FloatArray = NDArray[np.float64]


@checked
def aggregate(
    labels: Any, *, model: str | Estimator = DEFAULT, random_state: int | None = 0, **options: Any
) -> Posterior:
    """Turn labels into a consensus: what ``coterie aggregate`` does, in Python.

    Parameters
    ----------
    labels
        Whatever :func:`coterie.read` takes: a file, a dataframe, triples; or Annotations, or
        what :func:`coterie.scan` gives.
    model
        A model by its short name; by default ``"consensus"``, :class:`coterie.Consensus`. Or an
        estimator, whose settings are taken.
    random_state
        Seed: the same seed, the same result. An estimator has its own.
    **options
        Settings of the model, such as ``chains=8`` or, of the vote, ``probabilities="shares"``;
        and options of :func:`coterie.read`: ``item=``, ``annotator=``, ``label=``, ``gold=``,
        ``classes=``, ``extra_answers=``, ``duplicates=``, and of exports ``question=`` and more.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> posterior = coterie.aggregate(crowd.annotations.to_frame())
    >>> posterior.labels().columns.tolist()
    ['item', 'label', 'probability', 'entropy', 'n_labels', 'runner_up', 'hardness']
    >>> shares = coterie.aggregate(crowd.annotations, model="majority", probabilities="shares")
    >>> shares.probabilities().iloc[0].round(2).tolist()
    [0.0, 0.5, 0.5]
    """
    if isinstance(model, Estimator):
        estimator, name_of = copy.deepcopy(model), type(model).__name__
    else:
        estimator, name_of = make_model(model, random_state=random_state), repr(model)
    settings = {name: options[name] for name in options.keys() & estimator.get_params().keys()}
    reading = {name: options[name] for name in options if name not in settings or name in BOTH}
    for name in reading.keys() - READING:
        every = sorted(READING | estimator.get_params().keys())
        raise DataError(
            f"aggregate(model={name_of}) takes no {name}=...{did_you_mean(name, every)}",
            argument=name,
            remedy=f"settings of this model are {join(list(estimator.get_params()))}",
        )
    if isinstance(labels, Annotations | Scan) and not reading:
        known: Annotations | Scan = labels
    else:
        known = read(labels, **reading)
    return estimator.set_params(**settings).fit(known).posterior_


@dataclass(frozen=True, eq=False)
class GoldCheck:
    """How far probabilities hold on items whose label is known, each predicted without it.

    Parameters
    ----------
    table
        One row per known item: item, truth, label, probability (claimed), right: 0 or 1, and 1/k
        where k classes tie and the truth is one of them, as in :meth:`coterie.Posterior.score`.
    claimed, right
        Mean probability of the labels, and the share that is right.
    low, high
        The 95 % interval of that share.
    surprise
        How many standard deviations right lies from claimed, were the probabilities true.
    temperature
        The power 1 / temperature of the probabilities fits the known items best: above 1 they were
        too sure, below 1 too careful.
    more
        How many more known items would pin the share of right labels down to 3 points.
    """

    table: pd.DataFrame
    claimed: float
    right: float
    low: float
    high: float
    surprise: float
    temperature: float
    more: int

    @property
    def significant(self) -> bool:
        """Whether claimed and right differ by more than chance."""
        return abs(self.surprise) > SURPRISE

    @property
    def reversed(self) -> bool:
        """Whether fewer labels are right than would be of an even guess between two."""
        return self.significant and self.high < 0.5 < self.claimed

    @property
    def sentence(self) -> str:
        """What it says, for a person."""
        known = f"{len(self.table):,} known items, each predicted without its own gold"
        found = f"claimed {typed_percent(self.claimed)}, right {typed_percent(self.right)}"
        reach = f"95 % interval {100 * self.low:.0f} to {100 * self.high:.0f} %"
        kind = "too sure" if self.surprise < 0 else "too careful"
        verdict = "no more than chance apart"
        if self.reversed:
            verdict = (
                "most labels are wrong, which no recalibration mends: the crowd answers against "
                "the gold, or classes have changed places; give more gold, and check how it is "
                "written"
            )
        elif self.significant:
            verdict = (
                f"the probabilities are {kind} (temperature {self.temperature:.2f} would mend them)"
            )
        more = f"; {self.more:,} more known items would tell to 3 points" if self.more else ""
        return f"{found} on {known} ({reach}): {verdict}{more}."

    def numbers(self) -> dict[str, Any]:
        """Give everything but the table."""
        names = ("claimed", "right", "low", "high", "surprise", "temperature", "more")
        return {"items": len(self.table), **{name: getattr(self, name) for name in names}}

    def noted_in(self, posterior: Posterior) -> Posterior:
        """Give the result with the check noted in its ``run``, where the report finds it."""
        told = ("sentence", "significant", "reversed")
        noted = {**self.numbers(), **{name: getattr(self, name) for name in told}}
        return replace(posterior, run={**posterior.run, "gold_check": noted})

    def recalibrate(self, posterior: Posterior) -> Posterior:
        """Give a result with probabilities to the power 1 / temperature; gold stays certain.

        Labels do not change. ``probabilities(raw=True)`` still gives the model's own.
        """
        own = posterior.raw_probability
        return replace(
            posterior,
            item_probability=tempered(posterior.item_probability, self.temperature),
            raw_probability=posterior.item_probability if own is None else own,
            run={**posterior.run, "recalibrated": self.temperature},
        )


@checked
def check_gold(
    labels: Any,
    model: Estimator | str = DEFAULT,
    *,
    folds: int = FOLDS,
    random_state: int = 0,
    **reading: Any,
) -> GoldCheck:
    """Hide the known labels in turns, fit without them, and see how far what is claimed holds.

    Parameters
    ----------
    labels
        Annotations with gold, or whatever :func:`coterie.read` takes, with ``gold=``.
    model
        An estimator, or the short name of one.
    folds
        In how many turns: the model is fitted so many times, each time with a share of the gold
        hidden.
    random_state
        Seed of the folds, and of a model that is given by name.
    **reading
        Options of :func:`coterie.read`.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=200, annotators=20, random_state=0)
    >>> known = crowd.truth.iloc[:60]
    >>> check = check_gold(crowd.annotations, "quick", gold=known)
    >>> round(check.claimed, 2), round(check.right, 2), check.significant
    (0.78, 0.97, True)

    Simulated annotators share no mistakes; on real data such care is needed.
    """
    annotations = read(labels, **reading)
    made = make_model(model, random_state=random_state) if isinstance(model, str) else model
    held = hidden_probabilities(annotations, made, folds, np.random.default_rng(random_state))
    return compare(annotations, *held)


def hidden_probabilities(
    annotations: Annotations, model: Estimator, folds: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], FloatArray]:
    """Give the known items that have labels, and their probabilities without their own gold."""
    gold = annotations.codes.gold
    known = known_places(annotations, folds)
    found = np.zeros((len(known), annotations.n_classes))
    for fold in np.array_split(rng.permutation(len(known)), min(folds, len(known))):
        hidden = gold.copy()
        hidden[known[fold]] = -1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CoterieWarning)
            fitted = copy.deepcopy(model).fit(annotations.with_gold_codes(hidden))
        found[fold] = fitted.posterior_.item_probability[known[fold]]
    return known, found


def known_places(annotations: Annotations, folds: int = FOLDS) -> NDArray[np.int64]:
    """Give the places of the known items that have labels; say so if they are too few to check."""
    (known,) = np.nonzero((annotations.codes.gold >= 0) & (annotations.labels_per_item > 0))
    if len(known) < 2 or folds < 2:
        raise DataError(
            f"a check by gold needs two known items with labels and two folds, got {len(known):,} "
            f"and {folds}",
            remedy=["pass ", Argument("gold"), " with known labels of some items"],
        )
    return np.asarray(known)


def compare(
    annotations: Annotations, known: NDArray[np.int64], probability: FloatArray
) -> GoldCheck:
    """Set what was claimed of known items against what is so."""
    truth = annotations.codes.gold[known].astype(np.int64)
    label, sure = probability.argmax(axis=1), probability.max(axis=1)
    part = best_shares(probability)
    hit = part[np.arange(len(truth)), truth]
    right = float(hit.mean())
    share = pd.DataFrame({"items": [len(hit)], "accuracy": [right]})
    (low,), (high,) = chance_interval(share)
    # Of k classes that tie one holds with probability k * sure, and then 1 / k is right.
    spread = math.sqrt(max(float((sure * (part.max(axis=1) - sure)).sum()), SMALLEST))
    # Half a label on either side: a perfect score of few items is no certainty.
    smooth = (hit.sum() + 0.5) / (len(hit) + 1)
    wanted = math.ceil(SURPRISE**2 * smooth * (1 - smooth) / PRECISION**2)
    return GoldCheck(
        table=pd.DataFrame(
            {
                "item": annotations.items[known],
                "truth": annotations.classes[truth],
                "label": annotations.classes[label],
                "probability": sure,
                "right": hit,
            }
        ),
        claimed=float(sure.mean()),
        right=right,
        low=float(low),
        high=float(high),
        surprise=float(hit.sum() - sure.sum()) / spread,
        temperature=best_temperature(probability, truth),
        more=max(0, wanted - len(hit)),
    )


def tempered(probability: FloatArray, temperature: float) -> FloatArray:
    """Give probabilities to the power 1 / temperature, rows summing to one; 0 and 1 stay.

    Examples
    --------
    >>> tempered(np.array([[0.9, 0.1], [1.0, 0.0]]), 2.0).round(2).tolist()
    [[0.75, 0.25], [1.0, 0.0]]
    """
    power = probability ** (1 / temperature)
    return np.asarray(power / power.sum(axis=1, keepdims=True))


def best_temperature(probability: FloatArray, truth: NDArray[np.int64]) -> float:
    """Find the temperature with the lowest log loss, between a quarter and fifty."""
    from scipy.optimize import minimize_scalar

    rows = np.arange(len(truth))

    def loss(log_temperature: float) -> float:
        p = tempered(probability, math.exp(log_temperature))[rows, truth]
        return float(-np.log(np.maximum(p, SMALLEST)).mean())

    low, high = map(math.log, TEMPERATURES)
    return math.exp(minimize_scalar(loss, bounds=(low, high), method="bounded").x)
