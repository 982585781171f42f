"""A small posterior with known numbers, to be drawn, and how to read a picture."""

import matplotlib as mpl
import numpy as np

from builders.posteriors import annotate
from coterie.abilities import Abilities
from coterie.posterior import Draws, Posterior

mpl.use("Agg")

NAMES = ["ann", "bob", "cat", "dan", "eve", "fay", "gil"]
BLOCKS = [0, 1, 0, 1, 0, 2, 0]
"""The cluster of each annotator in every draw; gil has no labels."""

CHAINS, DRAWS, THIN, BURN_IN = 3, 20, 5, 100


def annotations(names=NAMES, classes=("no", "yes"), extra=("unsure",), gold=None):
    """Twelve items, which all annotators but the last one label."""
    labelled = len(names) - 1
    item, annotator = (x.ravel() for x in np.meshgrid(np.arange(12), np.arange(labelled)))
    answer = (item + annotator) % (len(classes) + len(extra))
    items = [f"q{i:02}" for i in range(12)]
    return annotate((item, annotator, answer), items, names, classes, extra, gold=gold)


def point(data=None, **more):
    """Give a point estimate: asymmetric matrices, so that a transposed one is noticed."""
    a = annotations() if data is None else data
    rng = np.random.default_rng(3)
    return Posterior(
        a,
        rng.dirichlet(np.full(a.n_classes, 0.6), size=a.n_items),
        rng.dirichlet(np.full(a.n_classes, 5.0)),
        rng.dirichlet(np.full(a.n_answers, 2.0), size=(a.n_annotators, a.n_classes)),
        model="Point",
        **more,
    )


def sampled(data=None, blocks=BLOCKS, run=None):
    """Give a posterior with draws of which every partition is the same but for some moves."""
    estimate = point(data)
    a = estimate.annotations
    rng = np.random.default_rng(4)
    partition = np.tile(np.array(blocks, np.int32), (CHAINS, DRAWS, 1))
    partition[:, ::4, 1] = 0  # bob visits the first block now and then
    shape = (CHAINS, DRAWS, a.n_annotators, a.n_classes)
    trace = {
        "log_joint": rng.normal(size=(CHAINS, DRAWS * THIN)),
        "n_coteries": rng.integers(2, 5, (CHAINS, DRAWS * THIN)).astype(float),
        "class_total": rng.normal(size=(CHAINS, DRAWS * THIN, a.n_classes)),
    }
    draws = Draws(
        confusion=rng.dirichlet(np.full(a.n_answers, 2.0), size=shape).astype(np.float32),
        class_balance=rng.dirichlet(np.full(a.n_classes, 5.0), size=(CHAINS, DRAWS)),
        partition=partition,
        n_coteries=rng.integers(2, 5, (CHAINS, DRAWS)),
        trace=trace,
    )
    run = {"burn_in": BURN_IN, "left_out": {}, **(run or {})}
    abilities = Abilities(coteries=True, uncertainty=True)
    return point(a, draws=draws, run=run, method="gibbs", abilities=abilities)


TRUTH = {f"q{i:02}": ["no", "yes"][i % 3 == 0] for i in range(12)}

EVERY = {
    "confusion": lambda plot, ax=None: plot.confusion(ax=ax),
    "cooccurrence": lambda plot, ax=None: plot.cooccurrence(ax=ax),
    "coteries": lambda plot, ax=None: plot.coteries(ax=ax),
    "trace": lambda plot, ax=None: plot.trace(ax=ax),
    "calibration": lambda plot, ax=None: plot.calibration(TRUTH, ax=ax),
    "annotators": lambda plot, ax=None: plot.annotators(ax=ax),
}


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def segments(ax):
    """Give the ends of all intervals, shape (intervals, 2 ends, 2 coordinates)."""
    return np.concatenate([collection.get_segments() for collection in ax.collections])


def image(ax):
    (only,) = ax.images
    return np.asarray(only.get_array())
