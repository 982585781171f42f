"""What are predictions of unseen items worth beside a fit? `python -m benchmarks predictions`.

Half of the items of each set, drawn at random, are fitted; the other half is predicted from the
saved form of that result, and, for comparison, taken from a fit of all items. Printed are the
accuracy and the log loss on the second half.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

import coterie
from benchmarks.default import sets
from coterie.metrics import score

SETS = ("rte", "bluebird", "dog", "face")


def measure(labels: coterie.Annotations, truth: pd.Series, seed: int) -> dict[str, float]:
    """Score predictions and a fit of everything on the half that was not fitted."""
    frame = labels.to_frame()
    second = np.random.default_rng(seed).random(labels.n_items) < 0.5
    unseen = frame["item"].isin(labels.items[second])
    model = coterie.Consensus(random_state=seed, duplicates="keep", progress=False)
    whole = model.fit(frame).posterior_.probabilities()
    half = model.fit(frame[~unseen]).posterior_.compact()
    found = half.predict(frame[unseen], duplicates="keep").set_index("item").filter(like="p(")
    found.columns = half.annotations.classes
    scores = {"predicted": score(found, truth), "fit of all": score(whole.loc[found.index], truth)}
    return {
        f"{measured}, {name}": getattr(one, measured)
        for measured in ("accuracy", "log_loss")
        for name, one in scores.items()
    }


def main() -> None:
    warnings.simplefilter("ignore")
    names = [name for name in sys.argv[1:] if not name.isdigit()] or list(SETS)
    rows = {name: measure(*one, seed=0) for name, one in sets(names).items()}
    print(pd.DataFrame(rows).T.round(3).to_string())


if __name__ == "__main__":
    main()
