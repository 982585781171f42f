"""What an experiment is: jobs, a pure gathering of their results, tables, words and a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.studies.paper.job import Job, Results
from coterie.studies.paper.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Data = dict[str, Any]
"""The figures of an experiment: plain numbers and words, ready for JSON."""


class Table(NamedTuple):
    """A table of text; the first column to the left, the others to the right unless told."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper.

    Parameters
    ----------
    name, title
        Of its files; of its section.
    source
        Where in the paper it is.
    jobs
        From the settings to the jobs; those whose real data are missing are left out by the run.
    gather
        From the settings and the results by name to the figures as data. It takes the real sets
        that are there from the results.
    tables, words
        From the data: tables beside the paper's numbers, and what there is to say about them.
    draw
        From the data to a picture.
    """

    name: str
    title: str
    source: str
    jobs: Callable[[Settings], list[Job]]
    gather: Callable[[Settings, Results], Data]
    tables: Callable[[Data], list[Table]]
    words: Callable[[Data], list[str]]
    draw: Callable[[Data], Figure]


def plus_minus(mean: float, spread: float | None, digits: int = 2) -> str:
    """Write a number with its spread.

    Examples
    --------
    >>> plus_minus(3.318, 0.052), plus_minus(3.3, None)
    ('3.32 ± 0.05', '3.30')
    """
    text = f"{mean:.{digits}f}"
    return text if spread is None else f"{text} ± {spread:.{digits}f}"


def signed(value: float, digits: int = 2) -> str:
    """Write a difference with its sign; a real minus sign.

    Examples
    --------
    >>> signed(-0.5), signed(0.25), signed(-0.001)
    ('−0.50', '+0.25', '0.00')
    """
    if round(value, digits) == 0:
        return f"{0:.{digits}f}"
    return f"{value:+.{digits}f}".replace("-", "−")


def percent(share: float, digits: int = 2) -> str:
    """Write a share as percents, without the sign.

    Examples
    --------
    >>> percent(0.88889)
    '88.89'
    """
    return f"{100 * share:.{digits}f}"
