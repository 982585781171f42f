"""One file a model: a thin estimator over its kernel."""

from coterie.models.base import Estimator
from coterie.models.dawid_skene import DawidSkene
from coterie.models.majority import MajorityVote
from coterie.models.registry import MODELS, make_model

__all__ = ["MODELS", "DawidSkene", "Estimator", "MajorityVote", "make_model"]
