"""Blocked and collapsed samplers on real labels: item probabilities agree within their error."""

import numpy as np
import pytest

import coterie
from builders.blocked import fit
from builders.realdata import SHARED, load

pytestmark = pytest.mark.slow


def labels_of(name):
    """Labels of the paper, or of a set that lies beside the project."""
    if name != "dog":
        return load(name).annotations
    path = SHARED / "data" / name / "labels.csv"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return coterie.read(path)


@pytest.mark.parametrize("name", ["bluebird", "rte", "dog"])
@pytest.mark.parametrize("kind", ["IBCC", "CBCC", "HCBCC", "Consensus"])
def test_blocked_and_collapsed_agree_on(name, kind):
    annotations = labels_of(name)
    found = {}
    for sampler in ("collapsed", "blocked"):
        runs = [
            fit(kind, annotations, sampler=sampler, random_state=seed, chains=1, sweeps=3_000,
                burn_in=1_000)
            for seed in range(6)
        ]  # fmt: skip
        found[sampler] = np.array([run.item_probability[:, 1:].ravel() for run in runs])
    difference = found["collapsed"].mean(axis=0) - found["blocked"].mean(axis=0)
    variance = sum(part.var(axis=0, ddof=1) / len(part) for part in found.values())
    z = difference / np.sqrt(variance + 1e-6)  # probabilities that no chain moves have no error
    assert np.mean(z**2) < 3
    assert np.mean(np.abs(z) > 5) < 0.01  # Student's t of about ten degrees
