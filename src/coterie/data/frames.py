"""Tables in the library that somebody asks for: pandas, or polars and pyarrow on request."""

from __future__ import annotations

import functools
import importlib.util
import inspect
from collections.abc import Callable
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    cast,
    overload,
)  # fmt: skip

from coterie.errors import Argument, CoterieError
from coterie.words.values import not_one_of

if TYPE_CHECKING:
    import pandas as pd
    import polars
    import pyarrow

LIBRARIES = ("pandas", "polars", "pyarrow")

S = TypeVar("S", contravariant=True)
P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class Gives(Protocol[P, R]):
    """A method that gives a table of pandas, or of whatever ``to`` names."""

    @overload
    def __call__(self, *args: Any, to: Literal["polars"], **kwargs: Any) -> polars.DataFrame: ...
    @overload
    def __call__(self, *args: Any, to: Literal["pyarrow"], **kwargs: Any) -> pyarrow.Table: ...
    @overload
    def __call__(self, *args: Any, to: Literal["pandas"], **kwargs: Any) -> R: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


class TableMethod(Protocol, Generic[S, P, R]):
    """What type checkers see of a method that gives tables."""

    @overload
    def __get__(self, instance: None, owner: Any) -> Callable[Concatenate[S, P], R]: ...
    @overload
    def __get__(self, instance: S, owner: Any) -> Gives[P, R]: ...


def table(method: Callable[Concatenate[S, P], R]) -> TableMethod[S, P, R]:
    """Let a method that gives a table of pandas take ``to="polars"`` or ``to="pyarrow"`` too."""

    @functools.wraps(method)
    def given(self: Any, *args: Any, to: str = "pandas", **kwargs: Any) -> Any:
        check_library(to)
        found = cast(Any, method)(self, *args, **kwargs)
        return found if to == "pandas" or found is None else as_frame(found, to)

    signature = inspect.signature(method)
    asked = inspect.Parameter("to", inspect.Parameter.KEYWORD_ONLY, default="pandas")
    parameters = [*signature.parameters.values()]
    last = len(parameters) - (parameters[-1].kind is inspect.Parameter.VAR_KEYWORD)
    parameters.insert(last, asked.replace(annotation="str"))
    given.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return cast(TableMethod[S, P, R], given)


def check_library(to: str) -> None:
    """Refuse a library of frames that we do not know, or that is not there."""
    if to not in LIBRARIES:
        raise CoterieError([Argument("to", to), not_one_of(to, LIBRARIES)])
    if importlib.util.find_spec(to) is None:
        raise CoterieError([Argument("to", to), f" needs {to}: pip install {to}"])


def as_frame(found: pd.DataFrame | pd.Series, to: str) -> Any:
    """Give a table of pandas as a frame of another library; its index becomes columns.

    Ids of several types become text, as in files: a column has one type there.
    """
    import narwhals
    import pandas as pd

    frame = found.to_frame() if isinstance(found, pd.Series) else found
    if not isinstance(frame.index, pd.RangeIndex) or frame.index.name is not None:
        frame = frame.reset_index()
    columns: dict[str, Any] = {}
    for name, column in frame.items():
        if column.dtype != object and not pd.api.types.is_string_dtype(column):
            columns[str(name)] = column.to_numpy()
            continue
        values = [None if value is None or value is pd.NA else value for value in column.tolist()]
        mixed = len({type(value) for value in values if value is not None}) > 1
        columns[str(name)] = [None if v is None else str(v) for v in values] if mixed else values
    return narwhals.from_dict(columns, backend=cast(Any, to)).to_native()
