"""One job, one model on one data set: read, fit, score; what goes wrong is an outcome too."""

from __future__ import annotations

import copy
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from coterie.errors import CoterieError, CoterieWarning
from coterie.io import read, read_truth
from coterie.metrics import Score
from coterie.models.base import Estimator
from coterie.posterior import Posterior
from coterie.studies.league.lineup import set_known
from coterie.studies.league.sources import Source

Status = Literal["ok", "no truth", "error", "timeout", "memory", "crash"]

_TRIPLES = [("1", "a", "no"), ("1", "b", "yes"), ("2", "a", "yes"), ("2", "b", "yes")]


@dataclass(frozen=True)
class Job:
    """A model, under its name, and the data set to fit it to."""

    source: Source
    name: str
    model: Estimator
    duplicates: str = "keep"


class Outcome(NamedTuple):
    """What became of a job: a score, or the reason why there is none.

    ``coteries`` is the posterior mean of their number, where the model finds any; ``seconds`` are
    those of the fit.
    """

    dataset: str
    model: str
    status: Status
    reason: str = ""
    score: Score | None = None
    coteries: float | None = None
    seconds: float | None = None
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
        score = posterior.score(truth)
    except MemoryError as error:
        return failed("memory", str(error))
    except CoterieError as error:
        return failed("error", str(error))
    except BaseException as error:  # whatever a model does, sys.exit too, is a row
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"({Path(place.filename).name}, line {place.lineno})"
        return failed("error", f"{type(error).__name__}: {error} {where}")
    return Outcome(
        job.source.name,
        job.name,
        "ok",
        score=score,
        coteries=mean_coteries(posterior),
        seconds=seconds,
    )


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


def mean_coteries(posterior: Posterior) -> float | None:
    """Give the posterior mean of the number of coteries; None if the model finds none."""
    return float(posterior.n_coteries.mean()) if posterior.abilities.coteries else None
