"""Dask as an engine: the bits of threads, also when workers are killed; sentences when it fails."""

import os
import signal
import warnings

import numpy as np
import pytest

import coterie
from builders.blocked import (
    bits,
    crowd,
    fit,
    given_of,
    in_shards,
    open_cut,
    open_shards,
    stream,
)
from builders.dask_clusters import client_of, cluster_of, kill
from coterie.engines import dask as adapter
from coterie.errors import CoterieError, DataError, MissingExtraError
from coterie.inference.shards import Order, connect
from ladder.marks import rest_slow

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")
FEW = {"sweeps": 30, "burn_in": 10}


@pytest.fixture(scope="module")
def client():
    """Two workers, each a process of its own."""
    with client_of(2) as client:
        yield client


@pytest.fixture(scope="module", params=["threads", "dask"])
def engine(request):
    """One suite for both adapters."""
    if request.param == "threads":
        return connect("threads", 2)
    return connect(request.getfixturevalue("client"))


def given_by_hand(annotations):
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.ones(4), (annotations.n_annotators, 3)).swapaxes(1, 2)
    return given_of(matrix.copy(), rng.dirichlet(np.ones(3)))


def ordered(session, given, n=4):
    """Start two chains and make some sweeps, tallied but for the first."""
    found = []
    for chain in (0, 1):
        found.append(session.sweep(Order(chain, stream(5, chain, 0), None, noise=0.3)))
        for k in range(n):
            order = Order(chain, stream(5, chain, k + 1), given, tallied=k - 1)
            found.append(session.sweep(order))
    sums = [array for chain in (0, 1) for array in session.sums(chain)]
    return [array.tobytes() for totals in found for array in totals], sums


def test_a_session_counts_and_sums_as_one_shard_would(engine):
    annotations = crowd()
    given = given_by_hand(annotations)
    session = open_cut(connect("threads", 1), annotations, 1)
    expected, (one, two) = ordered(session, given)
    assert session.n_clear > 10
    held = open_cut(engine, annotations, 5)
    counts, sums = ordered(held, given)
    assert held.n_clear == session.n_clear
    assert counts == expected
    for whole_sums, parts in ((one, sums[:5]), (two, sums[5:])):
        assert np.concatenate(parts).tobytes() == whole_sums.tobytes()
    held.close()


def test_sums_that_are_put_back_go_on(engine):
    annotations = crowd()
    given = given_by_hand(annotations)
    session = open_cut(engine, annotations, 3)
    ordered(session, given)
    middle = [array.copy() for array in session.sums(0)]
    last = Order(0, stream(5, 0, 9), given, tallied=3)
    session.sweep(last)
    expected = session.sums(0)
    again = open_cut(engine, annotations, 3)
    again.restore(0, middle, 3)
    again.sweep(last)
    for one, other in zip(again.sums(0), expected, strict=True):
        assert one.tobytes() == other.tobytes()
    session.close()
    again.close()


def test_few_annotators_make_few_counts(client):
    """Everybody has one label: one of two workers hears less than half of the crowd."""
    rows = [(f"q{k % 31}", f"a{k}", "xy"[k % 2]) for k in range(310)]
    annotations = coterie.read(rows)
    session = open_cut(connect(client), annotations, 12)
    heard = [slot.rows for slot in session.slots]
    assert [len(rows) < 155 for rows in heard if rows is not None] == [True]
    given = given_of(np.full((310, 2, 2), 0.5), np.full(2, 0.5))
    order = Order(0, stream(1, 2, 3), given, tallied=0)
    found = session.sweep(order)
    plain = open_cut(connect("threads", 1), annotations, 1).sweep(order)
    for one, other in zip(found, plain, strict=True):
        np.testing.assert_array_equal(one, other)
    session.close()


@pytest.mark.parametrize("kind", rest_slow(["CBCC", "HCBCC", "Consensus"], 1, 2))
def test_a_fit_on_dask_has_the_bits_of_threads(kind, client, monkeypatch):
    annotations = crowd()
    expected = bits(fit(kind, annotations, **FEW))
    in_shards(monkeypatch, 3, annotations)
    assert bits(fit(kind, annotations, engine=client, sampler="auto", **FEW)) == expected


def test_workers_open_the_shards_of_a_scan(client, tmp_path):
    pytest.importorskip("pyarrow")
    labels = coterie.simulate("mixed", items=60, annotators=9, random_state=2).annotations
    labels.to_frame().to_parquet(tmp_path / "labels.parquet")
    scan = coterie.scan(tmp_path / "labels.parquet", shard_labels=100)
    found = fit("Consensus", scan, engine=client, sampler="auto", **FEW)
    assert bits(found.gather()) == bits(fit("Consensus", labels, **FEW))
    assert found.annotators().equals(fit("Consensus", labels, **FEW).annotators())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["HCBCC", "Consensus"])
def test_a_killed_worker_changes_no_bit(kind, client, monkeypatch):
    annotations = crowd()
    expected = bits(fit(kind, annotations, **FEW))
    in_shards(monkeypatch, 5, annotations)
    real, called = adapter.DaskSession.sweep, []

    def sweep(self, order):
        called.append(order)
        if len(called) in (12, 45):  # in burn-in, and with sums that have not been brought home
            kill(self._engine.client)
        return real(self, order)

    monkeypatch.setattr(adapter.DaskSession, "sweep", sweep)
    moved = []
    move = adapter.DaskSession._move
    monkeypatch.setattr(
        adapter.DaskSession, "_move", lambda self, k, g: (moved.append(k), move(self, k, g))
    )
    assert bits(fit(kind, annotations, engine=client, **FEW)) == expected
    assert len(called) == 62  # two chains of 30 sweeps, and their starts
    assert moved


def test_sums_are_brought_home_before_too_much_is_kept(client, monkeypatch):
    monkeypatch.setattr(adapter, "KEPT_BYTES", 10_000)
    annotations = crowd()
    in_shards(monkeypatch, 2, annotations)
    expected = bits(fit("HCBCC", annotations, **FEW))
    assert bits(fit("HCBCC", annotations, engine=client, **FEW)) == expected


class Gone:
    """Shards of which one cannot be read, wherever it is opened."""

    n_items, n_labels, n_annotators, n_classes, n_answers = 4, 4, 2, 2, 2
    labels_per_annotator = np.array([2, 2])

    def __len__(self):
        return 2

    def open(self, k):
        raise OSError(f"no such file: part-{k}")


def test_a_shard_that_a_worker_cannot_read_is_named(client):
    with pytest.raises(DataError, match="shard 1 of 2 cannot be read: no such file: part-0"):
        open_shards(connect(client), Gone())


def test_nobody_at_the_address_is_one_sentence(monkeypatch):
    monkeypatch.setattr(adapter, "CONNECT_SECONDS", 1)
    with pytest.raises(CoterieError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9;"):
        connect("tcp://127.0.0.1:9")


def test_without_distributed_the_sentence_names_the_extra(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(adapter.importlib, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r'pip install "coterie\[dask\]"'):
        adapter.connect("dask", None)


def test_a_scheduler_that_is_gone_is_one_sentence(monkeypatch):
    annotations = crowd()
    with warnings.catch_warnings(action="ignore"):
        cluster = cluster_of(1)
        client = distributed.Client(cluster, set_as_default=False)
        session = open_cut(connect(client), annotations, 2)
        given = given_by_hand(annotations)
        session.sweep(Order(0, stream(1, 2, 1), given, tallied=0))
        cluster.close(timeout=10)
        with pytest.raises(CoterieError, match=r"the Dask scheduler at .* does not answer"):
            session.sweep(Order(0, stream(1, 2, 2), given))
        session.close()
        client.close(timeout=1)


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 4])
def test_the_number_of_workers_changes_no_bit(n_workers, monkeypatch):
    annotations = crowd()
    kinds = ("IBCC", "CBCC", "HCBCC", "Consensus")
    expected = {kind: bits(fit(kind, annotations, **FEW)) for kind in kinds}
    in_shards(monkeypatch, 7, annotations)
    with cluster_of(n_workers) as cluster, distributed.Client(cluster) as client:
        for kind, wanted in expected.items():
            assert bits(fit(kind, annotations, engine=client, **FEW)) == wanted


@pytest.mark.slow
def test_a_cluster_is_started_where_there_is_none():
    annotations = crowd()
    expected = bits(fit("IBCC", annotations, **FEW))
    assert bits(fit("IBCC", annotations, engine="dask", n_jobs=2, **FEW)) == expected


@pytest.mark.slow
def test_ctrl_c_at_a_terminal_ends_no_worker_of_our_own_cluster():
    engine = connect("dask", 2)
    try:
        before = engine.client.run(os.getpid)
        for pid in before.values():
            os.kill(pid, signal.SIGINT)  # a terminal sends it to the whole group
        assert engine.client.run(os.getpid) == before
        handlers = engine.client.run(lambda: signal.getsignal(signal.SIGINT))
        assert set(handlers.values()) == {signal.SIG_IGN}
    finally:
        engine.close()
