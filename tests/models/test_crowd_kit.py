"""The same frames through crowd-kit and coterie: what changing the import line changes.

Needs crowd-kit; ``make crowdkit`` runs this module in an environment that is thrown away.
"""

import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import coterie

crowdkit = pytest.importorskip("crowdkit.aggregation", reason="crowd-kit is not installed")

# crowd-kit 1.4.2 uses keywords that pandas 3 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:::crowdkit")

DATA = Path(__file__).parents[3] / "shared" / "data"
COLUMNS = ["task", "worker", "label"]
KINDS = ["text", "numerals", "integers", "text ids, integer labels", "floats", "booleans"]
NEVER_STOP = -1e9  # a tol that puts crowd-kit's stopping rule out of action

# crowd-kit raises every probability, and every expected count of a cell, to 1e-10 at least: after
# as many iterations the two differ by a few times that.
SAME_STEPS = 1e-9
# Where a mean log likelihood of 300 labels no longer changes in floating point (2e-16), what one
# label decides is known to sqrt(300 * 2e-16) = 2.4e-7; four times that.
STANDSTILL = 1e-6


def simulated(kind="text", seed=0):
    """60 tasks, 8 workers, 5 labels per task; sorted by task, and classes first appear in order."""
    classes = 2 if kind == "booleans" else 3
    crowd = coterie.simulate(
        items=60, annotators=8, classes=classes, labels_per_item=5, random_state=seed
    )
    frame = crowd.annotations.to_frame().set_axis(COLUMNS, axis=1)
    label = pd.factorize(frame["label"])[0]
    if kind in ("numerals", "integers"):
        frame["task"] = 7 * pd.factorize(frame["task"])[0] + 3
        frame["worker"] = pd.factorize(frame["worker"], sort=True)[0] - 4
        frame["label"] = 9 * label
        return frame.astype(str) if kind == "numerals" else frame
    given = {
        "text": np.array(["bad", "fair", "good"])[label],
        "text ids, integer labels": label,
        "floats": label / 2,
        "booleans": label > 0,
    }
    return frame.assign(label=given[kind])


def shuffled(frame, seed=1):
    return frame.sample(frac=1, random_state=seed)


def run_theirs(frame, n_iter, strategy=None, **given):
    given = {name: value.copy() for name, value in given.items()}  # it writes into initial_error
    return crowdkit.DawidSkene(n_iter, NEVER_STOP, strategy).fit(frame, **given)


def assert_same_fit(ours, theirs, frame, atol):
    """Equal up to the order of tasks, workers and labels, which in crowd-kit is the rows'."""
    pd.testing.assert_series_equal(ours.labels_, theirs.labels_, check_like=True)
    pd.testing.assert_series_equal(ours.priors_, theirs.priors_, check_like=True, rtol=0, atol=atol)
    pd.testing.assert_frame_equal(ours.probas_, theirs.probas_, check_like=True, rtol=0, atol=atol)
    assert_same_errors(ours.errors_, theirs.errors_, said_of(frame, ours.probas_), atol)


def said_of(frame, probas):
    """Expected number of labels that each worker gave to tasks of each true label."""
    of_label = frame.join(probas, on="task").drop(columns=["task", "label"])
    return of_label.groupby("worker").sum()


def assert_same_errors(ours, theirs, said, atol):
    """Equal as expected counts: nothing is known of a column for which a worker has none."""
    assert ours.index.names == theirs.index.names == ["worker", "label"]
    assert ours.columns.name is theirs.columns.name is None
    assert theirs.index.isin(ours.index).all()
    full = theirs.reindex(index=ours.index, columns=ours.columns).fillna(0.0)
    weight = said.reindex(ours.index, level="worker").to_numpy()
    np.testing.assert_allclose(weight * ours.to_numpy(), weight * full.to_numpy(), 0, atol)


# MajorityVote


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "numerals"])
def test_votes_are_the_same_objects(kind, seed):
    frame = simulated(kind, seed)
    ours = coterie.MajorityVote()
    theirs = crowdkit.MajorityVote()
    pd.testing.assert_series_equal(ours.fit_predict(frame), theirs.fit_predict(frame))
    pd.testing.assert_frame_equal(
        ours.fit_predict_proba(frame), theirs.fit_predict_proba(frame), rtol=0, atol=1e-15
    )
    assert ours.n_ties_ > 0 or kind == "booleans"  # both took the lowest class


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_decides_only_crowd_kit_s_ties(kind):
    frame = shuffled(simulated(kind, seed=3))
    ours = coterie.MajorityVote().fit(frame)
    theirs = crowdkit.MajorityVote().fit(frame)
    pd.testing.assert_frame_equal(ours.probas_, theirs.probas_, check_like=True, rtol=0, atol=1e-15)
    votes = ours.probas_
    tied = votes.eq(votes.max(axis=1), axis=0).sum(axis=1) > 1
    assert tied.sum() == ours.n_ties_
    pd.testing.assert_series_equal(
        ours.labels_[~tied], theirs.labels_[~tied.reindex(theirs.labels_.index)], check_like=True
    )
    pd.testing.assert_series_equal(ours.labels_, votes.idxmax(axis=1), check_names=False)


def test_other_columns_are_left_alone():
    frame = simulated()
    others = ["item", "task_id", "annotator", "worker_id", "answer", "gold", "seconds", "text"]
    more = frame.assign(**dict.fromkeys(others, "x"))[[*others, "label", "worker", "task"]]
    expected = crowdkit.MajorityVote().fit_predict(more)
    pd.testing.assert_series_equal(coterie.MajorityVote().fit_predict(more), expected)


def test_categories_are_understood():
    frame = simulated()
    expected = crowdkit.MajorityVote().fit_predict(frame)
    found = coterie.MajorityVote().fit_predict(frame.astype("category"))
    pd.testing.assert_series_equal(found, expected)


def test_repeated_labels_count_when_they_are_kept():
    frame = simulated()
    twice = pd.concat([frame, frame.iloc[:40]])
    expected = crowdkit.MajorityVote().fit_predict_proba(twice)
    found = coterie.MajorityVote(duplicates="keep").fit_predict_proba(twice)
    pd.testing.assert_frame_equal(found, expected, rtol=0, atol=1e-15)


def test_rows_without_label_are_left_out_by_hand():
    frame = simulated()
    frame.loc[::20, "label"] = None
    with pytest.raises(coterie.DataError, match=r"rows 0, 20 and 40 .* blank label; .* remove"):
        coterie.MajorityVote().fit(frame)
    expected = crowdkit.MajorityVote().fit_predict_proba(frame)
    found = coterie.MajorityVote().fit_predict_proba(frame.dropna())
    pd.testing.assert_frame_equal(found, expected, check_like=True, rtol=0, atol=1e-15)


# DawidSkene


@pytest.mark.parametrize("arguments", [(), (100,), (100, 1e-5), (100, 1e-5, None)])
def test_it_is_made_like_theirs(arguments):
    ours, theirs = coterie.DawidSkene(*arguments), crowdkit.DawidSkene(*arguments)
    names = list(inspect.signature(crowdkit.DawidSkene).parameters)
    assert list(ours.get_params())[: len(names)] == names
    for name in names[: len(arguments)]:
        assert getattr(ours, name) == getattr(theirs, name)
    for method in ("fit", "fit_predict", "fit_predict_proba"):
        wanted = inspect.signature(getattr(theirs, method)).parameters
        found = inspect.signature(getattr(ours, method)).parameters
        more = [n for n, one in found.items() if one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD)]
        assert list(found) == [*wanted, *more]
        assert more in ([], ["kinds", "columns"])  # columns: item=, annotator=, label=


@pytest.mark.parametrize(("kind", "seed"), list(zip(KINDS, (0, 1, 1, 2, 0, 4), strict=True)))
def test_converged_fits_agree(kind, seed):
    frame = shuffled(simulated(kind, seed))
    ours = coterie.DawidSkene(tol=0).fit(frame)
    # Twice as many iterations as coterie needed: both stand still.
    assert_same_fit(ours, run_theirs(frame, 2 * ours.n_iter_), frame, STANDSTILL)


@pytest.mark.parametrize("kind", ["text", "integers"])
def test_converged_fits_are_the_same_objects(kind):
    frame = simulated(kind, seed=2)
    ours = coterie.DawidSkene(tol=0)
    labels = ours.fit_predict(frame)
    theirs = run_theirs(frame, 2 * ours.n_iter_)
    pd.testing.assert_series_equal(labels, theirs.labels_)
    pd.testing.assert_frame_equal(
        ours.fit_predict_proba(frame), theirs.probas_, rtol=0, atol=STANDSTILL
    )
    pd.testing.assert_series_equal(ours.priors_, theirs.priors_, rtol=0, atol=STANDSTILL)
    assert len(theirs.errors_) == 24  # everybody gave every label: nothing is missing
    pd.testing.assert_frame_equal(
        ours.errors_, theirs.errors_.sort_index(), check_column_type=False, rtol=0, atol=STANDSTILL
    )


def history(frame, seed):
    """Counts of every worker's answers on earlier tasks, in crowd-kit's layout."""
    labels = np.sort(frame["label"].unique())
    workers = np.sort(frame["worker"].unique())
    index = pd.MultiIndex.from_product([workers, labels], names=["worker", "label"])
    counts = np.random.default_rng(seed).integers(1, 30, (len(index), len(labels)))
    return pd.DataFrame(counts.astype(float), index=index, columns=labels)


def gold(frame):
    """Known labels that contradict the vote."""
    votes = crowdkit.MajorityVote().fit_predict(frame).iloc[::6]
    first, last = frame["label"].min(), frame["label"].max()
    return pd.Series(np.where(votes == first, last, first), index=votes.index)


def given_beforehand(case, frame):
    counts = history(frame, seed=5)
    return {
        "nothing": (None, {}),
        "gold": (None, {"true_labels": gold(frame)}),
        "assigned counts": ("assign", {"initial_error": counts}),
        "assigned shares": ("assign", {"initial_error": counts / counts.groupby("worker").sum()}),
        "added": ("addition", {"initial_error": counts}),
        "added for some": ("addition", {"initial_error": counts.iloc[3:10]}),
        "added, with gold": ("addition", {"initial_error": counts, "true_labels": gold(frame)}),
    }[case]


BEFOREHAND = [
    "gold",
    "assigned counts",
    "assigned shares",
    "added",
    "added for some",
    "added, with gold",
]


@pytest.mark.filterwarnings("ignore::coterie.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["text", "integers"])
@pytest.mark.parametrize("case", ["nothing", *BEFOREHAND])
def test_every_iteration_is_the_same(case, kind):
    frame = shuffled(simulated(kind))
    strategy, given = given_beforehand(case, frame)
    for n_iter in (1, 3):
        ours = coterie.DawidSkene(n_iter, NEVER_STOP, strategy).fit(frame, **given)
        assert_same_fit(ours, run_theirs(frame, n_iter, strategy, **given), frame, SAME_STEPS)
        plain = coterie.DawidSkene(n_iter, NEVER_STOP).fit(frame)
        moved = np.abs(ours.probas_ - plain.probas_).max(axis=None)
        assert moved == 0 if case == "nothing" else moved > 0.01


# Where an expected count falls below 1e-16, ours is none and stays so; theirs is lifted to 1e-10,
# from where it may come back: from assigned counts, with 3 of 8 seeds (1, 3 and 4).
@pytest.mark.parametrize(("case", "seed"), [("gold", 1), ("assigned counts", 2), ("added", 1)])
def test_converged_fits_agree_on_what_was_known_beforehand(case, seed):
    frame = simulated(seed=seed)
    strategy, given = given_beforehand(case, frame)
    ours = coterie.DawidSkene(tol=0, initial_error_strategy=strategy).fit(frame, **given)
    assert_same_fit(ours, run_theirs(frame, 2 * ours.n_iter_, strategy, **given), frame, STANDSTILL)
    if case == "gold":
        known = given["true_labels"]
        assert (ours.labels_[known.index] == known).all()


def test_repeated_labels_agree_when_they_are_kept():
    frame = simulated(seed=2)
    twice = pd.concat([frame, frame.iloc[:40]])
    ours = coterie.DawidSkene(tol=0, duplicates="keep").fit(twice)
    assert_same_fit(ours, run_theirs(twice, 2 * ours.n_iter_), twice, STANDSTILL)


@pytest.mark.filterwarnings("ignore::coterie.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
def test_as_many_iterations_as_crowd_kit_made_give_what_it_gave(seed):
    frame = simulated(seed=seed)
    theirs = crowdkit.DawidSkene().fit(frame)
    stop = len(theirs.loss_history_)
    ours = coterie.DawidSkene(n_iter=stop, tol=NEVER_STOP).fit(frame)
    assert_same_fit(ours, theirs, frame, SAME_STEPS)
    converged = coterie.DawidSkene().fit(frame)
    assert converged.n_iter_ > stop
    assert converged.loss_history_[-1] > ours.loss_history_[-1]


def test_errors_have_a_row_for_every_label():
    frame = simulated()
    frame.loc[frame["worker"] == "a3", "label"] = "good"
    ours = coterie.DawidSkene(tol=0).fit(frame)
    theirs = run_theirs(frame, 2 * ours.n_iter_)
    assert theirs.errors_.loc["a3"].index.tolist() == ["good"]
    np.testing.assert_array_equal(ours.errors_.loc["a3"], [[0] * 3, [0] * 3, [1] * 3])
    assert_same_fit(ours, theirs, frame, STANDSTILL)


@pytest.mark.parametrize(
    "name", ["bluebird", "valence", "temp", "rte", "weather_amt", "zencrowd_us"]
)
def test_real_crowds_agree(name):
    if not DATA.exists():
        pytest.skip("the real data sets are not here")
    frame = pd.read_csv(DATA / name / "labels.csv", usecols=[0, 1, 2], dtype={"annotator": str})
    frame = frame.set_axis(COLUMNS, axis=1)
    ours = coterie.DawidSkene(duplicates="keep").fit(frame)
    assert ours.converged_
    # As many iterations as coterie made; these crowds take hundreds until floats stand still.
    assert_same_fit(ours, run_theirs(frame, ours.n_iter_), frame, SAME_STEPS)
    votes = coterie.MajorityVote(duplicates="keep").fit_predict_proba(frame)
    theirs = crowdkit.MajorityVote().fit_predict_proba(frame)
    pd.testing.assert_frame_equal(votes, theirs, check_like=True, rtol=0, atol=1e-15)
