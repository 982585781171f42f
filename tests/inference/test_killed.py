"""A driver that is killed, as a process: kill -9, and the next one goes on with the same bits."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from builders.blocked import SETTINGS, bits, crowd, fit
from coterie.inference import checkpoint
from ladder.marks import rest_slow

TESTS = Path(__file__).parents[1]
DRIVER = """
import sys, time
from builders.blocked import crowd, fit
from coterie.inference import chains, checkpoint

checkpoint.Checkpoint.due = lambda self: True
real = checkpoint.Checkpoint.write

def write(self, chains, entropy):
    if min(chain.done for chain in chains) >= int(sys.argv[3]):
        real(self, chains, entropy)
        print(min(chain.done for chain in chains), flush=True)
        time.sleep(600)  # it is killed here

checkpoint.Checkpoint.write = write
chains.MEETING_SECONDS = 0.0
fit(sys.argv[1], crowd(), checkpoint=sys.argv[2], n_jobs=2)
"""


def killed(kind, path, when):
    """Run a fit in a process of its own, kill it after it has stored itself; say where it was."""
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", DRIVER, kind, str(path), str(when)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as driver:
        try:
            done = int(driver.stdout.readline())
        finally:
            driver.send_signal(signal.SIGKILL)
    assert driver.returncode == -signal.SIGKILL
    return done


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
@pytest.mark.parametrize("kind", rest_slow(["HCBCC", "Consensus"], 1))
@pytest.mark.parametrize("when", rest_slow([20, 90], 1), ids=["in burn-in", "after it"])
def test_a_driver_that_is_killed_goes_on_with_the_same_bits(kind, when, tmp_path):
    path = tmp_path / "run.checkpoint"
    done = killed(kind, path, when)
    assert when <= done < SETTINGS["sweeps"]
    posterior = fit(kind, crowd(), checkpoint=path)
    assert posterior.run["resumed"]
    assert bits(posterior) == bits(fit(kind, crowd()))


def test_a_checkpoint_whose_counts_do_not_add_up_is_refused(tmp_path):
    path = tmp_path / "run.checkpoint"
    fit("Consensus", crowd(), checkpoint=path)
    found = checkpoint.read_container(path, checkpoint.FORMAT)
    for name, change in (("source", 1), ("guessed", 1), ("said", 1), ("known", 1_000)):
        arrays = {key: np.array(array) for key, array in found.arrays.items()}
        arrays[f"0/state/{name}"].flat[0] += change
        checkpoint.write_file(
            path, checkpoint.container_writer(checkpoint.FORMAT, found.header, arrays)
        )
        with pytest.raises(checkpoint.DataError, match="or it is damaged"):
            fit("Consensus", crowd(), checkpoint=path)
