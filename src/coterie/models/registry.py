"""Models by the short names of the command line. A new model joins with one line."""

from __future__ import annotations

from typing import Any

from coterie.errors import DataError
from coterie.models.base import Estimator
from coterie.models.cbcc import CBCC
from coterie.models.dawid_skene import DawidSkene
from coterie.models.hcbcc import HCBCC
from coterie.models.ibcc import IBCC
from coterie.models.majority import MajorityVote

MODELS: dict[str, type[Estimator]] = {
    "majority": MajorityVote,
    "ds": DawidSkene,
    "ibcc": IBCC,
    "cbcc": CBCC,
    "hcbcc": HCBCC,
}


def make_model(name: str, **params: Any) -> Estimator:
    """Make a model by its short name; parameters it does not have are left out.

    Examples
    --------
    >>> make_model("ds", random_state=0, tol=1e-6)
    DawidSkene(tol=1e-06)
    >>> make_model("mystery")
    Traceback (most recent call last):
    coterie.errors.DataError: no model 'mystery'; choose one of majority, ds, ibcc, cbcc, hcbcc
    """
    if name not in MODELS:
        raise DataError(f"no model {name!r}; choose one of {', '.join(MODELS)}")
    model = MODELS[name]()
    known = model.get_params()
    return model.set_params(**{key: value for key, value in params.items() if key in known})
