"""One job, one model on one data set: read, fit, score; what goes wrong is an outcome too."""

from __future__ import annotations

import copy
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie import metrics
from coterie.errors import CoterieError, CoterieWarning, DataWarning
from coterie.io import read, read_truth
from coterie.metrics.matching import match_probabilities
from coterie.models.base import Estimator
from coterie.posterior import Posterior
from coterie.studies.league.lineup import set_known
from coterie.studies.league.sources import Source

FLOOR = 1e-6
"""The log loss counts smaller probabilities of the truth as this one."""

Status = Literal["ok", "no truth", "error", "timeout", "memory", "crash"]

_TRIPLES = [("1", "a", "no"), ("1", "b", "yes"), ("2", "a", "yes"), ("2", "b", "yes")]


@dataclass(frozen=True)
class Job:
    """A model, under its name, and the data set to fit it to."""

    source: Source
    name: str
    model: Estimator
    duplicates: str = "keep"


class Scores(NamedTuple):
    """How a model did on a data set. Ties are shared in both accuracies.

    The log loss takes probabilities below ``FLOOR`` for ``FLOOR``, so that it is finite;
    ``log_loss_exact`` takes them as they are. ``impossible`` counts the items concerned.
    """

    items: int
    accuracy: float
    balanced_accuracy: float
    log_loss: float
    log_loss_exact: float
    impossible: int
    calibration_error: float
    coteries: float | None
    seconds: float
    hit: NDArray[np.float64]  # (items,) the share of each item that is right


class Outcome(NamedTuple):
    """What became of a job: scores, or the reason why there are none."""

    dataset: str
    model: str
    status: Status
    reason: str = ""
    scores: Scores | None = None
    notes: tuple[str, ...] = ()


def attempt(job: Job) -> Outcome:
    """Do a job in this process; an exception is an outcome, a warning a note."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", CoterieWarning)
        outcome = _attempt(job)
    notes = [str(w.message) for w in caught if issubclass(w.category, CoterieWarning)]
    return outcome._replace(notes=tuple(dict.fromkeys(notes)))


def _attempt(job: Job) -> Outcome:
    def failed(status: Status, reason: str) -> Outcome:
        return Outcome(job.source.name, job.name, status, one_line(reason))

    try:
        truth = _truth(job.source.truth)
        if truth is None:
            return failed("no truth", "there is no true label to score against")
        annotations = read(job.source.labels, duplicates=job.duplicates)
        warm_up(job.model)
        start = time.perf_counter()
        posterior = job.model.fit(annotations).posterior_
        seconds = time.perf_counter() - start
        scores = score(posterior, truth, seconds)
    except MemoryError as error:
        return failed("memory", str(error))
    except CoterieError as error:
        return failed("error", str(error))
    except BaseException as error:  # whatever a model does, sys.exit too, is a row
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"({Path(place.filename).name}, line {place.lineno})"
        return failed("error", f"{type(error).__name__}: {error} {where}")
    return Outcome(job.source.name, job.name, "ok", scores=scores)


def one_line(text: str, most: int = 400) -> str:
    """Put a message on one line, shortened if it is very long."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 3] + "..."


def _truth(path: Path | None) -> pd.Series | None:
    truth = None if path is None else read_truth(path)
    return None if truth is None or truth.empty else truth


def warm_up(model: Estimator) -> None:
    """Load or compile the model's kernels before the clock starts, on a crowd of four labels."""
    try:
        short = set_known(copy.deepcopy(model), {"sweeps": 2, "burn_in": 1, "chains": 1})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            short.fit(read(_TRIPLES))
    except Exception:
        return  # the fit itself will say what is wrong


def score(posterior: Posterior, truth: pd.Series, seconds: float = 0.0) -> Scores:
    """Score a result against the truth.

    A true label that nobody ever gave has probability zero: such an item is wrong, not an error.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no")]
    >>> vote = coterie.MajorityVote().fit(rows).posterior_
    >>> scores = score(vote, pd.Series({"q1": "yes", "q2": "yes"}))
    >>> scores.accuracy, scores.impossible, scores.log_loss_exact
    (0.25, 1, inf)
    """
    probabilities = _with_all_classes(posterior.probabilities(), truth)
    matched = match_probabilities(probabilities, truth)
    assert matched.probability is not None
    of_truth = matched.probability[np.arange(len(matched.truth)), matched.truth]
    return Scores(
        items=len(matched.truth),
        accuracy=float(matched.hit.mean()),
        balanced_accuracy=metrics.balanced_accuracy(probabilities, truth),
        log_loss=float(-np.log(np.maximum(of_truth, FLOOR)).mean()),
        log_loss_exact=metrics.log_loss(probabilities, truth),
        impossible=int((of_truth < FLOOR).sum()),
        calibration_error=metrics.expected_calibration_error(probabilities, truth),
        coteries=_coteries(posterior),
        seconds=seconds,
        hit=matched.hit,
    )


def _with_all_classes(probabilities: pd.DataFrame, truth: pd.Series) -> pd.DataFrame:
    here = truth[truth.index.isin(probabilities.index)]
    unseen = here[~here.isin(probabilities.columns)]
    # If no true label is a class, the two are written differently: the metrics say so.
    if unseen.empty or len(unseen) == len(here):
        return probabilities
    labels = list(dict.fromkeys(unseen.tolist()))
    warnings.warn(
        f"{len(unseen):,} of {len(here):,} scored items have a true label that nobody gave, "
        f"such as {labels[0]!r}; they count as wrong",
        DataWarning,
        stacklevel=2,
    )
    return probabilities.reindex(columns=[*probabilities.columns, *labels], fill_value=0.0)


def _coteries(posterior: Posterior) -> float | None:
    if posterior.draws is None or posterior.draws.n_coteries is None:
        return None
    return float(posterior.draws.n_coteries.mean())
