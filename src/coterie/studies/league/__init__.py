"""Any set of models over any set of data sets, side by side, every model against the vote."""

from coterie.studies.league.fit import fit_job
from coterie.studies.league.league import League, Row, Standing, make_league, row_of
from coterie.studies.league.lineup import REFERENCE, line_up
from coterie.studies.league.sources import Source, find_sources

__all__ = [
    "REFERENCE",
    "League",
    "Row",
    "Source",
    "Standing",
    "find_sources",
    "fit_job",
    "line_up",
    "make_league",
    "row_of",
]
