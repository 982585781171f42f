"""Models fitted to shards: to the last bit what they find in memory, however the items are cut."""

import numpy as np
import pandas as pd
import pytest

import coterie

CROWD = coterie.simulate("mixed", items=120, annotators=10, labels_per_item=4, random_state=1)
MODELS = {
    "dawid_skene": lambda: coterie.DawidSkene(n_iter=40, tol=1e-6),
    "smoothed": lambda: coterie.DawidSkene(n_iter=40, tol=1e-6, smoothing=0.5),
    "ibccvb": lambda: coterie.IBCCVB(n_iter=40, tol=1e-6, random_state=0),
    "majority": lambda: coterie.MajorityVote(),
    "shares": lambda: coterie.MajorityVote(probabilities="shares", ties="split"),
}


def labels_of(kind):
    frame = CROWD.annotations.to_frame()
    if kind == "plain":
        return frame, {}
    # Some items have nothing but "unsure", some a known class: neither is like the others.
    frame.loc[frame["item"].isin(frame["item"].unique()[:9]), "label"] = "unsure"
    frame.loc[::7, "label"] = "unsure"
    gold = {i: t for i, t in CROWD.truth.items() if i > "q095"}
    return frame, {"extra_answers": ["unsure"], "gold": gold}


def assert_equal(found, told):
    """To the last bit."""
    np.testing.assert_array_equal(found.class_balance, told.class_balance)
    np.testing.assert_array_equal(found.confusion_mean, told.confusion_mean)
    pd.testing.assert_frame_equal(found.labels(), told.labels(), check_exact=True)
    for raw in (False, True):
        one, other = found.probabilities(raw=raw), told.probabilities(raw=raw)
        pd.testing.assert_frame_equal(one, other, check_exact=True)
    pd.testing.assert_frame_equal(found.annotators(), told.annotators(), check_exact=True)
    pd.testing.assert_frame_equal(found.confusion(), told.confusion(), check_exact=True)
    assert found.run == told.run
    assert found.converged == told.converged


@pytest.mark.parametrize("kind", ["plain", "with gold and unsure"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::coterie.ConvergenceWarning")
def test_shards_and_rows_change_no_bit(tmp_path, name, kind):
    frame, told = labels_of(kind)
    whole = MODELS[name]().fit(coterie.read(frame, **told)).posterior_
    for n, seed in ((1, 0), (2, 1), (3, 2), (7, 3)):
        shuffled = frame.sample(frac=1, random_state=seed)
        shuffled.to_parquet(tmp_path / "labels.parquet", index=False)
        per_shard = -(-len(frame) // n)
        scanned = coterie.scan(tmp_path / "labels.parquet", shard_labels=per_shard, **told)
        assert len(scanned) == n
        model = MODELS[name]()
        assert_equal(model.fit(scanned).posterior_, whole)
        assert model.predict().equals(MODELS[name]().fit(coterie.read(frame, **told)).predict())


def test_what_is_gathered_is_the_posterior_in_memory(tmp_path):
    frame, told = labels_of("with gold and unsure")
    frame.to_parquet(tmp_path / "labels.parquet")
    scanned = coterie.scan(tmp_path / "labels.parquet", shard_labels=100, **told)
    whole = coterie.MajorityVote().fit(coterie.read(frame, **told)).posterior_
    found = coterie.MajorityVote().fit(scanned).posterior_
    gathered = found.gather()
    assert type(gathered) is coterie.Posterior
    assert_equal(gathered, whole)
    for one, other in zip(gathered.annotations.codes, whole.annotations.codes, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.score(CROWD.truth).numbers() == whole.score(CROWD.truth).numbers()
    some = found.gather(["q003", "q100", "nowhere"])
    assert some.annotations.items.tolist() == ["q003", "q100"]
    assert found.sample(17).annotations.n_items == 17
    assert found.sample(1_000).annotations.n_items == 120


def test_others_say_so_in_one_sentence(tmp_path):
    CROWD.annotations.to_frame().to_parquet(tmp_path / "labels.parquet")
    scanned = coterie.scan(tmp_path / "labels.parquet")
    with pytest.raises(coterie.CoterieError, match="EBCC cannot be fitted to a scan"):
        coterie.EBCC().fit(scanned)
    with pytest.raises(coterie.DataError, match=r"restarts=2\) starts from noisy votes"):
        coterie.IBCCVB(restarts=2).fit(scanned)
    with pytest.raises(coterie.DataError, match="ties='random'"):
        coterie.MajorityVote(ties="random").fit(scanned)
    with pytest.raises(coterie.DataError, match="item= cannot change a scan"):
        coterie.DawidSkene().fit(scanned, item="item")
    with pytest.raises(coterie.CoterieError, match="is not one file"):
        coterie.MajorityVote().fit(scanned).posterior_.save(tmp_path / "run.coterie")


def test_a_shard_that_cannot_be_read_is_named(tmp_path):
    CROWD.annotations.to_frame().to_parquet(tmp_path / "labels.parquet")
    scanned = coterie.scan(tmp_path / "labels.parquet", shard_labels=100)
    path = scanned.path(3)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(coterie.DataError, match=r"shard 3 of labels.parquet, .*scan the labels ag"):
        coterie.DawidSkene().fit(scanned)


def test_classes_that_a_shard_lacks_and_empty_shards(tmp_path):
    rows = [(f"q{i}", f"a{l}", "rare" if i == 5 else "yn"[i % 2]) for i in range(8) for l in "abc"]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    frame.to_csv(tmp_path / "labels.csv", index=False)
    scanned = coterie.scan(tmp_path / "labels.csv", shard_labels=1)
    sizes = [len(scanned.open(k).key) for k in range(len(scanned))]
    assert 0 in sizes
    assert sum(sizes) == 8
    for name in ("dawid_skene", "ibccvb", "majority"):
        found, told = (MODELS[name]().fit(data).posterior_ for data in (scanned, frame))
        assert_equal(found, told)
