"""A sampled Posterior as an ArviZ DataTree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from coterie.errors import MissingExtraError
from coterie.posterior.draws import Draws
from coterie.version import __version__

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior


def datatree(posterior: Posterior, draws: Draws) -> Any:
    """Give the draws as groups ``posterior`` and ``sample_stats``.

    ``posterior`` holds the parameters at the kept draws, those whose matrices were kept;
    ``sample_stats`` the watched quantities at every sweep after burn-in, so that ArviZ's
    diagnostics of it are those of :meth:`Posterior.diagnostics`.
    """
    try:
        from arviz_base import from_dict
    except ImportError:
        raise MissingExtraError("to_arviz", "arviz-base", "arviz") from None
    a = posterior.annotations
    coords = {"annotator": a.annotators, "true": a.classes, "answer": a.answers}
    if any("item" in one.dims for one in draws.extra.values()):
        coords["item"] = a.items
    origin = {"inference_library": "coterie", "inference_library_version": __version__}
    groups = {"posterior": _parameters(draws)}
    if draws.trace:
        groups["sample_stats"] = dict(draws.trace)
    return from_dict(
        groups,
        name=posterior.model,
        coords=coords,
        dims={
            **{name: list(one.dims) for name, one in draws.extra.items()},
            "confusion": ["annotator", "true", "answer"],
            "class_balance": ["true"],
            "class_total": ["true"],
            "partition": ["annotator"],
        },
        check_conventions=False,  # few draws and many chains are no mistake here
        attrs={name: {"model": posterior.model, **origin} for name in groups},
    )


def _parameters(draws: Draws) -> dict[str, NDArray[Any]]:
    """Give everything at the draws that have matrices; crowds too large for more keep fewer."""
    n_draws = draws.confusion.shape[1]
    parameters: dict[str, NDArray[Any]] = {
        "confusion": draws.confusion,
        "class_balance": draws.class_balance,
        **{name: one.values for name, one in draws.extra.items()},
    }
    if draws.partition is not None:
        parameters["partition"] = _thin(draws.partition, n_draws)
    if draws.n_coteries is not None:
        parameters["n_coteries"] = _thin(draws.n_coteries, n_draws)
    if "concentration" in draws.trace:
        parameters["concentration"] = _thin(draws.trace["concentration"], n_draws)
    return parameters


def _thin(draws: NDArray[Any], n_draws: int) -> NDArray[Any]:
    """Keep the last draw of every so many: the one that was kept of the others."""
    step = draws.shape[1] // n_draws
    return draws[:, step - 1 :: step][:, :n_draws]
