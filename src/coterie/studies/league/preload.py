"""What the fork server does once, so that no child has to: import everything, wake numba.

numba needs a second for the first kernel of a process, whichever it is.
"""

from contextlib import suppress

import coterie.studies.league.child  # noqa: F401
from coterie.models import MajorityVote
from coterie.studies.league.job import warm_up

__all__: list[str] = []

with suppress(Exception):  # the children would meet the same trouble, and say so
    warm_up(MajorityVote())
