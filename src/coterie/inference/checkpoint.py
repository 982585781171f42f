"""A run on disk: where every chain is and what it has kept, replaced atomically.

The file is a container of plain arrays and a JSON header; loading it executes nothing.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coterie.data.annotations import Array
from coterie.errors import DataError, DataWarning
from coterie.files.atomic import write_file
from coterie.files.container import Content, Format, container_writer, read_container
from coterie.files.paths import to_write
from coterie.inference.chain import Chain
from coterie.inference.chain_draws import filled_draws
from coterie.inference.checkpoint_checks import check_progress, check_values
from coterie.version import __version__

FORMAT = Format("coterie checkpoint", 2)
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
        self.path = to_write(path)
        self.identity = {"version": __version__, **identity}
        self._last = time.monotonic()
        self._cost = 0.0
        self._has_failed = False

    def due(self) -> bool:
        """Say whether it is time to write again."""
        wait = max(SECONDS, self._cost / SHARE)
        return time.monotonic() - self._last > wait

    def write(self, chains: Sequence[Chain], entropy: int) -> None:
        """Store the chains, which must be at rest, in place of what was stored last.

        Where that fails, on a full disk, the run goes on: a warning says so once.
        """
        start = time.monotonic()
        for chain in chains:
            chain.rest()
        header = {
            "identity": self.identity,
            "entropy": str(entropy),
            "chains": [_describe(chain) for chain in chains],
        }
        arrays = {
            f"{chain.number}/{name}": array
            for chain in chains
            for name, array in _arrays(chain).items()
        }
        try:
            write_file(self.path, container_writer(FORMAT, header, arrays))
        except DataError as error:
            if not self._has_failed:
                self._has_failed = True
                warnings.warn(f"{error}; the run goes on without it", DataWarning, stacklevel=2)
        self._last = time.monotonic()
        self._cost = self._last - start

    def read(self) -> Content | None:
        """Give the stored run, None if there is none; refuse a damaged or foreign file."""
        if not self.path.exists():
            return None
        try:
            found = read_container(self.path, FORMAT)
            stored = dict(found.header["identity"])
            np.random.SeedSequence(int(found.header["entropy"]))
        except (DataError, LookupError, TypeError, ValueError, ArithmeticError) as error:
            raise self._damaged() from error
        changed = [
            name for name in {**stored, **self.identity}
            if stored.get(name) != json.loads(json.dumps(self.identity.get(name)))
        ]  # fmt: skip
        if changed:
            raise DataError(
                f"the checkpoint {self.path} is of a run with other {' and '.join(changed)};"
                " choose another path, or delete it to start afresh"
            )
        return found

    def restore(self, stored: Content, chains: Sequence[Chain]) -> int:
        """Bring the chains to where they were; gives the sweeps that the slowest had done."""
        try:
            for chain, facts in zip(chains, stored.header["chains"], strict=True):
                _restore(chain, facts, stored.arrays)
        except (LookupError, TypeError, ValueError, ArithmeticError) as error:
            raise self._damaged() from error
        return min(chain.done for chain in chains)

    def _damaged(self) -> DataError:
        return DataError(
            f"{self.path} is not a checkpoint of coterie, or it is damaged; choose another path,"
            " or delete it to start afresh"
        )


def _describe(chain: Chain) -> dict[str, Any]:
    states = [stream.bit_generator.state for stream in chain.streams]
    return {"done": chain.done, "n_coteries": chain.n_coteries, "streams": states}


def _arrays(chain: Chain) -> dict[str, Array]:
    """Everything of a chain that is an array, by name."""
    kept = filled_draws(chain.kept)
    return {
        **_prefixed("state", chain.state._asdict()),
        "tally/probability": chain.tally.probability,
        "tally/sweeps": chain.tally.sweeps,
        "tally/per_item": chain.tally.per_item,
        **_prefixed("trace", kept.trace._asdict()),
        **_prefixed("kept", {n: a for n, a in kept._asdict().items() if n != "trace"}),
    }


def _prefixed(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def _restore(chain: Chain, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    stored = {name: arrays[f"{chain.number}/{name}"] for name in _arrays(chain)}
    if stored["kept/used"].shape != chain.kept.used.shape:
        raise ValueError("used")
    check_progress(facts, stored["kept/used"], chain.sampler.plan, chain.n_seats)
    chain.kept.used[:] = stored["kept/used"]
    for name, array in _arrays(chain).items():  # views of the chain's own arrays, now that long
        if array.shape != stored[name].shape or array.dtype != stored[name].dtype:
            raise ValueError(name)
        array[...] = stored[name]
    chain.done, chain.n_coteries = int(facts["done"]), int(facts["n_coteries"])
    for stream, state in zip(chain.streams, facts["streams"], strict=True):
        stream.bit_generator.state = state
    check_values(chain)
    chain.wake()
