"""Places for results are tried before any work is done."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from coterie.errors import DataError
from coterie.files.atomic import check_free
from coterie.files.paths import check_room, try_folder


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
