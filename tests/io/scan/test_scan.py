"""coterie.scan against coterie.read: the same words, labels and known classes, however cut."""

import gzip
import pickle

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.data.codes import Shards, cut
from coterie.io.scan.spill import BLOCK

CROWD = coterie.simulate("mixed", items=150, annotators=12, labels_per_item=5, random_state=3)


def frame_of(seed=0):
    """Labels in shuffled rows."""
    return CROWD.annotations.to_frame().sample(frac=1, random_state=seed, ignore_index=True)


def write_parts(frame, folder, n, kind):
    folder.mkdir(exist_ok=True)
    for k, places in enumerate(np.array_split(np.arange(len(frame)), n)):
        part, path = frame.iloc[places], folder / f"part-{k}.{kind}"
        if kind == "parquet":
            part.to_parquet(path, index=False)
        elif kind == "jsonl":
            part.to_json(path, orient="records", lines=True)
        else:
            part.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")


def assert_same(scanned, annotations):
    """The shards hold what Annotations hold, in the order of keys."""
    assert isinstance(scanned, Shards)
    whole = cut(annotations, 1)
    shard, order = whole.open(0), whole.items_of(0)
    parts = [scanned.open(k) for k in range(len(scanned))]
    for name in ("key", "item_annotator", "item_answer", "gold"):
        found = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(found, getattr(shard, name))
    ids = np.concatenate([scanned.items(k) for k in range(len(scanned))])
    assert ids.tolist() == annotations.items[order].tolist()
    lengths = np.concatenate([np.diff(part.item_start) for part in parts])
    np.testing.assert_array_equal(lengths, np.diff(shard.item_start))
    for name in ("annotators", "classes", "extra_answers", "labels_per_annotator"):
        assert getattr(scanned, name).tolist() == getattr(annotations, name).tolist(), name
    sizes = ("n_items", "n_labels", "n_annotators", "n_classes", "n_answers")
    assert [getattr(scanned, s) for s in sizes] == [getattr(annotations, s) for s in sizes]
    gathered = scanned.gather()
    assert gathered.items.tolist() == annotations.items.tolist()
    for found, told in zip(gathered.codes[:7], annotations.codes[:7], strict=True):
        np.testing.assert_array_equal(found, told)


@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv", "jsonl"])
def test_a_scan_holds_what_is_read(tmp_path, kind):
    frame = frame_of()
    write_parts(frame, tmp_path / "labels", 3, kind)
    scanned = coterie.scan(tmp_path / "labels" / f"*.{kind}", shard_labels=200)
    assert len(scanned) > 2
    assert_same(scanned, coterie.read(frame))
    assert_same(coterie.scan(tmp_path / "labels"), coterie.read(frame))


@pytest.mark.parametrize("shard_labels", [10_000, 400, 250, 100, 7])
def test_any_number_of_shards_holds_the_same(tmp_path, shard_labels):
    frame = frame_of()
    frame.to_parquet(tmp_path / "labels.parquet")
    scanned = coterie.scan(tmp_path / "labels.parquet", shard_labels=shard_labels)
    assert len(scanned) == -(-len(frame) // shard_labels)  # with 7, most shards are empty or tiny
    assert_same(scanned, coterie.read(frame))


def test_blocks_leave_no_trace(tmp_path, monkeypatch):
    frame = frame_of()
    frame.to_csv(tmp_path / "labels.csv", index=False)
    for size in (1, 100, BLOCK):
        monkeypatch.setattr("coterie.io.scan.spill.BLOCK", size)
        monkeypatch.setattr("coterie.io.text._CHUNK", min(size, 50))
        assert_same(coterie.scan(tmp_path / "labels.csv", shard_labels=300), coterie.read(frame))


def test_compressed_files_and_lists_of_files(tmp_path):
    frame = frame_of()
    write_parts(frame, tmp_path, 2, "csv")
    packed = tmp_path / "part-1.csv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "part-1.csv").read_bytes()))
    assert_same(coterie.scan([tmp_path / "part-0.csv", packed]), coterie.read(frame))


def test_folders_that_name_columns(tmp_path):
    frame = frame_of()
    for name, own in frame.groupby("annotator"):
        folder = tmp_path / "labels" / f"annotator={name}"
        folder.mkdir(parents=True)
        own.drop(columns="annotator").to_parquet(folder / "part.parquet")
    assert_same(coterie.scan(tmp_path / "labels", shard_labels=300), coterie.read(frame))


def test_addresses_of_fsspec():
    fsspec = pytest.importorskip("fsspec")
    frame = frame_of()
    memory = fsspec.filesystem("memory")
    for k in range(2):
        with memory.open(f"/scanned/labels/part-{k}.csv", "wb") as file:
            frame[k::2].to_csv(file, index=False)
    for address in ("memory://scanned/labels/*.csv", "memory://scanned/labels"):
        assert_same(coterie.scan(address, shard_labels=300), coterie.read(frame))
    with pytest.raises(coterie.DataError, match="holds no table"):
        coterie.scan("memory://scanned/nothing/*.csv")


@pytest.mark.parametrize(
    "items",
    [
        [3, 1, 3, 2, 1],
        [2.5, 1.0, 2.5, -0.0, 1.0],
        ["10", "9", "10", "a", "9"],
        [True, False, True, True, False],
        pd.to_datetime(["2024-01-02", "2024-01-01", "2024-01-02", "2024-03-01", "2024-01-01"]),
    ],
    ids=["whole", "fractions", "text", "booleans", "dates"],
)
def test_ids_keep_their_types(tmp_path, items):
    frame = pd.DataFrame({"item": items, "annotator": list("abcde"), "label": list("xyxyx")})
    frame.to_parquet(tmp_path / "labels.parquet")
    read = coterie.read(tmp_path / "labels.parquet")
    assert_same(coterie.scan(tmp_path / "labels.parquet", shard_labels=2), read)


def test_types_that_differ_between_files_meet_as_in_one_column(tmp_path):
    one = pd.DataFrame({"item": [1, 2], "annotator": ["a", "a"], "label": [0, 1]})
    other = pd.DataFrame({"item": [1.0, 2.5], "annotator": ["b", "b"], "label": [0.0, 1.0]})
    one.to_json(tmp_path / "1.jsonl", orient="records", lines=True)
    other.to_parquet(tmp_path / "2.parquet")
    paths = [tmp_path / "1.jsonl", tmp_path / "2.parquet"]
    assert_same(coterie.scan(paths, shard_labels=2), coterie.read(paths))
    words = pd.DataFrame({"item": ["q"], "annotator": ["a"], "label": [1]})
    words.to_parquet(tmp_path / "3.parquet")
    paths.append(tmp_path / "3.parquet")
    assert_same(coterie.scan(paths, shard_labels=2), coterie.read(paths))


@pytest.mark.parametrize("duplicates", ["first", "last", "keep"])
def test_repeated_labels(tmp_path, duplicates):
    frame = frame_of()
    twice = frame.sample(80, random_state=1).assign(label=frame["label"].iloc[0])
    both = pd.concat([frame, twice]).sample(frac=1, random_state=5, ignore_index=True)
    write_parts(both, tmp_path / "labels", 3, "parquet")
    told = {"duplicates": duplicates}
    scanned = coterie.scan(tmp_path / "labels", shard_labels=250, **told)
    assert_same(scanned, coterie.read(both, **told))


def test_classes_extra_answers_and_gold(tmp_path):
    frame = frame_of()
    frame["gold"] = frame["item"].map(CROWD.truth).where(frame["item"] < "q030")
    write_parts(frame, tmp_path / "labels", 2, "parquet")
    told = {"classes": ["b", "a"], "extra_answers": ["c"]}
    known = {i: t for i, t in CROWD.truth.items() if t != "c" and i < "q040"}
    scanned = coterie.scan(tmp_path / "labels", gold=known, shard_labels=200, **told)
    assert_same(scanned, coterie.read(frame.drop(columns="gold"), gold=known, **told))
    scanned = coterie.scan(tmp_path / "labels", gold="gold", shard_labels=200)
    assert_same(scanned, coterie.read(frame, gold="gold"))
    assert scanned.n_gold == len(coterie.read(frame, gold="gold").gold)
    pd.Series(known, name="label").rename_axis("item").to_csv(tmp_path / "gold.csv")
    scanned = coterie.scan(tmp_path / "labels", gold=tmp_path / "gold.csv", shard_labels=200)
    assert_same(scanned, coterie.read(frame.drop(columns="gold"), gold=known))


def test_an_item_with_many_labels_and_annotators_with_one(tmp_path):
    n = 100_000
    people = [f"w{k}" for k in range(n)]
    frame = pd.DataFrame({"item": "hot", "annotator": people, "label": (["x", "y"] * n)[:n]})
    more = pd.DataFrame({"item": "cold", "annotator": people[:2], "label": ["x", "y"]})
    frame = pd.concat([frame, more], ignore_index=True)
    frame.to_parquet(tmp_path / "labels.parquet")
    scanned = coterie.scan(tmp_path / "labels.parquet", shard_labels=30_000)
    assert_same(scanned, coterie.read(frame))
    posterior = coterie.MajorityVote().fit(scanned).posterior_
    assert posterior.labels()["n_labels"].tolist() == [2, n]


def test_a_folder_is_kept_and_reused_until_a_file_changes(tmp_path):
    frame, kept = frame_of(), tmp_path / "kept"
    frame.to_parquet(tmp_path / "labels.parquet")
    first = coterie.scan(tmp_path / "labels.parquet", folder=kept, shard_labels=300)
    made = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    again = coterie.scan(tmp_path / "labels.parquet", folder=kept, shard_labels=300)
    assert {path.name: path.stat().st_mtime_ns for path in kept.iterdir()} == made
    assert again.seconds["reading"] == 0
    assert again.origin == first.origin
    assert_same(again, coterie.read(frame))
    frame[:-5].to_parquet(tmp_path / "labels.parquet")
    assert_same(
        coterie.scan(tmp_path / "labels.parquet", folder=kept, shard_labels=300),
        coterie.read(frame[:-5]),
    )
    other = coterie.scan(tmp_path / "labels.parquet", folder=kept, shard_labels=100)
    assert len(other) > len(first)  # what is asked counts, too
    assert not (kept / "spill").exists()
    assert not (kept / "unfinished.scan").exists()


def test_temporary_shards_go_with_the_scan_and_copies_open_the_same(tmp_path):
    frame_of().to_parquet(tmp_path / "labels.parquet")
    scanned = coterie.scan(tmp_path / "labels.parquet", shard_labels=300)
    copy = pickle.loads(pickle.dumps(scanned))
    np.testing.assert_array_equal(copy.open(1).key, scanned.open(1).key)
    folder = scanned.folder
    assert folder.exists()
    del scanned
    assert not folder.exists()
    with pytest.raises(coterie.DataError, match=r"shard 0 of labels.parquet.*cannot be read"):
        copy.open(0)
