"""Real data sets: fetched from where they were published, checked, parsed."""

from coterie.datasets.dataset import Dataset, describe, load
from coterie.datasets.registry import REGISTRY

__all__ = ["REGISTRY", "Dataset", "describe", "load"]
