"""iBCC against JAGS, the sampler one would write the same model for: seconds a sweep.

``python -m benchmarks.samplers.jags``. JAGS runs twice, short and long: the difference leaves out
reading and compiling. It samples the matrices that coterie integrates out, and monitors nothing.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.samplers import problems
from benchmarks.samplers.adapters import OURS, Sampler, one_group
from benchmarks.samplers.report import Report, run
from benchmarks.samplers.timing import in_turns
from coterie.annotations import Codes

TARGET = ">= 120"
SHORT, LONG = 20, 220
MODEL = Path(__file__).with_name("ibcc.jags")


def dump(values: dict[str, object]) -> str:
    """Variables in the format of R's dump, which JAGS reads: columns first."""
    lines = []
    for name, value in values.items():
        array = np.asarray(value)
        text = f"c({', '.join(map(str, array.ravel(order='F').tolist()))})"
        if array.ndim == 0:
            text = str(array)
        elif array.ndim > 1:
            text = f"structure({text}, .Dim = c({', '.join(f'{n}L' for n in array.shape)}))"
        lines.append(f"`{name}` <-\n{text}")
    return "\n".join(lines) + "\n"


def write(folder: Path, sampler: Sampler) -> None:
    data: Codes = sampler.data
    item = np.repeat(np.arange(len(data.gold)), np.diff(data.item_start))
    values = {
        "N": len(data.gold), "L": len(data.annotator_start) - 1, "K": len(data.item_answer),
        "T": data.n_classes, "C": data.n_answers,
        "class_weight": sampler.prior.class_weight, "weight": sampler.prior.shapes.weight[0],
        "item": item + 1, "annotator": data.item_annotator + 1, "y": data.item_answer + 1,
    }  # fmt: skip
    (folder / "data.R").write_text(dump(values))
    start = {"z": sampler.state.truth + 1, ".RNG.seed": 1}
    name = '`.RNG.name` <-\n"base::Mersenne-Twister"\n'
    (folder / "start.R").write_text(dump(start) + name)


def seconds(folder: Path, sweeps: int) -> float:
    """The CPU time of a whole run."""
    script = f"""
model in "{MODEL}"
data in "{folder / "data.R"}"
compile
parameters in "{folder / "start.R"}"
initialize
update {sweeps}, by(0)
"""
    (folder / "run.cmd").write_text(script)
    before = _children()
    done = subprocess.run(
        ["jags", folder / "run.cmd"], check=False, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rror" not in done.stdout + done.stderr, done.stdout + done.stderr
    return _children() - before


def _children() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def main(report: Report, labels: int) -> None:
    report.table("iBCC against JAGS, a sweep", "data", "ours, µs", "JAGS, µs", "JAGS / ours")
    found = problems.real("rte")
    if found is None or shutil.which("jags") is None:
        what = "jags (Debian: apt-get install jags)" if found else "rte (COTERIE_DATA)"
        report.say(f"{what} is not there: not measured")
        return
    sampler = Sampler(OURS, "ibcc", found.codes, one_group(found.codes))
    sampler.run(20)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, sampler)
        start = time.perf_counter()
        theirs = min(seconds(folder, LONG) for _ in range(3))
        theirs = (theirs - min(seconds(folder, SHORT) for _ in range(3))) / (LONG - SHORT)
        report_seconds = time.perf_counter() - start
    (ours,) = in_turns([sampler.run])
    report.row("rte", f"{1e6 * ours:,.0f}", f"{1e6 * theirs:,.0f}", f"{theirs / ours:,.0f}")
    report.ratio("rte: JAGS / ours, a sweep", theirs / ours, TARGET, 0)
    print(f"(JAGS ran for {report_seconds:.0f} s)")


if __name__ == "__main__":
    run(main)
