"""Is a model a model like all others? The checks that coterie's own models pass, for any model."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coterie.errors import ConvergenceWarning, CoterieError, DataError
from coterie.extend import estimator_checks, result_checks, sampler_checks
from coterie.extend.case import Case
from coterie.models import Estimator

Check = Callable[[Case], None]

CHECKS: tuple[Check, ...] = (
    *estimator_checks.CHECKS,
    *result_checks.CHECKS,
    *sampler_checks.CHECKS,
)
"""All of them; the first sentence of each says what is promised."""


def check_model(kind: type[Estimator], **settings: Any) -> None:
    """Check that a model does what every model does; say in one sentence what it does not.

    It is fitted some forty times to 120 labels, in short chains: parameters, copies and pickles,
    what fit takes, the same bits for the same seed, gold, extra answers, items and annotators
    without labels, tables, save and load, the report, update, and of sampled models threads,
    checkpoints, and a chain that is stopped in the middle. Whether a sampler draws from the right
    posterior is another question: :func:`check_sampler`.

    Parameters
    ----------
    kind
        The class of the model, which takes labels and nothing more.
    **settings
        Parameters of the model that are not to be the defaults, such as ``prior=``.

    Raises
    ------
    CoterieError
        The first promise that the model does not keep, and what it does instead.

    Examples
    --------
    >>> from coterie import DawidSkene
    >>> check_model(DawidSkene)
    >>> class Forgetful(DawidSkene):
    ...     def fit(self, *labels, **told):
    ...         super().fit(*labels, **told)
    >>> check_model(Forgetful)
    Traceback (most recent call last):
    coterie.errors.CoterieError: Forgetful breaks the promise that fit gives the model itself: ...
    """
    given: Any = kind
    if not isinstance(given, type) or not issubclass(given, Estimator):
        raise DataError(f"check_model takes the class of a model, got {given!r}")
    if kind.needs:
        raise DataError(
            f"{kind.__name__} needs {' and '.join(kind.needs)} beside labels, which check_model"
            " does not make; check it with labels of your own"
        )
    for check in CHECKS:
        run_check(check, kind, **settings)


def run_check(check: Check, kind: type[Estimator], **settings: Any) -> None:
    """Run one check; what it finds becomes one sentence that names the model and the promise."""
    promise = (check.__doc__ or "").splitlines()[0].removeprefix("Insist that ").rstrip(".")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # chains are short
        try:
            check(Case(kind, Path(folder), settings))
        except Exception as error:  # whatever a model of others raises
            what = str(error) if isinstance(error, CoterieError) else f"{error!r}"
            raise CoterieError(
                f"{kind.__name__} breaks the promise that {promise}: {what}"
            ) from error
