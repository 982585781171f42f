"""Jobs in processes that live as long as the run, and are replaced when a job takes one down."""

import os
import sys
import warnings
from contextlib import closing

import numpy as np
import pytest

from coterie.errors import DataError, DataWarning
from coterie.studies.job import Job, Outcome, perform
from coterie.studies.pool import Limits, run_jobs

A_HANG = Limits(seconds=3_600)
linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits that the kernel keeps"
)


def who(number):
    return number, os.getpid()


def quits():
    os._exit(4)


def keeps(gigabytes):
    """Leave memory behind, as a library's cache would."""
    keeps.held = [np.empty(10**7) for _ in range(round(gigabytes / 0.08))]
    return os.getpid()


def swallows(gigabytes):
    return len([np.empty(10**7) for _ in range(round(gigabytes / 0.08))])


def gives_what_cannot_be_sent():
    return lambda: None


def interrupts():
    raise KeyboardInterrupt


def warns():
    warnings.warn("look", DataWarning, stacklevel=1)
    warnings.warn("look", DataWarning, stacklevel=1)
    raise DataError("no good;\nmend it")


def run(jobs, workers=2, limits=A_HANG):
    with closing(run_jobs(jobs, workers, limits)) as outcomes:
        found = {outcome.name: outcome for outcome in outcomes}
    assert found.keys() == {job.name for job in jobs}
    return found


def test_processes_live_on_and_do_one_job_after_another():
    found = run([Job(str(k), who, {"number": k}) for k in range(8)])
    assert [found[str(k)].result[0] for k in range(8)] == list(range(8))
    pids = {outcome.result[1] for outcome in found.values()}
    assert 1 <= len(pids) <= 2
    assert os.getpid() not in pids


def test_a_process_that_dies_is_replaced_and_no_job_is_lost():
    jobs = [Job(str(k), who, {"number": k}) for k in range(4)]
    found = run([Job("a", quits, {}), *jobs, Job("b", quits, {})], workers=1)
    assert found["a"].status == found["b"].status == "crash"
    assert found["a"].reason == "the process ended with exit code 4 and no result"
    assert {found[str(k)].status for k in range(4)} == {"ok"}


def test_what_cannot_be_sent_is_an_outcome():
    found = run([Job("a", gives_what_cannot_be_sent, {}), Job("b", who, {"number": 1})], workers=1)
    assert found["a"].status == "error"
    assert found["a"].reason.startswith("its result cannot be sent to another process: ")
    assert found["b"].status == "ok"


@linux
def test_what_one_job_leaves_behind_does_not_count_against_the_next():
    limits = Limits(seconds=3_600, gigabytes=1.2)
    jobs = [
        Job("first", swallows, {"gigabytes": 0.64}),
        Job("keeps", keeps, {"gigabytes": 0.4}),
        Job("again", swallows, {"gigabytes": 0.64}),
        Job("too much", swallows, {"gigabytes": 1.6}),
        Job("after", who, {"number": 1}),
        Job("keeps more", keeps, {"gigabytes": 0.8}),
        Job("last", who, {"number": 1}),
    ]
    found = run(jobs, workers=1, limits=limits)
    assert found.pop("too much").status == "memory"
    assert {outcome.status for outcome in found.values()} == {"ok"}
    assert found["after"].result[1] != found["keeps"].result  # after a limit, another process
    assert found["last"].result[1] != found["keeps more"].result  # which held too much


def test_without_limits_one_worker_is_this_process():
    (outcome,) = run([Job("a", who, {"number": 3})], workers=5, limits=None).values()
    assert outcome.result == (3, os.getpid())
    with pytest.raises(KeyboardInterrupt):
        run([Job("a", interrupts, {})], workers=1, limits=None)


def test_warnings_are_notes_and_reasons_one_line():
    outcome = perform(Job("a", warns, {}))
    expected = Outcome("a", "error", "no good;\\nmend it", None, ("look",), outcome.seconds)
    assert outcome == expected
