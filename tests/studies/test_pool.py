"""Jobs in processes that live as long as the run: limits hold, failures are outcomes.

Nothing is left behind, and the journal's lines are whole, whatever happens to the disk.
"""

import multiprocessing
import os
import resource
import select
import signal
import subprocess
import sys
import warnings
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from coterie.errors import DataError, DataWarning
from coterie.studies.fits import Source, fit_job, line_up
from coterie.studies.journal import Journal
from coterie.studies.league import row_of
from coterie.studies.pool import NONE, Job, Limits, Outcome, perform, run_jobs

TESTS = Path(__file__).parents[1]
A_HANG = 3_600  # seconds: no machine is so busy
PLENTY = Limits(seconds=A_HANG)
linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="needs /proc, and limits that the kernel keeps"
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


def run(jobs, workers=2, limits=PLENTY):
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
    limits = PLENTY._replace(gigabytes=1.2)
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
    (outcome,) = run([Job("a", who, {"number": 3})], workers=5, limits=NONE).values()
    assert outcome.result == (3, os.getpid())
    with pytest.raises(KeyboardInterrupt):
        run([Job("a", interrupts, {})], workers=1, limits=NONE)


def test_warnings_are_notes_and_reasons_one_line():
    outcome = perform(Job("a", warns, {}))
    expected = Outcome("a", "error", "no good;\\nmend it", None, ("look",), outcome.seconds)
    assert outcome == expected


# ---- fits of models that misbehave


LABELS = (
    "item,annotator,label\nq1,ann,yes\nq1,bob,no\nq1,cat,yes\nq2,ann,no\nq2,bob,no\nq2,cat,no\n"
)
TRUTH = "item,label\nq1,yes\nq2,no\n"


@pytest.fixture
def source(tmp_path):
    labels, truth = tmp_path / "labels.csv", tmp_path / "truth.csv"
    labels.write_text(LABELS, "utf-8")
    truth.write_text(TRUTH, "utf-8")
    return Source("tiny", labels, truth)


def outcomes(source, *names, limits=PLENTY, workers=2):
    models = line_up([f"builders.models:{name}" for name in names])
    jobs = {name: fit_job(source, name, model) for name, model in models.items()}
    with closing(run_jobs(list(jobs.values()), workers, limits)) as results:
        became = {outcome.name: outcome for outcome in results}
    found = {
        name.removeprefix("builders.models:"): row_of(source.name, name, became[job.name])
        for name, job in jobs.items()
    }
    assert list(models) == ["majority", *(f"builders.models:{name}" for name in names)]
    assert found.keys() == {"majority", *names}
    return found


def test_whatever_a_model_does_the_others_are_scored(source, capfd):
    bad = ["Raises", "Refuses", "Leaves", "Quits", "Killed", "Aborts"]
    found = outcomes(source, *bad, "Talks")
    assert found["majority"].status == found["Talks"].status == "ok"
    assert found["majority"].score.accuracy == 1
    assert found["Talks"].notes == ("not <b>converged</b>",)
    assert {name: found[name].score for name in bad} == dict.fromkeys(bad)
    assert (found["Raises"].status, found["Refuses"].status) == ("error", "error")
    assert found["Raises"].reason.startswith("ZeroDivisionError: one over zero (models.py, line ")
    assert found["Refuses"].reason == "label 'x' is odd; correct it"
    assert found["Leaves"].reason.startswith("SystemExit: bye")
    assert {found[name].status for name in ("Quits", "Killed", "Aborts")} == {"crash"}
    assert found["Quits"].reason == "the process ended with exit code 3 and no result"
    assert "signal 9 (SIGKILL), perhaps for want of memory" in found["Killed"].reason
    assert "signal 6 (SIGABRT): LLVM ERROR: out of memory" in found["Aborts"].reason
    assert capfd.readouterr() == ("", "")


def test_a_model_that_takes_too_long_is_ended(source):
    found = outcomes(source, "Sleeps", limits=Limits(seconds=3), workers=1)
    assert found["Sleeps"].status == "timeout"
    assert found["Sleeps"].reason == "not done after 3 s"


@linux
def test_a_model_that_takes_too_much_memory_is_refused(source):
    found = outcomes(source, "Swallows", limits=PLENTY._replace(gigabytes=1))
    assert found["Swallows"].status == "memory"
    assert found["Swallows"].reason.startswith("more than 1 GB wanted: Unable to allocate 76.3")
    assert found["majority"].status == "ok"


@linux
def test_children_have_one_thread_and_do_not_hear_ctrl_c(source, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert outcomes(source, "Records")["Records"].notes == ("1 1 1 deaf",)
    # What was set for them is set back here.
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "OPENBLAS_NUM_THREADS" not in os.environ


def test_jobs_run_side_by_side_but_no_more_than_asked(source):
    model = line_up(["majority"])["majority"]
    events = []
    jobs = [fit_job(source, str(number), model) for number in range(5)]
    with closing(run_jobs(jobs, 2, PLENTY, lambda job: events.append(1))) as results:
        for _ in results:
            events.append(-1)
    level = [sum(events[:n]) for n in range(len(events) + 1)]
    assert max(level) == 2
    assert (level[-1], len(events)) == (0, 10)


def wait_for_end(pid: int) -> None:
    """Wait until a process has ended; a zombie has."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended, _, _ = select.select([process], [], [], A_HANG)
    os.close(process)
    assert ended, f"process {pid} does not end"


@linux
def test_closing_ends_the_children(source):
    model = line_up(["builders.models:Sleeps"])["builders.models:Sleeps"]
    vote = line_up(["majority"])["majority"]
    jobs = [fit_job(source, "vote", vote), fit_job(source, "sleeps", model)]
    with closing(run_jobs(jobs, 2, PLENTY)) as results:
        assert next(results).name == "tiny/vote"
        pids = [child.pid for child in multiprocessing.active_children()]
        assert len(pids) == 2
    for pid in pids:
        wait_for_end(pid)


@pytest.fixture
def sleeping_command(source, tmp_path):
    """The command line, in a process group of its own, with a fit that never ends; and its pid."""
    pipe = tmp_path / "pids"
    os.mkfifo(pipe)
    pids = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    command = subprocess.Popen(
        [sys.executable, "-m", "coterie", "compare", source.labels, "--truth", source.truth,
         "--models", "builders.models:Sleeps", "--out", tmp_path / "out"],
        env={**os.environ, "COMPARE_PIDS": str(pipe), "PYTHONPATH": paths},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True,
    )  # fmt: skip
    process = os.pidfd_open(command.pid)
    told, _, _ = select.select([pids, process], [], [], A_HANG)
    assert told == [pids], command.communicate()
    yield command, int(os.read(pids, 99))
    os.close(pids)
    os.close(process)
    if command.poll() is None:
        os.killpg(command.pid, signal.SIGKILL)
    command.communicate()


@linux
def test_ctrl_c_ends_everything_quietly(sleeping_command, tmp_path):
    command, pid = sleeping_command
    os.killpg(command.pid, signal.SIGINT)  # as a terminal does: to the whole group
    out, err = command.communicate()
    assert command.returncode == 130
    assert (out, err) == ("", "Stopped; the same command goes on from here.\n")
    wait_for_end(pid)
    # no results; of the vote, if it was done by then, the line to go on from
    assert {path.name for path in tmp_path.glob("out/*")} <= {"jobs.jsonl"}


@linux
def test_children_do_not_outlive_a_parent_that_is_killed(sleeping_command):
    command, pid = sleeping_command
    os.kill(pid, 0)  # it is there
    command.kill()
    wait_for_end(pid)


# ---- the journal


def test_a_line_that_does_not_fit_is_not_begun_and_the_file_is_named(tmp_path):
    journal = Journal(tmp_path / "fit.jsonl")
    journal.add({"job": "a", "found": 1})
    before = (tmp_path / "fit.jsonl").read_bytes()
    limits, heard = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
    try:
        with pytest.raises(DataError, match=r"fit\.jsonl cannot be written"):
            journal.add({"job": "b", "found": list(range(100))})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, heard)
    assert (tmp_path / "fit.jsonl").read_bytes() == before
    assert "b" not in journal
    journal.add({"job": "b", "found": 2})
    assert Journal(tmp_path / "fit.jsonl").lines.keys() == {"a", "b"}
