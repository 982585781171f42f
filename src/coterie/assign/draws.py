"""What draws of a posterior say: worlds that may be true, risk, answers given the class of an item.

How many labels are wrong is a distribution: chance, and mistakes that everybody shares. Given a
shift s of everybody's log odds, labels are right independently with log odds logit(p[i]) + s, so
that the share of wrong ones is as good as normal; s ~ N(0, shared^2).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from coterie.assign.people import People
from coterie.numeric import FloatArray, LongArray
from coterie.posterior import Posterior
from coterie.simulation.crowd import draw_dirichlet

SHARED = 0.8
"""Standard deviation of the log odds that all items share; docs/decisions.md has it measured."""
LEAST, MOST, CELLS = 10, 100, 20_000_000
"""Draws whose odds are looked at: at least and at most, and numbers in all of them together."""
POINTS, HALVINGS = 201, 40

WORK = 4_000_000_000
"""Products of weights and numbers of matrices, up to which answers depend on the class."""
PER_LABEL = 200
"""What the weight of an old label, or of a class of an item, takes in a draw: so many products."""
MOST_DRAWS, LEAST_DRAWS = 4_000, 200
"""Draws that are used there: evenly spread, fewer where that is too much work; or none."""
ALIKE = 0.03
"""Draws explain what is reported if probabilities differ by no more than this on average: the
classes of an item depend on matrices and class balance alone."""
UNLIKELY = 1e-12
"""No answer is thought less likely."""


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


def classes_of_draw(posterior: Posterior, d: int, items: LongArray) -> FloatArray:
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


def draw_world(
    posterior: Posterior,
    people: People,
    shapes: FloatArray,
    items: LongArray,
    p: FloatArray,
    rng: np.random.Generator,
) -> tuple[LongArray, FloatArray]:
    """Draw a class for each of some items, and a matrix for each of the people.

    Both are of one draw of the posterior where it has draws, and reports what it samples; somebody
    new answers as anybody who has labels, drawn by lot. Else classes are drawn from what is
    reported, and matrices of point estimates from Dirichlets.

    Parameters
    ----------
    posterior, people
        The result, and who may be asked.
    shapes
        Of the Dirichlets, shape (people, classes, answers).
    items, p
        Codes of the items, and what is believed of them, shape (items, classes).
    rng
        Where randomness comes from.
    """
    labelled = np.flatnonzero(posterior.annotations.labels_per_annotator > 0)
    if n_draws(posterior) == 0 or not len(labelled):
        matrices = draw_dirichlet(shapes, rng)
    else:
        d = int(rng.integers(n_draws(posterior)))
        drawn = matrices_of_draw(posterior, d)
        like = rng.choice(labelled, len(people.row))
        matrices = drawn[np.where(people.row < len(drawn), people.row, like)]
        if reports_its_own(posterior):
            p = classes_of_draw(posterior, d, items)
    chance = p.cumsum(axis=1)
    truth = (rng.random((len(p), 1)) * chance[:, -1:] > chance).sum(axis=1)
    return np.minimum(truth, p.shape[1] - 1).astype(np.int64), matrices


def own_spread(posterior: Posterior) -> float:
    """Give the deviation of the log odds of all labels together that the model itself sees.

    Classes of different items depend on each other through the matrices: in a draw of these more
    labels are right, or fewer. It is read off draws of models that report their own probabilities;
    what others report is off by what was measured, whatever they see.
    """
    codes = posterior.annotations.codes
    if not reports_its_own(posterior) or len(codes.item_answer) == 0:
        return 0.0
    (items,) = np.nonzero((np.diff(codes.item_start) > 0) & (codes.gold < 0))
    many = int(np.clip(CELLS / (len(codes.item_answer) * codes.n_classes), LEAST, MOST))
    number, label = n_draws(posterior), posterior.label_code[items]
    odds = []
    for d in np.linspace(0, number - 1, min(many, number)).astype(int).tolist():
        right = classes_of_draw(posterior, d, items)[np.arange(len(items)), label]
        odds.append(logit((right.sum() + 0.5) / (len(items) + 1)))
    return float(np.std(odds))


def shift_points(shared: float, points: int = POINTS) -> FloatArray:
    """Give equally probable values of the shift, shape (points,); one of 0 if there is none."""
    if shared == 0:
        return np.zeros(1)
    return np.asarray(shared * ndtri((np.arange(points) + 0.5) / points), np.float64)


def shift_probability(probability: FloatArray, shift: float) -> FloatArray:
    """Move the log odds of each probability; certainty stays."""
    return np.asarray(expit(logit(np.clip(probability, 0.0, 1.0)) + shift), np.float64)


def mixed_quantile(mean: FloatArray, deviation: FloatArray, level: float) -> tuple[float, float]:
    """Give the ends of what holds a quantile of a mixture of normal shares, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if ndtr((middle - mean) / deviation).mean() < level:
            low = middle
        else:
            high = middle
    return low, high


def wrong_quantile(probability: FloatArray, level: float, shared: float = SHARED) -> float:
    """Give a quantile of the share of labels that are wrong.

    Parameters
    ----------
    probability
        That each label is right, shape (items,).
    level
        Of the quantile.
    shared
        Standard deviation of the shift.

    Examples
    --------
    >>> sure, unsure = np.full(1000, 0.95), np.full(10, 0.95)
    >>> [round(wrong_quantile(p, 0.95, shared=0.0), 3) for p in (sure, unsure)]
    [0.061, 0.163]
    >>> round(wrong_quantile(sure, 0.95), 3)
    0.165
    """
    if len(probability) == 0:
        return 0.0
    wrong = [1 - shift_probability(probability, s) for s in shift_points(shared)]
    mean = np.array([w.mean() for w in wrong])
    spread = np.sqrt([max(float((w * (1 - w)).sum()), 1e-18) for w in wrong]) / len(probability)
    return mixed_quantile(mean, spread, level)[1]


def matrices_given_class(posterior: Posterior, people: People, items: LongArray) -> FloatArray:
    """Give how each of these people answers about each of these items, for every class of it.

    The answer of l about item i, were its class t, is E[Psi[l,t] | z[i] = t, labels]: the mean of
    Psi_d[l,t] over draws d of matrices and class balance, with weights p(z[i] = t | Psi_d, labels
    of i). Matrices rest on few labels where that matters, and so the crowd is small; in a large one
    it is left out.

    Returns
    -------
    Array of shape (items * people, classes, answers), or ``people.matrix`` where the draws cannot
    tell: there are none, or too few for so large a crowd, or the model reports other probabilities
    than its own.
    """
    if not reports_its_own(posterior) or len(items) == 0 or people.matrix.size == 0:
        return people.matrix
    weighed = posterior.annotations.n_labels + len(items) * people.matrix.shape[1]
    all_draws, work = n_draws(posterior), len(items) * people.matrix.size + PER_LABEL * weighed
    number = min(all_draws, MOST_DRAWS, WORK // work)
    if number < min(LEAST_DRAWS, all_draws):
        return people.matrix
    draws = np.linspace(0, all_draws - 1, number).astype(np.int64)
    classes = np.stack([classes_of_draw(posterior, d, items) for d in draws])
    balance = classes.mean(axis=0)
    if np.abs(balance - posterior.item_probability[items]).mean() > ALIKE:
        return people.matrix
    said = np.tile(people.matrix, (number, 1, 1, 1))  # the new: as they are
    for k, d in enumerate(draws):
        matrices = matrices_of_draw(posterior, d)
        for l, who in enumerate(people.members):
            if len(who):  # anyone of a coterie answers as its members do on average
                said[k, l] = matrices[who].mean(axis=0)
    said -= said.mean(axis=0)  # what is known better than draws show: the mean
    weight = classes / np.maximum(classes.sum(axis=0), UNLIKELY)
    moved = np.stack(
        [weight[:, :, t].T @ said[:, :, t].reshape(number, -1) for t in range(weight.shape[2])],
        axis=1,
    )  # (items, classes, people * answers)
    moved = moved.reshape(len(items), weight.shape[2], len(people.names), -1).swapaxes(1, 2)
    found = np.maximum(people.matrix + moved, UNLIKELY)
    found /= found.sum(axis=3, keepdims=True)
    return np.ascontiguousarray(found.reshape(-1, *people.matrix.shape[1:]))
