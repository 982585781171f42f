"""Records of what kernels write."""

import numpy as np

from coterie.kernels.keep import new_keep
from coterie.kernels.vote import ClearVotes


def keep_nothing(data):
    """A record without draws, for sweeps alone."""
    nobody = np.zeros(0, np.int32)
    return new_keep(data, ClearVotes(nobody, nobody), draws=0, every=0)
