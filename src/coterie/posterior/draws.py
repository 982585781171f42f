"""What a result is made of: the draws of a sampler, and every array there is in one table.

Checks, saved files, smaller copies and ArviZ walk the table: a new array is a row of it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.diagnostics import WATCHED, has_converged
from coterie.errors import CoterieError, MissingExtraError
from coterie.partition.cooccurrence import share_together
from coterie.version import __version__

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior

P = ParamSpec("P")
T = TypeVar("T")

INTERVAL = (0.025, 0.975)
"""Every interval in coterie is 95 %, equal-tailed."""
MOST_MATRICES, LEAST_MATRICES = 500, 100
"""Draws, of all chains together, whose matrices a compact result keeps, of crowds that are not too
large and however large the crowd is."""
BYTES = 16 * 2**20
"""Room for matrices that is not exceeded by more than the least draws."""


def once(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """Compute what a method gives once per object and arguments, which must be hashable.

    The object is immutable, with a place for what was computed from it. Tables are given as copies:
    whoever changes theirs changes nobody else's.

    Examples
    --------
    >>> class Squares:
    ...     def __init__(self):
    ...         self._computed = {}
    ...     @once
    ...     def of(self, x=2):
    ...         print("computing")
    ...         return x * x
    >>> squares = Squares()
    >>> squares.of(), squares.of(x=2)
    computing
    (4, 4)
    """
    signature = inspect.signature(method)

    @functools.wraps(method)
    def remembered(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        key = (method.__name__, *list(bound.arguments.values())[1:])
        if key not in self._computed:
            self._computed[key] = method(self, *args, **kwargs)
        found: T = self._computed[key]
        return cast(T, found.copy()) if isinstance(found, pd.DataFrame) else found

    return cast(Callable[Concatenate[Any, P], T], remembered)


class Row(NamedTuple):
    """What an array is: its axes, its type in memory, and what its numbers may be.

    The axes ``item``, ``annotator``, ``true``, ``answer`` and ``label`` are those of the data; any
    other is as long as in the first array that has it. Floats may be of any precision; files hold
    those of 32 bits in half of them, where that loses nothing.
    """

    dims: str
    kind: type[Any] = np.floating
    holds: str = ""  # "sums": to one; "shares"; "numbers": none missing; "codes" of ``of``
    of: str = ""
    optional: bool = False


TABLE = {
    "labels_per_item": Row("item", np.int64),
    "annotator": Row("label", np.int32),
    "answer": Row("label", np.int32),
    "gold": Row("item", np.int32),
    "time": Row("label", optional=True),
    "item_probability": Row("item true", holds="sums"),
    "class_balance": Row("true", holds="sums"),
    "confusion_mean": Row("annotator true answer", holds="sums"),
    "label": Row("item", np.int64, "codes", "true", optional=True),
    "raw_probability": Row("item true", holds="sums", optional=True),
    "item_numbers.*": Row("item column"),
    "groups.group": Row("annotator", np.int32, "codes", "annotator", optional=True),
    "groups.membership": Row("annotator", holds="shares", optional=True),
    "draws.confusion": Row("chain draw annotator true answer", np.float32, "sums", optional=True),
    "draws.class_balance": Row("chain draw true", holds="sums", optional=True),
    "draws.partition": Row("chain seating annotator", np.int32, "codes", "annotator", True),
    "draws.n_coteries": Row("chain seating", np.int64, "codes", "coteries", optional=True),
    "draws.trace.class_total": Row("chain sweep true", holds="numbers", optional=True),
    "draws.trace.*": Row("chain sweep ...", holds="numbers"),
    "draws.extra.*": Row("chain draw ..."),
    "draws.last.*": Row("...", np.number),
}
"""Every array of a result; a star stands for the names of arrays that a model may have more of."""


def row_of(name: str) -> Row:
    """Give the row of an array; LookupError if there is no such array."""
    for known, row in TABLE.items():
        if known == name or (known.endswith("*") and name.startswith(known[:-1])):
            return row
    raise LookupError(f"unknown array {name}")


@dataclass(frozen=True, eq=False)
class ItemNumbers:
    """Some numbers per item, such as how probable each kind of item is.

    Parameters
    ----------
    columns
        What the numbers are.
    values
        Shape (items, columns).
    """

    columns: tuple[str, ...]
    values: NDArray[np.float64]

    @property
    def is_single(self) -> bool:
        """Whether there is one number per item: it is then a column of the labels too."""
        return len(self.columns) == 1


@dataclass(frozen=True, eq=False)
class DrawnArray:
    """An array of a model's own at every draw that has matrices.

    Parameters
    ----------
    dims
        Names of the axes after chains and draws; ``item``, ``annotator``, ``true`` and ``answer``
        are those of the data.
    values
        Shape (chains, draws, ...).
    """

    dims: tuple[str, ...]
    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Draws:
    """What a sampler keeps: chains first, then draws.

    Parameters
    ----------
    confusion
        Each annotator's matrix, shape (chains, draws, annotators, classes, answers).
    class_balance
        The class proportions, shape (chains, draws, classes).
    partition
        The coterie of each annotator, shape (chains, draws, annotators); None where the model
        finds none. Labels mean nothing across draws.
    n_coteries
        Number of coteries with at least one labelled annotator, shape (chains, draws).
    trace
        Quantities by name at every kept sweep, of shape (chains, sweeps), or (chains, sweeps, k)
        for several numbers, such as the class totals.
    watched
        Names of those that must converge.
    extra
        What the model draws beside all this, by name.
    last
        Where each chain ended: the arrays of its state, by the names of its model (``said``,
        ``group`` and more), so that a later run can go on from there.
    """

    confusion: NDArray[np.float32]
    class_balance: NDArray[np.float64]
    partition: NDArray[np.int32] | None = None
    n_coteries: NDArray[np.int64] | None = None
    trace: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    watched: tuple[str, ...] = WATCHED
    extra: Mapping[str, DrawnArray] = field(default_factory=dict)
    last: tuple[Mapping[str, NDArray[Any]], ...] = ()

    def settled(self) -> bool:
        """Say whether every watched quantity has converged (:func:`has_converged`)."""
        return has_converged(self.trace, watched=self.watched)

    @property
    def matrices(self) -> NDArray[np.float32]:
        """The matrices of all chains, shape (chains * draws, annotators, classes, answers)."""
        return self.confusion.reshape(-1, *self.confusion.shape[2:])

    @property
    def balances(self) -> NDArray[np.float64]:
        """The class proportions of all chains, shape (chains * draws, classes)."""
        return self.class_balance.reshape(-1, self.class_balance.shape[-1])

    def confusion_quantile(self, l: int | slice, quantile: float) -> NDArray[np.float64]:
        """Quantile over all draws of the matrices of annotators ``l``."""
        return np.asarray(np.quantile(self.matrices[:, l], quantile, axis=0), np.float64)

    def accuracy(self) -> NDArray[np.float64]:
        """Accuracy in each draw, sum over t of tau[t] Psi[l,t,t]: (chains * draws, annotators)."""
        return accuracy_of(self.matrices, self.balances)

    def cooccurrence(self, annotators: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of draws in which two annotators sit in one coterie, for the given codes.

        Returns
        -------
        Symmetric array of shape (len(annotators), len(annotators)).
        """
        if self.partition is None:
            raise CoterieError("this model finds no coteries; fit one that does, such as Consensus")
        pooled = self.partition.reshape(-1, self.partition.shape[-1])
        return share_together(pooled[:, annotators])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give every array by its name in ``TABLE``."""
        one = {name: getattr(self, name) for name in ("confusion", "class_balance")}
        one |= {name: getattr(self, name) for name in ("partition", "n_coteries")}
        named = {
            "trace": self.trace,
            "extra": {name: one.values for name, one in self.extra.items()},
            **{f"last.{k}": state for k, state in enumerate(self.last)},
        }
        more = {f"{kind}.{name}": x for kind, some in named.items() for name, x in some.items()}
        return {f"draws.{name}": x for name, x in (one | more).items() if x is not None}

    def compact(self) -> Draws:
        """Keep every so many of the draws that have matrices, and matrices in half precision.

        Matrices go with every so many of the partitions: draws at the end that would break this
        are cut from both.
        """
        chains, n = self.confusion.shape[:2]
        each = most_draws(int(np.prod(self.confusion.shape[2:]))) // max(chains, 1)
        step = -(-n // max(each, 1)) if n else 1
        kept, per_matrix = n // step, 1
        if self.partition is not None and n:
            per_matrix = self.partition.shape[1] // n
        cut = {
            "draw": slice(step - 1, kept * step, step),
            "seating": slice(0, kept * step * per_matrix if n % step else None),
        }
        some: dict[str, Any] = {
            name.removeprefix("draws."): array[:, cut[axis]]
            for name, array in self.arrays().items()
            if (axis := row_of(name).dims.partition(" ")[2].partition(" ")[0]) in cut
        }
        extra = {
            name: DrawnArray(x.dims, some.pop(f"extra.{name}")) for name, x in self.extra.items()
        }
        some["confusion"] = some["confusion"].astype(np.float16).astype(np.float32)
        return replace(self, extra=extra, **some)


def most_draws(cells: int) -> int:
    """Give how many draws are kept of matrices that have so many cells together.

    Examples
    --------
    >>> most_draws(825 * 16), most_draws(825 * 64), most_draws(10**6)
    (500, 158, 100)
    """
    return int(np.clip(BYTES // (2 * max(cells, 1)), LEAST_MATRICES, MOST_MATRICES))


def accuracy_of(
    confusion: NDArray[np.floating], class_balance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give sum over t of tau[t] Psi[t,t] in each draw, shape (draws, matrices).

    Matrices have shape (draws, matrices, classes, answers), balances (draws, classes).
    """
    diagonal = np.diagonal(confusion, axis1=2, axis2=3)
    return np.asarray(np.einsum("dt,dlt->dl", class_balance, diagonal), np.float64)


def datatree(posterior: Posterior, draws: Draws) -> Any:
    """Give an ArviZ DataTree; see :meth:`coterie.Posterior.to_arviz`.

    Group ``posterior`` holds the parameters at the draws whose matrices were kept, of all else the
    last of every so many; ``sample_stats`` the watched quantities at every sweep after burn-in, so
    that ArviZ's diagnostics of it are those of :meth:`Posterior.diagnostics`.
    """
    try:
        from arviz_base import from_dict
    except ImportError:
        raise MissingExtraError("to_arviz", "arviz-base", "arviz") from None
    a, n_draws = posterior.annotations, draws.confusion.shape[1]
    coords = {"annotator": a.annotators, "true": a.classes, "answer": a.answers}
    if any("item" in one.dims for one in draws.extra.values()):
        coords["item"] = a.items
    parameters: dict[str, NDArray[Any]] = {}
    dims = {name: list(one.dims) for name, one in draws.extra.items()}
    for name, array in draws.arrays().items():
        kind, _, own = name.removeprefix("draws.").partition(".")
        if kind not in ("trace", "last") or own == "concentration":
            step = array.shape[1] // n_draws
            parameters[own or kind] = array[:, step - 1 :: step][:, :n_draws]
        if name in TABLE:
            dims[own or kind] = TABLE[name].dims.split()[2:]
    origin = {"inference_library": "coterie", "inference_library_version": __version__}
    groups = {"posterior": parameters}
    if draws.trace:
        groups["sample_stats"] = dict(draws.trace)
    return from_dict(
        groups,
        name=posterior.model,
        coords=coords,
        dims=dims,
        check_conventions=False,  # few draws and many chains are no mistake here
        attrs={name: {"model": posterior.model, **origin} for name in groups},
    )
