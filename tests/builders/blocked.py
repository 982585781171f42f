"""Labels with everything that shards may meet, and blocked fits of them."""

import warnings

import numpy as np

import coterie
from coterie.data import annotations_from
from coterie.data.codes import cut
from coterie.inference.shards import Blocks, Given, Sizes
from coterie.kernels.space import classes_alone
from coterie.models import sampling

SETTINGS = {
    "sweeps": 140,
    "burn_in": 60,
    "chains": 2,
    "random_state": 3,
    "early_stop": False,
    "progress": False,
    "duplicates": "keep",
}


def rows(seed=0):
    """Repeated labels, extra answers, an annotator with one label: (item, annotator, label)."""
    crowd = coterie.simulate("mixed", items=40, annotators=8, random_state=seed)
    frame = crowd.annotations.to_frame()
    labels = list(frame[["item", "annotator", "label"]].itertuples(index=False, name=None))
    classes = crowd.annotations.classes.tolist()
    first = labels[0]
    labels += [first, (first[0], first[1], classes[1]), (labels[9][0], "once", classes[2])]
    return [*labels, (labels[5][0], labels[5][1], "unsure")], classes


def crowd(order=None):
    """The same as annotations, with gold, an item and an annotator without labels."""
    labels, classes = rows()
    if order is not None:
        labels = [labels[k] for k in order]
    known = {"duplicates": "keep", "classes": classes, "extra_answers": ["unsure"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        annotations = annotations_from(labels, **known)
    gold = np.full(annotations.n_items, -1)
    gold[[3, 7]] = [1, 2]
    return with_silent(annotations.with_gold_codes(gold))


def with_silent(annotations):
    """One more item, one known item and one annotator, none of them with labels."""
    from dataclasses import replace

    codes = annotations.codes
    end, last = codes.item_start[-1], codes.annotator_start[-1]
    codes = codes._replace(
        item_start=np.append(codes.item_start, [end, end]),
        annotator_start=np.append(codes.annotator_start, last),
        gold=np.append(codes.gold, [-1, 0]).astype(np.int32),
    )
    return replace(
        annotations,
        items=np.append(annotations.items, ["silent", "silent and known"]),
        annotators=np.append(annotations.annotators, "silent"),
        codes=codes,
        provenance=None,
    )


def in_shards(monkeypatch, n, annotations):
    """Have labels in memory cut into n shards."""
    size = annotations.n_labels if n == 1 else annotations.n_labels / (n - 0.5)
    monkeypatch.setattr(sampling, "LABELS_PER_SHARD", size + 1 if n == 1 else size)


def sizes_of(data):
    """Cells are classes, nobody guesses."""
    space = classes_alone(np.ones(data.n_classes))
    return Sizes(data.n_annotators, data.n_classes, data.n_answers, space, np.zeros(1))


def open_shards(engine, shards):
    """A session of an engine."""
    return engine.open(Blocks(shards, [slice(None)] * len(shards)), sizes_of(shards))


def open_cut(engine, annotations, n):
    """A session of an engine that holds labels in n shards."""
    return open_shards(engine, cut(annotations, n))


def given_of(matrix, balance):
    """Matrices (annotators, answers, classes) and a class balance, as items are given them."""
    weight = np.vstack([balance, np.diag(balance)])  # of unknown items, and of each known class
    with np.errstate(divide="ignore"):
        logs = np.log(weight), np.log(matrix)
    return Given(weight, logs[0], matrix, logs[1], np.ones(1), np.zeros(0))


def stream(*words):
    """A chain's key in two words, and the sweep."""
    return np.array(words, np.uint64)


def fit(kind, annotations, **changes):
    """A blocked fit."""
    settings = {**SETTINGS, "sampler": "blocked", **changes}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", coterie.ConvergenceWarning)
        return getattr(coterie, kind)(**settings).fit(annotations).posterior_


def bits(posterior):
    """All that was found, as bytes."""
    draws = posterior.draws
    parts = [posterior.item_probability, posterior.confusion_mean, posterior.class_balance]
    parts += [draws.confusion, draws.class_balance, draws.trace["log_joint"]]
    parts += [] if draws.partition is None else [draws.partition]
    parts += [] if posterior.raw_probability is None else [posterior.raw_probability]
    parts += [numbers.values for _, numbers in sorted(posterior.item_numbers.items())]
    return [np.ascontiguousarray(part).tobytes() for part in parts]
