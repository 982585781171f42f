"""Roles and coteries of a fitted crowd whose types are known."""

import numpy as np
import pytest

import coterie
from coterie.metrics import adjusted_rand_index
from coterie.partition import point_partition
from coterie.roles import roles_of
from coterie.simulation import Group

EXPERT = np.full((3, 3), 0.05) + 0.85 * np.eye(3)
SAYS_B = np.tile([0.1, 0.8, 0.1], (3, 1))
SWAPS = (np.full((3, 3), 0.075) + 0.775 * np.eye(3))[[1, 0, 2]]
TYPES = [Group("expert", EXPERT, share=2), Group("says b", SAYS_B), Group("swaps", SWAPS)]

ROLE = {"expert": "expert", "says b": "mostly says b", "swaps": "confuses a with b"}
COARSER = {"expert": "good", "says b": "spammer", "swaps": None}


@pytest.fixture(scope="module")
def crowd():
    """Two hundred annotators with about fifty labels each, twenty labels per item."""
    return coterie.simulate(TYPES, items=500, annotators=200, labels_per_item=20, random_state=0)


@pytest.fixture(scope="module", params=["HCBCC", "CBCC"])
def draws(request, crowd):
    model = getattr(coterie, request.param)
    settings = {"chains": 2, "sweeps": 1_000, "burn_in": 500, "early_stop": False}
    model = model(random_state=0, progress=False, **settings).fit(crowd.annotations)
    assert model.posterior_.converged  # a short run is enough for the labels
    return model.posterior_.draws


def pooled(array):
    return array.reshape(-1, *array.shape[2:])


def test_most_annotators_get_the_role_of_their_type(crowd, draws):
    a = crowd.annotations
    found = roles_of(pooled(draws.confusion), pooled(draws.class_balance), a.classes, a.answers)
    roles = np.array(found.words, object)
    right = roles == crowd.groups.map(ROLE).to_numpy()
    coarser = roles == crowd.groups.map(COARSER).to_numpy()
    for kind in ROLE:
        assert right[crowd.groups == kind].mean() > 0.6
    assert right.mean() > 0.75
    assert (right | coarser).mean() > 0.95
    wrong = ~right & ~coarser & (roles != "too few labels to say")
    assert wrong.mean() < 0.02


def test_the_coteries_are_the_types_and_have_their_roles(crowd, draws):
    a = crowd.annotations
    group = point_partition(pooled(draws.partition)).group
    assert adjusted_rand_index(group, crowd.groups.to_numpy()) >= 0.95
    confusion = pooled(draws.confusion)
    matrices = np.stack([confusion[:, group == m].mean(axis=1) for m in range(3)], axis=1)
    roles = roles_of(matrices, pooled(draws.class_balance), a.classes, a.answers)
    assert set(roles.words) == set(ROLE.values())
    assert (roles.probability > 0.99).all()
