"""Priors: written out in full, checked, compared by value."""

import pickle

import numpy as np
import pytest

from coterie.errors import DataError
from coterie.priors import CBCCPrior, Gamma, HCBCCPrior, IBCCPrior

PRIORS = [IBCCPrior, CBCCPrior, HCBCCPrior]


def test_the_papers_prior_is_written_out():
    prior = HCBCCPrior.paper(2, 3)
    np.testing.assert_allclose(prior.mean, [[0.7, 0.15, 0.15], [0.15, 0.7, 0.15]])
    np.testing.assert_array_equal(prior.mean_strength, [3, 3])
    assert prior.strength == Gamma(np.full(2, 20.0), np.full(2, 2.0))
    np.testing.assert_array_equal(prior.class_weights, [1, 1])
    assert prior.concentration == Gamma(1, 10)
    assert prior.auxiliaries == 10
    np.testing.assert_array_equal(IBCCPrior.paper(2, 2).strength, [3, 3])
    assert CBCCPrior.paper(2, 2).concentration == Gamma(1, 10)


@pytest.mark.parametrize("kind", PRIORS)
def test_resolving_twice_changes_nothing(kind):
    prior = kind.paper(3, 4)
    assert prior.resolve(3, 4) == prior
    assert prior != kind()
    assert prior != kind.paper(3, 5)


@pytest.mark.parametrize("kind", PRIORS)
def test_equality_hash_and_pickle_go_by_value(kind):
    one, other = kind.paper(3, 4), kind.paper(3, 4)
    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    assert one != kind(mean=0.8).resolve(3, 4)
    assert kind() == kind()


def test_priors_of_different_models_differ():
    assert IBCCPrior() != CBCCPrior()


def test_repr_shows_how_it_was_made():
    text = "CBCCPrior(mean=0.8, strength=3.0, class_weights=1.0, concentration=0.5, "
    text += "kind_weights=1.0)"
    assert repr(CBCCPrior(mean=0.8, concentration=0.5)) == text


def test_what_resolve_gives_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        IBCCPrior.paper(2, 2).mean[0, 0] = 1
    with pytest.raises(AttributeError):
        IBCCPrior().mean = 0.5


def test_arrays_are_taken_as_they_are():
    mean = [[0.5, 0.5], [0.1, 0.9]]
    prior = IBCCPrior(mean, strength=[1.0, 2.0], class_weights=[3.0, 4.0]).resolve(2, 2)
    np.testing.assert_array_equal(prior.mean, mean)
    np.testing.assert_array_equal(prior.strength, [1, 2])
    np.testing.assert_array_equal(prior.class_weights, [3, 4])


def test_one_possible_answer_is_always_given():
    np.testing.assert_array_equal(IBCCPrior.paper(1, 1).mean, [[1.0]])


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (IBCCPrior(mean=1.0), r"IBCCPrior.mean is 1; give a probability strictly between"),
        (IBCCPrior(mean=[0.7, 0.3]), r"mean has shape \(2,\); .* shape \(2, 3\)"),
        (IBCCPrior(mean=[[0.5, 0.4, 0.2], [0.2, 0.4, 0.4]]), r"row 0 of .*mean sums to 1.1;"),
        (IBCCPrior(mean=[[1, 0, 0], [0, 1, 0]]), r"IBCCPrior.mean\[0, 1\] is 0; give a finite"),
        (IBCCPrior(mean="high"), r"mean is 'high'; give a number"),
        (IBCCPrior(strength=-1), r"IBCCPrior.strength is -1; give a finite number above zero"),
        (IBCCPrior(strength=[1, np.nan]), r"strength\[1\] is nan"),
        (IBCCPrior(strength=[1, 2, 3]), r"strength has shape \(3,\); .* shape \(2,\)"),
        (IBCCPrior(class_weights=0), r"class_weights is 0;"),
        (CBCCPrior(concentration=0), r"CBCCPrior.concentration is 0;"),
        (CBCCPrior(concentration=Gamma(1, -10)), r"CBCCPrior.concentration.rate is -10;"),
        (CBCCPrior(concentration=Gamma([1, 2], 1)), r"shape \(2,\); give one number$"),
        (HCBCCPrior(strength=3.0), r"HCBCCPrior.strength must be a Gamma, got 3.0;"),
        (HCBCCPrior(strength=Gamma([1, 2, 3], 1)), r"strength.shape has shape \(3,\)"),
        (HCBCCPrior(strength=Gamma(1e-11, 1)), r"strength.shape is 1e-11; give at least 1e-10$"),
        (HCBCCPrior(mean_strength=np.inf), r"mean_strength is inf;"),
        (HCBCCPrior(auxiliaries=0), r"auxiliaries is 0; give a whole number of at least 1"),
        (HCBCCPrior(auxiliaries=2.5), r"auxiliaries is 2.5;"),
        (HCBCCPrior(auxiliaries=True), r"auxiliaries is True;"),
    ],
)
def test_a_wrong_prior_is_one_clear_sentence(prior, message):
    with pytest.raises(DataError, match=message):
        prior.resolve(2, 3)
