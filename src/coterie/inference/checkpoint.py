"""A run on disk: where every chain is and what it has kept, replaced atomically.

The file is a container of plain arrays and a JSON header; loading it executes nothing. What it says
is input: one table of a chain's arrays says what each must be.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coterie.data.codes import Array
from coterie.errors import DataError, DataWarning
from coterie.files.atomic import write_file
from coterie.files.container import Content, Format, container_writer, read_container
from coterie.files.paths import to_write
from coterie.inference.chain import EVERY_DRAW, Chain, CollapsedChain
from coterie.kernels.expected import is_counted
from coterie.version import __version__

FORMAT = Format("coterie checkpoint", 3)
SECONDS = 5.0  # least time between two writings
SHARE = 0.05  # largest share of the run's time that writing may take
SLACK = 1e-5  # of sums of probabilities, relative: they are added up one by one, some of 32 bits


class Checkpoint:
    """Where a run is stored, and when it was stored last.

    The identity is what the run is of: the data's checksum and every setting that changes the
    result, by name. A file with another identity is refused.
    """

    def __init__(self, path: str | os.PathLike[str], identity: Mapping[str, Any]) -> None:
        self.path = to_write(path)
        self.identity = {"version": __version__, **identity}
        self._last, self._cost, self._has_failed = time.monotonic(), 0.0, False

    def due(self) -> bool:
        return time.monotonic() - self._last > max(SECONDS, self._cost / SHARE)

    def write(self, chains: Sequence[Chain], entropy: int) -> None:
        """Store the chains, which must be at rest; where the disk is full the run goes on."""
        start = time.monotonic()
        for chain in chains:
            chain.rest()
        streams = {chain: [one.bit_generator.state for one in chain.streams] for chain in chains}
        facts = [
            {"done": c.done, "n_coteries": c.n_coteries, "streams": streams[c]} for c in chains
        ]
        header = {"identity": self.identity, "entropy": str(entropy), "chains": facts}
        arrays = {
            f"{chain.number}/{name}": array
            for chain in chains
            for name, array in arrays_of(chain, chain.used).items()
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
        mine = json.loads(json.dumps(self.identity))
        if changed := [name for name in stored | mine if stored.get(name) != mine.get(name)]:
            raise DataError(
                f"the checkpoint {self.path} is of a run with other {' and '.join(changed)};"
                " choose another path, or delete it to start afresh"
            )
        return found

    def restore(self, stored: Content, chains: Sequence[Chain]) -> int:
        """Bring the chains to where they were; gives the sweeps that the slowest had done."""
        try:
            for chain, facts in zip(chains, stored.header["chains"], strict=True):
                parts = ((name.partition("/"), array) for name, array in stored.arrays.items())
                own = {name: array for (k, _, name), array in parts if k == str(chain.number)}
                restore(chain, facts, own)
        except (LookupError, TypeError, ValueError, ArithmeticError) as error:
            raise self._damaged() from error
        return min(chain.done for chain in chains)

    def _damaged(self) -> DataError:
        return DataError(
            f"{self.path} is not a checkpoint of coterie, or it is damaged; choose another path,"
            " or delete it to start afresh"
        )


def arrays_of(chain: Chain, used: Array) -> dict[str, Array]:
    """Give everything of a chain that is an array, by name: views, as far as they are filled."""
    sweeps, draws, matrices = used.tolist()
    length = {**dict.fromkeys(EVERY_DRAW, draws), "confusion_sum": None}
    kept = {name: array[: length.get(name, matrices)] for name, array in chain.kept.items()}
    return {
        **{f"state/{name}": array for name, array in chain.state.items()},
        "sums": chain.sums,
        "others": chain.others,
        "used": chain.used,
        **{f"trace/{name}": array[:sweeps] for name, array in chain.trace.items()},
        **{f"kept/{name}": array for name, array in kept.items()},
    }


def restore(chain: Chain, facts: Mapping[str, Any], stored: Mapping[str, Array]) -> None:
    """Bring a chain to where it was; raise ValueError or LookupError where it cannot have been."""
    done, n_coteries, plan = facts["done"], facts["n_coteries"], chain.sampler.plan
    require(type(done) is int and 0 <= done <= plan.end, "done")
    require(type(n_coteries) is int and 0 <= n_coteries <= n_seats(chain), "n_coteries")
    sweeps = max(0, done - plan.burn_in)
    draws = sweeps // plan.thin
    used = np.array([sweeps, draws, draws // plan.matrix_thin])
    require(stored["used"].tolist() == used.tolist(), "used")
    own = arrays_of(chain, used)
    require(own.keys() == stored.keys(), "what there is")
    for name, array in own.items():
        found, state = stored[name], name.removeprefix("state/")
        free = state in chain.people.of_coteries  # there may be others
        same = array.shape[1:] == found.shape[1:] if free else array.shape == found.shape
        require(found.dtype == array.dtype and found.ndim == array.ndim and same, name)
        if state in chain.state:
            chain.state[state] = np.array(found)
        else:
            array[...] = found
    chain.done, chain.n_coteries = done, n_coteries
    for stream, state in zip(chain.streams, facts["streams"], strict=True):
        stream.bit_generator.state = state
    check_chain(chain)
    chain.wake()


def check_chain(chain: Chain) -> None:
    """Check every array by one table, then counts, again where classes are known, and people."""
    table, sampler = table_of(chain), chain.sampler
    # Of tempered ones there are two kinds: the first add up.
    n_classes = sampler.data.n_classes if sampler.sizes.tempered else sampler.sizes.n_columns
    for name, array in arrays_of(chain, chain.used).items():
        logs = name.startswith(("state/", "trace/"))  # among them, which may be infinite
        require(~np.isnan(array) if logs else np.isfinite(array), name)
        least, most, total = table.get(name, (-np.inf, np.inf, None))
        require((array >= least) & (array <= most), name)
        if total is not None:
            classes = array[:, :n_classes] if name == "sums" else array
            sums = classes.sum(axis=-1, dtype=np.float64)
            require(np.abs(sums - total) <= max(total, 1) * SLACK, name)
    check_counts(chain)
    with np.errstate(over="ignore"):  # what is too large for a float is refused, not warned of
        chain.people.check(chain.state)


def table_of(chain: Chain) -> dict[str, tuple[float, float, float | None]]:
    """Say what numbers are between, and for probabilities what rows add up to: arrays by name."""
    data, kept, (sweeps, draws, _) = chain.sampler.data, chain.kept, chain.used.tolist()
    whole = [name for name, array in chain.state.items() if array.dtype.kind != "f"]
    shares = {"sums": sweeps, "kept/confusion_sum": draws, "kept/class_balance": 1}
    if getattr(chain.people, "own_matrices", True):  # else matrices are drawn from these shapes
        shares["kept/confusion"] = 1
    return {
        **{f"state/{name}": (-1, 2**62, None) for name in whole},
        "state/truth": (-1, len(chain.people.space.cell_class) - 1, None),
        "state/said": (0, 2**31 - 1, None),
        "state/cell_total": (0, len(data.gold), None),
        "trace/class_total": (0, len(data.gold), None),
        "trace/n_coteries": (0, n_seats(chain), None),
        "kept/partition": (0, kept["partition"].shape[1] - 1 if "partition" in kept else 0, None),
        "kept/vote_agreement": (0, 1, None),
        "kept/confusion": (0, np.inf, None),
        **{name: (0, n + max(n, 1) * SLACK, n) for name, n in shares.items()},
    }


def check_counts(chain: Chain) -> None:
    """Count again where truths are kept; elsewhere compare with how many labels there are."""
    state, data = chain.state, chain.sampler.data
    if isinstance(chain, CollapsedChain):
        truth = state["truth"]
        require((truth >= 0) == is_counted(data), "truth")
        of = chain.people.space.cell_class
        require((of[truth] == data.gold)[data.gold >= 0], "truth of gold items")
        for name, array in chain.count(truth).items():
            require(np.array_equal(array, state[name]), name)
        return
    most, said = np.diff(data.annotator_start), state["said"]
    guesses = int(state["guessed"].sum()) if "guessed" in state else 0
    require(int(said.sum(dtype=np.int64)) + guesses == int(most.sum()), "said")
    if chain.people.rows is None:
        by_person = said.sum(axis=(1, 2), dtype=np.int64)
        require(by_person <= most if "guessed" in state else by_person == most, "said")


def n_seats(chain: Chain) -> int:
    return len(chain.state.get("group", chain.sampler.data.annotator_start[1:]))


def require(condition: Any, name: str) -> None:
    if not np.all(condition):
        raise ValueError(f"{name} is not what a chain can have")
