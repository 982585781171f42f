"""Diagnostics: what counts as converged, and the numbers behind it."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.signal import lfilter

from coterie import diagnostics
from coterie.diagnostics import GLANCE, WATCHED, Quantity, diagnose, has_converged, quantities_of
from coterie.errors import DataError

CHAINS, DRAWS = 4, 1_000


def noise(seed=0, shape=(CHAINS, DRAWS)):
    return np.random.default_rng(seed).normal(size=shape)


def autoregressive(correlation, seed, shape=(CHAINS, DRAWS)):
    return lfilter([1], [1, -correlation], noise(seed, shape), axis=1)


def row(draws):
    (one,) = diagnose({"x": draws}).to_dict("records")
    return one


def test_the_columns_are_those_of_the_design():
    table = diagnose({"log_joint": noise(), "n_coteries": noise(1).round()})
    columns = ["quantity", "mean", "sd", "mcse", "ess_bulk", "ess_tail", "r_hat"]
    assert table.columns.tolist() == columns
    assert table["quantity"].tolist() == ["log_joint", "n_coteries"]
    assert diagnose({}).columns.tolist() == columns


def test_effective_sample_size_and_error_of_a_known_process():
    # AR(1): ESS of the mean is n (1 - r) / (1 + r); its Monte Carlo error is sd / sqrt(ESS).
    correlation, repeats = 0.5, 20
    rows = [row(autoregressive(correlation, seed)) for seed in range(repeats)]
    ess = np.array([one["ess_bulk"] for one in rows])
    expected = CHAINS * DRAWS * (1 - correlation) / (1 + correlation)
    assert abs(ess.mean() - expected) < 4 * ess.std(ddof=1) / np.sqrt(repeats) + 0.02 * expected
    mcse = np.array([one["mcse"] for one in rows])
    means = np.array([one["mean"] for one in rows])
    theory = np.sqrt(1 / (1 - correlation**2) / expected)
    assert abs(mcse.mean() - theory) < 4 * mcse.std(ddof=1) / np.sqrt(repeats) + 0.02 * theory
    assert np.all(np.abs(means) < 5 * theory)


def test_mean_and_sd_are_pooled_over_chains():
    draws = noise() + np.arange(CHAINS)[:, None]
    found = row(draws)
    assert found["mean"] == pytest.approx(draws.mean(), rel=1e-12)
    assert found["sd"] == pytest.approx(draws.std(ddof=1), rel=1e-12)
    assert found["r_hat"] > 1.5


def test_what_has_converged_and_what_has_not():
    assert has_converged({"log_joint": noise()})
    elsewhere, spread = noise(), noise()
    elsewhere[2] += 0.5
    spread[1] *= 2
    found = row(elsewhere)
    assert found["r_hat"] > 1.01
    assert not has_converged({"log_joint": elsewhere}, ess=0)
    assert has_converged({"log_joint": elsewhere}, r_hat=found["r_hat"], ess=0)
    assert not has_converged({"log_joint": spread})
    slow = autoregressive(0.9, 0)  # about 210 effective draws of 4,000
    assert row(slow)["ess_bulk"] < 400
    assert not has_converged({"log_joint": slow}, r_hat=2)
    assert has_converged({"log_joint": slow}, r_hat=2, ess=100)
    assert not has_converged({})  # nothing watched shows nothing
    assert not has_converged({"log_likelihood": noise()})


def test_what_never_moves_has_converged_if_all_chains_agree():
    trace = {"log_joint": noise(), "concentration": np.full((CHAINS, DRAWS), 0.1)}
    assert has_converged(trace)
    found = row(trace["concentration"])
    assert np.isnan(found["r_hat"])
    assert (found["mean"], found["sd"], found["mcse"]) == (0.1, 0.0, 0.0)
    stuck, moved = np.full((2, CHAINS, DRAWS), 3.0)
    stuck[3] = moved[0, DRAWS // 2 :] = 4
    assert not has_converged({"log_joint": noise(), "n_coteries": stuck})
    assert row(stuck)["r_hat"] == np.inf
    assert not has_converged({"n_coteries": moved})  # one chain that moves is no constant


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_has_not_converged(bad):
    draws = noise()
    draws[1, 7] = bad
    assert not has_converged({"log_joint": draws})
    assert not has_converged({"log_joint": np.full((CHAINS, DRAWS), bad)})
    diagnose({"log_joint": draws, "all": np.full((CHAINS, DRAWS), bad)})  # and no warning


@pytest.mark.parametrize("shape", [(1, 1), (4, 1), (4, 3), (1, 7), (2, 2)])
def test_too_few_draws_have_not_converged(shape):
    draws = noise(shape=shape)
    assert not has_converged({"log_joint": draws}, r_hat=np.inf, ess=0)
    assert np.isnan(row(draws)["r_hat"])
    assert not has_converged({"log_joint": draws[:, :3] * 0})


def test_one_chain_is_compared_with_itself():
    steady = noise(shape=(1, 4 * DRAWS))
    assert row(steady)["r_hat"] == pytest.approx(1, abs=0.01)
    assert has_converged({"log_joint": steady})
    assert not has_converged({"log_joint": steady + np.linspace(0, 2, 4 * DRAWS)})


def test_only_watched_quantities_count():
    watched = ("log_joint", "n_coteries", "concentration")
    assert all(name in WATCHED for name in watched)
    assert "class_total" in WATCHED
    assert "log_likelihood" not in WATCHED
    drift = noise() + np.arange(CHAINS)[:, None]
    assert has_converged({"log_joint": noise(), "log_likelihood": drift})
    assert not has_converged({"log_joint": noise(), "class_total": np.stack([noise(), drift], -1)})
    assert not has_converged({"log_joint": noise(), "class_total": np.stack([drift, noise()], -1)})


def test_only_whole_chains_can_pass_not_a_thinned_look():
    draws = noise(shape=(CHAINS, 10 * GLANCE))
    between = np.arange(10 * GLANCE) % 10 != 0  # the sweeps that the quick look leaves out
    draws[1, between] += 5
    assert has_converged({"log_joint": draws[:, ~between]})
    assert not has_converged({"log_joint": draws})


@pytest.mark.parametrize("correlation", [0.0, 0.9, 0.99, 0.999])
def test_long_chains_get_the_verdict_of_their_table(correlation):
    for seed in range(3):
        draws = autoregressive(correlation, seed, (CHAINS, 5 * GLANCE))
        found = row(draws)
        verdict = found["r_hat"] <= 1.01 and found["ess_bulk"] >= 400
        assert not has_converged({"log_joint": draws}) or verdict
        if correlation in (0.0, 0.999):
            assert has_converged({"log_joint": draws}) == verdict


def test_a_trace_of_several_numbers_is_one_row_each():
    totals = np.stack([noise(1), noise(2) + 1], axis=-1)
    table = diagnose({"log_joint": noise(), "class_total": totals})
    assert table["quantity"].tolist() == ["log_joint", "class_total[0]", "class_total[1]"]
    for k in range(2):
        alone = diagnose({"x": totals[:, :, k]}).drop(columns="quantity")
        assert alone.iloc[0].tolist() == table.drop(columns="quantity").iloc[k + 1].tolist()
    found = quantities_of({"class_total": totals})
    np.testing.assert_array_equal(found[Quantity("class_total", 1)], totals[:, :, 1])


@pytest.mark.parametrize("shape", [(5,), (0, 5), (5, 0), (2, 3, 4, 5), (2, 3, 0)])
def test_a_wrong_shape_is_named(shape):
    with pytest.raises(DataError, match=r"log_joint must have shape \(chains, draws\)"):
        has_converged({"log_joint": np.zeros(shape)})


def test_arviz_is_loaded_only_when_used():
    code = "import sys, coterie.diagnostics; sys.exit('arviz_stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_of_two_class_totals_one_says_what_the_other_does(monkeypatch):
    looked = []
    real = diagnostics._is_settled
    monkeypatch.setattr(
        diagnostics, "_is_settled", lambda draws, *limits: looked.append(1) or real(draws, *limits)
    )
    first = (100 * noise()).round()
    for second, wanted in ((1_000 - first, 1), ((100 * noise(1)).round(), 2)):
        looked.clear()
        assert has_converged({"class_total": np.stack([first, second], axis=2)})
        assert len(looked) == wanted
    numbers = diagnose({"class_total": np.stack([first, 1_000 - first], axis=2)})
    assert numbers["r_hat"][0] == pytest.approx(numbers["r_hat"][1], rel=1e-12)
    assert numbers["ess_bulk"][0] == pytest.approx(numbers["ess_bulk"][1], rel=1e-9)


def test_only_the_numbers_that_are_asked_for():
    table = diagnose({"log_joint": noise()}, ["r_hat"])
    assert table.columns.tolist() == ["quantity", "r_hat"]
    assert table["r_hat"][0] == row(noise())["r_hat"]
