"""What is compiled ahead is what a first run needs beside its sampler, and only then."""

import os
import shutil
import subprocess
import sys
import textwrap

import pytest

from coterie.cli import compile_early
from coterie.models import HCBCC, DawidSkene

SCRIPT = """
    import sys, warnings
    from numba.core import event
    from coterie import Consensus, simulate
    from coterie.cli import compile_early

    compiled = []

    class Listener(event.Listener):
        def on_start(self, event):
            function = event.data["dispatcher"].py_func
            compiled.append(f"{function.__module__}.{function.__name__}")

        def on_end(self, event):
            pass

    if sys.argv[1] == "ahead":
        compile_early.main("coterie.models.consensus:Consensus")
    event.register("numba:compile", Listener())
    warnings.simplefilter("ignore")
    crowd = simulate("mixed", annotators=15, items=40, random_state=1).annotations
    posterior = Consensus(sweeps=40, burn_in=10, chains=2, random_state=0).fit(crowd).posterior_
    posterior.coteries(), posterior.annotators(), posterior.cooccurrence()
    ending = "coterie.kernels.gibbs.consensus.model.finish"
    rooms = ("coterie.partition", "coterie.roles", "coterie.kernels.matrices", ending)
    print(*sorted({name for name in compiled if name.startswith(rooms)}))
"""


def compiled_by(how, folder):
    """What of this a fit compiles in a process of its own, its cache this folder."""
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), how],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.split()


@pytest.mark.slow  # it compiles all there is
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_nothing_is_left_to_compile_after_the_sampler(tmp_path):
    assert compiled_by("ahead", tmp_path) == []
    for folder in tmp_path.glob(
        "coterie-*/partition_*"
    ):  # as if only the sampler had been compiled
        shutil.rmtree(folder)
    assert "coterie.partition.moves.sweep" in compiled_by("plain", tmp_path)


class Process:
    def __init__(self, command, **_):
        self.command, self.waited = command, False
        STARTED.append(self)

    def wait(self, timeout):
        self.waited = True


STARTED = []


@pytest.mark.parametrize(
    ("model", "compiles", "n_cores", "kept", "started"),
    [
        (HCBCC(), True, 2, True, 1),
        (HCBCC(), False, 2, True, 0),
        (HCBCC(), True, 1, True, 0),
        (HCBCC(), True, 2, False, 0),
        (DawidSkene(), True, 2, True, 0),
    ],
)
def test_another_process_is_started_if_there_is_something_to_compile(
    model, compiles, n_cores, kept, started, monkeypatch
):
    class Telling:
        def __init__(self, tell):
            self.tell = tell

        def __enter__(self):
            if compiles:
                self.tell()

        def __exit__(self, *_):
            pass

    STARTED.clear()
    monkeypatch.setattr(compile_early, "telling_of_compilation", Telling)
    monkeypatch.setattr(compile_early.subprocess, "Popen", Process)
    monkeypatch.setattr(compile_early, "cores", lambda: n_cores)
    monkeypatch.setattr(compile_early, "is_kept", lambda: kept)
    with compile_early.compiling_ahead(model):
        pass
    assert len(STARTED) == started
    for one in STARTED:
        assert one.waited
        place = "coterie.models.hcbcc:HCBCC"
        assert one.command[1:] == ["-m", "coterie.cli.compile_early", place]
