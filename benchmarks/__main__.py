"""Run every benchmark, each in a process of its own: memory left by one is not another's."""

from __future__ import annotations

import argparse
import pkgutil
import subprocess
import sys

import benchmarks


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--labels", type=int, default=10_000_000, help="size (default: 10 million)")
    labels = str(parser.parse_args().labels)
    modules = pkgutil.iter_modules(benchmarks.__path__)
    names = sorted(module.name for module in modules if not module.ispkg)
    failed = []
    for name in names:
        if name == "__main__":
            continue
        command = [sys.executable, "-m", f"benchmarks.{name}", labels]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
        print(flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
