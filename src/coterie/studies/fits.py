"""Fits of any set of models to any set of data sets: what is there, what each job does, is done."""

from __future__ import annotations

import copy
import difflib
import hashlib
import json
import os
import pickle
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from coterie.data.build import DUPLICATES
from coterie.errors import Argument, DataError
from coterie.files.values import from_json, to_json
from coterie.io.read import read, read_truth
from coterie.metrics import Score
from coterie.metrics.scorer import TABLES
from coterie.models import MODELS, make_model
from coterie.models.base import Estimator
from coterie.models.majority import score_vote
from coterie.studies.journal import Journal, this_code
from coterie.studies.pool import Job, Outcome
from coterie.words.values import not_one_of

LABELS, TRUTH = "labels.csv", "truth.csv"
REFERENCE = "majority"
"""The vote: what every model is measured against. It always runs."""
TRIPLES = [("1", "a", "no"), ("1", "b", "yes"), ("2", "a", "yes"), ("2", "b", "yes")]
"""The smallest crowd that nobody is warned of."""

# ---- which data sets are there


@dataclass(frozen=True)
class Source:
    """A data set on disk: what the tables call it, the labels, and the truth that only scores."""

    name: str
    labels: Path
    truth: Path | None


def find_sources(
    path: Path, truth: Path | None = None, only: Sequence[str] | None = None
) -> tuple[list[Source], list[str]]:
    """Find the data sets of a path, by name, and name the sub-folders that hold none.

    The path is a file of labels, to which ``truth`` belongs; or a folder with ``labels.csv`` and
    perhaps ``truth.csv``; or a folder of such folders, of which ``only`` names those wanted.
    """
    others: list[str] = []
    if not path.exists():
        raise DataError(f"there is no file or folder {path}; check the path")
    if not path.is_dir():
        if truth is None:
            raise DataError(
                f"{path} has nothing to be scored against; pass the true labels: --truth"
            )
        if not truth.is_file():
            raise DataError(f"there is no file {truth}; check --truth")
        sources = [Source(_printable(path.name.split(".")[0] or path.name), path, truth)]
    elif truth is not None:
        raise DataError(
            f"{path} is a folder, whose data sets bring their own {TRUTH}; "
            "give --truth with one file of labels"
        )
    elif (path / LABELS).is_file():
        sources = [_folder(path, path.resolve().name)]
    else:
        folders = sorted(folder for folder in path.iterdir() if folder.is_dir())
        sources = [_folder(one, one.name) for one in folders if (one / LABELS).is_file()]
        others = [one.name for one in folders if not (one / LABELS).is_file()]
        if not sources:
            raise DataError(
                f"{path} holds no data set; expected {LABELS} in it or in its sub-folders"
            )
    names = [source.name for source in sources]
    for name in only or ():
        if name not in names:
            near = difflib.get_close_matches(name, names, n=3) or names
            more = ", ..." if len(near) < len(names) else ""
            raise DataError(f"no data set {name!r}; there are {', '.join(near)}{more}")
    return [one for one in sources if only is None or one.name in only], others


def _folder(folder: Path, name: str) -> Source:
    truth = folder / TRUTH
    return Source(_printable(name), folder / LABELS, truth if truth.is_file() else None)


def _printable(name: str) -> str:
    """Names on disk need not be text."""
    return os.fsencode(name).decode("utf-8", "replace")


# ---- models by their names, all alike: settings that a model does not know are left out


def line_up(
    names: Sequence[str] | None = None,
    *,
    seed: int = 0,
    duplicates: str = "error",
    sweeps: int | None = None,
    timed: bool = False,
) -> dict[str, Estimator]:
    """Make the models, by name, the vote first if nobody named it.

    Names are those of the registry, ``"all"`` that need nothing but labels (the default; and a
    time, where labels have one), or ``module:Class`` of an estimator elsewhere. ``sweeps`` is the
    length of the chains of sampling models, of which 30 % are burn-in; those whose own chains are
    shorter keep them.

    Examples
    --------
    >>> list(line_up(["ds"])), set(MODELS) - set(line_up(["all"]))
    (['majority', 'ds'], {'dynamic'})
    """
    if duplicates not in DUPLICATES:
        raise DataError([Argument("duplicates", duplicates), not_one_of(duplicates, DUPLICATES)])
    there = {"time"} if timed else set()
    plain = [name for name, kind in MODELS.items() if there.issuperset(kind.needs)]
    chosen = (plain if name == "all" else [name] for name in names or ["all"])
    wanted = list(dict.fromkeys(name for some in chosen for name in some))
    if REFERENCE not in wanted:
        wanted.insert(0, REFERENCE)
    if sweeps is not None and sweeps < 1:
        raise DataError(f"sweeps must be at least 1, got {sweeps}")
    # One thread per fit: the fits themselves run side by side.
    settings = {"random_state": seed, "duplicates": duplicates, "n_jobs": 1, "progress": False}
    return {name: _make(name, settings, sweeps) for name in wanted}


def _make(name: str, settings: dict[str, Any], sweeps: int | None) -> Estimator:
    model = make_model(name, **settings)
    if sweeps is not None and model.get_params().get("sweeps", 0) > sweeps:
        _set_known(model, sweeps=sweeps, burn_in=3 * sweeps // 10)
    try:
        pickle.dumps(model)
    except Exception as error:  # whatever the model's own parts raise when they are pickled
        raise DataError(
            f"the model {name!r} cannot be sent to a process of its own: {error}; "
            "define its class at the top of its module"
        ) from error
    return model


def _set_known(model: Estimator, **settings: Any) -> Estimator:
    known = model.get_params()
    return model.set_params(**{key: value for key, value in settings.items() if key in known})


# ---- what a job does: read a data set, fit a model to it, score it


class Fitted(NamedTuple):
    """How a model did: its score, the posterior mean of the number of coteries, processor time."""

    score: Score
    coteries: float | None  # None if the model finds none
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
    _warm_up(model)
    start = time.process_time()  # what else the machine does is not the model's
    posterior = model.fit(annotations).posterior_
    seconds = time.process_time() - start
    coteries = float(posterior.n_coteries.mean()) if posterior.abilities.coteries else None
    return Fitted(posterior.score(truth), coteries, seconds)


def _warm_up(model: Estimator) -> None:
    """Load or compile the model's kernels before the clock starts, on a crowd of four labels."""
    try:
        short = _set_known(copy.deepcopy(model), sweeps=2, burn_in=1, chains=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            crowd = pd.DataFrame(TRIPLES, columns=["item", "annotator", "label"])
            short.fit(read(crowd.assign(time=range(4)), time="time"))
    except Exception:  # of a model of anybody's: the fit itself will say what is wrong
        return


# ---- what is done: a run that was stopped goes on from there


class Store:
    """Outcomes on disk: those of fits that ended well, or that had nothing to be scored against.

    An outcome is found again by all that it depends on: the files' bytes, the model with its
    settings, and the code. What another run left in the file is passed over; a fit that failed is
    tried again.
    """

    def __init__(self, path: Path) -> None:
        self.journal = Journal(path)
        self.code = this_code(("io", "studies/fits.py"))

    def find(self, jobs: Sequence[Job]) -> dict[str, Outcome]:
        """Give the outcomes that are there, by the names of the jobs."""
        if not self.journal.lines:
            return {}
        lines = {job.name: self.journal.lines.get(self._key(job)) for job in jobs}
        return {name: _outcome(line) for name, line in lines.items() if line is not None}

    def add(self, job: Job, outcome: Outcome) -> None:
        """Keep an outcome, unless it failed."""
        if outcome.status == "ok":
            fitted: Fitted | None = outcome.result
            line = outcome._asdict() | {"notes": list(outcome.notes)}
            if fitted is not None:
                score = fitted.score.numbers()
                for name in TABLES:
                    table = getattr(fitted.score, name)
                    frame = table.to_frame() if isinstance(table, pd.Series) else table
                    score[name] = frame.to_dict("tight")
                line["result"] = fitted._asdict() | {"score": score}
            self.journal.add({"job": self._key(job), **to_json(line, or_text=True)})

    def remove(self) -> None:
        """Forget everything: the league is written."""
        self.journal.path.unlink(missing_ok=True)

    def _key(self, job: Job) -> str:
        source, model = job.told["source"], job.told["model"]
        told = {
            "duplicates": job.told["duplicates"],
            "files": [None if p is None else _digest(p) for p in (source.labels, source.truth)],
            "model": [type(model).__module__, type(model).__qualname__],
            "settings": to_json(model.get_params(), or_text=True),
            **self.code,
        }
        digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
        return f"{job.name} {digest.hexdigest()[:16]}"


def _digest(path: Path) -> str:
    """Give a checksum of a file; of one that cannot be read, the fit will say so."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _outcome(line: Mapping[str, Any]) -> Outcome:
    found = from_json({name: line[name] for name in Outcome._fields})
    found["notes"] = tuple(found["notes"])
    if found["result"] is not None:
        score = found["result"]["score"]
        for name in TABLES:
            score[name] = pd.DataFrame.from_dict(score[name], orient="tight")
        for name in ("right", "confidence"):
            score[name] = score[name].iloc[:, 0]
        found["result"] = Fitted(**found["result"] | {"score": Score(**score)})
    return Outcome(**found)
