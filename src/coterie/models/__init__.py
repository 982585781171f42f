"""One file a model: a thin estimator over its kernel."""

from coterie.models.base import Estimator
from coterie.models.cbcc import CBCC
from coterie.models.dawid_skene import DawidSkene
from coterie.models.hcbcc import HCBCC
from coterie.models.ibcc import IBCC
from coterie.models.majority import MajorityVote
from coterie.models.registry import MODELS, make_model
from coterie.models.sampling import SamplingEstimator

__all__ = [
    "CBCC",
    "HCBCC",
    "IBCC",
    "MODELS",
    "DawidSkene",
    "Estimator",
    "MajorityVote",
    "SamplingEstimator",
    "make_model",
]
