"""iBCC against JAGS, the sampler one would write the same model for: seconds per sweep.

``python -m benchmarks.samplers.jags``. JAGS runs twice, short and long: the difference leaves out
reading and compiling. It samples the matrices that coterie integrates out, and monitors nothing; in
a third run it monitors the truth, which shows that it draws the same and how well.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.samplers import problems
from benchmarks.samplers.adapters import Sampler, ibcc_prior, one_group
from benchmarks.samplers.effective import effective
from benchmarks.samplers.report import Report, run
from benchmarks.samplers.timing import in_turns
from coterie.data.codes import Codes

TARGET = ">= 120"
SHORT, LONG, MONITORED = 20, 1_020, 1_000
ROUNDS = 5
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
    data = sampler.data
    prior = ibcc_prior(data)
    item = np.repeat(np.arange(len(data.gold)), np.diff(data.item_start))
    values = {
        "N": len(data.gold), "L": len(data.annotator_start) - 1, "K": len(data.item_answer),
        "T": data.n_classes, "C": data.n_answers,
        "class_weight": prior.class_weight, "weight": prior.weight,
        "item": item + 1, "annotator": data.item_annotator + 1, "y": data.item_answer + 1,
    }  # fmt: skip
    (folder / "data.R").write_text(dump(values))
    start = {"z": sampler.where()[0] + 1, ".RNG.seed": 1}
    name = '`.RNG.name` <-\n"base::Mersenne-Twister"\n'
    (folder / "start.R").write_text(dump(start) + name)


def seconds(folder: Path, sweeps: int, after: str = "") -> float:
    """The processor time of a whole run; ``after`` are commands that follow the sweeps."""
    script = f"""
model in "{MODEL}"
data in "{folder / "data.R"}"
compile
parameters in "{folder / "start.R"}"
initialize
update {sweeps}, by(0)
{after}
"""
    (folder / "run.cmd").write_text(script)
    before = _children()
    done = subprocess.run(
        ["jags", folder / "run.cmd"], check=False, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rror" not in done.stdout + done.stderr, done.stdout + done.stderr
    return _children() - before


def class_totals(folder: Path, data: Codes) -> np.ndarray:
    """Draw class totals, shape (MONITORED, T), after some burn-in."""
    stem = folder / "out"
    seconds(folder, 200, f'monitor z\nupdate {MONITORED}, by(0)\ncoda *, stem("{stem}")')
    truth = np.loadtxt(f"{stem}chain1.txt", usecols=1).reshape(len(data.gold), MONITORED)
    return np.stack([(truth == t + 1).sum(axis=0) for t in range(data.n_classes)], axis=1)


def _children() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def _ours(sampler: Sampler) -> float:
    (seconds_a_sweep,) = in_turns([sampler.run], 1.0)
    return seconds_a_sweep


def _theirs(folder: Path) -> float:
    return (seconds(folder, LONG) - seconds(folder, SHORT)) / (LONG - SHORT)


def main(report: Report, labels: int) -> None:
    report.table(
        "iBCC against JAGS, processor time",
        "rte", "µs per sweep", "effective draws per sweep", "µs per effective draw", "mean total",
    )  # fmt: skip
    found = problems.real("rte")
    if found is None or shutil.which("jags") is None:
        what = "jags (Debian: apt-get install jags)" if found else "rte (COTERIE_DATA)"
        report.say(f"{what} is not there: not measured")
        return
    sampler = Sampler("ibcc", found.codes, one_group(found.codes))
    sampler.run(1_000)
    our_totals = sampler.run(5_000)["class_total"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, sampler)
        pairs = [(_ours(sampler), _theirs(folder)) for _ in range(ROUNDS)]
        their_totals = class_totals(folder, found.codes)
    # What else the machine does only adds to a time: the shortest of either counts.
    ours, theirs = map(min, zip(*pairs, strict=True))
    each = []
    for side, taken, totals in (("ours", ours, our_totals), ("JAGS", theirs, their_totals)):
        rate = effective(totals) / len(totals)
        each.append(taken / rate)
        cells = (f"{1e6 * taken:,.0f}", f"{rate:.2f}", f"{1e6 * each[-1]:,.0f}")
        report.row(side, *cells, f"{totals[:, 0].mean():.1f}")
    report.ratio("rte: JAGS / ours, per sweep", theirs / ours, TARGET, 0)
    report.say(f"rte: JAGS / ours, an effective draw of the class totals = {each[1] / each[0]:.0f}")


if __name__ == "__main__":
    run(main)
