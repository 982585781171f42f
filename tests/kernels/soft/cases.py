"""Small problems for what climbs: random labels, gold and priors; the reference has ours."""

import numpy as np

from coterie.data.codes import encode
from coterie.kernels.expected import Model


def random_codes(rng, n_items=5, n_classes=None, gold_share=0.3, n_labels=9):
    """Repeated labels, gold, an extra answer, items and annotators without labels."""
    n_classes = n_classes or int(rng.integers(2, 4))
    n_answers = n_classes + 1
    item, annotator = rng.integers(0, n_items - 1, n_labels), rng.integers(0, 3, n_labels)
    answer = rng.integers(0, n_answers, n_labels)
    known = rng.random(n_items) < gold_share
    gold = np.where(known, rng.integers(0, n_classes, n_items), -1)
    return encode(item, annotator, answer, sizes=(n_items, 4, n_classes, n_answers), gold=gold)


def own_map(codes, n_cells):
    """Give the reference's map of (annotator, cell) to rows: nobody shares one."""
    n_annotators = len(codes.annotator_start) - 1
    return np.arange(n_annotators * n_cells, dtype=np.int32).reshape(n_annotators, n_cells)


def random_model(rng, n_classes, n_subtypes, n_answers):
    """Asymmetric weights of classes and sub-types, and shapes of rows."""
    return Model(
        rng.gamma(2.0, 1.0, n_classes) + 0.1,
        rng.gamma(2.0, 0.5, n_subtypes) + 0.05,
        rng.gamma(2.0, 1.0, (n_classes, n_answers)) + 0.1,
    )


def dense_of(model, codes):
    """Write a model out as the reference has it: a row of shapes for every annotator and cell."""
    n_cells = len(model.class_weight) * len(model.subtype_weight)
    row = own_map(codes, n_cells)
    shape = np.tile(model.rows[0].T, (len(row), 1))
    return model.class_weight, model.subtype_weight, shape, row
