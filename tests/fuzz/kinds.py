"""The kinds of cases: how one is made, and how many are run with the other tests."""

import tempfile
from pathlib import Path
from typing import NamedTuple

from fuzz import doors, inputs, saved
from fuzz.saved import SLOW
from fuzz.verdict import judge


class Kind(NamedTuple):
    """A kind of case: ``make(number, folder)`` gives what is to be called."""

    make: object
    usual: int  # cases that the usual tests run
    promise: str
    model: object = None  # ``model(number)`` gives that of a case, if it has one

    def numbers(self, slow):
        """The usual cases that only slow tests run, or the others."""
        return [n for n in range(self.usual) if slow == bool(self.model and self.model(n) in SLOW)]


KINDS = {
    "inputs": Kind(inputs.case, 600, "mutated files of every format, read"),
    "rows": Kind(inputs.rows, 200, "odd objects in memory, read in two orders"),
    "runs": Kind(saved.run, 300, "damaged runs, loaded", saved.run_model),
    "checkpoints": Kind(
        saved.checkpoint, 120, "damaged checkpoints, gone on from", saved.checkpoint_model
    ),
    "names": Kind(doors.names, 80, "hostile names through the command line, to every format"),
    "arguments": Kind(doors.arguments, 40, "priors and settings at their extremes, fitted"),
}


def outcome(kind, number):
    """Make a case, run it, and say what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        return judge(KINDS[kind].make(number, Path(folder)))
