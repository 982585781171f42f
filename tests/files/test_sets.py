"""Results are one set: all files or none, whoever is killed when, and one writer at a time."""

import errno
import os
import signal
import sys
import warnings

import pytest

import coterie
from coterie.errors import DataError, DataWarning
from coterie.files import atomic
from coterie.files.atomic import NOTE, check_whole, file_held, folder_held, text_writer, write_set

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and locks")
NAMES = ("labels.csv", "run.json", "run.coterie")


def write(out, text, **options):
    write_set(out, {out / name: text_writer(text) for name in NAMES}, **{"force": True, **options})


def in_a_child(work):
    """Run in a copy of this process; give how it ended."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


def killed_at(step, out):
    """Write, and be killed just before the nth file gets its name."""

    def work():
        real = atomic.Aside.rename
        left = iter(range(step + 1, 0, -1))  # the note is renamed too

        def rename(aside, target):
            if next(left) == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            real(aside, target)

        atomic.Aside.rename = rename
        write(out, "new")

    return in_a_child(work)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("step", range(4))
def test_killed_between_renames_what_is_torn_is_named(tmp_path, step):
    write(tmp_path, "old")
    assert os.WTERMSIG(killed_at(step, tmp_path)) == signal.SIGKILL
    texts = [(tmp_path / name).read_text("utf-8") for name in NAMES]
    if set(texts) == {"old"} and not (tmp_path / NOTE).exists():
        check_whole(tmp_path / "run.coterie")
    elif len(set(texts)) == 2 or (tmp_path / NOTE).exists():
        torn = [name for name, text in zip(NAMES, texts, strict=True) if text == "old"]
        with pytest.raises(DataError, match="holds parts of two runs") as told:
            check_whole(tmp_path / "run.coterie")
        assert ", ".join(torn) in str(told.value)
    write(tmp_path, "newest")
    check_whole(tmp_path / "run.coterie")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_load_refuses_a_torn_set(tmp_path):
    posterior = coterie.MajorityVote().fit([("q", "a", "x"), ("r", "b", "y")]).posterior_
    posterior.save(tmp_path / "run.coterie")
    write_set(tmp_path, {tmp_path / "labels.csv": text_writer("old")}, force=True)
    assert coterie.load(tmp_path / "run.coterie").model == "MajorityVote"
    (tmp_path / NOTE).write_text('{"labels.csv": "0", "run.coterie": "0"}', "utf-8")
    with pytest.raises(DataError, match=r"labels\.csv, run\.coterie are not of the same run"):
        coterie.load(tmp_path / "run.coterie")


def test_a_second_writer_is_told(tmp_path):
    with folder_held(tmp_path):
        other = os.fork()
        if other == 0:
            try:
                write(tmp_path, "other")
            except DataError as error:
                os._exit(7 if "another process is writing to" in str(error) else 1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]) == 7
    assert list(tmp_path.iterdir()) == []
    write(tmp_path, "first", force=False)
    with pytest.raises(DataError, match=r"already holds labels\.csv"):
        write(tmp_path, "second", force=False)
    assert (tmp_path / "labels.csv").read_text("utf-8") == "first"


def test_a_second_run_is_told_who_holds_the_checkpoint(tmp_path):
    path = tmp_path / "run.checkpoint"
    told = pytest.raises(DataError, match=f"in use .*process {os.getpid()}")
    with file_held(path), told, file_held(path):
        pass
    with file_held(path):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")
def test_a_full_disk_costs_the_checkpoint_and_not_the_run(tmp_path, monkeypatch):
    crowd = coterie.simulate("mixed", annotators=8, items=12, random_state=0).annotations
    settings = {"sweeps": 60, "burn_in": 20, "chains": 1, "random_state": 0, "progress": False}
    whole = coterie.IBCC(**settings).fit(crowd).posterior_

    def full(aside):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic.Aside, "sync", full)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", DataWarning)
        found = coterie.IBCC(**settings, checkpoint=tmp_path / "k").fit(crowd).posterior_
    said = [str(w.message) for w in told if issubclass(w.category, DataWarning)]
    assert said == [
        f"{tmp_path / 'k'} cannot be written: No space left on device; the run goes on without it"
    ]
    assert (found.item_probability == whole.item_probability).all()
    assert list(tmp_path.iterdir()) == []
