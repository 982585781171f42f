"""Models that misbehave, importable by name in a child process."""

import os
import signal
import sys
import warnings
from pathlib import Path

import numpy as np

from coterie.errors import ConvergenceWarning, DataError
from coterie.models import MajorityVote


class Raises(MajorityVote):
    def _fit(self, annotations):
        raise ZeroDivisionError("one\nover zero")


class Refuses(MajorityVote):
    def _fit(self, annotations):
        raise DataError("label 'x' is odd; correct it")


class Leaves(MajorityVote):
    def _fit(self, annotations):
        sys.exit("bye")


class Sleeps(MajorityVote):
    """Writes its process id where the environment says, then sleeps for ever."""

    def _fit(self, annotations):
        if "COMPARE_PIDS" in os.environ:
            Path(os.environ["COMPARE_PIDS"]).write_text(f"{os.getpid()}\n", "utf-8")
        while True:
            signal.pause()


class Swallows(MajorityVote):
    """Asks for 4 GB, a little at a time."""

    def _fit(self, annotations):
        kept = [np.ones(10**7) for _ in range(50)]
        raise AssertionError(f"{len(kept)} arrays were granted")


class Quits(MajorityVote):
    def _fit(self, annotations):
        os._exit(3)


class Killed(MajorityVote):
    def _fit(self, annotations):
        os.kill(os.getpid(), signal.SIGKILL)


class Aborts(MajorityVote):
    def _fit(self, annotations):
        os.write(2, b"LLVM ERROR: out of memory\n")
        os.abort()


class Talks(MajorityVote):
    """The vote, with noise on both streams and a warning."""

    def _fit(self, annotations):
        sys.stdout.write("NOISE")
        os.write(1, b"NOISE")
        os.write(2, b"NOISE")
        warnings.warn(ConvergenceWarning("not <b>converged</b>"), stacklevel=1)
        return super()._fit(annotations)


class Lambda(MajorityVote):
    def __init__(self):
        super().__init__()
        self.hidden = lambda: None


class Records(MajorityVote):
    """Knows the parameters of a sampler, and the environment it was fitted in."""

    def __init__(self, *, sweeps=9, burn_in=9, random_state=None, n_jobs=None, duplicates="error"):
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.duplicates = duplicates

    def _fit(self, annotations):
        names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        deaf = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        words = [*(os.environ[name] for name in names), "deaf" if deaf else "hears"]
        warnings.warn(ConvergenceWarning(" ".join(words)), stacklevel=1)
        return super()._fit(annotations)
