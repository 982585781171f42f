"""Damaged runs and checkpoints: bytes that are wrong, and values that are."""

import functools
import importlib
import io
import random
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

import coterie
from builders.saved import HEADER, header_bytes, header_of, members, npy, write
from fuzz.mutate import damaged, spoilt, spoilt_json

CROWD = coterie.simulate("mixed", annotators=8, items=12, random_state=0).annotations
SHORT = {
    "sweeps": 60, "burn_in": 20, "chains": 1, "random_state": 0, "n_jobs": 1, "progress": False,
    "early_stop": False,
}  # fmt: skip
MODELS = {
    "IBCC": (coterie.IBCC, {}),
    "CBCC": (coterie.CBCC, {}),
    "HCBCC": (coterie.HCBCC, {}),
    "Consensus": (coterie.Consensus, {}),
    "EBCCGibbs": (coterie.EBCCGibbs, {}),
    "EasyHardBCC": (coterie.EasyHardBCC, {}),
    "DynamicIBCC": (coterie.DynamicIBCC, {}),
    "IBCC, kinds": (coterie.IBCC, {"kinds": 2}),
    "CBCC, kinds": (coterie.CBCC, {"kinds": 2}),
    "HCBCC, kinds": (coterie.HCBCC, {"kinds": 2}),
}
"""Every model that keeps a checkpoint, and every kernel of it."""
SLOW = ("CBCC, kinds", "HCBCC, kinds")
"""Whose kernels only slow tests compile."""
COUNTED = {
    "MajorityVote": coterie.MajorityVote,
    "DawidSkene": coterie.DawidSkene,
    "EBCC": coterie.EBCC,
    "QuickConsensus": coterie.QuickConsensus,
}


@functools.cache
def timed():
    """The same labels, each with a time."""
    item = np.repeat(np.arange(CROWD.n_items), CROWD.labels_per_item)
    codes = CROWD.codes
    times = np.random.default_rng(0).random(len(item))
    rows = {
        "item": CROWD.items[item],
        "annotator": CROWD.annotators[codes.item_annotator],
        "label": CROWD.answers[codes.item_answer],
        "time": times * 1e6,
    }
    return coterie.read(pd.DataFrame(rows), time="time")


def fit(model, **settings):
    """Fit a model to the crowd, shortly."""
    if model in COUNTED:
        return COUNTED[model]().fit(CROWD).posterior_
    kind, own = MODELS[model]
    crowd = timed() if model == "DynamicIBCC" else CROWD
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", coterie.ConvergenceWarning)
        return kind(**SHORT, **own, **settings).fit(crowd).posterior_


@functools.cache
def good_run(model):
    return saved(lambda path: fit(model).save(path))


@functools.cache
def good_checkpoint(model):
    """A chain that is half done, as a kill leaves it."""
    sample = importlib.import_module("coterie.inference.sample")
    real = sample.run_chains

    def half(chains, *options):
        for chain in chains:
            for _ in chain.steps(40):
                pass
        return "interrupted"

    sample.run_chains = half
    try:
        return saved(lambda path: fit(model, checkpoint=path))
    finally:
        sample.run_chains = real


def saved(make):
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


LOOKS = (
    lambda posterior: posterior.labels(),
    lambda posterior: posterior.probabilities(raw=True),
    lambda posterior: posterior.annotators(),
    lambda posterior: posterior.verdicts,
    lambda posterior: posterior.draws is None or posterior.diagnostics(),
    lambda posterior: repr(posterior),
)
"""What everybody looks at of a result."""


RUNS = ["MajorityVote", *COUNTED, *MODELS]


def run(number, folder):
    """A saved run with damage, loaded; what loads can be looked at."""
    chance = random.Random(f"runs/{number}")
    path = folder / "run.coterie"
    spoil(good_run(chance.choice(RUNS)), path, chance)

    def check():
        posterior = coterie.load(path)
        check_probabilities(posterior)
        for look in LOOKS:
            look(posterior)

    return check


def run_model(number):
    """The model whose run is damaged in this case."""
    return random.Random(f"runs/{number}").choice(RUNS)


def checkpoint_model(number):
    """The model whose checkpoint is damaged in this case."""
    return sorted(MODELS)[number % len(MODELS)]


def checkpoint(number, folder):
    """A checkpoint with damage: the run goes on, or says that it cannot."""
    chance = random.Random(f"checkpoints/{number}")
    model = checkpoint_model(number)
    path = folder / "run.checkpoint"
    spoil(good_checkpoint(model), path, chance)
    return lambda: check_probabilities(fit(model, checkpoint=path))


def check_probabilities(posterior):
    """What is shown as a probability is one."""
    for name in ("item_probability", "class_balance", "confusion_mean"):
        found = getattr(posterior, name)
        assert np.isfinite(found).all(), f"NaN in {name}"
        assert (found >= -1e-3).all(), f"negative numbers in {name}"
        assert (found <= 1 + 1e-3).all(), f"more than one in {name}"
