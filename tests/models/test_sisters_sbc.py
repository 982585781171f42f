"""Simulation-based calibration of whole fits, of models whose items sit in cells.

Sub-types, easy and hard items, kinds known and latent: with their starts and warm-ups, from worlds
that the reference draws. What so many replicates can notice, ``test_sbc`` says.
"""

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest

import coterie
from coterie.data.codes import encode
from coterie.errors import CoterieWarning
from ladder.cases import hierarchical
from ladder.sbc import DRAWS, SETTINGS, THIN, assert_uniform, rank, unjudged
from reference import cells
from reference.problem import Problem
from reference.rows import Rows

MEAN = [[0.6, 0.3, 0.1], [0.2, 0.65, 0.15]]  # the third answer is never true
SHARED = {"mean": MEAN, "class_weights": [2.0, 1.0]}
RATES = {"strength": [4.0, 2.5], "class_weights": [2.0, 1.0]}
N_ITEMS, N_ANNOTATORS, PER_ITEM = 7, 5, 3
KNOWN = (0, 1, 0, 1, 1, 0, 0)
LABELS = tuple(
    (i, int(l), 0)
    for i in range(N_ITEMS)
    for l in np.sort(np.random.default_rng(i).permutation(N_ANNOTATORS)[:PER_ITEM])
)
PROBLEM = Problem(N_ITEMS, N_ANNOTATORS, 2, 3, LABELS)
OWN = coterie.IBCCPrior(**SHARED, strength=[4.0, 2.5], kind_weights=1.4)
TOGETHER = coterie.CBCCPrior(
    **SHARED, strength=[4.0, 2.5], concentration=coterie.Gamma(2.0, 1.5), kind_weights=1.4
)
SIMILAR = hierarchical(MEAN, RATES, kind_weights=1.4)


@dataclass(frozen=True)
class Kind:
    """An estimator, and the model as it is written down."""

    make: type
    prior: object
    space: object
    rows: str
    known: tuple[int, ...] = ()
    n_kinds: int = 1

    @property
    def model(self):
        return Rows(PROBLEM, self.prior.resolve(2, 3), self.space, self.rows, self.known,
                    self.n_kinds)  # fmt: skip


def with_kinds(make, prior, rows, known=()):
    weights = np.array([2.0, 1.0])
    space = cells.known_kinds(weights, 2) if known else cells.latent_kinds(weights, [0.7, 0.7])
    return Kind(make, prior, space, rows, known, 2)


KINDS = {
    "EBCC": Kind(
        coterie.EBCCGibbs, coterie.EBCCPrior(**SHARED, strength=[4.0, 2.5], subtype_weight=0.9),
        cells.subtypes([2.0, 1.0], 2, 0.9), "own",
    ),
    "EasyHard": Kind(
        coterie.EasyHardBCC,
        coterie.EasyHardPrior(**SHARED, strength=[4.0, 2.5], kind_weights=[1.5, 0.8]),
        cells.latent_kinds([2.0, 1.0], [1.5, 0.8]), "easy",
    ),
    "iBCC, known kinds": with_kinds(coterie.IBCC, OWN, "own", KNOWN),
    "hcBCC, known kinds": with_kinds(coterie.HCBCC, SIMILAR, "similar", KNOWN),
    "iBCC, latent kinds": with_kinds(coterie.IBCC, OWN, "own"),
    "cBCC, latent kinds": with_kinds(coterie.CBCC, TOGETHER, "shared"),
}  # fmt: skip


def simulate(kind, rng):
    """A crowd from the prior: annotations and what is true of it."""
    model = kind.model
    cell, state = model.draw_prior(rng)
    answers = model.draw_answers(cell, state, rng)
    item, annotator, _ = np.array(sorted(LABELS)).T
    codes = encode(item, annotator, answers, sizes=(N_ITEMS, N_ANNOTATORS, 2, 3))
    ids = [np.array([f"{letter}{n}" for n in range(size)], object) for letter, size in
           (("q", N_ITEMS), ("w", N_ANNOTATORS))]  # fmt: skip
    names = np.array(["a", "b", "unsure"], object)
    said = tuple(zip(item.tolist(), annotator.tolist(), answers.tolist(), strict=True))
    told = replace(model, problem=replace(PROBLEM, labels=said))
    found = {
        "class total": sum(model.space.class_of[f] == 0 for f in cell.values()),
        "log likelihood": cells.log_labels(told.cells_of(state), cell),
    }
    sizes = np.bincount([model.space.kind_of[f] for f in cell.values()], minlength=2)
    if kind.rows == "easy":
        found["hard"] = sizes[1]
    elif kind.n_kinds > 1 and not kind.known:
        found["larger kind"] = sizes.max()
    if model.seated:
        found["concentration"] = np.exp(state["log_concentration"][0])
    return coterie.Annotations(*ids, names[:2], names[2:], codes), found


def drawn(draws, names):
    trace = {name: array[0, THIN - 1 :: THIN] for name, array in draws.trace.items()}
    every = {
        "class total": trace["class_total"][:, 0], "log likelihood": trace["log_likelihood"],
        "hard": trace.get("n_hard"), "concentration": trace.get("concentration"),
    }  # fmt: skip
    if "kind_total" in trace:
        every["larger kind"] = trace["kind_total"][:, 0]
    return {name: every[name] for name in names}


def check(name, replicates):
    kind, found = KINDS[name], {}
    for number in range(replicates):
        rng = np.random.default_rng(number)
        annotations, true = simulate(kind, rng)
        more = {"kinds": kind.n_kinds} if kind.n_kinds > 1 and not kind.known else {}
        model = kind.make(prior=kind.prior, random_state=number, progress=False, **SETTINGS, **more)
        told = {"kinds": {i: str(k) for i, k in zip(annotations.items, kind.known, strict=False)}}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CoterieWarning)  # one chain may disagree with the vote
            fitted = unjudged(model).fit(annotations, **(told if kind.known else {}))
        for quantity, values in drawn(fitted.posterior_.draws, true).items():
            assert len(values) == DRAWS
            found.setdefault(quantity, []).append(rank(true[quantity], values, rng))
    assert_uniform(found, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_ranks_are_uniform(name):
    check(name, 300)
