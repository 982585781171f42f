"""The three synthetic sets. The paper shows their clusters only as a picture: these are ours.

Three types, the same three classes for all; rows are the true class. Members of a type differ as
in hcBCC's generative model, Psi[l, t] ~ Dir(15 eta[t]), where 15 is the prior mean a / b of beta
with the synthetic experiments' a = 30, b = 2.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import coterie
from coterie.simulation import Group
from coterie.studies.paper.settings import Settings

STRENGTH = 15.0
PRIOR = {"hcbcc": coterie.HCBCCPrior(strength=coterie.Gamma(30.0, 2.0))}
"""Priors that are not the default in the synthetic experiments."""

MEANS = {
    "expert": [[0.85, 0.10, 0.05], [0.05, 0.85, 0.10], [0.10, 0.05, 0.85]],
    "novice": [[0.55, 0.25, 0.20], [0.20, 0.55, 0.25], [0.25, 0.20, 0.55]],
    "says c": [[0.20, 0.15, 0.65], [0.15, 0.20, 0.65], [0.10, 0.15, 0.75]],
}
SHARES = {"expert": 0.25, "novice": 0.45, "says c": 0.30}


def types(name: str) -> list[Group]:
    """Give the types of annotators of a synthetic set.

    ``dataset1``: the three types, members differ (hcBCC's model); ``dataset2``: the same means,
    members are copies (cBCC's model); ``dataset3``: novices only, each with a matrix of their own
    (iBCC's model).

    Examples
    --------
    >>> [(group.name, group.strength, group.share) for group in types("dataset2")]
    [('expert', inf, 0.25), ('novice', inf, 0.45), ('says c', inf, 0.3)]
    """
    strength = np.inf if name == "dataset2" else STRENGTH
    names = ["novice"] if name == "dataset3" else list(MEANS)
    return [Group(kind, MEANS[kind], strength, SHARES[kind]) for kind in names]


@lru_cache(maxsize=8)
def dense_crowd(name: str, items: int, annotators: int, seed: int) -> coterie.Crowd:
    """Draw a synthetic set in which everybody has labelled everything."""
    return coterie.simulate(
        types(name),
        items=items,
        annotators=annotators,
        classes=3,
        labels_per_item=annotators,
        random_state=np.random.default_rng(np.random.SeedSequence([seed, *name.encode()])),
    )


def synthetic(name: str, settings: Settings) -> coterie.Crowd:
    """Give a synthetic set of the size that the settings say; the same seed, the same set."""
    return dense_crowd(name, settings.items, settings.annotators, settings.seed)
