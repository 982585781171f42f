"""Chains that can be trusted, interrupted and resumed."""

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import coterie
from coterie.errors import ConvergenceWarning, DataError
from coterie.inference import chains as meeting_place
from coterie.inference import checkpoint as storage
from coterie.inference import start
from coterie.inference.plan import make_plan

CROWD = coterie.simulate("mixed", items=60, annotators=10, random_state=0)
SETTINGS = {"sweeps": 400, "burn_in": 100, "chains": 3, "random_state": 4, "early_stop": False}
quiet = pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")


def fit(**changes):
    return coterie.HCBCC(**{**SETTINGS, **changes}).fit(CROWD.annotations).posterior_


def bits(posterior):
    """Everything that a run found, in one comparable heap."""
    draws = posterior.draws
    arrays = [
        posterior.item_probability, posterior.confusion_mean, posterior.class_balance,
        draws.confusion, draws.class_balance, draws.partition, draws.n_coteries,
        *draws.trace.values(),
    ]  # fmt: skip
    return [array.tobytes() for array in arrays]


@pytest.fixture(scope="module")
def uninterrupted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit()


# --- the plan -----------------------------------------------------------------------------------


def test_draws_are_thinned_to_a_budget():
    assert make_plan(10_000, 3_000, None, labelled=100, matrix_cells=400).thin == 7
    assert make_plan(500, 100, None, labelled=100, matrix_cells=400).thin == 1
    assert make_plan(10_000, 3_000, 50, labelled=100, matrix_cells=400).draws == 140
    large = make_plan(10_000, 3_000, None, labelled=1_000_000, matrix_cells=9_000_000)
    assert large.draws * 1_000_000 * 4 <= 256 * 2**20
    matrices = make_plan(10_000, 3_000, None, labelled=10_000, matrix_cells=90_000)
    assert matrices.draws // matrices.matrix_thin * 90_000 * 4 <= 64 * 2**20


def test_the_trace_has_every_sweep_and_the_draws_are_thinned(uninterrupted):
    draws = uninterrupted.draws
    assert draws.trace["log_joint"].shape == (3, 300)
    assert draws.partition.shape == (3, 300, 10)
    sparse = fit_quietly(thin=7)
    assert sparse.draws.partition.shape == (3, 42, 10)
    assert sparse.draws.trace["log_joint"].shape == (3, 294)
    # What is kept does not change where the chains go.
    np.testing.assert_array_equal(sparse.draws.partition, draws.partition[:, 6::7])
    np.testing.assert_array_equal(
        sparse.draws.trace["log_joint"], draws.trace["log_joint"][:, :294]
    )


def fit_quietly(**changes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(**changes)


def test_the_number_of_coteries_is_that_of_the_partition(uninterrupted):
    draws = uninterrupted.draws
    count = [[len(set(q)) for q in chain] for chain in draws.partition.tolist()]
    np.testing.assert_array_equal(draws.n_coteries, count)


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_the_same_seed_gives_the_same_bits_whatever_the_threads(uninterrupted, n_jobs):
    assert bits(fit_quietly(n_jobs=n_jobs)) == bits(uninterrupted)


def test_blocks_of_any_size_give_the_same_bits(uninterrupted, monkeypatch):
    monkeypatch.setattr("coterie.inference.chain.BLOCK_SECONDS", 0.0)  # a sweep a block
    assert bits(fit_quietly()) == bits(uninterrupted)


def test_other_seeds_give_other_draws(uninterrupted):
    assert bits(fit_quietly(random_state=5)) != bits(uninterrupted)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"sweeps": 0}, "HCBCC(sweeps=...) must be a whole number of at least 1, got 0"),
        ({"chains": 1.5}, "HCBCC(chains=...) must be a whole number of at least 1, got 1.5"),
        (
            {"burn_in": 400},
            "HCBCC drops burn_in=400 of sweeps=400 sweeps, which leaves nothing;"
            " raise sweeps or lower burn_in",
        ),
        (
            {"thin": 301},
            "HCBCC keeps every 301th of 300 sweeps after burn-in, which leaves nothing; lower thin",
        ),
        (
            {"prior": "flat"},
            "HCBCC takes prior='paper' or a HCBCCPrior, got 'flat'",
        ),
        (
            {"prior": coterie.IBCCPrior()},
            "HCBCC takes prior='paper' or a HCBCCPrior, got"
            " IBCCPrior(mean=0.7, strength=3.0, class_weights=1.0)",
        ),
    ],
)  # fmt: skip
def test_bad_settings_get_one_sentence(changes, sentence):
    with pytest.raises(DataError) as error:
        fit(**changes)
    assert str(error.value) == sentence


# --- when to stop -------------------------------------------------------------------------------


def test_converged_chains_stop_at_a_fixed_sweep_number():
    posterior = coterie.IBCC(random_state=0, burn_in=200).fit(CROWD.annotations).posterior_
    assert posterior.run["stopped"] == "converged"
    assert posterior.converged
    sweeps = posterior.run["sweeps"]
    assert sweeps < 10_000
    plan = make_plan(10_000, 200, None, labelled=10, matrix_cells=90)
    assert (sweeps - 200) % plan.check == 0
    longer = coterie.IBCC(random_state=0, burn_in=200, sweeps=10_000, early_stop=False, n_jobs=1)
    whole = longer.fit(CROWD.annotations).posterior_
    assert (whole.run["stopped"], whole.run["sweeps"]) == ("sweeps", 9_992)
    kept = sweeps - 200
    for name, trace in posterior.draws.trace.items():
        np.testing.assert_array_equal(trace, whole.draws.trace[name][:, :kept])


@pytest.mark.parametrize("kept", [1, 2, 3])
@pytest.mark.parametrize("kind", ["IBCC", "HCBCC"])
def test_next_to_no_draws_are_a_warning_not_a_crash(kind, kept):
    model = getattr(coterie, kind)(sweeps=20 + kept, burn_in=20, chains=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="effective draws 0"):
        posterior = model.fit(CROWD.annotations).posterior_
    assert posterior.draws.class_balance.shape[1] == kept


def test_many_annotators_do_not_all_start_alone():
    codes = coterie.data.codes.encode(
        np.zeros(3_000, int), np.arange(3_000), np.zeros(3_000, int), sizes=(1, 3_000, 2, 2)
    )
    group = start.starting_group(1, codes, np.random.default_rng(0))
    assert len(set(group.tolist())) == start.MOST_GROUPS


def test_a_run_that_has_not_converged_says_so():
    with pytest.warns(ConvergenceWarning, match=r"have not converged after 120 sweeps: R-hat") as w:
        posterior = fit(sweeps=120, burn_in=20, early_stop=True)
    assert not posterior.converged
    numbers = w[0].message.numbers
    assert numbers["r_hat"] > 1.01 or numbers["ess_bulk"] < 400


# --- modes --------------------------------------------------------------------------------------


def test_a_chain_started_in_the_mirrored_mode_is_found_reported_and_left_out(monkeypatch):
    crowd = coterie.simulate(
        "experts", items=150, annotators=12, classes=2, labels_per_item=8, random_state=1
    )
    honest = start.starting_truth

    def turned(number, data, rng):
        truth = honest(number, data, rng)
        return (1 - truth).astype(np.int32) if number == 2 else truth

    monkeypatch.setattr("coterie.inference.start.starting_truth", turned)
    model = coterie.IBCC(random_state=0, sweeps=3_000, burn_in=500)
    with pytest.warns(ConvergenceWarning, match="chain 3 is mirrored") as caught:
        posterior = model.fit(crowd.annotations).posterior_
    assert posterior.run["left_out"] == {"3": "mirrored"}
    assert not posterior.converged
    assert caught[0].message.numbers["vote_agreement[3]"] < 0.1
    assert posterior.draws.class_balance.shape[0] == 3
    assert coterie.metrics.accuracy(posterior.probabilities(), crowd.truth) > 0.95


# --- interruption -------------------------------------------------------------------------------


def interrupt_after(monkeypatch, sweeps):
    """Press Ctrl-C when the first chain has done this many sweeps."""
    real = meeting_place.go_on

    def go_on(pool, chains, target, stop, bar):
        if chains[0].done >= sweeps:
            raise KeyboardInterrupt
        real(pool, chains, min(target, chains[0].done + 50), stop, bar)

    monkeypatch.setattr(meeting_place, "go_on", go_on)


def test_ctrl_c_keeps_the_draws_and_gives_a_result(monkeypatch, uninterrupted):
    interrupt_after(monkeypatch, 250)
    with pytest.warns(ConvergenceWarning, match="interrupted after 250 of 400 sweeps"):
        posterior = fit_warning()
    assert posterior.run["stopped"] == "interrupted"
    np.testing.assert_array_equal(posterior.draws.partition, uninterrupted.draws.partition[:, :150])
    np.testing.assert_allclose(posterior.item_probability.sum(axis=1), 1)


def fit_warning(**changes):
    """Fit, letting only the warning of an interruption through."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*have not converged.*")
        return fit(**changes)


def test_ctrl_c_in_burn_in_has_nothing_to_give(monkeypatch):
    interrupt_after(monkeypatch, 50)
    with pytest.raises(KeyboardInterrupt):
        fit()


# --- checkpoints --------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("kind", ["IBCC", "CBCC", "HCBCC"])
@pytest.mark.parametrize("when", [50, 250])
def test_an_interrupted_run_goes_on_and_finds_the_same_bits(tmp_path, monkeypatch, kind, when):
    model = getattr(coterie, kind)(**SETTINGS)
    expected = model.fit(CROWD.annotations).posterior_
    model.set_params(checkpoint=tmp_path / "run.checkpoint")
    with monkeypatch.context() as patch:
        interrupt_after(patch, when)
        if when < 100:
            with pytest.raises(KeyboardInterrupt):
                model.fit(CROWD.annotations)
        else:
            model.fit(CROWD.annotations)
    posterior = model.fit(CROWD.annotations).posterior_
    assert posterior.run["resumed"]
    assert everything(posterior) == everything(expected)
    again = model.fit(CROWD.annotations).posterior_  # a finished run is read, not done again
    assert everything(again) == everything(expected)


def everything(posterior):
    draws = posterior.draws
    partition = () if draws.partition is None else (draws.partition, draws.n_coteries)
    arrays = [posterior.item_probability, draws.confusion, *partition, *draws.trace.values()]
    return [array.tobytes() for array in arrays]


@quiet
def test_going_on_is_said(tmp_path, caplog):
    path = tmp_path / "run.checkpoint"
    fit(checkpoint=path)
    with caplog.at_level("INFO", logger="coterie"):
        fit(checkpoint=path)
    assert f"going on from the checkpoint {path}, sweep 400 of 400" in caplog.messages


@quiet
def test_a_run_without_a_seed_goes_on_with_its_own(tmp_path, monkeypatch):
    path = tmp_path / "run.checkpoint"
    with monkeypatch.context() as patch:
        interrupt_after(patch, 250)
        part = fit(checkpoint=path, random_state=None)
    whole = fit(checkpoint=path, random_state=None)
    np.testing.assert_array_equal(part.draws.partition, whole.draws.partition[:, :150])


@quiet
@pytest.mark.parametrize(
    ("changes", "what"),
    [({"sweeps": 500}, "sweeps"), ({"random_state": 9}, "random_state"), ({"chains": 2}, "chains")],
)
def test_a_checkpoint_of_other_settings_is_refused_and_left_alone(tmp_path, changes, what):
    path = tmp_path / "run.checkpoint"
    fit(checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(DataError) as error:
        fit(checkpoint=path, **changes)
    assert str(error.value) == (
        f"the checkpoint {path} is of a run with other {what};"
        " choose another path, or delete it to start afresh"
    )
    assert path.read_bytes() == before


@quiet
def test_a_checkpoint_of_a_prior_that_differs_in_one_digit_is_refused(tmp_path):
    path = tmp_path / "run.checkpoint"
    fit(checkpoint=path, prior=coterie.HCBCCPrior(mean_strength=[3.0, 3.0, 3.0]))
    other = coterie.HCBCCPrior(mean_strength=[3.0, 3.0, 3.000000001])
    with pytest.raises(DataError, match="is of a run with other prior;"):
        fit(checkpoint=path, prior=other)


@quiet
def test_a_checkpoint_of_other_data_or_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "run.checkpoint"
    fit(checkpoint=path)
    before = path.read_bytes()
    other = coterie.simulate("mixed", items=60, annotators=10, random_state=1).annotations
    with pytest.raises(DataError, match="is of a run with other data;"):
        coterie.HCBCC(**SETTINGS, checkpoint=path).fit(other)
    monkeypatch.setattr(storage, "__version__", "99.0")
    with pytest.raises(DataError, match="is of a run with other version;"):
        fit(checkpoint=path)
    assert path.read_bytes() == before


@quiet
def test_a_damaged_or_foreign_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "run.checkpoint"
    fit(checkpoint=path)
    whole = path.read_bytes()
    for content in (b"", b"item,label\n", whole[: len(whole) // 2], b"\x93NUMPY rubbish"):
        path.write_bytes(content)
        with pytest.raises(DataError, match="is not a checkpoint of coterie, or it is damaged"):
            fit(checkpoint=path)
        assert path.read_bytes() == content


def test_an_unwritable_checkpoint_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"file.run\.checkpoint cannot be written: "):
        fit_quietly(checkpoint=tmp_path / "file" / "run.checkpoint")


CHILD = """
import sys, warnings
sys.path.insert(0, {tests!r})
warnings.simplefilter("ignore")
from coterie.inference import checkpoint, chains
checkpoint.SECONDS, checkpoint.SHARE, chains.MEETING_SECONDS = 0.0, 1e9, 0.0
import test_run
print("ready", flush=True)
posterior = test_run.fit(sweeps=3_000, checkpoint={path!r})
print("done", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@quiet
def test_killed_at_random_moments_it_still_finds_the_same_bits(tmp_path):
    path = str(tmp_path / "run.checkpoint")
    code = CHILD.format(tests=str(Path(__file__).parent), path=path)
    chance = random.Random(1)
    kills = 0
    for _ in range(40):
        with subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, encoding="utf-8"
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            time.sleep(chance.uniform(0.0, 0.5))
            os.kill(child.pid, signal.SIGKILL)
            rest = child.stdout.read()
        if rest == "done\n":
            break
        kills += 1
        if kills >= 8:
            break
    assert kills >= 2
    expected = fit(sweeps=3_000)
    assert bits(fit(sweeps=3_000, checkpoint=path)) == bits(expected)


def test_every_fact_of_a_run_is_there(uninterrupted):
    assert uninterrupted.run.keys() == {
        "stopped", "sweeps", "burn_in", "chains", "left_out", "modes", "resumed",
    }  # fmt: skip


# --- real data ----------------------------------------------------------------------------------


def quiz(name):
    folder = Path(__file__).parents[3] / "shared" / "data" / name
    if not folder.is_dir():
        pytest.skip("the quizzes are not there: they lie beside the project in shared/data")
    return coterie.read(folder / "labels.csv")


@pytest.mark.slow
def test_on_a_hard_quiz_a_chain_in_a_poorer_mode_is_left_out():
    model = coterie.IBCC(random_state=0)
    with pytest.warns(ConvergenceWarning) as caught:
        posterior = model.fit(quiz("quiz_english")).posterior_
    assert posterior.run["left_out"] == {"2": "poorer"}
    assert "chain 2 is poorer" in str(caught[0].message)
    assert posterior.draws.class_balance.shape[0] == 3


@pytest.mark.slow
def test_equally_good_modes_are_kept_and_said_to_disagree():
    model = coterie.IBCC(random_state=0)
    with pytest.warns(ConvergenceWarning, match="have not converged") as caught:
        posterior = model.fit(quiz("quiz_science")).posterior_
    assert posterior.run["left_out"] == {}
    assert caught[0].message.numbers["r_hat"] > 2
    assert not posterior.converged
