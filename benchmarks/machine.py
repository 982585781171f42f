"""What was measured on what: one line for the head of every benchmark."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("coterie", "numba", "llvmlite", "numpy", "numpyro", "crowd-kit")


def processor() -> str:
    """The processor's name, with what little else the system says of it."""
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return platform.processor() or platform.machine()
    pairs = (line.partition(":") for line in path.read_text().splitlines())
    facts = {key.strip(): value.strip() for key, _, value in pairs}
    family, model = facts.get("cpu family"), facts.get("model")
    return f"{facts.get('model name')} (family {family}, model {model})"


def caches() -> list[str]:
    """The caches of a core, as the system names them."""
    found = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = (
            (folder / name).read_text().strip() for name in ("type", "level", "size")
        )
        if kind != "Instruction":
            found.append(f"L{level} {size}")
    return found


def packages() -> list[str]:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def compiler() -> list[str]:
    if shutil.which("gcc") is None:
        return []
    done = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True)
    return [f"gcc {done.stdout.strip()}"]


def describe() -> str:
    """Processor, cores, caches, load, versions."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    hardware = [processor(), f"{os.cpu_count()} cores", *caches(), f"load {load:.1f}"]
    software = [f"Python {platform.python_version()}", *packages(), *compiler()]
    return f"{', '.join(hardware)}; {', '.join(software)}"
