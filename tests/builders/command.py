"""The command line, in this process, or in one of its own where that is the point."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from typer.testing import CliRunner

from coterie.cli.app import app

TESTS = Path(__file__).parents[1]

ROWS = """task,worker,label
q1,ann,yes
q1,bob,yes
q1,cat,no
q2,ann,no
q2,bob,no
q2,cat,no
q3,ann,yes
q3,cat,no
q3,bob,yes
"""


class Done(NamedTuple):
    """How a command ended and what it said."""

    returncode: int
    stdout: str
    stderr: str


def coterie(*arguments, cwd=".", stdin=None):
    """Run a command here: a second less than a process takes to start."""
    words = [*map(str, arguments)]
    with contextlib.chdir(cwd), mock.patch.object(sys, "argv", ["coterie", *words]):
        done = CliRunner().invoke(app, words, input=stdin, catch_exceptions=False)
    return Done(done.exit_code, done.stdout, done.stderr)


def coterie_process(*arguments, cwd=None):
    """Run a command in a process of its own, as a user does; it finds the models of tests too."""
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "coterie", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": paths},
    )
    return Done(done.returncode, done.stdout, done.stderr)
