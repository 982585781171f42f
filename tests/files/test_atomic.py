"""Files are written whole or not at all, whoever dies when, and every error names the file."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

import coterie
from coterie.errors import DataError, DataWarning
from coterie.files import atomic
from coterie.files.atomic import (
    NOTE,
    check_free,
    check_whole,
    file_held,
    folder_held,
    text_writer,
    write_file,
    write_files,
    write_set,
)
from coterie.files.paths import check_room, try_folder
from coterie.words.visible import visible

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and locks")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def fails(error):
    def write(part):
        part.write_text("half", "utf-8")
        raise error

    return write


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(DataError, match="is a folder; name a file"):
        write_files({tmp_path: text_writer("")})


def test_what_an_earlier_run_left_is_removed(tmp_path):
    old, new, kept = tmp_path / "coteries.csv", tmp_path / "run.json", tmp_path / "mine.txt"
    old.write_text("old", "utf-8")
    kept.write_text("mine", "utf-8")
    write_files({new: text_writer("{}")}, remove=[old, new, tmp_path / "never.csv"])
    assert names(tmp_path) == ["mine.txt", "run.json"]


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), ValueError("no"), MemoryError()]
)
def test_all_files_or_none(tmp_path, error):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("before", "utf-8")
    kind = MemoryError if isinstance(error, MemoryError) else DataError
    with pytest.raises(kind) as caught:
        write_files({first: text_writer("after"), second: fails(error)}, remove=[first])
    if kind is DataError:
        reason = "No space left on device" if isinstance(error, OSError) else "no"
        assert str(caught.value) == f"{second} cannot be written: {reason}"
    assert names(tmp_path) == ["a.csv"]
    assert first.read_text("utf-8") == "before"


@pytest.mark.parametrize("name", ["nowhere/a.csv", "file/a.csv", "x" * 300, "nul\0.csv"])
def test_a_place_that_cannot_be_written_is_named(tmp_path, name):
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(DataError) as caught:
        write_file(tmp_path / name, text_writer(""), parents=False)
    assert str(caught.value).startswith(f"{visible(tmp_path / name)} cannot be written: ")
    assert names(tmp_path) == ["file"]


def test_folders_are_made_where_asked(tmp_path):
    write_file(tmp_path / "a" / "b" / "c.txt", text_writer("whole"))
    assert names(tmp_path / "a" / "b") == ["c.txt"]


def test_a_file_has_the_rights_that_the_user_gives_new_files(tmp_path):
    (tmp_path / "usual").write_text("", "utf-8")
    write_file(tmp_path / "ours", text_writer(""))
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


KILLED = """
import os, signal, sys
from pathlib import Path
from coterie.files.atomic import write_file

def write(part):
    part.write_text("half", "utf-8")
    print("writing", flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)

write_file(Path(sys.argv[1]), write)
"""


@posix
def test_what_a_killed_process_left_goes_with_the_next_write_and_no_sooner(tmp_path):
    path = tmp_path / "run.json"
    for other in (".run.json.backup.part", ".other.json.0a1b2c3d.part", "run.json.0a1b2c3d.part"):
        (tmp_path / other).write_text("not ours", "utf-8")
    (tmp_path / ".run.json.4711.part").write_text("of an earlier version", "utf-8")
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
    ) as child:  # fmt: skip
        assert child.stdout.readline() == "writing\n"
        write_file(path, text_writer("one"))
        assert len(names(tmp_path)) == 5  # the living one's is left alone, the old one's is gone
        child.stdin.close()
        assert child.wait() == -signal.SIGKILL
    assert path.read_text("utf-8") == "one"
    write_file(path, text_writer("two"))
    assert path.read_text("utf-8") == "two"
    assert names(tmp_path) == [
        ".other.json.0a1b2c3d.part", ".run.json.backup.part", "run.json", "run.json.0a1b2c3d.part",
    ]  # fmt: skip


def test_writers_of_one_name_do_not_meet(tmp_path):
    path = tmp_path / "run.json"

    def write(part):
        write_file(path, text_writer("inner"))  # cleans up what is abandoned, which this is not
        part.write_text("outer", "utf-8")

    write_file(path, write)
    assert path.read_text("utf-8") == "outer"
    assert names(tmp_path) == ["run.json"]


def test_content_is_on_disk_before_it_has_its_name(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(os, "fsync", lambda fd: seen.append(names(tmp_path)))
    write_files({tmp_path / name: text_writer(name) for name in ("a", "b")})
    assert [[name[:2] for name in each] for each in seen] == [[".a"], [".a", ".b"]]


def test_earlier_results_are_not_overwritten_unasked(tmp_path):
    here = tmp_path / "labels.csv"
    check_free(tmp_path, [here], force=False)
    here.write_text("mine", "utf-8")
    with pytest.raises(DataError, match=r"already holds labels\.csv; choose another --out"):
        check_free(tmp_path, [here], force=False)
    check_free(tmp_path, [here], force=True)
    with pytest.raises(DataError, match=r"labels\.csv is a file, not a folder; choose"):
        check_free(here / "deep" / "er", [Path("x")], force=True)


def test_what_was_not_there_is_not_there_afterwards(tmp_path):
    there = tmp_path / "there"
    there.mkdir()
    (there / "note.txt").write_text("mine", "utf-8")
    try_folder(there)
    try_folder(there / "a" / "b")
    assert [path.name for path in there.iterdir()] == ["note.txt"]


@pytest.mark.parametrize("call", ["mkdir", "write_bytes"])
def test_a_folder_that_cannot_be_made_or_written_is_refused(tmp_path, monkeypatch, call):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, call, refuse)
    with pytest.raises(DataError, match=r"out cannot be written: Permission denied"):
        check_free(tmp_path / "out", [], force=False)
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_too_little_room_is_said_in_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1_000_000))
    check_room(tmp_path / "new" / "out", 1_000_000)
    with pytest.raises(DataError, match=r"will take 2\.0 MB at least, .* has 1\.0 MB left; make"):
        check_room(tmp_path / "new" / "out", 2_000_000)


NAMES = ("labels.csv", "run.json", "run.coterie")


def write_three(out, text, **options):
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
        write_three(out, "new")

    return in_a_child(work)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("step", range(4))
@posix
def test_killed_between_renames_what_is_torn_is_named(tmp_path, step):
    write_three(tmp_path, "old")
    assert os.WTERMSIG(killed_at(step, tmp_path)) == signal.SIGKILL
    texts = [(tmp_path / name).read_text("utf-8") for name in NAMES]
    if set(texts) == {"old"} and not (tmp_path / NOTE).exists():
        check_whole(tmp_path / "run.coterie")
    elif len(set(texts)) == 2 or (tmp_path / NOTE).exists():
        torn = [name for name, text in zip(NAMES, texts, strict=True) if text == "old"]
        with pytest.raises(DataError, match="holds parts of two runs") as told:
            check_whole(tmp_path / "run.coterie")
        assert ", ".join(torn) in str(told.value)
    write_three(tmp_path, "newest")
    check_whole(tmp_path / "run.coterie")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@posix
def test_load_refuses_a_torn_set(tmp_path):
    posterior = coterie.MajorityVote().fit([("q", "a", "x"), ("r", "b", "y")]).posterior_
    posterior.save(tmp_path / "run.coterie")
    write_set(tmp_path, {tmp_path / "labels.csv": text_writer("old")}, force=True)
    assert coterie.load(tmp_path / "run.coterie").model == "MajorityVote"
    (tmp_path / NOTE).write_text('{"labels.csv": "0", "run.coterie": "0"}', "utf-8")
    with pytest.raises(DataError, match=r"labels\.csv, run\.coterie are not of the same run"):
        coterie.load(tmp_path / "run.coterie")


@posix
def test_a_second_writer_is_told(tmp_path):
    with folder_held(tmp_path):
        other = os.fork()
        if other == 0:
            try:
                write_three(tmp_path, "other")
            except DataError as error:
                os._exit(7 if "another process is writing to" in str(error) else 1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]) == 7
    assert list(tmp_path.iterdir()) == []
    write_three(tmp_path, "first", force=False)
    with pytest.raises(DataError, match=r"already holds labels\.csv"):
        write_three(tmp_path, "second", force=False)
    assert (tmp_path / "labels.csv").read_text("utf-8") == "first"


@posix
def test_a_second_run_is_told_who_holds_the_checkpoint(tmp_path):
    path = tmp_path / "run.checkpoint"
    told = pytest.raises(DataError, match=f"in use .*process {os.getpid()}")
    with file_held(path), told, file_held(path):
        pass
    with file_held(path):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")
@posix
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
