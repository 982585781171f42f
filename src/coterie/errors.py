"""The exception tree.

CoterieError
├── DataError            the input is not what it should be; says where and what to do
├── NotFittedError       a result was asked of an estimator that has not been fitted
└── MissingExtraError    an optional dependency is not installed; names the ``pip install``

CoterieWarning
├── DataWarning          the input works, but a person should look at it
├── ConvergenceWarning   a result should not be trusted as it is; carries the numbers
└── CompilationWarning   results are right, but take longer than they should; says what to do
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coterie.words.values import written
from coterie.words.visible import quoted, shorten, visible

LONGEST, LONGEST_REMEDY = 1_200, 600
"""Characters of a sentence and of its remedy: both fit on a screen, whatever the data hold."""


@dataclass(frozen=True)
class Argument:
    """An argument of a call in the middle of a sentence, to be written as its reader calls it."""

    name: str  # in Python
    value: Any = None  # that it has or should have; None where only its name matters
    several: bool = False  # it takes a list, of which no value is named
    of: str = ""  # the function or model that takes it, where the sentence is about its value


Words = str | Sequence[str | Argument]
"""Text, or parts of it that are put together when it is known for whom."""


def as_python(argument: Argument) -> str:
    """Write an argument as in a call from Python."""
    if argument.of:
        value = "..." if argument.value is None else quoted(argument.value)
        return f"{argument.of}({argument.name}={value})"
    if argument.several:
        return f"{argument.name}=[...]"
    if isinstance(argument.value, list):
        return f"{argument.name}={written(argument.value, '[]')}"
    return f"{argument.name}={'' if argument.value is None else quoted(argument.value)}"


def alternatives(arguments: Sequence[Argument]) -> list[str | Argument]:
    """Give arguments as parts of a sentence, of which one is to be chosen: a, b or c."""
    marks = ["", *[", "] * (len(arguments) - 2), " or "][: len(arguments)]
    return [part for pair in zip(marks, arguments, strict=True) for part in pair]


class Sentence:
    """One sentence for a person: what was expected, what came, and what to do.

    It is one line, no longer than a screen, and holds nothing that a terminal would obey, whatever
    was in the data.
    """

    def __init__(self, message: Words, remedy: Words = "") -> None:
        self.parts = tuple((x,) if isinstance(x, str) else tuple(x) for x in (message, remedy))
        named = (x for part in self.parts for x in part if isinstance(x, Argument))
        self.argument = next((x.name for x in named), None)  # the first it names, as in Python

    def remedy(self, write: Callable[[Argument], str]) -> str:
        """Give what to do, with arguments written as ``write`` does it."""
        return _put_together(self.parts[1], write, LONGEST_REMEDY)

    def written(self, write: Callable[[Argument], str]) -> str:
        """Give the sentence with its arguments written as ``write`` does it."""
        message = _put_together(self.parts[0], write, LONGEST)
        remedy = self.remedy(write)
        return f"{message}; {remedy}" if remedy else message


class CoterieError(Exception):
    """Every error that coterie raises on purpose: one :class:`Sentence`.

    Parameters
    ----------
    message
        What was expected and what came.
    argument
        The argument at fault, by its name in Python; by default the first that the sentence names.
    remedy
        What to do.

    Examples
    --------
    >>> error = CoterieError("the only class is 'yes'", remedy=["pass ", Argument("classes")])
    >>> str(error), error.argument
    ("the only class is 'yes'; pass classes=", 'classes')
    >>> error.written(lambda argument: f"--{argument.name}")
    "the only class is 'yes'; pass --classes"
    """

    def __init__(self, message: Words, *, argument: str | None = None, remedy: Words = "") -> None:
        self._sentence = Sentence(message, remedy)
        self.argument = argument or self._sentence.argument
        super().__init__(self.written(as_python))

    @property
    def remedy(self) -> str:
        """What to do, as one does it from Python; empty if the sentence says it otherwise."""
        return self._sentence.remedy(as_python)

    def written(self, write: Callable[[Argument], str]) -> str:
        """Give the sentence with its arguments written as ``write`` does it."""
        return self._sentence.written(write)


def _put_together(
    parts: tuple[str | Argument, ...], write: Callable[[Argument], str], longest: int
) -> str:
    text = "".join(part if isinstance(part, str) else write(part) for part in parts)
    return shorten(visible(text.rstrip("\n")), longest, tail=longest // 3)


class DataError(CoterieError, ValueError):
    """The input is not what it should be; the sentence says where, and what to do."""

    def about(self, what: str) -> DataError:
        """Give the same sentence, which first says what it is about."""
        message, remedy = self._sentence.parts
        return DataError([f"{what}: ", *message], argument=self.argument, remedy=remedy)


def unfit(argument: Argument, expected: str, value: object, remedy: Words = "") -> DataError:
    """Give the error of an argument that is not what it must be."""
    return DataError([argument, f" must be {expected}, got {quoted(value)}"], remedy=remedy)


class NotFittedError(CoterieError, ValueError, AttributeError):
    """A result was asked of an estimator that has not been fitted."""


class MissingExtraError(CoterieError, ImportError):
    """An optional dependency is missing."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        self._told = what, package, extra
        super().__init__(f'{what} needs {package}: pip install "coterie[{extra}]"')

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by what it was made of: a process of its own may raise it."""
        return type(self), self._told


class CoterieWarning(UserWarning):
    """Every warning that coterie gives on purpose: one :class:`Sentence`, as an error is.

    Parameters
    ----------
    message, remedy
        What a person should know, and what to do.
    """

    def __init__(self, message: Words, *, remedy: Words = "") -> None:
        self._sentence = Sentence(message, remedy)
        super().__init__(self.written(as_python))

    def written(self, write: Callable[[Argument], str]) -> str:
        """Give the sentence with its arguments written as ``write`` does it."""
        return self._sentence.written(write)


class DataWarning(CoterieWarning):
    """The input works, but a person should look at it."""


class ConvergenceWarning(CoterieWarning):
    """A result should not be trusted as it is.

    Parameters
    ----------
    message
        What is wrong and what to do.
    numbers
        The quantities behind the message, by name.
    """

    def __init__(self, message: str, numbers: Mapping[str, float] | None = None) -> None:
        super().__init__(message)
        self.numbers: dict[str, float] = dict(numbers or {})


class CompilationWarning(CoterieWarning):
    """Results are right, but take longer: compiled code cannot be kept, or was damaged."""
