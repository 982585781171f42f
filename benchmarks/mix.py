"""Is the skill model worth a third of what Consensus reports? `python -m benchmarks mix`.

The sets of `python -m benchmarks default`, three seeds. Every set is scored with the mixture that
is best on the *other* sets, by log loss and by accuracy, beside either mixture everywhere.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

import coterie
from benchmarks.default import SEEDS, sets
from coterie.kernels.consensus import mix_members
from coterie.kernels.vote import Mixing
from coterie.metrics import score
from coterie.studies.league import mean_interval

MIXTURES = {"model and vote": (1 / 3, 0.0), "and skill": (1 / 3, 1 / 3)}
"""Weights of the vote and of the skill model; the rest is the model's."""


def measure(
    labels: coterie.Annotations, truth: pd.Series, seed: int
) -> dict[str, dict[str, float]]:
    """Score every mixture of one fit."""
    model = coterie.Consensus(vote_share=0, random_state=seed, duplicates="keep", progress=False)
    alone = model.fit(labels).posterior_.probabilities()
    found = {}
    for name, (vote, skill) in MIXTURES.items():
        mixing = Mixing(vote_share=vote, skill_share=skill)
        mixed = mix_members(alone.to_numpy(), labels.votes, labels.codes, mixing)
        scored = score(pd.DataFrame(mixed, alone.index, alone.columns), truth)
        found[name] = {"accuracy": 100 * scored.accuracy, "log loss": scored.log_loss}
    return pd.DataFrame(found).stack()


def left_out(losses: pd.DataFrame) -> pd.Series:
    """For every set, the mixture that loses least on all others."""
    others = (losses.sum() - losses) / (len(losses) - 1)
    return others.idxmin(axis=1)


def main() -> None:
    warnings.simplefilter("ignore")
    names = [name for name in sys.argv[1:] if not name.isdigit()]
    rows = {}
    for name, (labels, truth) in sets(names).items():
        runs = [measure(labels, truth, seed) for seed in range(SEEDS)]
        rows[name] = pd.concat(runs, axis=1).mean(axis=1)
        print(name, rows[name].round(3).to_dict(), flush=True)
    table = pd.DataFrame(rows).T
    loss, accuracy = table["log loss"], table["accuracy"]
    print(table.round(3).to_string())
    print("\nmeans", table.mean().round(3).to_dict())
    without, third = MIXTURES
    for measured, better in ((accuracy, "higher"), (loss, "lower")):
        gain = mean_interval(measured[third] - measured[without])
        reach = f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
        print(f"the third member changes the mean ({better} is better) by {reach}")
    for name, losses in (("log loss", loss), ("accuracy", -accuracy)):
        picked = left_out(losses)
        places = np.arange(len(loss)), loss.columns.get_indexer(picked)
        means = accuracy.to_numpy()[places].mean(), loss.to_numpy()[places].mean()
        print(f"picked by {name} on the other sets:", picked.value_counts().to_dict(), end="; ")
        print("then accuracy {:.2f}, log loss {:.3f}".format(*means))


if __name__ == "__main__":
    main()
