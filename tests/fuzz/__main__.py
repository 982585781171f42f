"""Run cases of every kind for a while, in processes that may die; print a table of what became.

python -m fuzz --minutes 60 [--kinds inputs,runs] [--first 1000]
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from fuzz.kinds import KINDS, outcome

ROUNDS = 5
"""A batch is so many times what the usual tests run."""
PATIENCE = 600.0
"""Seconds that a batch may take at least: its first cases may have to compile."""
GIGABYTES = 12


def work(kind, first, count):
    """Run cases, and tell of each before and after: whoever listens knows which one kills."""
    import resource

    limit = GIGABYTES << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for number in range(first, first + count):
        print(json.dumps({"begun": number}), flush=True)
        verdict = outcome(kind, number)
        told = {"ended": number, "kind": verdict.kind, "finding": verdict.finding}
        print(json.dumps(told), flush=True)


def batch(kind, first, found, findings, end):
    """Run a batch in a process of its own until the end; give the number to go on from."""
    count = ROUNDS * KINDS[kind].usual
    command = [sys.executable, "-m", "fuzz", "--work", kind, str(first), str(count)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
    )
    begun = ended = first - 1
    watchdog = threading.Timer(PATIENCE + count, process.kill)
    watchdog.start()
    try:
        for line in process.stdout:
            told = json.loads(line)
            if "begun" in told:
                begun = told["begun"]
            else:
                ended = told["ended"]
                found[told["kind"]] += 1
                if told["finding"]:
                    findings.append(f"{kind} {ended}: {told['kind']}: {told['finding']}")
            if time.monotonic() > end and begun == ended:
                break
    finally:
        watchdog.cancel()
        process.kill()
    code = process.wait()
    if begun > ended:
        found["died"] += 1
        findings.append(f"{kind} {begun}: the process ended with {code}")
    return begun + 1


def main():
    """Go round the kinds until the time is over."""
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--work", nargs=3)
    asked = parser.parse_args()
    if asked.work:
        kind, first, count = asked.work
        work(kind, int(first), int(count))
        return 0
    kinds = asked.kinds.split(",")
    found = {kind: collections.Counter() for kind in kinds}
    following = dict.fromkeys(kinds, asked.first)
    findings = []
    end = time.monotonic() + 60 * asked.minutes
    while time.monotonic() < end:
        for kind in kinds:
            if time.monotonic() < end:
                following[kind] = batch(kind, following[kind], found[kind], findings, end)
    print(table(found))
    print("\n".join(findings) or "no findings")
    return 1 if findings else 0


def table(found):
    """What was tried and how often, as Markdown for docs/reliability.md."""
    rows = ["| what was tried | cases | results | refused in a sentence | findings |"]
    rows.append("|---|---:|---:|---:|---:|")
    for kind, counts in found.items():
        cases = counts.total()
        bad = cases - counts["result"] - counts["refused"]
        rows.append(
            f"| {KINDS[kind].promise} | {cases:,} | {counts['result']:,} "
            f"| {counts['refused']:,} | {bad:,} |"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    os.chdir(Path(__file__).parents[2])
    sys.exit(main())
