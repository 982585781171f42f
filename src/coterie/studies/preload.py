"""What the fork server does once, so that no process has to: import everything, wake numba.

numba needs a second for the first kernel of a process, whichever it is.
"""

from contextlib import suppress

import coterie
from coterie.studies.fits import TRIPLES

with suppress(Exception):  # the processes would meet the same trouble, and say so
    coterie.MajorityVote().fit(TRIPLES)
