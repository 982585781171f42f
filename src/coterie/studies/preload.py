"""What the fork server does once, so that no worker has to: import everything, wake numba.

numba needs a second for the first kernel of a process, whichever it is.
"""

from contextlib import suppress

import coterie
import coterie.studies.league.fit

__all__: list[str] = []

with suppress(Exception):  # the workers would meet the same trouble, and say so
    coterie.MajorityVote().fit(coterie.studies.league.fit.TRIPLES)
