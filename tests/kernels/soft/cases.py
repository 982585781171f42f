"""Small problems for the soft engine: random labels, gold, and rows that anybody may share."""

import numpy as np

from coterie.data.codes import encode
from coterie.kernels.soft.dirichlet import row_prior
from coterie.kernels.soft.variational import Model


def random_codes(rng, n_items=5, n_classes=None, gold_share=0.3, n_labels=9):
    """Repeated labels, gold, an extra answer, items and annotators without labels."""
    n_classes = n_classes or int(rng.integers(2, 4))
    n_answers = n_classes + 1
    item, annotator = rng.integers(0, n_items - 1, n_labels), rng.integers(0, 3, n_labels)
    answer = rng.integers(0, n_answers, n_labels)
    known = rng.random(n_items) < gold_share
    gold = np.where(known, rng.integers(0, n_classes, n_items), -1)
    return encode(item, annotator, answer, sizes=(n_items, 4, n_classes, n_answers), gold=gold)


def random_map(rng, codes, n_cells):
    """Give a map of (annotator, cell) to rows that are shared at random, and their number."""
    n_rows = int(rng.integers(2, 4 * n_cells))
    n_annotators = len(codes.annotator_start) - 1
    return rng.integers(0, n_rows, (n_annotators, n_cells)).astype(np.int32), n_rows


def own_map(codes, n_cells):
    """Give the map of rows that nobody shares."""
    n_annotators = len(codes.annotator_start) - 1
    return np.arange(n_annotators * n_cells, dtype=np.int32).reshape(n_annotators, n_cells)


def random_prior(rng, n_classes, n_subtypes, n_rows, n_answers):
    """Asymmetric weights of classes and sub-types, and shapes of rows: the reference's model."""
    return (
        rng.gamma(2.0, 1.0, n_classes) + 0.1,
        rng.gamma(2.0, 0.5, n_subtypes) + 0.05,
        rng.gamma(2.0, 1.0, (n_rows, n_answers)) + 0.1,
    )


def as_model(prior, row):
    """Turn the reference's model into the kernel's."""
    class_weight, subtype_weight, shape = prior
    return Model(class_weight, subtype_weight, row_prior(shape[:, :, None]), row)
