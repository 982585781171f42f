"""What a job of the league does: read a data set, fit a model to it, score it."""

from __future__ import annotations

import copy
import time
import warnings
from typing import Any, NamedTuple

import pandas as pd

from coterie.io.read import read, read_truth
from coterie.metrics import Score
from coterie.models.base import Estimator
from coterie.models.majority import score_vote
from coterie.posterior import Posterior
from coterie.studies.job import Job
from coterie.studies.league.lineup import set_known
from coterie.studies.league.sources import Source

TRIPLES = [("1", "a", "no"), ("1", "b", "yes"), ("2", "a", "yes"), ("2", "b", "yes")]
"""The smallest crowd that nobody is warned of."""


class Fitted(NamedTuple):
    """How a model did: its score, the posterior mean of the number of coteries, processor time."""

    score: Score
    coteries: float | None
    seconds: float


def fit_job(
    source: Source,
    name: str,
    model: Estimator,
    duplicates: str = "error",
    time: str | None = None,
) -> Job:
    """Make the job of a model, under its name, on a data set whose labels may have a time."""
    told: dict[str, Any] = {"source": source, "model": model, "duplicates": duplicates}
    told |= {} if time is None else {"moments": time}
    return Job(f"{source.name}/{name}", fit_and_score, told)


def fit_and_score(
    source: Source, model: Estimator, duplicates: str, moments: str | None = None
) -> Fitted | None:
    """Read, fit and score; None if there is no true label to score against."""
    truth = None if source.truth is None else read_truth(source.truth)
    if truth is None or truth.empty:
        return None
    annotations = read(source.labels, duplicates=duplicates, time=moments)
    score_vote(annotations, truth)  # before the fit: the truth may not be of these labels
    warm_up(model)
    start = time.process_time()  # what else the machine does is not the model's
    posterior = model.fit(annotations).posterior_
    seconds = time.process_time() - start
    return Fitted(posterior.score(truth), mean_coteries(posterior), seconds)


def warm_up(model: Estimator) -> None:
    """Load or compile the model's kernels before the clock starts, on a crowd of four labels."""
    try:
        short = set_known(copy.deepcopy(model), {"sweeps": 2, "burn_in": 1, "chains": 1})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            crowd = pd.DataFrame(TRIPLES, columns=["item", "annotator", "label"])
            short.fit(read(crowd.assign(time=range(4)), time="time"))
    except Exception:  # of a model of anybody's: the fit itself will say what is wrong
        return


def mean_coteries(posterior: Posterior) -> float | None:
    """Give the posterior mean of the number of coteries; None if the model finds none."""
    return float(posterior.n_coteries.mean()) if posterior.abilities.coteries else None
