"""Run the benchmarks, each in a process of its own: memory left by one is not another's."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.samplers.report import TABLES, fill, markdown

PARTS = (
    "build_annotations",
    "dawid_skene",
    "save_load",
    "consensus",
    "samplers.truth",
    "samplers.sweeps",
    "samplers.scale",
    "samplers.fit",
    "samplers.coteries",
    "samplers.jags",
    "samplers.nuts",
    "samplers.compilation",
    "samplers.end_to_end",
)
ON_REQUEST = (
    "scan",
    "driver",
    "default",
    "people",
    "mix",
    "thinned",
    "predictions",
    "sisters",
    "two_classes",
    "communities",
    "cells",
    "scale",
    "decisions",
)
"""Of what is found, or of what few need: only if named."""


def chosen(names: list[str]) -> list[str]:
    """The parts of these names; "samplers" is all of its own."""
    parts = [part for part in PARTS if not names or part in names or part.split(".")[0] in names]
    every = PARTS + ON_REQUEST
    unknown = {name for name in names if not any(part.startswith(name) for part in every)}
    if unknown:
        sys.exit(f"no such part: {', '.join(unknown)}; there are: {', '.join(every)}")
    return parts + [part for part in ON_REQUEST if part in names]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"which: {', '.join(PARTS + ON_REQUEST)}")
    parser.add_argument("--labels", type=int, default=10_000_000, help="size (default: 10 million)")
    parser.add_argument("--write", type=Path, help="a Markdown page whose tables to fill")
    options = parser.parse_args()
    machine = describe()  # now: later its load is ours
    print(machine, flush=True)
    failed, tables = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for part in chosen(options.parts):
            left = Path(folder, part)
            command = [sys.executable, "-m", f"benchmarks.{part}", str(options.labels)]
            if subprocess.run(command, env={**os.environ, TABLES: str(left)}).returncode:
                failed.append(part)
            elif left.exists():
                tables[part.split(".")[-1]] = markdown(json.loads(left.read_text()))
            print(flush=True)
    if options.write:
        fill(options.write, machine, tables)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
