"""What an experiment is: jobs, a pure gathering of their results, tables, words and a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.studies.job import Job
from coterie.studies.paper.job import Results
from coterie.studies.paper.settings import Settings
from coterie.studies.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Data = dict[str, Any]
"""The figures of an experiment: plain numbers and words, ready for JSON."""


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
