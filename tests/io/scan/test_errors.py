"""What a scan refuses: the sentences of coterie.read, with file and row; nothing is left behind."""

import errno
import re
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.io.scan import shards, sources

ROWS = [(f"q{i}", f"a{l}", "yn"[(i + l) % 2]) for i in range(6) for l in range(3)]
FRAME = pd.DataFrame(ROWS, columns=["item", "annotator", "label"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two files, in a place whose temporary folder is looked at afterwards."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    (tmp_path / "labels").mkdir()
    yield tmp_path / "labels"
    assert list(place.iterdir()) == []


def write(folder, first, second, kind="csv"):
    for name, frame in (("a", first), ("b", second)):
        path = folder / f"{name}.{kind}"
        if kind == "csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path, index=False)


def sentence(source, **told):
    with pytest.raises(coterie.DataError) as caught:
        coterie.scan(source, **told)
    return str(caught.value)


def changed(column, row, value):
    frame = FRAME.copy()
    frame[column] = frame[column].astype(object)
    frame.loc[row, column] = value
    return frame


@pytest.mark.parametrize("role", ["item", "annotator", "label"])
def test_a_blank_cell(folder, role):
    bad = changed(role, [2, 4], " ")
    write(folder, FRAME[:9], bad)
    told = sentence(folder)
    assert told == f"rows 4 and 6 of b.csv (the header is row 1) have a blank {role}; " + (
        "fill them in, or remove the rows"
    )
    with pytest.raises(coterie.DataError, match=re.escape(told)):  # as read says of that file
        coterie.read(folder / "b.csv")


def test_a_blank_cell_counts_the_whole_file_not_the_block(folder, monkeypatch):
    monkeypatch.setattr("coterie.io.scan.spill.BLOCK", 2)
    monkeypatch.setattr("coterie.io.text._CHUNK", 2)
    write(folder, FRAME, changed("label", [1, 3, 8, 9, 15], ""))
    assert sentence(folder).startswith(
        "rows 3, 5 and 10 of b.csv (the header is row 1), and 2 more, have a blank label"
    )


def test_an_unknown_class(folder):
    write(folder, FRAME[:9], changed("label", [3, 7, 11], "maybe")[9:], kind="parquet")
    told = sentence(folder, classes=["y", "n"])
    assert told.startswith(
        "label 'maybe' in row 2 of b.parquet (the first is row 0) is not one of classes=['y', 'n']"
    )
    write(folder, changed("label", [3, 7], "maybe"), changed("label", [2], "maybe")[:0])
    told = sentence(folder / "*.csv", classes=["y", "n"])
    assert told.startswith("label 'maybe' in row 5 of a.csv (the header is row 1) is not one of")
    assert "(nor is 1 more)" in told


def test_repeated_labels(folder):
    write(folder, FRAME, pd.concat([FRAME[4:6], changed("label", 9, "y")[9:10]]))
    whole = pd.concat([pd.read_csv(folder / f"{name}.csv") for name in "ab"], ignore_index=True)
    with pytest.raises(coterie.DataError) as caught:
        coterie.read(whole)
    theirs = str(caught.value)
    told = sentence(folder, shard_labels=4)
    assert told.startswith("rows 2, 3 and 4 of b.csv (the header is row 1) repeat the item and ann")
    assert told.partition("repeat")[2] == theirs.partition("repeat")[2]


def test_gold_that_cannot_be(folder):
    write(folder, FRAME[:9], FRAME[9:])
    for gold in ({"q1": "maybe"}, {"nowhere": "y", "q0": "n"}):
        with pytest.raises(coterie.DataError) as caught:
            coterie.read(FRAME, gold=gold)
        assert sentence(folder, gold=gold, shard_labels=5) == str(caught.value)
    assert sentence(folder, gold="golden").startswith("gold='golden' is neither a column of a.csv")


def test_columns_that_are_not_there(folder):
    write(folder, FRAME, FRAME.rename(columns={"label": "answered"}))
    assert sentence(folder) == (
        "b.csv has no column 'label', which label= asks for; its columns are 'item', 'annotator', "
        "'answered'"
    )
    assert "a scan reads one row per label" in sentence(folder, annotator=["a0", "a1"])
    (folder / "a.csv").write_text("item,x,y\nq1,1,2\n")
    assert "a scan reads one row per label" in sentence(folder / "a.csv")


def test_files_that_are_not_there_or_no_tables(folder):
    assert "holds no table" in sentence(folder / "*.parquet")
    assert "holds no table" in sentence(folder)
    assert "there is no file" in sentence(folder / "no.csv")
    assert "standard input cannot be scanned" in sentence("-")
    (folder / "a.parquet").write_bytes(b"nothing")
    assert sentence(folder / "a.parquet").startswith("a.parquet is not a Parquet file")
    FRAME.to_parquet(folder / "b.parquet")
    whole = (folder / "b.parquet").read_bytes()
    (folder / "b.parquet").write_bytes(whole[: len(whole) // 2])
    assert sentence(folder / "b.parquet").startswith("b.parquet is a damaged Parquet file")
    (folder / "c.csv").write_text("item,annotator,label\n")
    assert sentence(folder / "c.csv").startswith("c.csv has no rows, only the columns")
    FRAME.to_json(folder / "e.json", orient="records")
    assert sentence(folder / "e.json").startswith("e.json is one JSON list, which cannot")
    FRAME.to_csv(folder / "d.csv")
    assert "named twice" in sentence([folder / "d.csv", folder / "d.csv"])


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"duplicates": "all"}, "duplicates='all' is not one of"),
        ({"shard_labels": 0}, "shard_labels=0 is no number of labels"),
        ({"classes": "yn"}, "classes='yn' is a text"),
    ],
)
def test_settings_that_cannot_be(folder, told, words):
    write(folder, FRAME[:9], FRAME[9:])
    assert words in sentence(folder, **told)


def test_a_boolean_and_a_number_between_files(folder):
    true = FRAME.assign(label=FRAME["label"] == "y")
    write(folder, true, FRAME.assign(label=1.0, item="new" + FRAME["item"]), kind="parquet")
    assert sentence(folder).startswith("the column 'label' of ")


def test_warnings_are_those_of_read(folder):
    frame = FRAME.assign(label=FRAME["label"].replace("y", "unsure"))
    write(folder, frame[:9], frame[9:])
    with pytest.warns(coterie.DataWarning) as scanned:
        coterie.scan(folder / "*.csv")
    with pytest.warns(coterie.DataWarning) as read:
        coterie.read(frame)
    theirs = [str(w.message).partition("that read")[2] for w in read]
    assert [str(w.message).partition("that read")[2] for w in scanned] == theirs


def test_a_full_disk_leaves_nothing(folder, monkeypatch, tmp_path):
    write(folder, FRAME[:9], FRAME[9:])

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    for where in ("coterie.io.scan.spill.batch_of", "coterie.io.scan.shards.batch_of"):
        with monkeypatch.context() as patch:
            patch.setattr(where, full)
            with pytest.raises((coterie.DataError, OSError), match="No space left"):
                coterie.scan(folder)
            with pytest.raises((coterie.DataError, OSError), match="No space left"):
                coterie.scan(folder, folder=tmp_path / "kept")
            assert list((tmp_path / "kept").iterdir()) == []


def test_ctrl_c_leaves_nothing(folder, monkeypatch, tmp_path):
    write(folder, FRAME[:9], FRAME[9:])

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(shards, "pieces_at", stop)
    monkeypatch.setattr("coterie.engines.dask.DaskEngine._done", stop)  # who waits for workers
    with pytest.raises(KeyboardInterrupt):
        coterie.scan(folder)
    with pytest.raises(KeyboardInterrupt):
        coterie.scan(folder, folder=tmp_path / "kept")
    assert list((tmp_path / "kept").iterdir()) == []


def test_somebody_elses_folder_is_left_alone(folder, tmp_path):
    write(folder, FRAME[:9], FRAME[9:])
    own = tmp_path / "own"
    own.mkdir()
    (own / "letter.txt").write_text("dear")
    assert "holds files that are no shards" in sentence(folder, folder=own)
    assert [path.name for path in own.iterdir()] == ["letter.txt"]


def test_what_a_killed_scan_left_is_made_again(folder, tmp_path):
    write(folder, FRAME[:9], FRAME[9:])
    kept = tmp_path / "kept"
    (kept / "spill").mkdir(parents=True)
    (kept / "unfinished.scan").touch()
    (kept / "shard-00000.shard").write_bytes(b"half")
    scanned = coterie.scan(folder, folder=kept)
    assert scanned.n_labels == len(FRAME)
    scanned.path(0).unlink()  # and shards that were removed
    assert coterie.scan(folder, folder=kept).open(0).key.shape == (6,)


def test_fsspec_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(coterie.CoterieError, match="needs fsspec: pip install fsspec"):
        coterie.scan("s3://bucket/labels/*.parquet")


def test_hidden_files_are_not_read(tmp_path):
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    for name in ("_SUCCESS", ".part.csv", "notes.md"):
        Path(tmp_path, name).write_text("no table")
    assert [one.file.name for one in sources.find_all(tmp_path)] == ["a.csv"]
    assert coterie.scan(tmp_path).n_labels == len(FRAME)


def test_two_ids_of_one_key_stay_two_items(tmp_path, monkeypatch):
    monkeypatch.setattr("coterie.io.scan.spill.key_of", lambda ids: np.full(len(ids), 7, np.uint64))
    FRAME.sample(frac=1, random_state=0).to_csv(tmp_path / "a.csv", index=False)
    scanned = coterie.scan(tmp_path / "a.csv")
    assert scanned.items(0).tolist() == sorted(set(FRAME["item"]))
    found = scanned.gather()
    for one, other in zip(found.codes, coterie.read(FRAME).codes, strict=True):
        np.testing.assert_array_equal(one, other)
