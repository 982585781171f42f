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

from coterie.data.annotations import Array
from coterie.errors import DataError, DataWarning
from coterie.files.atomic import write_file
from coterie.files.container import Content, Format, container_writer, read_container
from coterie.files.paths import to_write
from coterie.inference.chain import Chain, CollapsedChain, count_truth, is_counted
from coterie.inference.plan import Plan
from coterie.version import __version__

FORMAT = Format("coterie checkpoint", 3)
SECONDS = 5.0
"""Least time between two writings."""
SHARE = 0.05
"""Largest share of the run's time that writing may take."""
SLACK = 1e-5
"""Of sums of probabilities, relative: they are added up one by one, and some have 32 bits."""


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
            "chains": [describe(chain) for chain in chains],
        }
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
                prefix = f"{chain.number}/"
                own = {
                    name.removeprefix(prefix): array
                    for name, array in stored.arrays.items()
                    if name.startswith(prefix)
                }
                restore(chain, facts, own)
        except (LookupError, TypeError, ValueError, ArithmeticError) as error:
            raise self._damaged() from error
        return min(chain.done for chain in chains)

    def _damaged(self) -> DataError:
        return DataError(
            f"{self.path} is not a checkpoint of coterie, or it is damaged; choose another path,"
            " or delete it to start afresh"
        )


def describe(chain: Chain) -> dict[str, Any]:
    """Give what is no array of a chain."""
    states = [stream.bit_generator.state for stream in chain.streams]
    return {"done": chain.done, "n_coteries": chain.n_coteries, "streams": states}


def arrays_of(chain: Chain, used: Array) -> dict[str, Array]:
    """Give everything of a chain that is an array, by name: views, as far as they are filled."""
    sweeps, draws, matrices = used.tolist()
    length = {"confusion_sum": None, "vote_agreement": draws, "partition": draws}
    return {
        **{f"state/{name}": array for name, array in chain.state.items()},
        "sums": chain.sums,
        "others": chain.others,
        "used": chain.used,
        **{f"trace/{name}": array[:sweeps] for name, array in chain.trace.items()},
        **{
            f"kept/{name}": array[: length.get(name, matrices)]
            for name, array in chain.kept.items()
        },
    }


def restore(chain: Chain, facts: Mapping[str, Any], stored: Mapping[str, Array]) -> None:
    """Bring a chain to where it was; raise ValueError or LookupError where it cannot have been."""
    used = check_progress(facts, stored["used"], chain)
    own = arrays_of(chain, used)
    if own.keys() != stored.keys():
        raise ValueError(f"arrays {sorted(own.keys() ^ stored.keys())}")
    for name, array in own.items():
        found = stored[name]
        free = name.removeprefix("state/") in chain.people.of_coteries  # there may be others
        same = array.shape[1:] == found.shape[1:] if free else array.shape == found.shape
        if found.dtype != array.dtype or array.ndim != found.ndim or not same:
            raise ValueError(f"{name} is {found.dtype} of shape {found.shape}")
        if name.startswith("state/"):
            chain.state[name.removeprefix("state/")] = np.array(found)
        else:
            array[...] = found
    chain.done, chain.n_coteries = int(facts["done"]), int(facts["n_coteries"])
    for stream, state in zip(chain.streams, facts["streams"], strict=True):
        stream.bit_generator.state = state
    check_state(chain)
    check_kept(chain)
    chain.wake()


def check_progress(facts: Mapping[str, Any], used: Array, chain: Chain) -> Array:
    """Check how far a chain is, and that it has kept as much as it must have by then."""
    done, n_coteries, plan = facts["done"], facts["n_coteries"], chain.sampler.plan
    if type(done) is not int or not 0 <= done <= plan.end:
        raise ValueError(f"done {done!r}")
    if type(n_coteries) is not int or not 0 <= n_coteries <= n_seats(chain):
        raise ValueError(f"n_coteries {n_coteries!r}")
    if used.dtype != np.int64 or used.tolist() != expected_use(plan, done):
        raise ValueError(f"kept {used.tolist()} of {done} sweeps")
    return used


def expected_use(plan: Plan, done: int) -> list[int]:
    """Give sweeps, draws and matrices that are kept after so many sweeps."""
    sweeps = max(0, done - plan.burn_in)
    draws = sweeps // plan.thin
    return [sweeps, draws, draws // plan.matrix_thin]


def n_seats(chain: Chain) -> int:
    """Give how many may sit in coteries: annotators, or one per kind."""
    return len(chain.state.get("group", chain.sampler.data.annotator_start[1:]))


def check_state(chain: Chain) -> None:
    """Check where a chain is: counts against the labels, again where classes are known."""
    state, sampler = chain.state, chain.sampler
    data = sampler.data
    for name, array in state.items():
        require(not np.isnan(array).any(), name)
        require(array.dtype.kind == "f" or within(array, -1, 2**62), name)
    if isinstance(chain, CollapsedChain):
        truth, counted = state["truth"], is_counted(data)
        require(within(truth, -1, data.n_classes) and ((truth >= 0) == counted).all(), "truth")
        require((truth[data.gold >= 0] == data.gold[data.gold >= 0]).all(), "truth of gold items")
        for name, array in count_truth(truth, data).items():
            require(np.array_equal(array, state[name]), name)
    else:
        guessed = state.get("guessed", np.zeros(data.n_answers, np.int64))
        require(within(state["cell_total"], 0, len(data.gold) + 1), "cell_total")
        require(within(state["said"], 0, 2**31), "said")
        n_labels = int(np.diff(data.annotator_start).sum())
        require(int(state["said"].sum(dtype=np.int64)) + int(guessed.sum()) == n_labels, "said")
        if sampler.rows is None:
            said = state["said"].sum(axis=(1, 2), dtype=np.int64)
            most = np.diff(data.annotator_start)
            exact = "guessed" not in state
            require((said == most).all() if exact else (said <= most).all(), "said")
    chain.people.check(state)


def check_kept(chain: Chain) -> None:
    """Check what a chain has kept of its sweeps and draws."""
    (sweeps, draws, matrices), kept, trace = chain.used.tolist(), chain.kept, chain.trace
    seats, n_items = n_seats(chain), len(chain.sampler.data.gold)
    sums = chain.sums[:, : chain.sampler.data.n_classes] if chain.sampler.tempered else chain.sums
    require(sums_to(sums, sweeps), "probability")
    require(np.isfinite(chain.sums).all() and np.isfinite(chain.others).all(), "sums")
    for name, array in trace.items():
        require(not np.isnan(array[:sweeps]).any(), f"trace of {name}")
    require(within(trace["class_total"][:sweeps], 0, n_items + 1), "trace of class_total")
    if "partition" in kept:
        require(within(trace["n_coteries"][:sweeps], 0, seats + 1), "trace of n_coteries")
        most = max(kept["partition"].shape[1], 1)
        require(within(kept["partition"][:draws], 0, most), "partition")
    agreement = kept["vote_agreement"][:draws]
    require(((agreement >= 0) & (agreement <= 1)).all(), "vote_agreement")
    require(sums_to(kept["class_balance"][:matrices], 1), "class_balance")
    confusion = kept["confusion"][:matrices]
    shapes = not getattr(chain.people, "own_matrices", True)  # matrices are drawn from them
    fine = np.isfinite(confusion) & (confusion >= 0) if shapes else sums_to(confusion, 1)
    require(np.all(fine), "confusion")
    require(sums_to(kept["confusion_sum"], draws), "confusion_sum")
    for name in chain.people.dims:
        require(np.isfinite(kept[name][:matrices]).all(), name)


def within(codes: Array, least: int, end: int) -> bool:
    """Say whether all are in a range."""
    return bool(((codes >= least) & (codes < end)).all())


def sums_to(numbers: Array, total: float) -> bool:
    """Say whether these are probabilities, as many times as ``total`` added up."""
    slack = max(total, 1) * SLACK
    if not ((numbers >= 0) & (numbers <= total + slack)).all():  # false also for what is no number
        return False
    return bool((np.abs(numbers.sum(axis=-1, dtype=np.float64) - total) <= slack).all())


def require(condition: Any, name: str) -> None:
    """Raise ValueError unless the condition holds."""
    if not np.all(condition):
        raise ValueError(f"{name} is not what a chain can have")
