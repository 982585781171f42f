"""Any set of models over any set of data sets: one child process a fit, a league at the end."""

from coterie.studies.league.job import Job, Outcome
from coterie.studies.league.league import League, Row, Standing, make_league
from coterie.studies.league.lineup import REFERENCE, line_up
from coterie.studies.league.pool import Limits, run_jobs
from coterie.studies.league.sources import Source, find_sources

__all__ = [
    "REFERENCE",
    "Job",
    "League",
    "Limits",
    "Outcome",
    "Row",
    "Source",
    "Standing",
    "find_sources",
    "line_up",
    "make_league",
    "run_jobs",
]
