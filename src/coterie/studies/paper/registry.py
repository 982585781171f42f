"""All experiments, in the order of the page."""

from __future__ import annotations

from collections.abc import Sequence

from coterie.errors import DataError
from coterie.studies.paper import (
    accuracy,
    confusion,
    cooccurrence_real,
    cooccurrence_synthetic,
    correlation,
    datasets,
    limits,
    sparsity_real,
    sparsity_synthetic,
    synthetic,
)
from coterie.studies.paper.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        datasets,
        accuracy,
        confusion,
        cooccurrence_real,
        sparsity_real,
        synthetic,
        sparsity_synthetic,
        cooccurrence_synthetic,
        correlation,
        limits,
    )
}


def choose(names: Sequence[str]) -> list[Experiment]:
    """Give the experiments of these names, in the order of the page; all if there are none.

    Examples
    --------
    >>> [experiment.name for experiment in choose(["limits", "accuracy"])]
    ['accuracy', 'limits']
    """
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise DataError(
            f"there is no experiment {unknown[0]!r}; there are {', '.join(EXPERIMENTS)}"
        )
    return [one for name, one in EXPERIMENTS.items() if not names or name in names]
