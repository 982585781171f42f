"""Worlds that may be true: how people answer, and what the items are, drawn from a posterior."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.assign.people import People
from coterie.posterior import Posterior
from coterie.simulation.dirichlet import draw_dirichlet

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def n_draws(posterior: Posterior) -> int:
    """Give how many draws of matrices there are, of all chains."""
    if not posterior.abilities.uncertainty:
        return 0
    return int(np.prod(posterior.require_draws("matrices").confusion.shape[:2]))


def reports_its_own(posterior: Posterior) -> bool:
    """Say whether draws of classes can be had: what is reported is what was sampled."""
    return n_draws(posterior) > 0 and posterior.raw_probability is None


def matrices_of_draw(posterior: Posterior, d: int) -> FloatArray:
    """Give everybody's matrix in draw d, shape (annotators, classes, answers)."""
    drawn = posterior.require_draws("matrices").confusion
    found = drawn[d // drawn.shape[1], d % drawn.shape[1]].astype(np.float64)
    return np.asarray(found / found.sum(axis=2, keepdims=True))


def classes_of_draw(posterior: Posterior, d: int, items: IntArray) -> FloatArray:
    """Give the probabilities of the classes of some items given draw d, shape (items, classes)."""
    codes, balance = posterior.annotations.codes, posterior.require_draws("classes").class_balance
    matrices = matrices_of_draw(posterior, d)
    lengths = np.diff(codes.item_start)[items]
    row = np.repeat(np.arange(len(items)), lengths)
    first = np.repeat(codes.item_start[items] - np.cumsum(lengths) + lengths, lengths)
    label = first + np.arange(len(row))
    log_p = np.tile(np.log(balance.reshape(-1, balance.shape[-1])[d]), (len(items), 1))
    with np.errstate(divide="ignore"):
        told = np.log(matrices[codes.item_annotator[label], :, codes.item_answer[label]])
    np.add.at(log_p, row, told)
    p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def draw_people(
    posterior: Posterior, people: People, d: int, rng: np.random.Generator
) -> FloatArray:
    """Give how people answer in draw d; somebody new as anybody who has labels, drawn by lot."""
    matrices = matrices_of_draw(posterior, d)
    labelled = np.flatnonzero(posterior.annotations.labels_per_annotator > 0)
    like = rng.choice(labelled, len(people.row))
    known = people.row < len(matrices)
    return matrices[np.where(known, people.row, like)]


def draw_world(
    posterior: Posterior,
    people: People,
    shapes: FloatArray,
    believed: tuple[IntArray, FloatArray],
    rng: np.random.Generator,
) -> tuple[IntArray, FloatArray]:
    """Draw a class for each of some items, and a matrix for each of the people.

    Both are of one draw of the posterior where it has draws, and reports what it samples; classes
    are drawn from what is reported otherwise, and matrices of point estimates from Dirichlets.

    Parameters
    ----------
    posterior, people
        The result, and who may be asked.
    shapes
        Of the Dirichlets, shape (people, classes, answers).
    believed
        Codes of the items, and what is believed of them, shape (items, classes).
    rng
        Where randomness comes from.
    """
    items, p = believed
    if n_draws(posterior) == 0 or not (posterior.annotations.labels_per_annotator > 0).any():
        matrices = draw_dirichlet(shapes, rng)
    else:
        d = int(rng.integers(n_draws(posterior)))
        matrices = draw_people(posterior, people, d, rng)
        if reports_its_own(posterior):
            p = classes_of_draw(posterior, d, items)
    chance = p.cumsum(axis=1)
    truth = (rng.random((len(p), 1)) * chance[:, -1:] > chance).sum(axis=1)
    return np.minimum(truth, p.shape[1] - 1).astype(np.int64), matrices
