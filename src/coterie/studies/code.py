"""Which code made a result: the version, and a checksum of the files that compute.

The checksum covers everything that can change a number, by its bytes: the sampler, the data
sets, the simulation, the scores, the jobs. Pages, pictures and the command line are left out, so
that they can be improved after a long run. It needs no version control, works for an installed
package, and is the same wherever the package lies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from coterie.version import __version__

COMPUTES = (
    "data",
    "datasets",
    "diagnostics.py",
    "inference",
    "kernels",
    "metrics",
    "models",
    "numeric",
    "partition",
    "posterior",
    "priors",
    "roles",
    "simulation",
    "studies/job.py",
)
"""What every study computes with."""


def checksum(more: Sequence[str | Path] = (), root: Path | None = None) -> str:
    """Give the first 12 hexadecimal digits of the sha256 of the files that compute.

    Parameters
    ----------
    more
        Files and folders of a study of its own, there or elsewhere.
    root
        The folder of the package; by default this one's.

    Examples
    --------
    >>> len(checksum())
    12
    """
    root = Path(str(files("coterie"))) if root is None else root
    digest = hashlib.sha256()
    named = {
        (path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name): path
        for path in _sources(root, more)
    }
    for name, path in sorted(named.items()):
        # Line ends are not the code's: a checkout on Windows has others.
        content = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:12]


def _sources(root: Path, more: Sequence[str | Path]) -> list[Path]:
    found: list[Path] = []
    for name in (*COMPUTES, *more):
        path = root / name
        found += path.rglob("*.py") if path.is_dir() else [path]
    return found


def this_code(more: Sequence[str | Path] = ()) -> dict[str, str]:
    """Give the version and the checksum."""
    return {"version": __version__, "code": checksum(more)}
