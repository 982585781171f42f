"""Arguments of public functions: what is not of the kind that the signature says is refused."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from os import PathLike
from typing import Any, NamedTuple, ParamSpec, TypeVar

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
    """What an argument may be: how it is called, and what gives it, or raises."""

    words: str
    take: Callable[[Any], Any]


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse arguments of another kind than the signature says; numpy's numbers become Python's.

    What a signature says in words that are not in :data:`KINDS` is left to the function.

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
    known = {name: _kinds(one) for name, one in signature.parameters.items()}
    known = {name: kinds for name, kinds in known.items() if kinds}

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        for name in known.keys() & bound.arguments.keys():
            asked = Argument(name, of=function.__name__)
            bound.arguments[name] = _taken(bound.arguments[name], known[name], asked)
        return function(*bound.args, **bound.kwargs)

    return call


def checked_methods(kind: type[C]) -> type[C]:
    """Check the arguments of every public method of a class, as :func:`checked` does."""
    for name in dir(kind):
        method = getattr(kind, name)
        if not name.startswith("_") and inspect.isfunction(method):
            setattr(kind, name, checked(method))
    return kind


def _taken(value: Any, kinds: list[Kind], asked: Argument) -> Any:
    for kind in kinds:
        try:
            return kind.take(value)
        except Exception:  # whatever the value's own methods raise when it is looked at
            continue
    expected = join([kind.words for kind in kinds], "or")
    one_of_many = isinstance(value, str) and any(kind.words.startswith("a list") for kind in kinds)
    remedy = f"put it in a list: [{quoted(value)}]" if one_of_many else ""
    raise unfit(asked, expected, value, remedy)


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
        fit = fits(_number(value))
    except (TypeError, ValueError, OverflowError):
        fit = False
    if not fit:
        raise unfit(argument, expected, value, remedy)


def check_one_of(value: object, argument: Argument, known: Iterable[object], expected: str) -> None:
    """Raise DataError unless an argument is one of some words."""
    if not any(type(value) is type(one) and value == one for one in known):
        raise unfit(argument, expected, value)


def check_plain_settings(model: object) -> None:
    """Refuse settings of a model that are not of the kind that they are annotated with.

    Whole numbers are left to the model, which knows their bounds, and so is what is annotated with
    more than :data:`KINDS` has.
    """
    for name, one in inspect.signature(type(model)).parameters.items():
        kinds = _kinds(one)
        if kinds and not any(kind.take in (whole, _seed) for kind in kinds):
            _taken(getattr(model, name), kinds, Argument(name, of=type(model).__name__))


def _kinds(parameter: inspect.Parameter) -> list[Kind]:
    """Give what a parameter may be; nothing where its annotation says more than is known here."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return []
    if parameter.name == "model":
        return []  # the registry's own sentence says which there are
    said = parameter.annotation
    words = _alternatives(said if isinstance(said, str) else inspect.formatannotation(said))
    if parameter.name == "random_state":
        words = [word.replace("int", "seed") for word in words]
    return [KINDS[word] for word in words] if all(word in KINDS for word in words) else []


def _alternatives(annotation: str) -> list[str]:
    """Split what is said at the bars that are in no brackets.

    Examples
    --------
    >>> _alternatives("Sequence[int | str] | None")
    ['Sequence[int | str]', 'None']
    """
    parts, depth = [""], 0
    for sign in annotation:
        depth += (sign == "[") - (sign == "]")
        if sign == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def _require(condition: Any) -> None:
    if not condition:
        raise TypeError


def _nothing(value: Any) -> None:
    _require(value is None)


def _flag(value: Any) -> bool:
    _require(isinstance(value, bool | np.bool_))
    return bool(value)


def whole(value: Any) -> int:
    """Give a whole number, or raise TypeError; True and False are none."""
    _require(isinstance(value, Integral) and not isinstance(value, bool))
    _require(int(value).bit_length() < MOST_BITS)
    return int(value)


def _seed(value: Any) -> int:
    _require(whole(value) >= 0)
    return int(value)


def _number(value: Any) -> float:
    _require(isinstance(value, Real) and not isinstance(value, bool | np.bool_))
    plain: float = value.item() if isinstance(value, np.generic) else value
    float(plain)  # or it overflows
    return plain


def _text(value: Any) -> str:
    _require(isinstance(value, str))
    return str(value)


def _path(value: Any) -> str | PathLike[str]:
    _require(isinstance(value, str | PathLike))
    found: str | PathLike[str] = value
    return found


def _generator(value: Any) -> np.random.Generator:
    _require(isinstance(value, np.random.Generator))
    found: np.random.Generator = value
    return found


def _hashable(value: Any) -> Any:
    hash(value)
    return value


def _each(take: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Give what takes several; of arrays and the like their type is kept."""

    def several(values: Any) -> Any:
        _require(isinstance(values, Iterable) and not isinstance(values, str | bytes))
        listed = list(values)
        for one in listed:
            take(one)
        return values if hasattr(values, "__len__") else listed

    return several


def _instance(name: str) -> Callable[[Any], Any]:
    """Give what takes objects of a class of this name, which need not be imported for that."""

    def instance(value: Any) -> Any:
        _require(name in {kind.__name__ for kind in type(value).__mro__})
        return value

    return instance


NUMBERS, THINGS = Kind("a list of numbers", _each(_number)), Kind("a list", _each(_hashable))
KINDS = {
    "None": Kind("None", _nothing),
    "bool": Kind("True or False", _flag),
    "int": Kind("a whole number", whole),
    "seed": Kind("a whole number of at least 0", _seed),
    "float": Kind("a number", _number),
    "str": Kind("text", _text),
    "Hashable": Kind("a name that can be looked up", _hashable),
    "PathLike[str]": Kind("a path", _path),
    "os.PathLike[str]": Kind("a path", _path),
    "np.random.Generator": Kind("a numpy Generator", _generator),
    "By": Kind("text", _text),
    "Loss": Kind("text", _text),
    "Ties": Kind("text", _text),
    "Sequence[float]": NUMBERS,
    "Sequence[Hashable]": THINGS,
    "Iterable[Hashable]": THINGS,
    "Iterable[str]": Kind("a list of texts", _each(_text)),
    "Collection[Any]": Kind("a list", _each(lambda value: value)),
    "Posterior": Kind("a Posterior", _instance("Posterior")),
}
"""Annotations that are understood."""
