"""The models, each imported when it is first used: its fields, its people, what it reports."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from coterie.models.registry import MODELS, PLACES, make_model, register

if TYPE_CHECKING:
    from coterie.models.base import Estimator
    from coterie.models.consensus import Consensus
    from coterie.models.em import DawidSkene, QuickConsensus
    from coterie.models.majority import MajorityVote
    from coterie.models.paper import CBCC, HCBCC, IBCC, DynamicIBCC, EasyHardBCC, EBCCGibbs
    from coterie.models.sampling import SamplingEstimator
    from coterie.models.vb import EBCC, IBCCVB

_PLACES = ("base:Estimator", "sampling:SamplingEstimator", *PLACES.values())
_LAZY = {name: file for file, _, name in (place.partition(":") for place in _PLACES)}

__all__ = [
    "CBCC", "EBCC", "HCBCC", "IBCC", "IBCCVB", "MODELS", "Consensus", "DawidSkene", "DynamicIBCC",
    "EBCCGibbs", "EasyHardBCC", "Estimator", "MajorityVote", "QuickConsensus", "SamplingEstimator",
    "make_model", "register",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f"coterie.models.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'coterie.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
