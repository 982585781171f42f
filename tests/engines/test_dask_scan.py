"""A scan by the workers of a Dask cluster: the shards of one process, also when workers die.

What a scan promises of files and sentences is tested with workers too, in tests/io/scan.
"""

import tempfile
import time

import numpy as np
import pandas as pd
import pytest

import coterie
from builders.command import coterie as command
from builders.dask_clusters import client_of, kill
from coterie.engines import dask as adapter
from coterie.io.scan import spill
from coterie.io.scan.spill import Growing
from ladder.marks import rest_slow

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def client():
    """Two workers, each a process of its own."""
    with client_of(2) as client:
        yield client


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Shuffled labels in five files, some repeated with another answer; a column of known ones."""
    crowd = coterie.simulate("mixed", items=400, annotators=30, labels_per_item=5, random_state=2)
    frame = crowd.annotations.to_frame()
    again = frame.sample(300, random_state=1).assign(label=frame["label"].iloc[0])
    frame = pd.concat([frame, again]).sample(frac=1, random_state=3, ignore_index=True)
    frame["gold"] = frame["item"].map(dict(zip(frame["item"][:9], frame["label"], strict=False)))
    for k, places in enumerate(np.array_split(np.arange(len(frame)), 5)):
        frame.iloc[places].to_parquet(tmp_path / f"labels-{k}.parquet", index=False)
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return tmp_path


def content(scan):
    """Every byte of the shards, and the words."""
    shards = [scan.path(k).read_bytes() for k in range(len(scan))]
    words = [scan.annotators, scan.classes, scan.labels_per_annotator]
    return shards, [word.tolist() for word in words], scan.n_gold, scan.sizes


@pytest.mark.parametrize("duplicates", ["first", "last", "keep"])
@pytest.mark.parametrize("gold", ["a column", "elsewhere", None])
def test_workers_make_the_same_shards(client, files, duplicates, gold):
    told = {"shard_labels": 300, "duplicates": duplicates}
    known = pd.read_parquet(files / "labels-0.parquet").set_index("item")["label"]
    told["gold"] = {"a column": "gold", "elsewhere": dict(known[-9:])}.get(gold)
    alone = coterie.scan(files / "*.parquet", **told)
    together = coterie.scan(files / "*.parquet", **told, engine=client)
    assert len(alone) == 8
    assert content(together) == content(alone)


def test_the_fit_has_the_same_bits(client, files):
    told = {"shard_labels": 300, "duplicates": "first"}
    settings = {"sweeps": 20, "burn_in": 10, "chains": 2, "random_state": 0, "progress": False}
    scans = [
        coterie.scan(files / "*.parquet", **told),
        coterie.scan(files / "*.parquet", **told, engine=client),
    ]
    one, other = (coterie.Consensus(**settings).fit(scan).posterior_ for scan in scans)
    pd.testing.assert_frame_equal(one.labels(), other.labels(), check_exact=True)
    pd.testing.assert_frame_equal(one.annotators(), other.annotators(), check_exact=True)


@pytest.mark.parametrize(
    "after", rest_slow([0, 2, 6], 1)
)  # while files are read, and while shards are made
def test_a_killed_worker_changes_nothing(client, files, monkeypatch, after):
    told = {"shard_labels": 300, "duplicates": "last"}
    alone = coterie.scan(files / "*.parquet", **told)
    real, done = adapter.DaskEngine._done, []

    def wait(self, future):
        if len(done) == after:
            kill(self.client, after % 2)
        done.append(future)
        return real(self, future)

    monkeypatch.setattr(adapter.DaskEngine, "_done", wait)
    together = coterie.scan(files / "*.parquet", **told, engine=client)
    assert content(together) == content(alone)
    assert len(done) == 5 + len(alone)


@pytest.mark.parametrize("after", [0, 3, 7])
@pytest.mark.parametrize("kept", [False, True])
def test_nothing_is_left_behind_by_workers_who_are_still_at_it(
    client, files, monkeypatch, after, kept
):
    real, done = adapter.DaskEngine._done, []

    def wait(self, future):
        if len(done) == after:
            raise KeyboardInterrupt
        done.append(future)
        return real(self, future)

    monkeypatch.setattr(adapter.DaskEngine, "_done", wait)
    told = {"duplicates": "first", "shard_labels": 300, "engine": client}
    folder = files / "shards" if kept else None
    with pytest.raises(KeyboardInterrupt):
        coterie.scan(files / "*.parquet", **told, folder=folder)
    time.sleep(0.3)
    client.run(time.sleep, 0)
    assert list((files / "temporary").iterdir()) == []
    assert not kept or list(folder.iterdir()) == []


def test_the_first_sentence_in_the_order_of_files_wins(client, files):
    for k in (4, 2):  # the later one is the shorter, and is read sooner
        frame = pd.read_parquet(files / f"labels-{k}.parquet")
        frame.loc[5 * k, "annotator"] = None
        frame[: 50 * (5 - k)].to_parquet(files / f"labels-{k}.parquet", index=False)
    told = []
    for engine in (None, client):
        with pytest.raises(coterie.DataError) as caught:
            coterie.scan(files / "*.parquet", duplicates="keep", engine=engine)
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert told[0].startswith("row 10 of labels-2.parquet")


def test_a_worker_that_does_not_see_the_folder(tmp_path):
    with pytest.raises(coterie.DataError, match=r"a worker does not see .*: pass a folder"):
        spill.deal_one(None, [], tmp_path / "elsewhere", 3)


def test_a_folder_is_taken_up_again_whoever_made_it(client, files, monkeypatch):
    told = {"duplicates": "first", "folder": files / "shards"}
    first = coterie.scan(files / "*.parquet", **told, engine=client)
    monkeypatch.setattr(adapter, "connect", None)  # nobody is asked
    again = coterie.scan(files / "*.parquet", **told, engine="dask")
    assert content(again) == content(first)


def test_what_others_saw_is_numbered_as_one_pass_would():
    import pyarrow as pa

    from coterie.data.table import code_arrow

    columns = [["b", "a", None, "b"], ["c", "a"], ["c", "d", "c"], ["b"], ["e", "a", "e"]]
    blocks = [code_arrow(pa.chunked_array([pa.array(column)])) for column in columns]
    whole, left, right = Growing(), Growing(), Growing()
    expected = [whole.add(coded, k).tolist() for k, coded in enumerate(blocks)]
    found = [left.add(coded, k) for k, coded in enumerate(blocks[:2])]
    later = [right.add(coded, k) for k, coded in enumerate(blocks[2:])]
    number = left.merge(right, 2)
    found += [number[codes] for codes in later]
    assert [codes.tolist() for codes in found] == expected
    assert (left.values, left.first) == (whole.values, whole.first)
    assert left.counts.tolist() == whole.counts.tolist()


@pytest.mark.slow
def test_the_command_line_hands_its_engine_on(client, files, monkeypatch):
    asked = []
    real = adapter.DaskEngine.map
    monkeypatch.setattr(
        adapter.DaskEngine, "map", lambda self, *work: asked.append(1) or real(self, *work)
    )
    words = [files / "*.parquet", "--duplicates", "first", "--sweeps", 20, "--burn-in", 10]
    for name, engine in (("one", "threads"), ("other", client.scheduler.address)):
        done = command("aggregate", *words, "--engine", engine, "--out", files / name)
        assert done.returncode in (0, 2), done.stderr
    assert len(asked) == 2  # files, then shards
    parts = sorted((files / "one" / "labels").iterdir())
    for path in parts:
        assert path.read_bytes() == (files / "other" / "labels" / path.name).read_bytes()
