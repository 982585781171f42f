"""The experiments' parts: thinning, seeds, theory, the paper's numbers."""

import re
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import coterie
from coterie.errors import DataError
from coterie.studies import pool
from reproduction.__main__ import EXPERIMENTS
from reproduction.claims import together, verdict
from reproduction.settings import DESCRIBED, FULL, MODELS, PAPER, QUICK
from reproduction.sparsity import compare, interval, levels_of
from reproduction.theory import MEAN, correlation, correlation_formula
from reproduction.work import (
    MEANS,
    STRENGTH,
    choose_labels,
    describe,
    from_triangle,
    job,
    n_kept,
    percent_triangle,
    seed_of,
    seeded,
    synthetic,
    thin,
    thinned,
)

TEXT = Path(__file__).parents[3] / "shared" / "paper" / "bayesian-nonparametric-crowdsourcing.tex"


def perform(job, settings):
    return pool.perform(seeded(job, settings))


@st.composite
def labelled_pairs(draw):
    """Pairs of item and annotator in which every one of both occurs, and how many to keep."""
    n_items, n_annotators = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    every = list(product(range(n_items), range(n_annotators)))
    chosen = draw(st.sets(st.sampled_from(every)))
    chosen |= {(i, i % n_annotators) for i in range(n_items)}
    chosen |= {(l % n_items, l) for l in range(n_annotators)}
    pairs = np.array(sorted(chosen))
    least = min(len(pairs), n_items + n_annotators)
    return pairs[:, 0], pairs[:, 1], draw(st.integers(least, len(pairs)))


@given(labelled_pairs(), st.integers(0, 2**32))
def test_thinning_keeps_the_number_and_one_of_everybody(problem, seed):
    item, annotator, n = problem
    kept = choose_labels(item, annotator, n, np.random.default_rng(seed))
    assert len(kept) == len(set(kept.tolist())) == n
    assert set(item[kept]) == set(item)
    assert set(annotator[kept]) == set(annotator)
    assert (kept == choose_labels(item, annotator, n, np.random.default_rng(seed))).all()


def exact_thinnings(item, annotator, n):
    """Probability of every kept set, by the three steps written out; None where they cannot."""
    labels = range(len(item))
    found = Counter()
    of_items = [[k for k in labels if item[k] == i] for i in sorted(set(item))]
    for first in product(*of_items):
        p_first = 1 / np.prod([len(of) for of in of_items])
        without = sorted(set(annotator) - {annotator[k] for k in first})
        of_rest = [[k for k in labels if annotator[k] == l] for l in without]
        for second in product(*of_rest):
            p_second = p_first / np.prod([len(of) for of in of_rest])
            fixed = {*first, *second}
            left = [k for k in labels if k not in fixed]
            fills = list(subsets(left, n - len(fixed)))
            for fill in fills:
                found[frozenset(fixed | set(fill))] += p_second / len(fills)
    return found


def subsets(values, size):
    if size == 0:
        yield ()
    elif len(values) >= size:
        for rest in subsets(values[1:], size - 1):
            yield (values[0], *rest)
        yield from subsets(values[1:], size)


@pytest.mark.parametrize(
    ("item", "annotator", "n"),
    [
        ([0, 0, 1, 1], [0, 1, 0, 1], 3),
        ([0, 0, 0, 1, 1, 2, 2], [0, 1, 2, 0, 1, 2, 0], 5),
        ([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], 4),
    ],
)
def test_thinning_follows_the_algorithm_to_the_letter(item, annotator, n):
    """Every kept set occurs as often as the three steps say: chi-square over independent draws."""
    exact = exact_thinnings(item, annotator, n)
    assert sum(exact.values()) == pytest.approx(1)
    rng = np.random.default_rng(1)
    item, annotator = np.array(item), np.array(annotator)
    n_draws = 4_000
    seen = Counter(
        frozenset(choose_labels(item, annotator, n, rng).tolist()) for _ in range(n_draws)
    )
    assert set(seen) <= set(exact)
    cells = sorted(exact, key=sorted)
    expected = np.array([exact[cell] for cell in cells]) * n_draws
    assert expected.min() > 8
    assert stats.chisquare([seen[cell] for cell in cells], expected).pvalue > 1e-4


def test_a_thinning_that_cannot_be_is_an_error():
    item, annotator = np.array([0, 1, 2]), np.array([0, 0, 0])
    with pytest.raises(DataError, match=r"of 3 labels, 2 cannot be kept .* needs at least 3"):
        choose_labels(item, annotator, 2, np.random.default_rng(0))


def test_thinned_annotations_are_a_part_of_the_whole():
    full = coterie.simulate("unsure", items=20, annotators=10, labels_per_item=10, random_state=3)
    part = thin(full.annotations, 0.7, np.random.default_rng(0))
    assert part.n_labels == n_kept(20, 10, 0.7) == 60
    for words in ("items", "annotators", "classes", "extra_answers"):
        assert getattr(part, words).tolist() == getattr(full.annotations, words).tolist()
    rows = {tuple(row) for row in full.annotations.to_frame().itertuples(index=False)}
    assert {tuple(row) for row in part.to_frame().itertuples(index=False)} <= rows


def test_levels_of_the_real_sets_end_where_they_must():
    assert levels_of(FULL, "bluebird")[0] == 0.25
    assert [levels_of(FULL, name)[-1] for name in PAPER] == [0.95, 0.975, 0.95, 0.975]
    assert levels_of(FULL, "temp")[0] == 0.875
    assert n_kept(108, 39, 0.975) < 108  # bluebird: fewer labels than items
    assert n_kept(100, 38, 0.975) < 100  # valence


def test_seeds_come_from_names_alone_and_whole_sets_are_fitted_once():
    names = {name: {one.name for one in e.jobs(FULL)} for name, e in EXPERIMENTS.items()}
    unique = sorted(set().union(*names.values()))
    seeds = {name: seed_of(0, name) for name in unique}
    assert len(set(seeds.values())) == len(unique) > 4_000
    assert seed_of(0, unique[7]) == seeds[unique[7]] != seed_of(1, unique[7])
    assert names["confusion"] <= names["cooccurrence-real"] <= names["accuracy"]
    assert names["accuracy"] <= names["sparsity-real"]
    assert names["cooccurrence-synthetic"] <= names["sparsity-synthetic"]


def test_the_database_is_the_same_for_every_model_and_differs_between_numbers():
    small = QUICK.__class__("small", sweeps=20, burn_in=5, items=30, annotators=15)
    told = {"data": "dataset1", "level": 0.7, "database": 0}
    vote = perform(job(thinned, **told, model="majority"), small)
    again = perform(job(thinned, **told, model="majority"), small)
    assert vote.status == "ok"
    assert vote.result == again.result
    assert vote.result["labels"] == n_kept(30, 15, 0.7)
    others = [
        perform(job(thinned, **(told | {"database": k}), model="majority"), small).result
        for k in range(1, 4)
    ]
    assert any(other["accuracy"] != vote.result["accuracy"] for other in others)
    assert perform(job(thinned, **told, model="ibcc"), small).result["labels"] == 135


def test_an_error_in_a_job_is_an_outcome():
    outcome = perform(job(describe, data="nowhere"), FULL)
    assert (outcome.status, outcome.result) == ("error", None)
    assert "there is no data set 'nowhere'" in outcome.reason


def test_synthetic_sets_are_what_the_page_says():
    crowds = {name: synthetic(name, FULL) for name in ("dataset1", "dataset2", "dataset3")}
    for crowd in crowds.values():
        a = crowd.annotations
        assert (a.n_items, a.n_annotators, a.n_classes, a.n_labels) == (500, 200, 3, 100_000)
    sizes = {"expert": 50, "novice": 90, "says c": 60}
    assert crowds["dataset1"].groups.value_counts().to_dict() == sizes
    assert set(crowds["dataset3"].groups) == {"novice"}
    for name, mean in MEANS.items():
        copies = crowds["dataset2"].confusion[(crowds["dataset2"].groups == name).to_numpy()]
        np.testing.assert_allclose(copies, np.broadcast_to(mean, copies.shape))
    members = crowds["dataset3"].confusion
    mean = np.array(MEANS["novice"])
    sd = np.sqrt(mean * (1 - mean) / (STRENGTH + 1))
    assert (np.abs(members.mean(axis=0) - mean) <= 4 * sd / np.sqrt(200)).all()
    assert crowds["dataset1"].confusion[:, 0, 0].std() > 0.1


@pytest.mark.parametrize(
    ("model", "strength", "concentration"),
    [("ibcc", 3.0, np.inf), ("cbcc", 2.0, 0.5), ("hcbcc", 5.0, 2.0)],
)
def test_the_formula_of_the_prior_correlation(model, strength, concentration):
    size = QUICK.__class__("small", crowds=400)
    found = correlation(size, 5, model, strength, concentration)
    formula = correlation_formula(np.asarray(MEAN), strength, concentration)
    error = np.array(found["error"])
    assert (np.abs(np.array(found["estimate"]) - formula) <= 4 * error).all()
    if model != "ibcc":  # a formula without the concentration would not pass
        wrong = correlation_formula(np.asarray(MEAN), strength, 0.0)
        assert (np.abs(np.array(found["estimate"]) - wrong) > 4 * error).any()


def test_the_formula_is_that_of_two_indicators():
    mean = np.array([[0.6, 0.3, 0.1]])
    got = correlation_formula(mean, 3.0, 1.0)[0]
    covariance = (np.diag(mean[0]) - np.outer(mean[0], mean[0])) / ((1 + 1.0) * (1 + 3.0))
    sd = np.sqrt(mean[0] * (1 - mean[0]))
    np.testing.assert_allclose(got, covariance / np.outer(sd, sd), rtol=1e-12)


def test_percent_triangles_lose_half_a_percent_at_most():
    rng = np.random.default_rng(0)
    half = np.tril(rng.random((7, 7)), -1)
    matrix = half + half.T + np.eye(7)
    assert np.abs(from_triangle(percent_triangle(matrix)) - matrix).max() <= 0.005 + 1e-12


def test_intervals_are_those_of_scipy():
    values = np.array([1.0, 4.0, 2.0, 8.0])
    low, high = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    found = interval(values)
    assert (found["low"], found["high"]) == pytest.approx((low, high), abs=1e-6)
    assert interval(np.array([2.0])) == {"mean": 2.0, "sd": None, "low": None, "high": None}


def test_models_are_compared_on_the_same_databases():
    found = {
        model: [{"accuracy": a, "accuracy_ties_shared": a - 0.1, "clusters": 2.0} for a in of]
        for model, of in zip(MODELS, ((0.5, 0.6), (0.6, 0.7), (0.7, 0.7), (0.8, 0.8)), strict=True)
    }
    level = compare(found, 0.9)
    assert level["improvement"]["ibcc"]["mean"] == pytest.approx(10)
    assert level["improvement"]["ibcc"]["sd"] == pytest.approx(0, abs=1e-6)
    assert level["improvement_ties_shared"]["ibcc"]["mean"] == pytest.approx(20)
    assert level["gain"]["hcbcc-ibcc"]["mean"] == pytest.approx(15)
    assert level["gain"]["hcbcc-cbcc"]["mean"] == pytest.approx(10)
    assert level["databases"] == 2


def test_verdicts():
    assert verdict({"low": -0.5, "high": 0.5}, above=-1) == "supported"
    assert verdict({"low": -3, "high": -2}, above=-1) == "not supported"
    assert verdict({"low": -3, "high": -2}, sign=-1) == "supported"
    assert together(["not supported", "undecided"]) == "undecided"
    assert together(["not supported"] * 2) == "not supported"


@pytest.mark.skipif(not TEXT.exists(), reason="the paper is not beside the project")
def test_the_paper_s_numbers_are_the_paper_s():
    text = TEXT.read_text("utf-8")
    cleaned = re.sub(r"\\textbf\{([^}]*)\}", r"\1", text).replace("$", "")
    for name, printed in PAPER.items():
        (line,) = re.findall(rf"^{name} & ([\d.]+ & .*)\\\\$", cleaned, re.M)[-1:]
        cells = [cell.strip() for cell in line.split("&")]
        assert [float(cell) for cell in cells[:4]] == list(printed.accuracy)
        for cell, model in zip(cells[4:], ("cbcc", "hcbcc"), strict=True):
            mean, sd = re.split(r"\s*\\pm\s*", cell)
            assert (float(mean), float(sd)) == printed.clusters[model]
        (line,) = re.findall(rf"^{name} & (\d+ & \d+ & .*?)&\s*\\begin", cleaned, re.M)
        assert [float(cell) for cell in line.split("&")] == list(printed.description)
        assert len(printed.description) == len(DESCRIBED)
        assert all(f"{share:.2f}\\%" in text for share in printed.shares), name
