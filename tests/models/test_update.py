"""model.update: what a fresh fit of all labels would find, from where the chains ended."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest

import coterie
from coterie.errors import CoterieWarning
from coterie.inference.chain import make_chain
from coterie.inference.checkpoint import check_chain
from coterie.inference.sample import session_of
from coterie.models import sampling
from coterie.models.base import joined
from coterie.models.sampling import carried_groups, going_on, news
from ladder.marks import rest_slow


@pytest.fixture(scope="module")
def crowd():
    return coterie.simulate("mixed", items=60, annotators=10, labels_per_item=5, random_state=0)


@pytest.fixture(scope="module")
def halves(crowd):
    frame = crowd.annotations.to_frame().sample(frac=1, random_state=0)
    return frame.iloc[:240], frame.iloc[240:]


def test_points_are_those_of_a_fresh_fit(crowd, halves):
    model = coterie.QuickConsensus().fit(halves[0]).update(halves[1])
    fresh = coterie.QuickConsensus().fit(crowd.annotations)
    np.testing.assert_array_equal(model.predict_proba(), fresh.predict_proba())


SHORT = {"sweeps": 250, "burn_in": 50, "early_stop": False, "chains": 2}
SAMPLED = [
    (coterie.Consensus, {}),
    (coterie.IBCC, SHORT),
    (coterie.CBCC, SHORT),
    (coterie.HCBCC, SHORT),
]


def sampler(model, settings, seed):
    return model(random_state=seed, progress=False, n_jobs=1, **settings)


def chance_of(one, other):
    """Share of the ways to deal out all results in which means are as far apart as they are."""
    both, n = np.concatenate([one, other]).reshape(len(one) + len(other), -1), len(one)
    ways = np.array(list(itertools.combinations(range(len(both)), n)))
    means = both[ways].mean(axis=1)
    rest = (both.sum(axis=0) - n * means) / (len(both) - n)
    apart = ((means - rest) ** 2).sum(axis=1)
    return np.mean(apart >= apart[0] - 1e-12)  # the first way is how they are


@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
@pytest.mark.parametrize("seed", rest_slow(range(2), 0))
@pytest.mark.parametrize(("model", "settings"), SAMPLED)
def test_it_agrees_with_fresh_fits_within_monte_carlo_error(model, settings, seed):
    """Updates differ from fresh fits no more than fits with other seeds do among each other.

    Chains mix slowly on these crowds: without a burn-in the first one tells Consensus apart.
    """
    crowd = coterie.simulate(
        "mixed", items=60, annotators=25, labels_per_item=6, classes=2, random_state=seed
    )
    frame = crowd.annotations.to_frame().sample(frac=1, random_state=seed)
    n_old = (180, 270)[seed]
    old, more = frame.iloc[:n_old], frame.iloc[n_old:]
    fresh, updated = [], []
    for k in range(6):
        one = sampler(model, settings, 10 * k).fit(crowd.annotations)
        fresh.append(one.predict_proba().to_numpy())
        one = sampler(model, settings, 10 * k + 1).fit(old).update(more)
        updated.append(one.predict_proba().loc[crowd.annotations.items].to_numpy())
    run = one.posterior_.run  # all of the burn-in, a third of the others; more where chains differ
    assert run["sweeps"] < 0.6 * one.sweeps or run.get("rounds") != 1
    assert one.posterior_.verdicts.labels is not None
    assert chance_of(np.stack(updated), np.stack(fresh)) > 0.005


def noted(posterior, one_label):
    """The same posterior, whose chains are said to agree so far."""
    labels = {**posterior.run["verdicts"]["labels"], "one_label": one_label}
    verdicts = {**posterior.run["verdicts"], "labels": labels}
    return replace(posterior, run={**posterior.run, "verdicts": verdicts})


@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
def test_chains_that_do_not_give_one_label_go_on(halves, monkeypatch):
    model = sampler(coterie.IBCC, SHORT, 0).fit(halves[0])
    before = model.posterior_ = noted(model.posterior_, 1.0)
    one = model.update(halves[1]).posterior_.run
    model.posterior_ = before
    monkeypatch.setattr(sampling, "agree_on_labels", lambda found: found is before)
    four = model.update(halves[1]).posterior_.run
    assert four["rounds"] == sampling.ROUNDS
    assert four["sweeps"] > one["sweeps"] / one["rounds"] + 3 * 60
    assert four["sweeps"] - four["burn_in"] == one["sweeps"] - one["burn_in"]


@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
def test_chains_that_had_not_given_one_label_start_again(crowd, halves):
    model = sampler(coterie.IBCC, SHORT, 0).fit(halves[0])
    model.posterior_ = noted(model.posterior_, 0.9)
    fresh = sampler(coterie.IBCC, SHORT, 0).fit(crowd.annotations)
    updated = model.update(halves[1]).predict_proba()
    np.testing.assert_array_equal(updated, fresh.predict_proba())


def test_only_the_warnings_of_the_last_round_are_said(halves, monkeypatch):
    model = sampler(coterie.IBCC, SHORT, 0).fit(halves[0])
    first = model.posterior_ = noted(model.posterior_, 1.0)
    rounds = iter(range(9))

    def went_round(self, *given):
        k = next(rounds)
        warnings.warn(f"round {k}", CoterieWarning, stacklevel=1)
        return noted(first, 0.5 if k == 0 else 1.0)

    monkeypatch.setattr(coterie.IBCC, "_go_round", went_round)
    with pytest.warns(CoterieWarning) as said:
        model.update(halves[1])
    assert [str(one.message) for one in said] == ["round 1"]


@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
@pytest.mark.parametrize(("model", "settings"), SAMPLED)
def test_the_whole_state_is_taken_over(model, settings, crowd):
    """What chains start from is where they ended, counts and all; nothing new changes nothing."""
    fitted = sampler(model, settings, 0).fit(crowd.annotations)
    last = fitted.posterior_.draws.last
    a, made = crowd.annotations, fitted._sampler(crowd.annotations)
    ended = going_on(last, a, a, made.people, np.arange(a.n_annotators))
    with session_of(made, fitted._options(made)) as session:
        for number, then in enumerate(last):
            seed = np.random.SeedSequence(0)
            chain = make_chain(replace(made, ended=ended), number, seed, session)
            check_chain(chain)
            assert chain.state.keys() == then.keys()
            for name, values in chain.state.items():
                np.testing.assert_array_equal(values, then[name], err_msg=name)


@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
@pytest.mark.parametrize(("model", "settings"), SAMPLED)
@pytest.mark.parametrize(
    ("more", "sizes"),
    [
        ([], (60, 10)),
        ([(f"q{i:02d}", "somebody", "a") for i in range(1, 9)], (60, 11)),
        ([(f"brand new {i}", "a01", "b") for i in range(5)], (65, 10)),
    ],
)
def test_nothing_new_only_annotators_only_items(model, settings, more, sizes, crowd, halves):
    fitted = sampler(model, settings, 0).fit(crowd.annotations)
    before = fitted.predict_proba()
    fitted.update(more)
    a = fitted.posterior_.annotations
    assert (a.n_items, a.n_annotators) == sizes
    assert a.n_labels == crowd.annotations.n_labels + len(more)
    # So little is new that hardly any item can have moved.
    moved = np.abs(fitted.predict_proba().loc[before.index] - before).to_numpy()
    assert moved.mean() < 0.05


def test_true_labels_can_join_without_any_others(halves):
    model = coterie.QuickConsensus().fit(halves[0])
    item = model.predict().index[0]
    assert model.update([], {item: "b"}).posterior_.annotations.gold == {item: "b"}


@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
def test_items_with_told_kinds_cannot_be_joined(crowd):
    kinds = {item: "xy"[k % 2] for k, item in enumerate(crowd.annotations.items)}
    model = coterie.IBCC(sweeps=20, burn_in=10, progress=False, random_state=0)
    model.fit(crowd.annotations, kinds=kinds)
    with pytest.raises(coterie.DataError, match="told the kinds"):
        model.update([("new", "a01", "a")])


def test_new_items_and_annotators_join(halves):
    model = coterie.QuickConsensus().fit(halves[0])
    model.update([("brand new", "somebody", "a"), ("brand new", "else", "b")])
    assert "brand new" in model.predict().index
    assert {"somebody", "else"} <= set(model.posterior_.annotators()["annotator"])


def test_gold_stays_and_joins():
    old = coterie.read([("q1", "ann", "a"), ("q2", "bob", "b")], gold={"q1": "a"})
    more = coterie.read([("q2", "ann", "b"), ("q3", "bob", "a")], gold={"q3": "b"})
    assert joined(old, more, "error").gold == {"q1": "a", "q3": "b"}


def test_old_items_can_become_known(halves):
    model = coterie.QuickConsensus().fit(halves[0])
    item = (set(halves[0]["item"]) - set(halves[1]["item"])).pop()
    model.update(halves[1], {item: "a"})
    assert model.posterior_.annotations.gold == {item: "a"}
    assert model.predict()[item] == "a"


def test_what_does_not_fit_is_refused(halves):
    model = coterie.QuickConsensus()
    with pytest.raises(coterie.CoterieError, match="not fitted"):
        model.update(halves[1])
    model.fit(halves[0])
    with pytest.raises(coterie.DataError, match="zebra"):
        model.update([("q1", "new", "zebra")])
    with pytest.raises(coterie.DataError, match="duplicates"):
        model.update(halves[0].iloc[:1])


def test_those_who_are_new_join_the_largest_cluster():
    then, place = np.array([4, 4, 7, -1]), np.array([0, 1, 2, 3, -1, -1])
    seated = np.array([True] * 5 + [False])
    group, source = carried_groups(then, place, seated)
    assert (group.tolist(), source.tolist()) == ([0, 0, 1, 0, 0, -1], [4, 7])


def test_what_is_new_is_told_for_each_old_label():
    old = coterie.read([("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no")])
    more = coterie.read([("q2", "bob", "no"), ("q3", "cat", "yes")], classes=["no", "yes"])
    assert news(old, joined(old, more, "error")) == pytest.approx(2 / 3, abs=1e-12)
