"""Models by short names, open to new ones. A model of coterie's own joins with one line here.

Light: the command line's help reads the names, and imports no model for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from coterie.errors import DataError
from coterie.registry import Registry

if TYPE_CHECKING:
    from coterie.models.base import Estimator

E = TypeVar("E", bound="type[Estimator]")

DEFAULT = "consensus"
"""The model of ``coterie aggregate`` and :func:`coterie.aggregate`, unless told."""

MODELS: Registry[type[Estimator]] = Registry(
    "model",
    {
        "consensus": "coterie.models.consensus:Consensus",
        "quick": "coterie.models.quick:QuickConsensus",
        "majority": "coterie.models.majority:MajorityVote",
        "ds": "coterie.models.dawid_skene:DawidSkene",
        "ibcc": "coterie.models.ibcc:IBCC",
        "ibccvb": "coterie.models.ibccvb:IBCCVB",
        "ebcc": "coterie.models.ebcc:EBCC",
        "ebcc-gibbs": "coterie.models.ebccgibbs:EBCCGibbs",
        "cbcc": "coterie.models.cbcc:CBCC",
        "hcbcc": "coterie.models.hcbcc:HCBCC",
        "dynamic": "coterie.models.dynamic:DynamicIBCC",
        "easyhard": "coterie.models.easyhard:EasyHardBCC",
    },
    entry_points="coterie.models",
)


def register(name: str) -> Callable[[E], E]:
    """Register a model under a short name: ``@register("mine")`` above its class.

    It is then a model like all others: ``coterie aggregate --model mine``, ``coterie compare``.
    A package that names it in the entry points of group ``coterie.models`` need not be imported
    first.
    """

    def add(model: E) -> E:
        MODELS.register(name, model)
        return model

    return add


def make_model(name: str, **params: Any) -> Estimator:
    """Make a model by its short name, or by ``module:Class``.

    Parameters it does not have are left out.

    Examples
    --------
    >>> make_model("ds", random_state=0, tol=1e-6)
    DawidSkene(tol=1e-06)
    >>> make_model("coterie.models:DawidSkene", tol=1e-6)
    DawidSkene(tol=1e-06)
    >>> make_model("mystery")
    Traceback (most recent call last):
    coterie.errors.DataError: no model 'mystery'; choose one of consensus, quick, ...
    """
    from coterie.models.base import Estimator

    kind: Any = MODELS.find(name)
    if not isinstance(kind, type) or not issubclass(kind, Estimator):
        raise DataError(f"{name} is no model; choose one of {', '.join(MODELS)}, or module:Class")
    model = kind()
    known = model.get_params()
    return model.set_params(**{key: value for key, value in params.items() if key in known})
