"""Files are written whole or not at all, whoever dies when, and every error names the file."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from coterie.errors import DataError
from coterie.files.atomic import check_free, text_writer, write_file, write_files
from coterie.words.visible import visible


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


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and locks")
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
