"""The models, each imported when it is first used: its fields, its people, what it reports."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from coterie.models.registry import MODELS, make_model, register

if TYPE_CHECKING:
    from coterie.models.base import Estimator
    from coterie.models.cbcc import CBCC
    from coterie.models.consensus import Consensus
    from coterie.models.dynamic import DynamicIBCC
    from coterie.models.easyhard import EasyHardBCC
    from coterie.models.ebccgibbs import EBCCGibbs
    from coterie.models.em import DawidSkene
    from coterie.models.hcbcc import HCBCC
    from coterie.models.ibcc import IBCC
    from coterie.models.majority import MajorityVote
    from coterie.models.quick import QuickConsensus
    from coterie.models.sampling import SamplingEstimator
    from coterie.models.vb import EBCC, IBCCVB

_LAZY = {
    "CBCC": "cbcc",
    "Consensus": "consensus",
    "DawidSkene": "em",
    "EBCC": "vb",
    "EBCCGibbs": "ebccgibbs",
    "DynamicIBCC": "dynamic",
    "EasyHardBCC": "easyhard",
    "Estimator": "base",
    "HCBCC": "hcbcc",
    "IBCC": "ibcc",
    "IBCCVB": "vb",
    "MajorityVote": "majority",
    "QuickConsensus": "quick",
    "SamplingEstimator": "sampling",
}

__all__ = [
    "CBCC",
    "EBCC",
    "HCBCC",
    "IBCC",
    "IBCCVB",
    "MODELS",
    "Consensus",
    "DawidSkene",
    "DynamicIBCC",
    "EBCCGibbs",
    "EasyHardBCC",
    "Estimator",
    "MajorityVote",
    "QuickConsensus",
    "SamplingEstimator",
    "make_model",
    "register",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f"coterie.models.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'coterie.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
