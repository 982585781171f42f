"""``coterie aggregate`` on a million labels from a CSV file: where the time goes.

``python -m benchmarks.samplers.end_to_end [labels]``. The phases of the command are called one by
one, with as few sweeps as show what surrounds them.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.samplers import problems
from benchmarks.samplers.adapters import NAMES
from benchmarks.samplers.report import Report, run

LARGEST = 1_000_000
SWEEPS, BURN_IN = 60, 20


def write(path: Path, labels: int) -> None:
    """A CSV file with ids as people have them, rows in no order."""
    codes = problems.synthetic(labels)
    item = np.repeat(np.arange(len(codes.gold)), np.diff(codes.item_start))
    frame = pd.DataFrame(
        {
            "task": pd.Series(item).map("task-{:07d}".format),
            "worker": pd.Series(codes.item_annotator).map("w{:04d}".format),
            "label": np.array(["no", "unclear", "yes"])[codes.item_answer],
        }
    )
    frame.sample(frac=1, random_state=0).to_csv(path, index=False)


def phases(model: str, path: Path) -> dict[str, float]:
    """The seconds of each phase of the command, in its order."""
    taken, start = {}, time.perf_counter()

    def phase(name: str) -> None:
        nonlocal start
        taken[name] = time.perf_counter() - start
        start = time.perf_counter()

    from coterie.files.atomic import write_files
    from coterie.io.files import find
    from coterie.io.read import read
    from coterie.io.write import json_writer, table_writer
    from coterie.models import MajorityVote, make_model

    phase("imports")
    annotations = read(find(str(path)))
    phase("reading")
    MajorityVote(duplicates="keep").fit(annotations)
    phase("vote")
    settings = {"sweeps": SWEEPS, "burn_in": BURN_IN, "early_stop": False, "progress": False}
    posterior = make_model(model, random_state=0, **settings).fit(annotations).posterior_
    phase("fit")
    names = ("labels", "annotators", "diagnostics")
    tables = {name: getattr(posterior, name)() for name in names}
    phase("tables")
    out = path.parent / f"result-{model}"
    writers = {out / f"{name}.csv": table_writer(table, "csv") for name, table in tables.items()}
    out.mkdir()
    write_files({**writers, out / "run.json": json_writer({"sha256": find(str(path)).sha256()})})
    phase("writing")
    posterior.save(out / "run.coterie")
    phase("saving")
    return taken


def child(model: str, path: Path) -> None:
    taken = phases(model, path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(" ".join(f"{name}={seconds}" for name, seconds in taken.items()), f"peak={peak}")


def main(report: Report, labels: int) -> None:
    labels = min(labels, LARGEST)
    columns = ("imports", "reading", "vote", "fit", "tables", "writing", "saving")
    report.table(
        f"From CSV to results, {problems.name_of(labels)}, 4 chains of {SWEEPS} sweeps: seconds",
        "model", *columns, "peak MB",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "labels.csv")
        write(path, labels)
        for model in NAMES:
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.samplers.end_to_end"]
            run_child = [*command, model, str(path)]
            warm = Path(folder, "warm.csv")
            write(warm, 1_000)
            subprocess.run([*command, model, str(warm)], check=True, stdout=subprocess.DEVNULL)
            (Path(folder) / f"result-{model}").rename(Path(folder) / f"warm-{model}")
            done = subprocess.run(run_child, check=True, stdout=subprocess.PIPE, text=True)
            taken = {k: float(v) for k, v in (cell.split("=") for cell in done.stdout.split())}
            seconds = [f"{taken[name]:.2f}" for name in columns]
            report.row(NAMES[model], *seconds, f"{taken['peak']:,.0f}")


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in NAMES:
        child(sys.argv[1], Path(sys.argv[2]))
    else:
        run(main)
