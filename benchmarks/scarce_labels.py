"""How coteries and roles degrade as labels get scarce.

``python -m benchmarks.scarce_labels [--seeds N]``. 200 annotators of three types and three equally
frequent classes: 100 experts (right in 90 of 100), 50 who say b in 80 of 100 whatever the truth, 50
who swap a and b (85 of 100; c is right in 85 of 100). Every annotator gives the same number of
labels, every item has 20. Prints the table of docs/roles.md: the adjusted Rand index of the point
partition against the types, the number of coteries, and what becomes of the annotators' roles.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd

import coterie
from coterie.metrics import adjusted_rand_index
from coterie.roles import role as support
from coterie.simulation import Group

ANNOTATORS, LABELS_PER_ITEM = 200, 20
LABELS = (50, 20, 10, 5, 3, 2)
MODELS = ("HCBCC", "CBCC")
SETTINGS = {"chains": 2, "sweeps": 3_000, "burn_in": 1_500, "early_stop": False, "progress": False}

# What is right, and what is true and says less.
ROLES = {
    "expert": ("expert", "good"),
    "says b": ("mostly says b", "spammer"),
    "swaps": ("confuses a with b", None),
}
TOO_FEW = "too few labels to say"
SHARES = ("right", "coarser", "wrong", "open")


def three_types() -> list[Group]:
    expert = np.full((3, 3), 0.05) + 0.85 * np.eye(3)
    says_b = np.tile([0.1, 0.8, 0.1], (3, 1))
    swaps = np.full((3, 3), 0.075) + 0.775 * np.eye(3)[[1, 0, 2]]
    return [
        Group("expert", expert, share=2),
        Group("says b", says_b),
        Group("swaps", swaps),
    ]


def crowd(n_labels: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """Labels (item, annotator, label), exactly so many per annotator, and the annotators' types."""
    n_items = ANNOTATORS * n_labels // LABELS_PER_ITEM
    full = coterie.simulate(
        three_types(),
        items=n_items,
        annotators=ANNOTATORS,
        labels_per_item=ANNOTATORS,
        random_state=seed,
    )
    # All annotators in random order, as often as each has labels; twenty in a row share an item.
    rng = np.random.default_rng([seed, n_labels])
    annotator = np.concatenate([rng.permutation(ANNOTATORS) for _ in range(n_labels)])
    item = np.arange(n_items).repeat(LABELS_PER_ITEM)
    frame = full.annotations.to_frame()  # by item, then annotator, and nobody is missing
    return frame.iloc[np.sort(item * ANNOTATORS + annotator)], full.groups


def given(role: pd.Series) -> pd.Series:
    """Whether one role is given, not two levels and not none."""
    return (role != TOO_FEW) & ~role.str.contains(" or ")


def judge(role: pd.Series, groups: pd.Series) -> dict[str, float]:
    """Shares of annotators whose role is right, right but coarser, wrong, or not given."""
    right = groups.map({kind: words[0] for kind, words in ROLES.items()})
    coarser = groups.map({kind: words[1] for kind, words in ROLES.items()})
    shares = {
        "right": (role == right).mean(),
        "coarser": (role == coarser).mean(),
        "open": (~given(role)).mean(),
    }
    return {**shares, "wrong": 1 - sum(shares.values())}


def measure(model: str, n_labels: int, seed: int) -> dict[str, float]:
    frame, groups = crowd(n_labels, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", coterie.ConvergenceWarning)  # short chains are meant
        fitted = getattr(coterie, model)(random_state=seed, **SETTINGS).fit(frame)
    table = fitted.posterior_.annotators().set_index("annotator")
    table = table.loc[groups.index]
    sure = table.loc[given(table["role"]), "role_probability"]
    return {
        "ARI": adjusted_rand_index(table["coterie"].astype(int), groups),
        "coteries": table["coterie"].nunique(),
        **judge(table["role"], groups),
        "probability": sure.mean(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ignored", nargs="?", help="a size, as for the other benchmarks: not used")
    parser.add_argument("--seeds", type=int, default=5, help="runs a row (default: 5)")
    parser.add_argument("--labels", type=int, nargs="*", default=LABELS, help="rows of the table")
    parser.add_argument("--models", nargs="*", default=MODELS, help="which models")
    parser.add_argument("--support", type=float, default=support.SUPPORT, help="to give a role")
    arguments = parser.parse_args()
    support.SUPPORT = arguments.support
    titles = "model  labels  ARI   lowest  coteries  right  coarser  wrong  open  probability"
    print(titles, flush=True)
    for model in arguments.models:
        for n_labels in arguments.labels:
            runs = pd.DataFrame([measure(model, n_labels, s) for s in range(arguments.seeds)])
            mean = runs.mean()
            shares = (f"{mean[share]:.3f}" for share in SHARES)
            print(
                f"{model:6s} {n_labels:6d}  {mean['ARI']:.3f} {runs['ARI'].min():.3f} "
                f"{mean['coteries']:6.1f}    {'   '.join(shares)}   {mean['probability']:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
