"""Models by short names, open to new ones. A model of coterie's own joins with one line here.

Light: the command line's help reads the names, and imports no model for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from coterie.errors import DataError
from coterie.registry import Registry
from coterie.words.values import join

if TYPE_CHECKING:
    from coterie.models.base import Estimator

E = TypeVar("E", bound="type[Estimator]")

DEFAULT = "consensus"
"""The model of ``coterie aggregate`` and :func:`coterie.aggregate`, unless told."""

PLACES = {
    "consensus": "consensus:Consensus",
    "quick": "em:QuickConsensus",
    "majority": "majority:MajorityVote",
    "ds": "em:DawidSkene",
    "ibcc": "paper:IBCC",
    "ibccvb": "vb:IBCCVB",
    "ebcc": "vb:EBCC",
    "ebcc-gibbs": "paper:EBCCGibbs",
    "cbcc": "paper:CBCC",
    "hcbcc": "paper:HCBCC",
    "dynamic": "paper:DynamicIBCC",
    "easyhard": "paper:EasyHardBCC",
}
MODELS: Registry[type[Estimator]] = Registry(
    "model",
    {name: f"coterie.models.{place}" for name, place in PLACES.items()},
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


def names_where(holds: Callable[[type[Estimator]], bool]) -> str:
    """Give the short names of the models of which something holds, as words of a sentence."""
    return join([name for name, model in importable() if holds(model)])


def name_of(model: str) -> str | None:
    """Give the short name of the model whose class has this name; None if there is none."""
    return next((name for name, found in importable() if found.__name__ == model), None)


def importable() -> Iterator[tuple[str, type[Estimator]]]:
    """Give all models by short name, but those of others' packages that cannot be imported."""
    for name in MODELS:
        with suppress(DataError):
            yield name, MODELS.find(name)


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
        remedy = f"choose one of {', '.join(MODELS)}, or module:Class"
        raise DataError(f"{name} is no model", argument="model", remedy=remedy)
    model = kind()
    known = model.get_params()
    return model.set_params(**{key: value for key, value in params.items() if key in known})
