"""coterie: labels you can trust from noisy annotators, and the groups among them.

Names are loaded when they are first used, so that ``import coterie`` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from coterie.annotations import Annotations
from coterie.errors import ConvergenceWarning, CoterieError, DataError, DataWarning
from coterie.version import __version__

if TYPE_CHECKING:
    from coterie.io import read
    from coterie.models import DawidSkene, MajorityVote
    from coterie.posterior import Posterior

_LAZY = {
    "DawidSkene": "coterie.models",
    "MajorityVote": "coterie.models",
    "Posterior": "coterie.posterior",
    "read": "coterie.io",
}

__all__ = [
    "Annotations",
    "ConvergenceWarning",
    "CoterieError",
    "DataError",
    "DataWarning",
    "DawidSkene",
    "MajorityVote",
    "Posterior",
    "__version__",
    "read",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'coterie' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
