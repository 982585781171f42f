"""Damaged runs and checkpoints: bytes that are wrong, and values that are."""

import functools
import importlib
import io
import random
import zipfile

import numpy as np

import coterie
from builders.saved import HEADER, header_bytes, header_of, members, npy, write
from fuzz.mutate import damaged, spoilt, spoilt_json

CROWD = coterie.simulate("mixed", annotators=8, items=12, random_state=0).annotations
SHORT = {
    "sweeps": 60,
    "burn_in": 20,
    "chains": 1,
    "random_state": 0,
    "n_jobs": 1,
    "progress": False,
    "early_stop": False,
}
MODELS = ("IBCC", "CBCC", "HCBCC", "Consensus")


@functools.cache
def good_run(model):
    kind = getattr(coterie, model)
    settings = {} if model == "MajorityVote" else SHORT
    return saved(lambda path: kind(**settings).fit(CROWD).posterior_.save(path))


@functools.cache
def good_checkpoint(model):
    """A chain that is half done, as a kill leaves it."""
    sample = importlib.import_module("coterie.inference.sample")
    kind, real = getattr(coterie, model), sample.run_chains

    def half(chains, **options):
        for chain in chains:
            for _ in chain.steps(40):
                pass
        return "interrupted"

    sample.run_chains = half
    try:
        return saved(lambda path: kind(**SHORT, checkpoint=path).fit(CROWD))
    finally:
        sample.run_chains = real


def saved(make):
    import tempfile
    import warnings
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "file")
        make(path)
        return path.read_bytes()


def spoil(content, path, chance):
    """Write a container with damage: of its bytes, of its header, or of one array in it."""
    how = chance.random()
    if how < 0.3:
        path.write_bytes(damaged(content, chance))
        return
    path.write_bytes(content)
    contents = members(path)
    if how < 0.5:
        contents[HEADER] = header_bytes(spoilt_json(header_of(contents), chance))
    else:
        name = chance.choice(sorted(set(contents) - {HEADER}))
        array = np.lib.format.read_array(io.BytesIO(contents[name]))
        contents[name] = npy(spoilt(array, chance), allow_pickle=False)
    try:
        write(path, contents)
    except (ValueError, zipfile.BadZipFile):
        path.write_bytes(content)


def run(number, folder):
    """A saved run with damage, loaded; what loads can be looked at."""
    chance = random.Random(f"runs/{number}")
    path = folder / "run.coterie"
    spoil(good_run(chance.choice(["MajorityVote", "CBCC"])), path, chance)

    def check():
        posterior = coterie.load(path)
        probability = posterior.item_probability
        assert np.isfinite(probability).all(), "NaN was loaded"
        assert (probability >= -1e-3).all(), "negative probabilities were loaded"
        posterior.labels()

    return check


def checkpoint(number, folder):
    """A checkpoint with damage: the run goes on, or says that it cannot."""
    chance = random.Random(f"checkpoints/{number}")
    model = MODELS[number % len(MODELS)]
    path = folder / "run.checkpoint"
    spoil(good_checkpoint(model), path, chance)

    def check():
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", coterie.ConvergenceWarning)
            found = getattr(coterie, model)(**SHORT, checkpoint=path).fit(CROWD).posterior_
        assert np.isfinite(found.item_probability).all(), "NaN was found"

    return check
