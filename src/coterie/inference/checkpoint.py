"""A run on disk: where every chain is and what it has kept, replaced atomically.

The file is a zip of plain arrays and a JSON header; loading it executes nothing.
"""

from __future__ import annotations

import json
import os
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile

from coterie.data.annotations import Array
from coterie.errors import DataError
from coterie.inference.chain import Chain
from coterie.inference.kept import filled
from coterie.version import __version__

FORMAT = "coterie checkpoint 1"
SECONDS = 5.0
"""Least time between two writings."""
SHARE = 0.05
"""Largest share of the run's time that writing may take."""


class Checkpoint:
    """Where a run is stored, and when it was stored last.

    Parameters
    ----------
    path
        The file.
    identity
        What the run is of: the data's checksum and every setting that changes the result, by
        name. A file with another identity is refused.
    """

    def __init__(self, path: str | os.PathLike[str], identity: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.identity = {"version": __version__, **identity}
        self._last = time.monotonic()
        self._cost = 0.0

    def due(self) -> bool:
        """Say whether it is time to write again."""
        wait = max(SECONDS, self._cost / SHARE)
        return time.monotonic() - self._last > wait

    def write(self, chains: Sequence[Chain], entropy: int) -> None:
        """Store the chains, which must be at rest: aside first, then in place of the last."""
        start = time.monotonic()
        header = {
            "format": FORMAT,
            "identity": self.identity,
            "entropy": str(entropy),
            "chains": [_describe(chain) for chain in chains],
        }
        arrays = {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}
        for chain in chains:
            arrays |= {f"{chain.number}/{name}": array for name, array in _arrays(chain).items()}
        part = self.path.with_name(f".{self.path.name}.part")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path)
        except OSError as error:
            raise DataError(f"cannot write the checkpoint {self.path}: {error.strerror}") from None
        self._last = time.monotonic()
        self._cost = self._last - start

    def entropy(self) -> int | None:
        """Give the seed of the stored run, None if there is none; refuse a foreign file."""
        if not self.path.exists():
            return None
        with self._open() as file:
            return int(self._header(file)["entropy"])

    def restore(self, chains: Sequence[Chain]) -> int:
        """Bring the chains to where they were; gives the sweeps that the slowest had done."""
        with self._open() as file:
            for chain, facts in zip(chains, self._header(file)["chains"], strict=True):
                _restore(chain, facts, file)
        return min(chain.done for chain in chains)

    @contextmanager
    def _open(self) -> Iterator[NpzFile]:
        """Open the stored arrays; whatever is wrong with them is one sentence."""
        try:
            with self.path.open("rb") as handle:
                file = np.load(handle, allow_pickle=False)
                if not isinstance(file, NpzFile):
                    raise self._damaged()
                with file:
                    yield file
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise error if isinstance(error, DataError) else self._damaged() from None

    def _header(self, file: NpzFile) -> dict[str, Any]:
        header = json.loads(bytes(file["header"]).decode())
        if header["format"] != FORMAT:
            raise self._damaged()
        stored = header["identity"]
        changed = [
            name for name in {**stored, **self.identity}
            if stored.get(name) != json.loads(json.dumps(self.identity.get(name)))
        ]  # fmt: skip
        if changed:
            raise DataError(
                f"the checkpoint {self.path} is of a run with other {' and '.join(changed)};"
                " choose another path, or delete it to start afresh"
            )
        return dict(header)

    def _damaged(self) -> DataError:
        return DataError(
            f"{self.path} is not a checkpoint of coterie, or it is damaged; choose another path"
        )


def _describe(chain: Chain) -> dict[str, Any]:
    states = [stream.bit_generator.state for stream in chain.streams]
    return {"done": chain.done, "n_coteries": chain.n_coteries, "streams": states}


def _arrays(chain: Chain) -> dict[str, Array]:
    """Everything of a chain that is an array, by name."""
    kept = filled(chain.kept)
    return {
        **_prefixed("state", chain.state._asdict()),
        "tally/probability": chain.tally.probability,
        "tally/sweeps": chain.tally.sweeps,
        **_prefixed("trace", kept.trace._asdict()),
        **_prefixed("kept", {n: a for n, a in kept._asdict().items() if n != "trace"}),
    }


def _prefixed(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def _restore(chain: Chain, facts: Mapping[str, Any], file: NpzFile) -> None:
    stored = {name: file[f"{chain.number}/{name}"] for name in _arrays(chain)}
    chain.kept.used[:] = stored["kept/used"]
    for name, array in _arrays(chain).items():  # views of the chain's own arrays, now that long
        if array.shape != stored[name].shape or array.dtype != stored[name].dtype:
            raise ValueError(name)
        array[...] = stored[name]
    chain.done, chain.n_coteries = int(facts["done"]), int(facts["n_coteries"])
    for stream, state in zip(chain.streams, facts["streams"], strict=True):
        stream.bit_generator.state = state
