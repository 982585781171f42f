"""Posterior.coteries, partition and the matrices of coteries: read off known numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.abilities import Abilities
from coterie.data.annotations import Annotations
from coterie.data.codes import encode
from coterie.errors import CoterieError, DataError
from coterie.metrics import adjusted_rand_index
from coterie.posterior import Draws, Posterior
from coterie.posterior.people import BLOCK

NAMES = np.array(["ann", "bob", "cat", "dan", "eve"], object)


def posterior_of(partition, seed=0, n_draws=3, labels=((0, 0), (1, 0), (1, 1), (3, 0), (4, 1))):
    """Five annotators, of whom cat (code 2) has no label; asymmetric in every index."""
    rng = np.random.default_rng(seed)
    annotator, answer = np.array(labels).T
    codes = encode(np.arange(len(labels)) % 2, annotator, answer, sizes=(2, 5, 2, 3))
    words = [np.array(w.split(), object) for w in ("q1 q2", "no yes", "unsure")]
    matrices = rng.dirichlet([3, 2, 1], size=(2, n_draws, 5, 2)).astype(np.float32)
    draws = Draws(
        matrices,
        rng.dirichlet([3, 2], size=(2, n_draws)),
        np.array(partition, np.int32),
        np.ones((2, n_draws), np.int64),
    )
    annotations = Annotations(words[0], NAMES, words[1], words[2], codes)
    mean = matrices.mean(axis=(0, 1)).astype(np.float64)
    return Posterior(
        annotations,
        np.full((2, 2), 0.5),
        np.array([0.4, 0.6]),
        mean,
        draws=draws,
        model="Known",
        abilities=Abilities(coteries=True, uncertainty=True),
    )


def ungrouped(posterior):
    """The same, of a model that finds no coteries."""
    draws = replace(posterior.draws, partition=None)
    return replace(posterior, draws=draws, abilities=Abilities(uncertainty=True))


# eve with bob and dan in five draws of six, ann always alone, cat (without labels) anywhere.
TOGETHER = [[0, 1, 2, 1, 1], [0, 1, 1, 1, 1], [0, 1, 0, 1, 1]]
APART = [[0, 1, 2, 1, 1], [0, 1, 1, 1, 2], [0, 1, 0, 1, 1]]


@pytest.fixture
def known():
    return posterior_of([TOGETHER, APART])


def test_coteries_are_numbered_by_size_from_one(known):
    table = known.coteries()
    assert table["coterie"].tolist() == [1, 2]
    assert table["size"].tolist() == [3, 1]
    assert table["share"].tolist() == [0.75, 0.25]  # cat has no label and is not counted
    assert table["label_share"].tolist() == [0.8, 0.2]
    assert table.attrs["loss"] == "vi"
    assert table.columns.tolist() == [
        "coterie",
        "size",
        "share",
        "label_share",
        "role",
        "role_probability",
        "accuracy",
        "accuracy_low",
        "accuracy_high",
        "informativeness",
        "spread",
    ]


def test_annotators_have_coterie_membership_and_role(known):
    table = known.annotators().set_index("annotator")
    assert table["coterie"].drop("cat").tolist() == [2, 1, 1, 1]
    assert pd.isna(table.loc["cat", "coterie"])
    assert np.isnan(table.loc["cat", "membership"])
    assert table.loc["cat", "role"] == "too few labels to say"
    assert table.loc["ann", "membership"] == 1  # always alone
    assert table.loc["eve", "membership"] == pytest.approx(5 / 6)
    assert table.loc["bob", "membership"] == pytest.approx((1 + 5 / 6) / 2)
    assert table.columns[-2:].tolist() == ["role", "role_probability"]


def test_the_matrix_of_a_coterie_is_the_mean_of_its_members_in_each_draw(known):
    members = [1, 3, 4]
    per_draw = known.draws.confusion[:, :, members].astype(float).mean(axis=2).reshape(6, 2, 3)
    matrix = known.confusion(coterie=1)
    assert (matrix.index.name, matrix.columns.name) == ("true", "answer")
    np.testing.assert_allclose(matrix, per_draw.mean(axis=0), rtol=1e-6)
    low = known.confusion(coterie=1, quantile=0.025)
    np.testing.assert_allclose(low, np.quantile(per_draw, 0.025, axis=0), rtol=1e-12)
    balance = known.draws.class_balance.reshape(6, 2)
    accuracy = [balance[d] @ np.diag(per_draw[d]) for d in range(6)]
    row = known.coteries().loc[0]
    assert row["accuracy"] == pytest.approx(np.mean(accuracy))
    interval = np.quantile(accuracy, [0.025, 0.975])
    np.testing.assert_allclose([row["accuracy_low"], row["accuracy_high"]], interval)


def test_draws_are_averaged_in_blocks():
    n_draws = BLOCK + 3
    partition = np.tile([0, 1, 1, 1, 0], (2, n_draws, 1))
    posterior = posterior_of(partition, n_draws=n_draws)
    per_draw = posterior.draws.confusion[:, :, [0, 4]].mean(axis=2).reshape(-1, 2, 3)
    assert posterior.partition().group.tolist() == [0, 1, -1, 1, 0]
    upper = posterior.confusion(coterie=1, quantile=0.9)
    np.testing.assert_allclose(upper, np.quantile(per_draw, 0.9, axis=0), rtol=1e-5)


def test_spread_is_the_mean_distance_from_the_coterie():
    known = posterior_of([TOGETHER, APART])
    mean = known.confusion_mean
    matrix = mean[[1, 3, 4]].mean(axis=0)
    distance = [np.abs(mean[l] - matrix).sum(axis=1).mean() / 2 for l in (1, 3, 4)]
    assert known.coteries()["spread"].tolist() == pytest.approx([np.mean(distance), 0])
    same = replace(known, confusion_mean=np.broadcast_to(mean[1], mean.shape))
    assert same.coteries()["spread"].tolist() == pytest.approx([0, 0])


def test_the_labels_of_the_draws_mean_nothing(known):
    rng = np.random.default_rng(3)
    partition = known.draws.partition.copy()
    for k in range(2):
        for d in range(3):
            partition[k, d] = rng.permutation(5)[partition[k, d]]
    other = replace(known, draws=replace(known.draws, partition=partition))
    pd.testing.assert_frame_equal(other.coteries(), known.coteries())
    pd.testing.assert_frame_equal(other.annotators(), known.annotators())


def test_an_annotator_without_labels_moves_nobody(known):
    partition = known.draws.partition.copy()
    partition[:, :, 2] = 3
    other = replace(known, draws=replace(known.draws, partition=partition))
    pd.testing.assert_frame_equal(other.coteries(), known.coteries())


def test_a_fixed_number_of_coteries(known):
    for k in (1, 2, 3, 4):
        assert len(known.coteries(k=k)) == k
        assert known.annotators(k=k)["coterie"].max() == k
    best = known.coteries().attrs["expected_loss"]
    assert known.coteries(k=4).attrs["expected_loss"] > best
    assert known.confusion(coterie=4, k=4).shape == (2, 3)
    assert known.coteries(loss="binder").attrs["loss"] == "binder"


def test_what_cannot_be_answered_gets_a_sentence(known):
    with pytest.raises(DataError) as error:
        known.confusion(coterie=3)
    assert str(error.value) == "no coterie 3: they are numbered from 1 to 2"
    with pytest.raises(CoterieError, match="an annotator or a coterie, not both"):
        known.confusion("ann", coterie=1)
    with pytest.raises(CoterieError, match="5"):
        known.coteries(k=5)  # four annotators have labels
    plain = ungrouped(known)
    for ask in (plain.coteries, plain.partition, lambda: plain.confusion(coterie=1)):
        with pytest.raises(CoterieError) as error:
            ask()
        assert (
            str(error.value) == "Known finds no coteries; fit a model that does, such as Consensus"
        )


def test_a_sampler_without_coteries_still_gives_roles(known):
    plain = ungrouped(known)
    columns = plain.annotators().columns.tolist()
    assert "role" in columns
    assert "coterie" not in columns


THREE_TYPES = {
    "expert": np.full((3, 3), 0.05) + 0.85 * np.eye(3),
    "says b": np.tile([0.1, 0.8, 0.1], (3, 1)),
    "swaps a and b": np.array([[0.075, 0.85, 0.075], [0.85, 0.075, 0.075], [0.05, 0.05, 0.9]]),
}


@pytest.mark.parametrize("model", [coterie.CBCC, coterie.HCBCC])
def test_known_types_are_found_and_named(model):
    from coterie.simulation import Group

    groups = [
        Group(name, matrix, share=share)
        for (name, matrix), share in zip(THREE_TYPES.items(), (0.5, 0.25, 0.25), strict=True)
    ]
    crowd = coterie.simulate(
        groups, items=1_000, annotators=200, classes=3, labels_per_item=10, random_state=1
    )
    fitted = model(random_state=0, chains=2, sweeps=1_500, burn_in=500, early_stop=False)
    posterior = fitted.fit(crowd.annotations).posterior_
    found = posterior.annotators().set_index("annotator")
    assert adjusted_rand_index(found["coterie"], crowd.groups) >= 0.95
    main = posterior.coteries().head(3)
    assert set(main["role"]) >= {"expert", "mostly says b"}
    assert main["role"].str.startswith("confuses a with b").any()
