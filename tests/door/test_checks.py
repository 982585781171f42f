"""The checks that are offered to models from outside catch what they are for."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln

import coterie
from coterie.extend import check_model, check_sampler, exact_probabilities
from coterie.models import DawidSkene, MajorityVote
from difficulty import EASE, SKILL, Difficulty, DifficultyPeople, DifficultyPrior

FITS = {"n": 0}


class Forgetful(DawidSkene):
    def fit(self, *labels, **told):
        super().fit(*labels, **told)


class Drifts(MajorityVote):
    def _fit(self, annotations):
        FITS["n"] += 1
        found = super()._fit(annotations)
        found.class_balance[:] += 1e-12 * FITS["n"]
        return found


class IgnoresGold(MajorityVote):
    def _fit(self, annotations):
        return super()._fit(coterie.data.with_gold(annotations, {}))


class Boasts(MajorityVote):
    def _fit(self, annotations):
        return replace(super()._fit(annotations), method="em")


class Raises(MajorityVote):
    def _fit(self, annotations):
        raise ZeroDivisionError("one over zero")


class Computes(MajorityVote):
    def __init__(self, duplicates="error"):
        self.duplicates, self.spare = duplicates, 1


class Forgets(DifficultyPeople):
    """Keeps beside the state what the next sweep needs."""

    def draw(self, state, rng):
        self.sweeps = {**vars(self).get("sweeps", {})}
        self.sweeps[id(rng)] = self.sweeps.get(id(rng), 0) + 1
        return super().draw(state, rng) * (1 + 1e-3 * (self.sweeps[id(rng)] % 7))


class Remembers(Difficulty):
    def people(self, prior, crowd, data):
        return Forgets(prior, crowd)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Forgetful, "fit gives the model itself, .*: fit gave something else"),
        (Drifts, "table, triples and Annotations .*: class_balance is not the same from triples"),
        (IgnoresGold, "known labels are certain: a known class of an item has the probability"),
        (Boasts, "it can do what it declares, .*: it declares count, not em"),
        (Raises, r"fit gives the model itself, .*: ZeroDivisionError\('one over zero'\)"),
        (Computes, "its __init__ only stores its parameters: it has spare before fit"),
        (Remembers, "stopped, stored and restored goes on .* belongs in the state"),
    ],
)
def test_a_promise_that_is_broken_is_named(kind, said):
    with pytest.raises(coterie.CoterieError, match=f"^{kind.__name__} breaks the .*{said}") as why:
        check_model(kind)
    assert "\n" not in str(why.value)


def test_a_model_from_outside_passes_with_settings_too():
    check_model(Difficulty, prior=DifficultyPrior([1.0, 2.0, 3.0], level_weights=[3.0, 2.0, 1.0]))


def test_what_cannot_be_checked_is_said():
    with pytest.raises(coterie.DataError, match="takes the class of a model, got Difficulty"):
        check_model(Difficulty())
    with pytest.raises(coterie.DataError, match="DynamicIBCC needs time beside labels, which"):
        check_model(coterie.DynamicIBCC)


SAID = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 0]])  # items by annotators
ROWS = [(i, l, int(SAID[i, l])) for i in range(3) for l in range(3)]
CLASSES, LEVELS = np.array([1.0, 2.0]), np.array([3.0, 1.0, 2.0])
PRIOR = DifficultyPrior(CLASSES, LEVELS)


def log_joint(truth):
    """Skills, levels and class balance summed out."""
    logs = []
    for level in itertools.product(range(3), repeat=3):
        right = 1 / (1 + np.exp(-SKILL[:, None] - EASE[list(level)]))
        each = np.where((truth[:, None] == SAID).T[:, None], right, 1 - right).prod(axis=2)
        drawn = gammaln(CLASSES + np.bincount(truth, minlength=2)).sum()
        drawn += gammaln(LEVELS + np.bincount(level, minlength=3)).sum()
        logs.append(np.log(each.mean(axis=1)).sum() + drawn)
    return np.logaddexp.reduce(logs)


def test_it_samples_what_it_says():
    check_sampler(Difficulty(prior=PRIOR, random_state=3), ROWS, log_joint, sweeps=6_000)


@pytest.mark.parametrize(
    "prior",
    [
        DifficultyPrior(CLASSES[::-1], LEVELS),  # in another order
        DifficultyPrior(CLASSES, LEVELS[::-1] * [1.0, 5.0, 1.0]),
    ],
)
def test_another_model_than_the_log_joint_is_found(prior):
    said = r"Difficulty finds 0\.\d+ for class \d of item \d, and its log joint 0\.\d+: .* apart"
    with pytest.raises(coterie.CoterieError, match=said):
        check_sampler(Difficulty(prior=prior, random_state=3), ROWS, log_joint, sweeps=6_000)


def test_what_is_known_is_not_summed_over():
    known = coterie.read(ROWS, gold={0: 1})
    exact = exact_probabilities(known, log_joint)
    assert exact[0].tolist() == [0.0, 1.0]
    np.testing.assert_allclose(exact.sum(axis=1), 1, rtol=1e-12)
    check_sampler(Difficulty(prior=PRIOR, random_state=3), known, log_joint, sweeps=6_000)


def test_too_many_truths_are_refused():
    crowd = coterie.simulate("mixed", items=20, annotators=4, random_state=0).annotations
    with pytest.raises(coterie.DataError, match="3,486,784,401 truths of these labels, too many"):
        exact_probabilities(crowd, log_joint)
