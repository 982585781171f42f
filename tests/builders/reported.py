"""Crowds whose reports are tested: built directly, without a fit."""

import numpy as np

import coterie
from builders.posteriors import annotate
from coterie.data.provenance import Form, Format, Provenance, Source
from coterie.posterior import Draws, Posterior

HOSTILE = [
    "<script>alert(1)</script>",
    '"onmouseover=alert(1) x="',
    "'><img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "</style><svg onload=alert(1)>",
    "x" * 10_000,
    "מישהו \u202e مرحبا",
    "👩‍👩‍👧‍👦🏴‍☠️",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "tab\tnew\nline\x00nul\x1bescape",
    "--><!-- &amp; &#60;b&#62;",
]


def crowd(
    items=40,
    annotators=12,
    classes=3,
    *,
    groups=3,
    labels_per_item=5,
    draws=60,
    chains=2,
    names=None,
    label_names=None,
    item_names=None,
    unlabelled=0,
    gold=0,
    extra=(),
    seed=0,
):
    """A posterior of a model with coteries: planted groups, matrices and partitions near them."""
    rng = np.random.default_rng(seed)
    n_answers = classes + len(extra)
    group = np.sort(rng.integers(groups, size=annotators - unlabelled))
    group = np.concatenate([group, np.zeros(unlabelled, int)])
    skill = np.linspace(0.95, 1 / classes, groups)
    base = np.stack([confusion(classes, n_answers, s) for s in skill])
    truth = rng.integers(classes, size=items)
    n_workers = annotators - unlabelled
    first = rng.integers(n_workers, size=(items, 1))
    each = min(labels_per_item, n_workers)
    workers = rng.permutation(n_workers)[(first + np.arange(each)) % n_workers]
    item = np.repeat(np.arange(items), workers.shape[1])
    worker = workers.ravel()
    chance = base[group[worker], truth[item]].cumsum(axis=1)
    answer = (rng.random((len(item), 1)) > chance).sum(axis=1).clip(0, n_answers - 1)
    known = np.full(items, -1)
    known[:gold] = truth[:gold]
    named = [f"c{t}" for t in range(classes)] if label_names is None else label_names
    annotations = annotate(
        (item, worker, answer),
        [f"q{i:06d}" for i in range(items)] if item_names is None else item_names,
        [f"w{l:04d}" for l in range(annotators)] if names is None else names,
        named,
        extra,
        gold=known,
        provenance=Provenance(
            source=Source("labels.csv", Format.TEXT, "labels.csv"),
            form=Form.LONG,
            item="item",
            annotators=("annotator",),
            label="label",
            classes=tuple(named),
        ),
    )
    probability = rng.dirichlet(np.full(classes, 0.3), size=items)
    sampled = sample(rng, base[group], group, groups, (chains, draws))
    return Posterior(
        annotations,
        probability,
        sampled.class_balance.mean(axis=(0, 1)),
        sampled.confusion.mean(axis=(0, 1), dtype=float),
        draws=sampled,
        model="HCBCC",
        method="gibbs",
        abilities=coterie.HCBCC.abilities,
        converged=sampled.settled(),
        settings={"prior": "paper", "sweeps": 1_000, "chains": chains, "random_state": 7},
        run={"stopped": "sweeps", "sweeps": 1_000, "chains": chains, "left_out": {}},
    )


def confusion(classes, answers, skill):
    matrix = np.full((classes, answers), (1 - skill) / (answers - 1))
    matrix[np.arange(classes), np.arange(classes)] = skill
    return matrix


def sample(rng, matrices, group, groups, shape):
    """Matrices around those given, partitions in which a few annotators move."""
    size = (*shape, *matrices.shape)
    drawn = matrices * rng.uniform(0.8, 1.2, size=size)
    drawn /= drawn.sum(axis=-1, keepdims=True)
    moved = rng.random((*shape, len(group))) < 0.03
    partition = np.where(moved, rng.integers(groups, size=moved.shape), group).astype(np.int32)
    classes = matrices.shape[1]
    return Draws(
        drawn.astype(np.float32),
        rng.dirichlet(np.full(classes, 50.0), size=shape),
        partition,
        np.array([[len(set(row.tolist())) for row in chain] for chain in partition]),
        {
            "log_joint": rng.normal(-1_000, 5, size=shape),
            "n_coteries": np.full(shape, float(groups)),
            "log_likelihood": rng.normal(-900, 5, size=shape),
            "class_total": rng.normal(10, 1, size=(*shape, classes)),
        },
    )
