"""The checks that are offered to models from outside catch what they are for."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import betaln, gammaln

import coterie
from coterie.extend import Beta, check_model, check_sampler, exact_probabilities
from coterie.models import DawidSkene, MajorityVote
from onecoin import OneCoin, OneCoinPrior, kernel

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


class IgnoresGold(DawidSkene):
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


class Remembers(OneCoin):
    """Keeps in scratch what the next sweep needs."""

    def kernels(self):
        class Mine:
            pack_prior, initial_state = kernel.pack_prior, kernel.initial_state
            new_scratch = kernel.new_scratch

            @staticmethod
            def run_block(state, data, prior, streams, record, scratch):
                for k in range(len(record.trace.log_joint)):
                    trace = type(record.trace)._make(array[k : k + 1] for array in record.trace)
                    one = record._replace(trace=trace)
                    streams.moves.random(int(-8 * scratch.log_balance[0]) % 3)
                    kernel.run_block(state, data, prior, streams, one, scratch)

        return Mine


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Forgetful, "fit gives the model itself: fit gave something else"),
        (Drifts, "table, triples and Annotations .*: class_balance is not the same from triples"),
        (Boasts, "it can do what it declares, .*: it declares count, not em"),
        (Raises, r"fit gives the model itself: ZeroDivisionError\('one over zero'\)"),
        (Computes, "its __init__ only stores its parameters: it has spare before fit"),
        (Remembers, "stopped, stored and restored goes on .* belongs in the state of a chain"),
    ],
)
def test_a_promise_that_is_broken_is_named(kind, said):
    with pytest.raises(coterie.CoterieError, match=f"^{kind.__name__} breaks the .*{said}") as why:
        check_model(kind)
    assert "\n" not in str(why.value)


def test_a_model_from_outside_passes_with_settings_too():
    check_model(OneCoin, prior=OneCoinPrior(Beta(7.0, 3.0), class_weights=[1.0, 2.0, 3.0]))


def test_what_cannot_be_checked_is_said():
    with pytest.raises(coterie.DataError, match="takes the class of a model, got OneCoin"):
        check_model(OneCoin())
    with pytest.raises(coterie.DataError, match="DynamicIBCC needs time beside labels, which"):
        check_model(coterie.DynamicIBCC)


SAID = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 0], [2, 1, 1]])  # items by annotators
ROWS = [(i, l, int(SAID[i, l])) for i in range(4) for l in range(3)]
PRIOR = OneCoinPrior(Beta(4.0, 2.0), class_weights=[1.0, 2.0, 0.5])


def log_joint(truth):
    """Skills and class balance integrated out."""
    a, b, weight = 4.0, 2.0, np.array([1.0, 2.0, 0.5])
    right = (truth[:, None] == SAID).sum(axis=0)
    total = np.bincount(truth, minlength=3)
    labels = betaln(a + right, b + 4 - right) - betaln(a, b) - (4 - right) * np.log(2)
    classes = gammaln(weight + total) - gammaln(weight)
    return labels.sum() + classes.sum()


def test_it_samples_what_it_says():
    check_sampler(OneCoin(prior=PRIOR, random_state=3), ROWS, log_joint)


@pytest.mark.parametrize(
    "prior",
    [
        OneCoinPrior(Beta(2.0, 4.0), class_weights=[1.0, 2.0, 0.5]),  # for and against exchanged
        OneCoinPrior(Beta(4.0, 2.0), class_weights=[0.5, 2.0, 1.0]),  # in another order
    ],
)
def test_another_model_than_the_log_joint_is_found(prior):
    said = r"OneCoin finds 0\.\d+ for class \d of item \d, and its log joint 0\.\d+: .* apart"
    with pytest.raises(coterie.CoterieError, match=said):
        check_sampler(OneCoin(prior=prior, random_state=3), ROWS, log_joint, sweeps=6_000)


def test_what_is_known_is_not_summed_over():
    known = coterie.read(ROWS, gold={0: 2})
    exact = exact_probabilities(known, log_joint)
    assert exact[0].tolist() == [0.0, 0.0, 1.0]
    np.testing.assert_allclose(exact.sum(axis=1), 1, rtol=1e-12)
    check_sampler(OneCoin(prior=PRIOR, random_state=3), known, log_joint, sweeps=6_000)


def test_too_many_truths_are_refused():
    crowd = coterie.simulate("mixed", items=20, annotators=4, random_state=0).annotations
    with pytest.raises(coterie.DataError, match="3,486,784,401 truths of these labels, too many"):
        exact_probabilities(crowd, log_joint)
