"""coterie: labels you can trust from noisy annotators, and the groups among them.

Names are loaded when they are first used, so that ``import coterie`` stays light: not even the
standard library's typing is imported here, or Ctrl-C would meet it before the command line listens.
"""

from __future__ import annotations

from coterie.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from coterie import assign, datasets, metrics
    from coterie.data.annotations import Annotations
    from coterie.default import aggregate
    from coterie.errors import ConvergenceWarning, CoterieError, DataError, DataWarning
    from coterie.goldcheck import GoldCheck, check_gold
    from coterie.io.read import read
    from coterie.io.scan import Scan, scan
    from coterie.metrics import Score
    from coterie.models import (
        CBCC,
        EBCC,
        HCBCC,
        IBCC,
        IBCCVB,
        Consensus,
        DawidSkene,
        DynamicIBCC,
        EasyHardBCC,
        EBCCGibbs,
        MajorityVote,
        QuickConsensus,
    )
    from coterie.posterior import Posterior, load
    from coterie.priors import (
        Beta,
        CBCCPrior,
        ConsensusPrior,
        DynamicPrior,
        EasyHardPrior,
        EBCCPrior,
        Gamma,
        HCBCCPrior,
        IBCCPrior,
    )
    from coterie.simulation import Crowd, simulate

_LAZY = {
    "Annotations": "coterie.data.annotations",
    "Beta": "coterie.priors",
    "CBCC": "coterie.models",
    "CBCCPrior": "coterie.priors",
    "Consensus": "coterie.models",
    "ConsensusPrior": "coterie.priors",
    "ConvergenceWarning": "coterie.errors",
    "CoterieError": "coterie.errors",
    "Crowd": "coterie.simulation",
    "DataError": "coterie.errors",
    "DataWarning": "coterie.errors",
    "DawidSkene": "coterie.models",
    "EBCC": "coterie.models",
    "EBCCGibbs": "coterie.models",
    "EBCCPrior": "coterie.priors",
    "DynamicIBCC": "coterie.models",
    "DynamicPrior": "coterie.priors",
    "EasyHardBCC": "coterie.models",
    "EasyHardPrior": "coterie.priors",
    "Gamma": "coterie.priors",
    "GoldCheck": "coterie.goldcheck",
    "HCBCC": "coterie.models",
    "HCBCCPrior": "coterie.priors",
    "IBCC": "coterie.models",
    "IBCCVB": "coterie.models",
    "IBCCPrior": "coterie.priors",
    "MajorityVote": "coterie.models",
    "Posterior": "coterie.posterior",
    "QuickConsensus": "coterie.models",
    "Scan": "coterie.io.scan",
    "Score": "coterie.metrics",
    "aggregate": "coterie.default",
    "check_gold": "coterie.goldcheck",
    "load": "coterie.posterior",
    "read": "coterie.io.read",
    "scan": "coterie.io.scan",
    "simulate": "coterie.simulation",
}
_MODULES = ("assign", "datasets", "errors", "metrics")

__all__ = [
    "CBCC",
    "EBCC",
    "HCBCC",
    "IBCC",
    "IBCCVB",
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
    "DynamicIBCC",
    "DynamicPrior",
    "EBCCGibbs",
    "EBCCPrior",
    "EasyHardBCC",
    "EasyHardPrior",
    "Gamma",
    "GoldCheck",
    "HCBCCPrior",
    "IBCCPrior",
    "MajorityVote",
    "Posterior",
    "QuickConsensus",
    "Scan",
    "Score",
    "__version__",
    "aggregate",
    "assign",
    "check_gold",
    "datasets",
    "load",
    "metrics",
    "read",
    "scan",
    "simulate",
]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"coterie.{name}")
    raise AttributeError(f"module 'coterie' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
