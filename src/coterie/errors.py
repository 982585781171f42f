"""The exception tree.

CoterieError
├── DataError            the input is not what it should be; says where and what to do
├── NotFittedError       a result was asked of an estimator that has not been fitted
└── MissingExtraError    an optional dependency is not installed; names the ``pip install``

CoterieWarning
├── DataWarning          the input works, but a person should look at it
└── ConvergenceWarning   a result should not be trusted as it is; carries the numbers
"""

from __future__ import annotations

from collections.abc import Mapping


class CoterieError(Exception):
    """Every error that coterie raises on purpose."""


class DataError(CoterieError, ValueError):
    """The input is not what it should be.

    The message is one sentence: what was expected, what came, and what to do.
    """


class NotFittedError(CoterieError, ValueError, AttributeError):
    """A result was asked of an estimator that has not been fitted."""


class MissingExtraError(CoterieError, ImportError):
    """An optional dependency is missing.

    Examples
    --------
    >>> raise MissingExtraError("reading Parquet", "pyarrow", "parquet")
    Traceback (most recent call last):
    coterie.errors.MissingExtraError: reading Parquet needs pyarrow: pip install "coterie[parquet]"
    """

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(f'{what} needs {package}: pip install "coterie[{extra}]"')


class CoterieWarning(UserWarning):
    """Every warning that coterie gives on purpose."""


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
