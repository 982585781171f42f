"""coterie: labels you can trust from noisy annotators, and the groups among them.

Names are loaded when they are first used, so that ``import coterie`` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from coterie.data.annotations import Annotations
from coterie.errors import ConvergenceWarning, CoterieError, DataError, DataWarning
from coterie.version import __version__

if TYPE_CHECKING:
    from coterie import datasets, metrics
    from coterie.default import aggregate
    from coterie.io import read
    from coterie.metrics import Score
    from coterie.models import (
        CBCC,
        HCBCC,
        IBCC,
        Consensus,
        DawidSkene,
        MajorityVote,
        QuickConsensus,
    )
    from coterie.posterior import Posterior, load
    from coterie.priors import Beta, CBCCPrior, ConsensusPrior, Gamma, HCBCCPrior, IBCCPrior
    from coterie.simulation import Crowd, simulate

_LAZY = {
    "Beta": "coterie.priors",
    "CBCC": "coterie.models",
    "CBCCPrior": "coterie.priors",
    "Consensus": "coterie.models",
    "ConsensusPrior": "coterie.priors",
    "Crowd": "coterie.simulation",
    "DawidSkene": "coterie.models",
    "Gamma": "coterie.priors",
    "HCBCC": "coterie.models",
    "HCBCCPrior": "coterie.priors",
    "IBCC": "coterie.models",
    "IBCCPrior": "coterie.priors",
    "MajorityVote": "coterie.models",
    "Posterior": "coterie.posterior",
    "QuickConsensus": "coterie.models",
    "Score": "coterie.metrics",
    "aggregate": "coterie.default",
    "load": "coterie.posterior",
    "read": "coterie.io",
    "simulate": "coterie.simulation",
}
_MODULES = ("datasets", "metrics")

__all__ = [
    "CBCC",
    "HCBCC",
    "IBCC",
    "Annotations",
    "Beta",
    "CBCCPrior",
    "Consensus",
    "ConsensusPrior",
    "ConvergenceWarning",
    "CoterieError",
    "Crowd",
    "DataError",
    "DataWarning",
    "DawidSkene",
    "Gamma",
    "HCBCCPrior",
    "IBCCPrior",
    "MajorityVote",
    "Posterior",
    "QuickConsensus",
    "Score",
    "__version__",
    "aggregate",
    "datasets",
    "load",
    "metrics",
    "read",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"coterie.{name}")
    raise AttributeError(f"module 'coterie' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
