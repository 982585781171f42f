"""Arguments of public functions: what is not of the kind that the signature says is refused."""

from __future__ import annotations

import functools
import inspect
import math
import sys
import types
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from numbers import Integral, Real
from os import PathLike
from typing import (
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from coterie.errors import Argument, DataError, Words, unfit
from coterie.words.values import join
from coterie.words.visible import quoted

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

MOST_BITS = 1_024
"""Of whole numbers: others are no floats, and cannot all be written."""


class Kind(NamedTuple):
    """What an argument may be: how it is called, what it fits, and what is made of it."""

    words: str
    fits: Callable[[Any], bool]
    taken: Callable[[Any], Any] = lambda value: value


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse arguments of another kind than the signature says; numpy's numbers become Python's.

    What a signature says beyond :data:`KINDS` is left to the function.

    Examples
    --------
    >>> @checked
    ... def repeat(word: str, times: int | None = None) -> str:
    ...     return word * (times or 1)
    >>> repeat("a", np.int8(3))
    'aaa'
    >>> repeat("a", times="3")
    Traceback (most recent call last):
    coterie.errors.DataError: repeat(times=...) must be a whole number or None, got '3'
    """
    signature = inspect.signature(function)
    names = inspect.unwrap(function).__globals__

    @functools.cache  # when first called: then all that the signature names is there
    def known() -> dict[str, list[Kind]]:
        return {name: _kinds(one, names) for name, one in signature.parameters.items()}

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            bound.arguments[name] = _taken(
                value, known()[name], Argument(name, of=function.__name__)
            )
        return function(*bound.args, **bound.kwargs)

    return call


def checked_methods(kind: type[C]) -> type[C]:
    """Check the arguments of every public method of a class, as :func:`checked` does."""
    for name in dir(kind):
        method = getattr(kind, name)
        if not name.startswith("_") and inspect.isfunction(method):
            setattr(kind, name, checked(method))
    return kind


def check_plain_settings(model: object) -> None:
    """Refuse settings of a model that are not of the kind that they are annotated with.

    Whole numbers and choices are left to the model, which knows their bounds, and so is what is
    annotated with more than :data:`KINDS` has.
    """
    kind: Any = type(model)
    for name, kinds in _settings(kind).items():
        _taken(getattr(model, name), kinds, Argument(name, of=kind.__name__))


@functools.cache
def _settings(model: type) -> dict[str, list[Kind]]:
    found = {}
    for name, one in inspect.signature(model).parameters.items():
        said = (kind for kind in model.__mro__ if name in vars(kind).get("__annotations__", ()))
        names = vars(sys.modules[next(said, model).__module__])
        kinds = _kinds(one, names)
        if not {KINDS[int], SEED, KINDS[Literal]} & set(kinds):
            found[name] = kinds
    return found


def _kinds(parameter: inspect.Parameter, names: dict[str, Any]) -> list[Kind]:
    """Give what a parameter may be; nothing where its annotation says more than is known here."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return []
    if parameter.name == "model":
        return []  # the registry's own sentence says which there are
    annotated = types.SimpleNamespace(__annotations__={"said": parameter.annotation})
    try:
        said = get_type_hints(annotated, names)["said"]
    except NameError:  # only type checkers import it
        return []
    each = get_args(said) if get_origin(said) in (Union, types.UnionType) else (said,)
    known = [_kind(one, parameter.name) for one in each]
    found = [kind for kind in known if kind is not None]
    return found if len(found) == len(known) else []


def _kind(said: Any, name: str) -> Kind | None:
    if said is int and name == "random_state":
        return SEED
    if getattr(said, "__name__", "") == "Posterior":  # which lies above
        return Kind("a Posterior", lambda value: isinstance(value, said))
    return KINDS.get(Literal if get_origin(said) is Literal else said)


def _taken(value: Any, kinds: list[Kind], asked: Argument) -> Any:
    for kind in kinds:
        try:
            listed = list(value) if kind.words in LISTS and not hasattr(value, "__len__") else value
            if kind.fits(listed):
                return kind.taken(listed)
        except Exception:  # whatever the value's own methods raise when it is looked at
            continue
    if not kinds:
        return value
    one_of_many = isinstance(value, str) and any(kind.words in LISTS for kind in kinds)
    remedy = f"put it in a list: [{quoted(value)}]" if one_of_many else ""
    raise unfit(asked, join([kind.words for kind in kinds], "or"), value, remedy)


def is_whole(value: object, least: int) -> bool:
    """Say whether something is a whole number of at least so much; True and 2.0 are none.

    Examples
    --------
    >>> is_whole(np.int32(3), 1), is_whole(0, 1), is_whole(True, 1), is_whole(2.0, 1)
    (True, False, False, False)
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and bool(value >= least)  # type: ignore[operator]


def check_whole(value: object, argument: Argument, least: int, most: float = math.inf) -> None:
    """Raise DataError unless an argument is a whole number within these bounds."""
    if not is_whole(value, least):
        raise unfit(argument, f"a whole number of at least {least}", value)
    if value > most:  # type: ignore[operator]
        raise DataError([argument, f" must be at most {most:,}, got {value:,}"])


def check_number(
    value: object, argument: Argument, expected: str, fits: Callable[[float], bool],
    remedy: Words = "",
) -> None:  # fmt: skip
    """Raise DataError unless an argument is a number that fits what is expected."""
    try:
        fit = _is_number(value) and fits(_plain(value))
    except (TypeError, ValueError, OverflowError):
        fit = False
    if not fit:
        raise unfit(argument, expected, value, remedy)


def check_one_of(
    value: object, argument: Argument, known: Iterable[object], expected: str, kind: str = ""
) -> None:
    """Raise DataError unless an argument is one of some words; of what is no text, say its kind."""
    if not any(type(value) is type(one) and value == one for one in known):
        raise unfit(argument, expected if _is_text(value) else kind or expected, value)


def _is_int(value: Any) -> bool:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and int(value).bit_length() < MOST_BITS


def _is_number(value: Any) -> bool:
    real = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    return real and float(value) is not None  # or it overflows


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _can_be_looked_up(value: Any) -> bool:
    return isinstance(hash(value), int)


def _each(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda values: not isinstance(values, str | bytes) and all(map(fits, values))


SEED = Kind("a whole number of at least 0", lambda x: _is_int(x) and x >= 0, int)
NUMBERS = Kind("a list of numbers", _each(_is_number))
THINGS = Kind("a list", _each(_can_be_looked_up))
TEXTS = Kind("a list of texts", _each(_is_text))
LISTS = {"a list of numbers", "a list", "a list of texts"}
KINDS: dict[Any, Kind] = {
    type(None): Kind("None", lambda x: x is None),
    bool: Kind("True or False", lambda x: isinstance(x, bool | np.bool_), bool),
    int: Kind("a whole number", _is_int, int),
    float: Kind("a number", _is_number, _plain),
    str: Kind("text", _is_text, str),
    Literal: Kind("text", _is_text),
    Hashable: Kind("a name that can be looked up", _can_be_looked_up),
    PathLike[str]: Kind("a path", lambda x: isinstance(x, str | PathLike)),
    np.random.Generator: Kind("a numpy Generator", lambda x: isinstance(x, np.random.Generator)),
    Sequence[float]: NUMBERS,
    Sequence[Hashable]: THINGS,
    Iterable[Hashable]: THINGS,
    Iterable[str]: TEXTS,
    Collection[Any]: Kind("a list", _each(lambda x: True)),
}
"""What annotations that are understood take."""
