"""Between a file and us: lines without end, files that change, bytes that are no text."""

import os
import zipfile

import pandas as pd
import pytest

import coterie
from coterie.errors import DataError
from coterie.io import files
from coterie.io.files import find
from coterie.io.tables import table_of_file

HEAD = "item,annotator,label\n"
ROWS = "".join(f"q{i},a{l},{'xy'[l % 2]}\n" for i in range(9) for l in range(3))


def test_a_file_that_shrinks_while_it_is_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(HEAD + ROWS, "utf-8")
    table = table_of_file(path)
    path.write_text(HEAD + "q1,a,x\n", "utf-8")
    for ask in (lambda: table.read([0]), lambda: table.number([20])):
        with pytest.raises(DataError, match=r"a\.csv changed while it was read"):
            ask()


def test_a_file_that_grows_is_noticed_too(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(HEAD + ROWS, "utf-8")
    file = find(path)
    with pytest.raises(DataError, match="changed while it was read"), file.open():
        path.write_text(HEAD + ROWS + "q1,z,x\n", "utf-8")


def test_a_line_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 20)
    path = tmp_path / "a.csv"
    path.write_text(HEAD + "q" * (1 << 21), "utf-8")
    with pytest.raises(DataError, match=r"a\.csv has a line of more than 1,048,576 bytes"):
        coterie.read(path)


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_encodings_are_named(tmp_path, encoding, name):
    text = HEAD + ROWS if name == "a.csv" else '{"item": 1, "annotator": 2, "label": 3}\n' * 3
    (tmp_path / name).write_bytes(text.encode(encoding))
    with pytest.raises(DataError, match=encoding[:6].upper()):
        coterie.read(tmp_path / name)


def test_nul_bytes_far_behind(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(HEAD + ROWS * 40_000 + "q1,a\0,x\n", "utf-8")
    with pytest.raises(DataError, match=r"a\.csv is not text, it holds NUL bytes"):
        coterie.read(path, duplicates="keep")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX pipes")
def test_pipes_have_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_MOST", 1 << 20)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            while True:
                os.write(write, b"q1,a,x\n" * 1_000)
        finally:
            os._exit(0)
    os.close(write)
    try:
        with pytest.raises(DataError, match="more than 1,048,576 bytes came through"):
            coterie.read(f"/dev/fd/{read}")
    finally:
        os.close(read)
        os.waitpid(child, 0)


@pytest.mark.parametrize("blank", ["\n", ",,\n", " \r"])
def test_blank_lines_without_end_are_refused_before_they_are_read(tmp_path, monkeypatch, blank):
    monkeypatch.setattr(files, "MOST_BLANK", 200_000)
    path = tmp_path / "a.csv"
    path.write_text(HEAD + blank * 1_000_000 + ROWS, "utf-8", newline="")
    with pytest.raises(DataError, match="more than 200,000 blank lines in a row"):
        coterie.read(path)


def test_an_empty_zip_and_rows_without_keys_are_said_to_be_so(tmp_path):
    zipfile.ZipFile(tmp_path / "a.zip", "w").close()
    (tmp_path / "a.jsonl").write_text("{}\n", "utf-8")
    with pytest.raises(DataError, match="a zip with nothing in it"):
        coterie.read(tmp_path / "a.zip")
    with pytest.raises(DataError, match=r"no row of a\.jsonl has a key"):
        coterie.read(tmp_path / "a.jsonl")
    with pytest.raises(DataError, match="its columns are none; pass"):
        coterie.read(pd.DataFrame(index=[1]))
