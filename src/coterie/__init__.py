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
    from coterie.default import GoldCheck, aggregate, check_gold
    from coterie.errors import ConvergenceWarning, CoterieError, DataError, DataWarning
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
    "data.annotations": "Annotations",
    "default": "GoldCheck aggregate check_gold",
    "errors": "ConvergenceWarning CoterieError DataError DataWarning",
    "io.read": "read",
    "io.scan": "Scan scan",
    "metrics": "Score",
    "models": "CBCC Consensus DawidSkene DynamicIBCC EBCC EBCCGibbs EasyHardBCC HCBCC IBCC IBCCVB "
    "MajorityVote QuickConsensus",
    "posterior": "Posterior load",
    "priors": "Beta CBCCPrior ConsensusPrior DynamicPrior EBCCPrior EasyHardPrior Gamma HCBCCPrior "
    "IBCCPrior",
    "simulation": "Crowd simulate",
}
_PLACE = {name: module for module, names in _LAZY.items() for name in names.split()}
_MODULES = ("assign", "datasets", "errors", "metrics")

__all__ = [
    "CBCC", "EBCC", "HCBCC", "IBCC", "IBCCVB", "Annotations", "Beta", "CBCCPrior", "Consensus",
    "ConsensusPrior", "ConvergenceWarning", "CoterieError", "Crowd", "DataError", "DataWarning",
    "DawidSkene", "DynamicIBCC", "DynamicPrior", "EBCCGibbs", "EBCCPrior", "EasyHardBCC",
    "EasyHardPrior", "Gamma", "GoldCheck", "HCBCCPrior", "IBCCPrior", "MajorityVote", "Posterior",
    "QuickConsensus", "Scan", "Score", "__version__", "aggregate", "assign", "check_gold",
    "datasets", "load", "metrics", "read", "scan", "simulate",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    import importlib

    if name in _PLACE:
        return getattr(importlib.import_module(f"coterie.{_PLACE[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"coterie.{name}")
    raise AttributeError(f"module 'coterie' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
