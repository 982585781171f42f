"""Checkpoints: a run goes on where it was, bit by bit, and no other run takes its file."""

import os
import random
import shutil
import signal
import sys

import numpy as np
import pytest

import coterie
from builders.runs import CROWD, SETTINGS, bits, fit, fit_quietly, interrupt_after
from coterie.errors import DataError
from coterie.files import atomic
from coterie.inference import chain as one_chain
from coterie.inference import chains as meeting_place
from coterie.inference import checkpoint as storage

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A whole run, and the file that it left."""
    path = tmp_path_factory.mktemp("finished") / "run.checkpoint"
    return fit_quietly(checkpoint=path), path


@pytest.fixture
def path(finished, tmp_path):
    """A finished run's file, to be spoilt."""
    return shutil.copy(finished[1], tmp_path / "run.checkpoint")


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
    assert bits(posterior) == bits(expected)
    again = model.fit(CROWD.annotations).posterior_  # a finished run is read, not done again
    assert bits(again) == bits(expected)


def test_going_on_is_said(path, caplog):
    with caplog.at_level("INFO", logger="coterie"):
        fit(checkpoint=path)
    assert f"going on from the checkpoint {path}, sweep 400 of 400" in caplog.messages


def test_a_run_without_a_seed_goes_on_with_its_own(tmp_path, monkeypatch):
    path = tmp_path / "run.checkpoint"
    with monkeypatch.context() as patch:
        interrupt_after(patch, 250)
        part = fit(checkpoint=path, random_state=None)
    whole = fit(checkpoint=path, random_state=None)
    np.testing.assert_array_equal(part.draws.partition, whole.draws.partition[:, :150])


@pytest.mark.parametrize(
    ("changes", "what"),
    [({"sweeps": 500}, "sweeps"), ({"random_state": 9}, "random_state"), ({"chains": 2}, "chains")],
)
def test_a_checkpoint_of_other_settings_is_refused_and_left_alone(path, changes, what):
    before = path.read_bytes()
    with pytest.raises(DataError) as error:
        fit(checkpoint=path, **changes)
    assert str(error.value) == (
        f"the checkpoint {path} is of a run with other {what};"
        " choose another path, or delete it to start afresh"
    )
    assert path.read_bytes() == before


def test_a_checkpoint_of_a_prior_that_differs_in_one_digit_is_refused(tmp_path):
    path = tmp_path / "run.checkpoint"
    fit(checkpoint=path, prior=coterie.HCBCCPrior(mean_strength=[3.0, 3.0, 3.0]))
    other = coterie.HCBCCPrior(mean_strength=[3.0, 3.0, 3.000000001])
    with pytest.raises(DataError, match="is of a run with other prior;"):
        fit(checkpoint=path, prior=other)


def test_a_checkpoint_of_other_data_or_another_version_is_refused(path, monkeypatch):
    before = path.read_bytes()
    other = coterie.simulate("mixed", items=60, annotators=10, random_state=1).annotations
    with pytest.raises(DataError, match="is of a run with other data;"):
        coterie.HCBCC(**SETTINGS, checkpoint=path).fit(other)
    monkeypatch.setattr(storage, "__version__", "99.0")
    with pytest.raises(DataError, match="is of a run with other version;"):
        fit(checkpoint=path)
    assert path.read_bytes() == before


def test_a_damaged_or_foreign_file_is_refused_and_left_alone(path):
    whole = path.read_bytes()
    for content in (b"", b"item,label\n", whole[: len(whole) // 2], b"\x93NUMPY rubbish"):
        path.write_bytes(content)
        with pytest.raises(DataError, match="is not a checkpoint of coterie, or it is damaged"):
            fit(checkpoint=path)
        assert path.read_bytes() == content


def test_an_unwritable_checkpoint_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"file.run\.checkpoint cannot be written: "):
        fit(checkpoint=tmp_path / "file" / "run.checkpoint")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def before_it_is_stored(real):
    return lambda store, chains, entropy: die()


def half_written(real):
    def write(aside):
        content = aside.path.read_bytes()
        aside.path.write_bytes(content[: len(content) // 2])
        die()

    return write


def written_but_not_in_place(real):
    return lambda aside, target: die()


def in_place(real):
    def rename(aside, target):
        real(aside, target)
        die()

    return rename


MOMENTS = {
    before_it_is_stored: (storage.Checkpoint, "write"),
    half_written: (atomic.Aside, "sync"),
    written_but_not_in_place: (atomic.Aside, "rename"),
    in_place: (atomic.Aside, "rename"),
}


def kill_at(moment, time):
    """From now on this process kills itself at that moment of writing for the nth time."""
    owner, name = MOMENTS[moment]
    real = getattr(owner, name)
    deadly = moment(real)
    left = iter(range(time, 0, -1))

    def step(*args):
        return deadly(*args) if next(left) == 1 else real(*args)

    setattr(owner, name, step)
    storage.Checkpoint.due = lambda store: True
    meeting_place.MEETING_SECONDS = 0.0  # they meet after every block,
    one_chain.BLOCK_SECONDS = 0.0  # and that is a sweep


def fit_and_be_killed(path, moment, time):
    """Fit in a copy of this process, which need not compile; give the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            kill_at(moment, time)
            fit(checkpoint=path)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_killed_at_any_moment_it_still_finds_the_same_bits(finished, tmp_path):
    path, chance = tmp_path / "run.checkpoint", random.Random(1)
    for moment in MOMENTS:
        for time in (1, chance.randint(2, 40)):
            assert fit_and_be_killed(path, moment, time) == signal.SIGKILL
    posterior = fit(checkpoint=path)
    assert posterior.run["resumed"]
    assert bits(posterior) == bits(finished[0])
    assert [*tmp_path.iterdir()] == [path]
