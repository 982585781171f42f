"""One job: a function and what it is told. Whatever becomes of it is an outcome."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from coterie.errors import CoterieError, CoterieWarning

Status = Literal["ok", "error", "timeout", "memory", "crash"]

LONGEST_REASON = 400


@dataclass(frozen=True)
class Job:
    """A piece of work that depends on nothing but what it is told.

    Parameters
    ----------
    name
        What identifies it: two jobs of one name are the same job.
    work
        A function of a module, so that another process can find it.
    told
        Its arguments, by name.
    """

    name: str
    work: Callable[..., Any]
    told: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """What is done: the name of its work, whatever that is told."""
        return self.work.__name__


class Outcome(NamedTuple):
    """What became of a job: a result, or the reason why there is none; warnings are notes."""

    name: str
    status: Status
    reason: str = ""
    result: Any = None
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


def perform(job: Job) -> Outcome:
    """Do a job in this process; an exception is an outcome, but Ctrl-C is not.

    Examples
    --------
    >>> perform(Job("half", divmod, {})).reason
    'TypeError: divmod expected 2 arguments, got 0 (job.py, line ...)'
    >>> perform(Job("sum", dict, {"a": 1})).result
    {'a': 1}
    """
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CoterieWarning)
        outcome = _perform(job)
    notes = [str(w.message) for w in caught if issubclass(w.category, CoterieWarning)]
    seconds = time.perf_counter() - start
    return outcome._replace(notes=tuple(dict.fromkeys(notes)), seconds=seconds)


def _perform(job: Job) -> Outcome:
    try:
        return Outcome(job.name, "ok", result=job.work(**job.told))
    except MemoryError as error:
        return Outcome(job.name, "memory", one_line(str(error)))
    except CoterieError as error:
        return Outcome(job.name, "error", one_line(str(error)))
    except (Exception, SystemExit) as error:  # one job must not take the others with it
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"({Path(place.filename).name}, line {place.lineno})"
        return Outcome(job.name, "error", one_line(f"{type(error).__name__}: {error} {where}"))


def one_line(text: str, longest: int = LONGEST_REASON) -> str:
    """Put a message on one line, shortened if it is very long."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 3] + "..."
