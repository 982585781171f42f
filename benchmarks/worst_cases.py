"""Why a model loses to the vote on a data set: what docs/league.md says of the worst cases.

``python -m benchmarks.worst_cases ../shared/data ducks:consensus quiz_science:cbcc`` prints, for
each, what the vote gets right and the model wrong, who labelled that, and where chains end that
start from the vote and from the truth.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import coterie
from benchmarks.samplers.adapters import Sampler
from coterie.models import SamplingEstimator, make_model

SWEEPS, BURN_IN = 4_000, 1_200
FROM_A_START, LATE = 1_500, 500


def look(folder: Path, model: str) -> None:
    """Print what there is to see."""
    annotations = coterie.read(folder / "labels.csv", duplicates="keep")
    truth = pd.read_csv(folder / "truth.csv", dtype=str).set_index("item")["label"]
    estimator = make_model(model, random_state=0, duplicates="keep", progress=False)
    if estimator.sweeps > SWEEPS:
        estimator.set_params(sweeps=SWEEPS, burn_in=BURN_IN)
    found = estimator.fit(annotations).posterior_
    vote = coterie.MajorityVote(duplicates="keep").fit(annotations).posterior_
    ours, theirs = (p.labels().astype(str).set_index("item") for p in (found, vote))
    truth = truth[truth.index.isin(ours.index)]
    mine, voted = ours["label"][truth.index], theirs["label"][truth.index]
    lost = truth.index[(voted == truth) & (mine != truth)]
    print(f"\n{folder.name}, {model}: converged {found.converged}")
    print(f"right: model {(mine == truth).mean():.4f}, vote {(voted == truth).mean():.4f}")
    for name, labels in (("truth", truth), ("vote", voted), ("model", mine)):
        print(f"{name} shares", labels.value_counts(normalize=True).round(3).to_dict())
    print(
        f"lost: {len(lost)} items, certainty {ours['probability'][lost].astype(float).mean():.3f}"
    )
    print(pd.crosstab(truth[lost], mine[lost], rownames=["true"], colnames=["called"]))
    who_labelled(folder, truth, lost, found.annotators())
    if found.draws is not None and found.draws.partition is not None:
        print(found.coteries()[["coterie", "size", "role", "accuracy", "informativeness"]])
    starts = {"vote": theirs["label"], "truth": theirs["label"].copy()}
    starts["truth"][truth.index] = truth
    for name, labels in starts.items():
        chain_from(name, labels, annotations, estimator, truth)


def who_labelled(folder: Path, truth: pd.Series, lost: pd.Index, annotators: pd.DataFrame) -> None:
    """Compare the annotators who are right on the lost items with those who are wrong."""
    rows = pd.read_csv(folder / "labels.csv", dtype=str)
    rows = rows[rows["item"].isin(truth.index)]
    rows["right"] = rows["label"].to_numpy() == truth[rows["item"]].to_numpy()
    table = annotators.astype({"annotator": str}).set_index("annotator")
    table["truly"] = rows.groupby("annotator")["right"].mean()
    both = table[["accuracy", "truly"]]
    print("annotators, by the model and in truth", both.mean().round(3).to_dict())
    print(f"correlation of the two {both.corr().iloc[0, 1]:.2f}; labels, median", end=" ")
    print(table["n_labels"].median())
    on_lost = rows[rows["item"].isin(lost)]
    seen = both.loc[on_lost["annotator"]].assign(right=on_lost["right"].to_numpy())
    print(seen.groupby("right").mean().round(3))


def chain_from(
    name: str,
    labels: pd.Series,
    annotations: coterie.Annotations,
    estimator: SamplingEstimator,
    truth: pd.Series,
) -> None:
    """Run a chain from these labels, all annotators in one cluster."""
    code = {str(c): t for t, c in enumerate(annotations.classes)}
    items = [str(item) for item in annotations.items]
    start = np.array([code[labels[item]] for item in items], np.int32)
    nobody = np.zeros(annotations.n_annotators, np.int32)
    chain = Sampler(estimator, annotations, (start, nobody), seed=1)
    first, before = chain.run(FROM_A_START - LATE)["log_joint"], chain.sums()
    late = chain.run(LATE)["log_joint"].mean()
    ends = pd.Series((chain.sums() - before).argmax(axis=1), items)[truth.index]
    right = (ends.to_numpy() == truth.map(code).to_numpy()).mean()
    print(f"from the {name}: log joint {first[0]:,.0f} to {late:,.0f}, right {right:.3f}")


def main() -> None:
    warnings.simplefilter("ignore")
    for case in sys.argv[2:]:
        data, model = case.split(":")
        look(Path(sys.argv[1]) / data, model)


if __name__ == "__main__":
    main()
