"""Blocked runs: the same bits however labels are cut, in whatever order they came."""

import functools
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import coterie
from builders import realdata
from builders.blocked import (
    SETTINGS,
    bits,
    crowd,
    fit,
    given_of,
    in_shards,
    open_cut,
    open_shards,
    rows,
    sizes_of,
    stream,
)
from builders.runs import interrupt_after
from coterie.data.codes import Shard, cut, key_of
from coterie.errors import DataError
from coterie.inference import shards
from coterie.inference.shards import Holder, Lost, Order, Threads, connect
from ladder.marks import rest_slow

MODELS = ("IBCC", "CBCC", "HCBCC", "Consensus")


@functools.cache
def in_one_piece(kind):
    annotations = crowd()
    return annotations, bits(fit(kind, annotations, n_jobs=1))


@pytest.fixture
def whole(kind):
    """Labels and what a model finds in them, in one shard and one thread."""
    return in_one_piece(kind)


@pytest.mark.parametrize("n", rest_slow([2, 3, 7, 100], 0, 2))
@pytest.mark.parametrize("kind", rest_slow(MODELS, 2, 3))
def test_the_number_of_shards_and_threads_changes_no_bit(kind, n, whole, monkeypatch):
    annotations, expected = whole
    in_shards(monkeypatch, n, annotations)
    assert bits(fit(kind, annotations, n_jobs=min(n, 5))) == expected


@pytest.mark.parametrize("kind", ["HCBCC", "Consensus"])
def test_the_order_of_the_rows_changes_no_bit(kind, whole):
    order = np.random.default_rng(0).permutation(len(rows()[0]))
    assert bits(fit(kind, crowd(order))) == whole[1]


@pytest.mark.parametrize("kind", rest_slow(["HCBCC", "Consensus"], 1))
def test_under_load_the_bits_are_the_same(kind, whole, monkeypatch):
    """Whatever the clock says, and whoever else is at work: what is done goes by counts."""
    annotations, expected = whole
    rng, busy, over = np.random.default_rng(1), np.random.default_rng(2), threading.Event()
    clock = SimpleNamespace(perf_counter=lambda: 10 * rng.random())
    monkeypatch.setattr("coterie.inference.chain.time", clock)
    in_shards(monkeypatch, 7, annotations)

    def work():
        while not over.is_set():
            busy.random(100_000)

    others = [threading.Thread(target=work) for _ in range(4)]
    for one in others:
        one.start()
    try:
        assert bits(fit(kind, annotations, n_jobs=3)) == expected
    finally:
        over.set()
        for one in others:
            one.join()


def test_no_random_number_is_used_twice(monkeypatch):
    """Every chain has a key, every sweep a word; what is reported has others than all of them."""
    orders, counts = [], set()
    sweep, count = Holder.sweep, shards.count_drawn

    def swept(holder, order):
        orders.append(tuple(order.stream.tolist()))
        return sweep(holder, order)

    def counted(*args):
        counts.add(tuple(args[4].tolist()))
        count(*args)

    monkeypatch.setattr(Holder, "sweep", swept)
    monkeypatch.setattr(shards, "count_drawn", counted)
    fit("Consensus", crowd(), chains=3, sweeps=30, burn_in=10)
    assert len(set(orders)) == len(orders) == 3 * 31
    assert len({key for *key, _ in map(list, orders) for key in [tuple(key)]}) == 3
    assert {word for *_, word in orders} == set(range(31))
    assert counts
    assert not counts & set(orders)


@pytest.mark.parametrize("kind", rest_slow(["CBCC", "Consensus"], 1))
def test_what_is_known_and_what_is_silent_is_as_everywhere(kind, whole):
    annotations, _ = whole
    posterior = fit(kind, annotations)
    gold = annotations.codes.gold
    (known,) = np.nonzero(gold >= 0)
    np.testing.assert_array_equal(posterior.item_probability[known], np.eye(3)[gold[known]])
    np.testing.assert_allclose(posterior.item_probability.sum(axis=1), 1, rtol=1e-12)
    silent = annotations.items.tolist().index("silent")
    np.testing.assert_allclose(posterior.item_probability[silent], posterior.class_balance)
    assert posterior.method == "blocked gibbs"
    assert posterior.labels().shape[0] == annotations.n_items
    if kind == "Consensus":
        own = posterior.raw_probability
        np.testing.assert_array_equal(own[known], np.eye(3)[gold[known]])
        np.testing.assert_allclose(own[silent], posterior.class_balance)
        kinds = posterior.item_numbers["kind"].values
        np.testing.assert_allclose(kinds.sum(axis=1), 1, rtol=1e-12)
        both = [silent, annotations.items.tolist().index("silent and known")]
        assert (kinds[both[0]] == kinds[both[1]]).all()  # as kinds are


@pytest.mark.parametrize("kind", rest_slow(["CBCC", "HCBCC", "Consensus"], 1, 2))
@pytest.mark.parametrize("when", [10, 100])
def test_a_killed_driver_goes_on_from_its_checkpoint(kind, when, whole, monkeypatch, tmp_path):
    annotations, expected = whole
    path = tmp_path / "run.checkpoint"
    in_shards(monkeypatch, 3, annotations)
    with monkeypatch.context() as patch:
        interrupt_after(patch, when)
        try:
            fit(kind, annotations, checkpoint=path)
        except KeyboardInterrupt:
            assert when < SETTINGS["burn_in"]
    in_shards(monkeypatch, 2, annotations)  # and may cut otherwise
    posterior = fit(kind, annotations, checkpoint=path)
    assert posterior.run["resumed"]
    assert bits(posterior) == expected


def test_ctrl_c_keeps_what_was_drawn(monkeypatch):
    interrupt_after(monkeypatch, 100)
    posterior = fit("HCBCC", crowd())
    assert posterior.run["stopped"] == "interrupted"
    np.testing.assert_allclose(posterior.item_probability.sum(axis=1), 1, rtol=1e-12)


def test_sums_that_are_not_there_are_missed():
    annotations = crowd()
    session = open_cut(connect("threads", 1), annotations, 2)
    given = given_of(np.full((annotations.n_annotators, 4, 3), 1 / 4), np.full(3, 1 / 3))
    session.sweep(Order(0, stream(1, 2, 1), given, tallied=0))
    with pytest.raises(Lost):
        session.sweep(Order(0, stream(1, 2, 3), given, tallied=2))
    session.close()


class Unreadable:
    """Shards of which one is gone."""

    def __init__(self, shards):
        self.shards = shards

    def __getattr__(self, name):
        return getattr(self.shards, name)

    def __len__(self):
        return len(self.shards)

    def open(self, k):
        if k == 1:
            raise FileNotFoundError("no such file: shard-1.npy")
        return self.shards.open(k)


def test_a_shard_that_cannot_be_read_is_named():
    with pytest.raises(DataError, match=r"shard 2 of 3 cannot be read: no such file: shard-1\.npy"):
        open_shards(connect("threads", 2), Unreadable(cut(crowd(), 3)))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"sampler": "gibbs"}, "must be one of auto, collapsed, blocked, got 'gibbs'"),
        ({"sampler": "collapsed", "engine": "threads"}, "which no engine can share"),
        ({"sampler": "blocked", "kinds": 2}, "cannot be swept in parts"),
        ({"sampler": "auto", "engine": "spark"}, "no engine 'spark'; choose 'threads', 'dask'"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(settings, sentence):
    with pytest.raises(DataError, match=sentence):
        fit("HCBCC", crowd(), **settings)


def test_engines_by_name():
    assert connect(None, 2) == connect("threads", 2) == Threads(2)
    with pytest.raises(DataError, match="no engine 'spark'; choose 'threads', 'dask', a Dask clie"):
        connect("spark")


def test_size_or_engine_decides(monkeypatch):
    annotations = crowd()
    assert fit("HCBCC", annotations, sampler="auto").method == "gibbs"
    assert fit("HCBCC", annotations, sampler="auto", engine="threads").method == "blocked gibbs"
    monkeypatch.setattr("coterie.models.sampling.BLOCKED_LABELS", 10)
    assert fit("HCBCC", annotations, sampler="auto").method == "blocked gibbs"


def labels_of(name):
    """A simulated crowd, a set of the paper, or one that lies beside the project."""
    if name == "simulated":
        return coterie.simulate("mixed", items=30, annotators=8, random_state=5).annotations
    if name != "dog":
        return realdata.load(name).annotations
    path = realdata.SHARED / "data" / name / "labels.csv"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return coterie.read(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["simulated", "bluebird", "rte", "dog"])
@pytest.mark.parametrize("kind", MODELS)
def test_blocked_and_collapsed_agree_within_their_error(kind, name):
    """Between-chain standard errors of item probabilities, both samplers."""
    annotations, small, found = labels_of(name), name == "simulated", {}
    settings = {"sweeps": 1_500 if small else 3_000, "burn_in": 300 if small else 1_000}
    for sampler in ("collapsed", "blocked"):
        runs = [
            fit(kind, annotations, sampler=sampler, random_state=seed, chains=1, **settings)
            for seed in range(8 if small else 6)
        ]
        found[sampler] = np.array([run.item_probability[:, 1:].ravel() for run in runs])
    difference = found["collapsed"].mean(axis=0) - found["blocked"].mean(axis=0)
    variance = sum(part.var(axis=0, ddof=1) / len(part) for part in found.values())
    # Probabilities that no chain moves have no error.
    z = difference / np.sqrt(variance + (1e-8 if small else 1e-6))
    assert np.mean(z**2) < 3
    if small:
        assert np.abs(z).max() < 6  # Student's t of about 14 degrees, 60 of them
    else:
        assert np.mean(np.abs(z) > 5) < 0.01  # Student's t of about ten degrees


@pytest.fixture
def parquet(tmp_path):
    """Labels with all that may be odd, in a file, and how to read them."""
    pytest.importorskip("pyarrow")
    labels, classes = rows()
    path = tmp_path / "labels.parquet"
    pd.DataFrame(labels, columns=["item", "annotator", "label"]).to_parquet(path)
    gold = {labels[0][0]: classes[1], labels[50][0]: classes[2]}
    reading = {"gold": gold, "classes": classes, "extra_answers": ["unsure"], "duplicates": "keep"}
    return path, reading


@pytest.mark.filterwarnings("ignore::coterie.DataWarning")
@pytest.mark.parametrize("kind", ["HCBCC", "Consensus"])
def test_a_scan_has_the_bits_of_labels_in_memory(kind, parquet, tmp_path):
    path, reading = parquet
    scan = coterie.scan(path, shard_labels=100, **reading)
    expected = fit(kind, coterie.read(path, **reading))
    found = fit(kind, scan, checkpoint=tmp_path / "run.checkpoint")
    assert len(scan) > 2
    assert found.method == "blocked gibbs"
    assert bits(found)[1:7] == bits(expected)[1:7]
    assert bits(found.gather()) == bits(expected)
    for name in ("probabilities", "labels", "annotators", "coteries", "confusion"):
        assert getattr(found, name)().equals(getattr(expected, name)()), name
    assert found.probabilities(raw=True).equals(expected.probabilities(raw=True))
    assert found.run["verdicts"]["coteries"] == expected.run["verdicts"]["coteries"]
    again = fit(kind, scan, checkpoint=tmp_path / "run.checkpoint")
    assert again.run["resumed"]
    assert again.probabilities().equals(expected.probabilities())
    with pytest.raises(DataError, match="takes a scan with the blocked sampler"):
        fit(kind, scan, sampler="collapsed")


@pytest.mark.filterwarnings("ignore::coterie.DataWarning")
def test_some_items_of_a_scan_know_people_by_all_their_labels(parquet, tmp_path):
    path, reading = parquet
    scan = coterie.scan(path, shard_labels=100, **reading)
    found = fit("Consensus", scan)
    some = found.sample(5)
    assert some.annotations.n_items < scan.n_items
    assert some.annotators().equals(found.annotators())
    assert some.coteries().equals(found.coteries())
    assert found.part(0).annotators().equals(found.annotators())
    found.report(tmp_path / "report.html")
    with pytest.raises(DataError, match="cannot be fitted to a scan; leave it at 0"):
        fit("Consensus", scan, skill_share=0.2)


@pytest.mark.filterwarnings("ignore::coterie.DataWarning")
def test_verdicts_of_a_scan_name_items(parquet):
    """A sweep settles nothing: chains differ, and the items are called what they are."""
    path, reading = parquet
    scan = coterie.scan(path, shard_labels=100, **reading)
    short = {"sweeps": 2, "burn_in": 1, "chains": 6}
    found = fit("HCBCC", scan, **short)
    expected = fit("HCBCC", coterie.read(path, **reading), **short)
    assert expected.run["verdicts"]["labels"]["n_differ"] > 0
    names = set(expected.annotations.items[expected.run["verdicts"]["labels"]["differ"]])
    noted = found.run["verdicts"]["labels"]
    assert set(found.item_names[noted["differ"]]) == names
    assert set(found.gather().run["verdicts"]["labels"]["differ"]) <= set(
        expected.run["verdicts"]["labels"]["differ"]
    )
    assert found.verdicts.labels.sentence.startswith("Labels not settled")
    assert found.gather().verdicts.labels.sentence


def test_an_item_of_a_hundred_thousand_labels_and_a_hot_annotator():
    """Products of so many chances underflow: logarithms do not."""
    n, rng = 100_000, np.random.default_rng(0)
    annotator = np.sort(np.where(rng.random(n) < 0.9, 0, rng.integers(1, 1_000, n)))
    shard = Shard(
        key_of([7]),
        np.array([0, n]),
        annotator.astype(np.int32),
        (rng.random(n) < 0.6).astype(np.int32),
        np.array([-1], np.int32),
    )
    sizes = sizes_of(SimpleNamespace(n_annotators=1_000, n_classes=2, n_answers=2))
    holder = Holder(sizes, {0: shard})
    matrix = rng.dirichlet(np.ones(2), (1_000, 2)).swapaxes(1, 2).copy()
    matrix[0] = [[0.6, 0.4], [0.4, 0.6]]
    order = Order(0, stream(1, 2, 3), given_of(matrix, np.full(2, 0.5)), tallied=0)
    totals = holder.sweep(order)
    assert totals.said.sum() == n
    assert totals.said[0].sum() == np.count_nonzero(annotator == 0)
    logs = np.log(matrix[annotator, shard.item_answer]).sum(axis=0)
    expected = np.exp(logs - np.logaddexp.reduce(logs))
    np.testing.assert_allclose(holder.sums(0)[0][0], expected, rtol=1e-6, atol=1e-12)


def lopsided():
    """One annotator with nearly all labels, and hundreds with one label each."""
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=400)
    rows = [(i, f"once {i}", truth[i] if rng.random() < 0.7 else 0) for i in range(400)]
    rows += [(i, "hot", truth[i] if rng.random() < 0.9 else 2) for i in range(400)]
    rows += [(i, "hot", truth[i]) for i in range(0, 400, 7)]  # who repeats
    return coterie.read([(f"q{i}", l, "abc"[c]) for i, l, c in rows], duplicates="keep"), truth


@pytest.mark.parametrize("kind", ["HCBCC", "Consensus"])
def test_one_annotator_with_all_labels_and_many_with_one(kind, monkeypatch):
    annotations, truth = lopsided()
    few = {"sweeps": 30, "burn_in": 10}
    expected = fit(kind, annotations, **few)
    in_shards(monkeypatch, 5, annotations)
    found = fit(kind, annotations, n_jobs=2, **few)
    assert bits(found) == bits(expected)
    people = found.annotators().set_index("annotator")
    assert people.loc["hot", "n_labels"] == 400 + 58
    assert people["accuracy"].between(0, 1).all()
    names = [f"q{i}" for i in range(400)]
    labels = found.labels().set_index("item").loc[names, "label"].to_numpy()
    assert np.mean(labels == np.array(list("abc"))[truth]) > 0.8
