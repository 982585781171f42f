"""Any set of models over any set of data sets: one child process a fit, a league at the end."""

from coterie.compare.job import Job, Outcome, Scores
from coterie.compare.league import League, Row, Standing, make_league
from coterie.compare.lineup import REFERENCE, line_up
from coterie.compare.pool import Limits, run_jobs
from coterie.compare.sources import Source, find_sources

__all__ = [
    "REFERENCE",
    "Job",
    "League",
    "Limits",
    "Outcome",
    "Row",
    "Scores",
    "Source",
    "Standing",
    "find_sources",
    "line_up",
    "make_league",
    "run_jobs",
]
