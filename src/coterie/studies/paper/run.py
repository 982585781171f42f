"""A reproduction from beginning to end: what is missing is done, then everything is written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.errors import CoterieError, DataError, MissingExtraError
from coterie.files.atomic import write_file
from coterie.files.locks import folder_held
from coterie.files.paths import naming
from coterie.studies.job import Job, Outcome
from coterie.studies.paper.claims import Claim, judge
from coterie.studies.paper.estimate import Speed, measure, seconds
from coterie.studies.paper.experiment import Data, Experiment
from coterie.studies.paper.job import seeded
from coterie.studies.paper.registry import EXPERIMENTS, choose
from coterie.studies.paper.settings import FULL, Settings
from coterie.studies.paper.store import Store
from coterie.studies.paper.style import drawing
from coterie.studies.paper.work import load
from coterie.studies.pool import run_jobs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Watch:
    """Somebody who is told how a run goes; this one does not listen."""

    def say(self, sentence: str) -> None:
        """Hear of something that was left out or failed."""

    def begin(self, todo: int, done: int, seconds: float) -> None:
        """Hear how many jobs are to do, how many are done, and the seconds it may take."""

    def step(self, outcome: Outcome, share: float) -> None:
        """Hear that a job has ended, and which share of the work that makes."""


class Reproduction(NamedTuple):
    """What a run wrote, and what it could not do."""

    files: list[Path]
    claims: list[Claim]
    failed: list[str]  # one sentence per experiment that lacks results


def reproduce(
    names: Sequence[str] = (),
    settings: Settings = FULL,
    out: Path = Path("reproduction"),
    *,
    jobs: int = 1,
    mix: bool = False,
    watch: Watch | None = None,
) -> Reproduction:
    """Make the tables and figures of the paper again.

    What was done before, in the same folder with the same settings, is not done again. The
    results depend on the settings alone, not on the number of processes or the order of jobs.

    Parameters
    ----------
    names
        Of experiments; by default all.
    settings
        How large: ``FULL``, ``QUICK``, or your own.
    out
        The folder to write to.
    jobs
        Processes at once.
    mix
        Keep results that other code has made.
    watch
        Who is told how it goes.
    """
    experiments = choose(names)
    with naming(out):
        if not out.exists():
            out.mkdir(parents=True)
    with folder_held(out):
        store = Store(out, settings, mix=mix)
        return _reproduce(experiments, store, jobs, watch or Watch())


def _reproduce(
    experiments: Sequence[Experiment], store: Store, jobs: int, watch: Watch
) -> Reproduction:
    from coterie.studies.paper.page import write_pages

    settings, out = store.settings, store.folder
    wanted = {experiment.name: experiment.jobs(settings) for experiment in experiments}
    unique = list({job.name: job for several in wanted.values() for job in several}.values())
    left_out = _missing_data(unique, store, watch)
    present = [job for job in unique if job.told.get("data") not in left_out]
    if unique and not present and all(wanted.values()):
        raise DataError(f"nothing can be made: {next(iter(left_out.values()))}")
    todo = [job for job in present if job not in store]
    errors = _do(todo, len(present) - len(todo), settings, jobs, store, watch)
    failed, drawn = [], []
    for experiment in experiments:
        mine = [job for job in wanted[experiment.name] if job.told.get("data") not in left_out]
        error = next((errors[job.name] for job in mine if job.name in errors), None)
        if error is not None:
            failed.append(f"{experiment.name} is left out: {error}")
            watch.say(failed[-1])
            continue
        document = make_document(experiment, settings, store, mine, left_out)
        drawn += [store.write(f"{experiment.name}.json", document)]
        drawn += _draw(experiment, document["data"], out, watch)
    documents = read_documents(out)
    claims = judge({name: document["data"] for name, document in documents.items()})
    return Reproduction([*drawn, *write_pages(out, documents, claims)], claims, failed)


def _missing_data(jobs: Sequence[Job], store: Store, watch: Watch) -> dict[str, str]:
    """Find the real sets that jobs need and that cannot be had, with the reason."""
    reasons: dict[str, str] = {}
    for name in dict.fromkeys(job.told.get("data") for job in jobs if job not in store):
        if name is None or name not in _real():
            continue
        try:
            load(name)
        except CoterieError as error:
            reasons[name] = str(error)
            watch.say(f"{name} is left out: {error}")
    return reasons


def _real() -> Mapping[str, Any]:
    from coterie.datasets import REGISTRY

    return REGISTRY


def _do(
    todo: Sequence[Job],
    n_done: int,
    settings: Settings,
    workers: int,
    store: Store,
    watch: Watch,
) -> dict[str, str]:
    """Do jobs, the longest first, and keep their results; give the errors by name."""
    if not todo:
        watch.begin(0, n_done, 0.0)
        return {}
    speed: Speed = measure()
    cost = {job.name: seconds(job, settings, speed) for job in todo}
    total = sum(cost.values())
    watch.begin(len(todo), n_done, total / min(workers, len(todo)))
    errors, done = {}, 0.0
    longest_first = sorted(todo, key=lambda job: -cost[job.name])
    named = {job.name: job for job in todo}
    with closing(run_jobs([seeded(job, settings) for job in longest_first], workers)) as outcomes:
        for outcome in outcomes:
            if outcome.status == "ok":
                store.add(named[outcome.name], outcome)
            else:
                errors[outcome.name] = f"{outcome.name}: {outcome.reason}"
            done += cost[outcome.name]
            watch.step(outcome, done / total)
    return errors


def make_document(
    experiment: Experiment,
    settings: Settings,
    store: Store,
    jobs: Sequence[Job],
    left_out: Mapping[str, str],
) -> dict[str, Any]:
    """Gather an experiment: everything there is to know of it, ready for JSON."""
    data = experiment.gather(settings, store.results(jobs))
    codes = store.codes(jobs) or [" ".join(store.code.values())]
    size = settings.describe()
    words = f"coterie {', '.join(codes)}; seed {settings.seed}; {size}"
    full = settings.is_full_for(experiment.name)
    if not full:
        kind = "SMALLER" if settings.name == "full" else settings.name.upper()
        words = f"{kind} RUN, smaller than the paper's: {size} ({codes[0]})"
    data["made"] = {"full": full, "words": words, "command": settings.command()}
    return {
        "name": experiment.name,
        "title": experiment.title,
        "paper": experiment.source,
        "version": store.code["version"],
        "code": codes,
        "settings": settings.record(),
        "seed": settings.seed,
        "jobs": len(jobs),
        "seconds": store.seconds(jobs),
        "left_out": dict(left_out),
        "data": data,
    }


def _draw(experiment: Experiment, data: Data, out: Path, watch: Watch) -> list[Path]:
    path = out / f"{experiment.name}.png"
    try:
        with drawing():
            figure = experiment.draw(data)
            _save(figure, path)
    except MissingExtraError as error:
        watch.say(f"{experiment.name}: no picture, {error}")
        return []
    return [path]


def _save(figure: Figure, path: Path) -> None:
    write_file(path, lambda part: figure.savefig(part, format="png", bbox_inches="tight"))


def read_documents(out: Path) -> dict[str, dict[str, Any]]:
    """Read what a folder holds, in the order of the page."""
    paths = {name: out / f"{name}.json" for name in EXPERIMENTS}
    return {
        name: json.loads(path.read_text("utf-8")) for name, path in paths.items() if path.exists()
    }
