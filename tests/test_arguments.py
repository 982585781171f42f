"""What is not of the kind that a signature says is one sentence, wherever it is given."""

import datetime
import inspect

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import assign, datasets, metrics
from coterie.arguments import checked
from fuzz.verdict import judge

ROWS = [(f"q{i}", f"a{l}", "xyz"[(i * l) % 3]) for i in range(6) for l in range(4)]


class Awkward:
    """Nothing can be done with it."""

    __hash__ = None

    def __repr__(self):
        raise RuntimeError

    def __eq__(self, other):
        raise RuntimeError

    def __bool__(self):
        raise RuntimeError


ODD = {
    "NA": pd.NA,
    "NaT": pd.NaT,
    "5,000 digits": 10**5_000,
    "bytes": b"\xff",
    "NUL": "a\0b",
    "escapes": "\x1b[2J\nError: b",
    "nested": [[1], [2]],
    "an array without a length": np.array(5),
    "a matrix": np.ones((2, 2)),
    "a frame": pd.DataFrame({"a": [1]}),
    "a date": datetime.date(2020, 1, 1),
    "complex": 1j,
    "a class": int,
    "awkward": Awkward(),
}


@pytest.fixture(scope="module")
def posterior():
    return coterie.QuickConsensus().fit(ROWS).posterior_


def calls(posterior):
    """What is public and takes arguments, with those that it needs."""
    first = {"posterior": posterior, "labels": ROWS, "source": ROWS, "truth": {"q1": "x"}}
    first |= {"budget": 3.0, "probabilities": posterior.probabilities(), "name": "bird"}
    first |= {"annotations": ROWS}
    public = [coterie.simulate, coterie.read, coterie.aggregate, datasets.load]
    public += [assign.stop, assign.next_labels, assign.actions, assign.contributions]
    public += [metrics.score, metrics.log_loss, metrics.reliability, metrics.krippendorff_interval]
    public += [posterior.confusion, posterior.annotators, posterior.communities, posterior.score]
    public += [posterior.probabilities, posterior.item_table, posterior.dependence]
    for function in public:
        parameters = inspect.signature(function).parameters.values()
        plain = [one for one in parameters if one.kind is not one.VAR_KEYWORD]
        needed = {one.name: first.get(one.name, "x") for one in plain if one.default is one.empty}
        yield function, [one.name for one in plain], needed


@pytest.mark.parametrize("odd", ODD)
def test_odd_arguments_are_sentences(posterior, odd):
    for function, names, needed in calls(posterior):
        for name in names:
            given = {**needed, name: ODD[odd]}
            found = judge(lambda function=function, given=given: function(**given))
            assert not found.finding, f"{function.__name__}({name}=...): {found.finding}"


def test_everything_public_is_looked_at():
    public = [coterie.simulate, coterie.read, coterie.aggregate, coterie.check_gold, assign.stop]
    public += [coterie.Posterior.score, coterie.Posterior.save, coterie.Posterior.report]
    for function in public:
        assert function.__wrapped__, function


def test_numbers_of_numpy_are_numbers_and_truth_values_are_none():
    @checked
    def given(whole: int = 0, number: float = 0.0, flag: bool = False) -> list[object]:
        return [whole, number, flag]

    found = given(np.int8(3), np.float32(0.5), np.True_)
    assert list(map(type, found)) == [int, float, bool]
    for wrong in ({"whole": True}, {"whole": 1.0}, {"number": True}, {"flag": 1}):
        with pytest.raises(coterie.DataError, match=f"{next(iter(wrong))}=...\\) must be"):
            given(**wrong)


def test_seeds_are_not_negative():
    with pytest.raises(coterie.DataError, match=r"random_state=...\) must be a whole number of"):
        coterie.simulate(random_state=-1)


ROWS = [("q1", "ann", "a"), ("q1", "bob", "a"), ("q2", "ann", "b"), ("q2", "bob", "a")]


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("items", lambda _: coterie.simulate("mixed", items=0)),
        ("labels_per_item", lambda _: coterie.simulate("mixed", labels_per_item=99)),
        ("sparsity", lambda _: coterie.simulate("mixed", sparsity=2.0)),
        ("classes", lambda _: coterie.simulate("mixed", classes=1)),
        ("class_balance", lambda _: coterie.simulate("mixed", class_balance=[1])),
        ("scenario", lambda _: coterie.simulate("no such crowd")),
        ("floor", lambda posterior: posterior.score({"q1": "a"}, floor=2)),
        ("bins", lambda posterior: posterior.score({"q1": "a"}, bins=0)),
        ("ties", lambda posterior: posterior.score({"q1": "a"}, ties="best")),
        ("truth", lambda posterior: posterior.score({"q1": "z"})),
        ("truth", lambda posterior: posterior.score(7)),
        ("quantile", lambda posterior: posterior.confusion(quantile=2)),
        ("annotator", lambda posterior: posterior.confusion("nobody")),
        ("to", lambda posterior: posterior.labels(to="nothing")),
        ("restarts", lambda posterior: posterior.communities(restarts=0)),
        ("name", lambda posterior: posterior.item_table("nothing")),
        ("level", lambda _: metrics.krippendorff_interval(ROWS, level=2)),
        ("weights", lambda _: coterie.aggregate(ROWS, model="quick", weights=1)),
        ("model", lambda _: coterie.aggregate(ROWS, model="nothing")),
        ("loss", lambda _: coterie.partition.point_partition([[0, 0]], loss="nothing")),
    ],
)
def test_errors_carry_the_argument(argument, call):
    posterior = coterie.DawidSkene().fit(ROWS).posterior_
    with pytest.raises(coterie.CoterieError) as caught:
        call(posterior)
    assert caught.value.argument == argument
