"""Files larger than memory, end to end: ``python -m benchmarks.scan [labels] [model] [sweeps]``.

Writes labels as Parquet (ten labels per item, a thousand annotators, three classes, rows shuffled,
ids as text: the worst case of a scan), then, in a process of its own, scans, fits and writes labels
part by part: seconds of each, and the peak memory that the operating system counted. A sampled
model, such as ``consensus``, makes 200 sweeps, of which it drops half, unless told. Last,
iterations of Dawid-Skene and IBCCVB on those shards beside crowd-kit's, where that is installed
(``pip install crowd-kit`` in an environment that can be thrown away: it is 773 MB).
"""

from __future__ import annotations

import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

LABELS = 1_000_000
PER_ITEM, N_ANNOTATORS, CLASSES = 10, 1_000, ("cat", "dog", "fox")
AT_ONCE = 10_000_000
"""Labels that are made at a time: items of one such stretch are shuffled among each other."""
ROUNDS = 6
SWEEPS = 200


def make(folder: Path, labels: int) -> None:
    """Write a crowd with accuracies from 0.4 to 0.95, in files of a stretch each."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    skill = rng.uniform(0.4, 0.95, N_ANNOTATORS)
    for first in range(0, labels, AT_ONCE):
        n = min(AT_ONCE, labels - first)
        place = rng.permutation(n)
        item = place // PER_ITEM
        person = rng.integers(N_ANNOTATORS, size=-(-n // PER_ITEM))[item]
        person = (person + place % PER_ITEM * (N_ANNOTATORS // PER_ITEM)) % N_ANNOTATORS
        truth = rng.integers(3, size=-(-n // PER_ITEM))[item]
        wrong = (truth + rng.integers(1, 3, size=n)) % 3
        answer = np.where(rng.random(n) < skill[person], truth, wrong).astype(np.int8)
        columns = {
            "item": pa.array(np.char.add("q", (item + first // PER_ITEM).astype(str))),
            "annotator": pa.array(np.char.add("w", person.astype(str))),
            "label": pa.DictionaryArray.from_arrays(answer, list(CLASSES)).cast(pa.string()),
        }
        pq.write_table(pa.table(columns), folder / f"part-{first // AT_ONCE:04d}.parquet")


def peak() -> float:
    """Megabytes that this process has had at most, by the operating system."""
    status = Path("/proc/self/status")
    if status.exists():  # what is left of the process that started this one is not in it
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def model_of(model: str, sweeps: int) -> Any:
    """A model by its short name; one that is sampled makes so many sweeps, and drops half."""
    from coterie.models import make_model

    settings: dict[str, Any] = {"random_state": 0}
    made = make_model(model, **settings)
    if "sweeps" in made.get_params():
        settings |= {"sweeps": sweeps, "burn_in": sweeps // 2, "early_stop": False}
    return make_model(model, **settings)


def end_to_end(folder: Path, model: str, sweeps: int) -> dict[str, float]:
    """Scan, fit and write; seconds of each, by the processor and by the clock."""
    import coterie

    warm_up(model)
    took = {"before": peak()}
    marks = [(time.process_time(), time.perf_counter())]

    def mark(name: str) -> None:
        marks.append((time.process_time(), time.perf_counter()))
        (cpu, wall), (cpu_now, wall_now) = marks[-2:]
        took[name], took[f"{name}, clock"] = cpu_now - cpu, wall_now - wall
        took[f"{name}, MB"] = peak()

    labels = coterie.scan(folder / "*.parquet")
    mark("scan")
    fitted = model_of(model, sweeps).fit(labels)
    mark("fit")
    with tempfile.TemporaryDirectory() as out:
        fitted.posterior_.write_labels(Path(out, "labels"))
        mark("write")
    fitted.posterior_.annotators()
    mark("people")
    rounds = fitted.posterior_.run.get("sweeps", getattr(fitted, "n_iter_", 0))
    return took | {"rounds": rounds, "labels": labels.n_labels, "shards": len(labels)}


def warm_up(model: str) -> None:
    """Compile, and import all that is imported late."""
    import coterie

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "labels.parquet")
        crowd = coterie.simulate("mixed", items=50, annotators=9, random_state=0)
        crowd.annotations.to_frame().to_parquet(path)
        fitted = model_of(model, 10).fit(coterie.scan(path))
        fitted.posterior_.write_labels(Path(folder, "labels"))
        fitted.posterior_.annotators()


def iterations(folder: Path, *_: Any) -> dict[str, float]:
    """Seconds of an iteration on shards: the shortest, for other work only adds to it."""
    import numpy as np

    import coterie
    from coterie.inference.ascent import ascend, in_shards, maximise
    from coterie.kernels.expected import estimate
    from coterie.models.em import vote_start

    labels = coterie.scan(folder / "*.parquet")
    items = in_shards(labels)
    votes = vote_start(items, labels.n_items)
    steps = {
        "DawidSkene": maximise(items, estimate(items.count(votes, labels.n_classes))),
        "IBCCVB": ascend(items, coterie.IBCCVB().model(labels), votes),
    }
    found = {}
    for name, rounds in steps.items():
        ticks = [(time.perf_counter(), time.process_time()) for _ in islice(rounds, ROUNDS)]
        wall, cpu = (np.diff(np.array(ticks), axis=0).min(axis=0)).tolist()
        found |= {name: wall, f"{name} cpu": cpu}
    return found | {"peak": peak()}


def crowdkit(folder: Path, *_: Any) -> dict[str, float]:
    """Seconds of an iteration of crowd-kit's Dawid-Skene on the same labels, in its own frame."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    frame = pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])
    frame.columns = ["task", "worker", "label"]
    ticks: list[tuple[float, float]] = []

    class Timed(DawidSkene):
        def _evidence_lower_bound(self, *args):
            bound = super()._evidence_lower_bound(*args)  # the last thing in an iteration
            ticks.append((time.perf_counter(), time.process_time()))
            return bound

    Timed(3, -1e9).fit(frame.sort_values("task", kind="stable").reset_index(drop=True))
    wall, cpu = (min(b[k] - a[k] for a, b in pairwise(ticks)) for k in range(2))
    return {"DawidSkene": wall, "DawidSkene cpu": cpu, "peak": peak()}


WORK = {"end_to_end": end_to_end, "iterations": iterations, "crowdkit": crowdkit}


def run(what: str, folder: str, model: str, sweeps: int) -> dict[str, float]:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.scan", what, folder, model]
    command.append(str(sweeps))
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def show(folder: str, labels: int, model: str, sweeps: int = SWEEPS) -> None:
    """Print what it takes from the files to the parts of labels."""
    print(f"{labels:,} labels, {PER_ITEM} per item, {N_ANNOTATORS:,} annotators; model {model}")
    command = [sys.executable, "-m", "benchmarks.scan", "make", folder, str(labels)]
    subprocess.run(command, check=True)
    size = sum(path.stat().st_size for path in Path(folder).iterdir())
    found = run("end_to_end", folder, model, sweeps)
    print(f"Parquet {size / 1e6:,.0f} MB, {found['shards']:.0f} shards")
    print("| | processor seconds | ns per label | seconds by the clock | MB at most |")
    print("|---|--:|--:|--:|--:|")
    for name in ("scan", "fit", "write", "people"):
        took, clock, most = found[name], found[f"{name}, clock"], found[f"{name}, MB"]
        print(f"| {name} | {took:.1f} | {1e9 * took / labels:.0f} | {clock:.1f} | {most:,.0f} |")
    print(
        f"(before anything was read {found['before']:,.0f} MB; {found['rounds']:.0f} rounds or"
        " sweeps of each chain)",
        flush=True,
    )


def main(labels: int = LABELS, model: str = "ds", sweeps: int = SWEEPS) -> None:
    with tempfile.TemporaryDirectory() as folder:
        show(folder, labels, model, sweeps)
        ours = run("iterations", folder, model, sweeps)
        for name in ("DawidSkene", "IBCCVB"):
            wall, cpu = ours[name], ours[f"{name} cpu"]
            each = 1e9 * cpu / labels
            print(f"{name}: {wall:.4f} s an iteration, {each:.1f} ns of processor per label")
        if importlib.util.find_spec("crowdkit") is None:
            print("crowd-kit is not installed (pip install crowd-kit): no ratio")
            return
        theirs = run("crowdkit", folder, model, sweeps)
        print(
            f"crowd-kit DawidSkene: {theirs['DawidSkene']:.3f} s an iteration, "
            f"{theirs['peak']:,.0f} MB at most"
        )
        for name in ("DawidSkene", "IBCCVB"):
            wall = theirs["DawidSkene"] / ours[name]
            cpu = theirs["DawidSkene cpu"] / ours[f"{name} cpu"]
            print(f"{name}: {wall:.0f} times crowd-kit by the clock, {cpu:.0f} by the processor")


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        make(Path(sys.argv[2]), int(sys.argv[3]))
    elif sys.argv[1:2] and sys.argv[1] in WORK:
        print(json.dumps(WORK[sys.argv[1]](Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))))
    else:
        main(*(kind(word) for kind, word in zip((int, str, int), sys.argv[1:], strict=False)))
