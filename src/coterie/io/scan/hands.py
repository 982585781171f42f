"""Who makes the pass over the files: this process alone, or the workers of a cluster.

Workers read one file each at a time and deal its rows into a pile, with numbers of their own for
annotators and labels. This process puts what they saw together, in the order of the files, which
gives everybody and every label the number that one pass over all files would have given. Workers
then make shards, each of its pieces of all piles, in order. So the shards are the same. Piles and
shards lie in a folder that all see; whoever does a task again, for another who died, writes files
of new names, and only those that were told of are taken.
"""

from __future__ import annotations

import pickle
import shutil
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError
from coterie.files.paths import naming
from coterie.io.scan.blocks import Reader, reader_of
from coterie.io.scan.deal import Dealt, deal, deal_file, nothing_dealt
from coterie.io.scan.shard_files import shard_path
from coterie.io.scan.shards import Wanted, Written, write_shard
from coterie.io.scan.sources import Found
from coterie.io.scan.spill import Piece, Pile, Spill, pieces_at

IntArray = NDArray[np.int32]


@runtime_checkable
class Workers(Protocol):
    """An engine whose workers take any work: whoever dies, another does it again."""

    def map(self, work: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Call ``work`` with each of these arguments; give what it returns, in their order."""

    def close(self) -> None:
        """Let the workers go."""


class Alone:
    """One process makes the pass: this one."""

    def __init__(self, folder: Path, n_parts: int) -> None:
        self.folder = folder
        self.spill = Spill(folder / "spill", n_parts)

    def deal(
        self, found: Sequence[Found], readers: Sequence[Reader], names: Sequence[Hashable]
    ) -> Dealt:
        """Read all files, and deal their rows to parts."""
        return deal(readers, names, self.spill)

    def shards(self, wanted: Wanted) -> Iterator[Written]:
        """Make the shards."""
        for k in range(self.spill.n_parts):
            pieces = list(self.spill.pieces(k))
            self.spill.remove(k)
            yield write_shard(pieces, wanted, shard_path(self.folder, k))


class Seen(NamedTuple):
    """What a worker says of a file whose rows it has dealt."""

    path: Path
    start: list[list[int]]  # of each part: where its pieces begin
    dealt: Dealt  # its blocks without their reader
    before: list[int]  # rows of the file before each block


class Dealer(NamedTuple):
    """A pile, and what its numbers are among those of all files."""

    path: Path
    start: list[list[int]]
    before: int  # blocks of the files before
    numbers: list[IntArray]  # of annotators, answers, and known labels if there are any

    def pieces(self, part: int) -> Iterator[Piece]:
        """Give the pieces of a part, numbered as all files are."""
        for piece in pieces_at(self.path, self.start[part]):
            rows = piece.rows
            columns = zip(("annotator", "answer", "gold"), self.numbers, strict=False)
            own = {name: number[getattr(rows, name)] for name, number in columns}
            yield piece._replace(rows=rows._replace(block=rows.block + self.before, **own))


class Together:
    """The workers of a cluster make the pass."""

    def __init__(self, folder: Path, n_parts: int, workers: Workers) -> None:
        self.folder, self.n_parts, self.workers = folder, n_parts, workers
        self.spill = folder / "spill"
        self.dealers: list[Dealer] = []
        with naming(self.spill):
            self.spill.mkdir()

    def deal(
        self, found: Sequence[Found], readers: Sequence[Reader], names: Sequence[Hashable]
    ) -> Dealt:
        """Have all files read, and their rows dealt to parts."""
        dealt = nothing_dealt(names)
        calls = ((one, names, self.spill, self.n_parts) for one in found)
        for reader, seen in zip(readers, self.workers.map(deal_one, calls), strict=True):
            before = len(dealt.blocks)
            columns = zip(dealt.columns(), seen.dealt.columns(), strict=True)
            numbers = [mine.merge(own, before) for mine, own in columns]
            dealt.forms |= seen.dealt.forms
            dealt.blocks += [(reader, rows) for rows in seen.before]
            self.dealers.append(Dealer(seen.path, seen.start, before, numbers))
        return dealt

    def shards(self, wanted: Wanted) -> Iterator[Written]:
        """Have the shards made."""
        plan = self.spill / "plan"
        with naming(plan):
            plan.write_bytes(pickle.dumps((self.dealers, wanted)))
        calls = ((plan, k) for k in range(self.n_parts))
        for k, (path, written) in enumerate(self.workers.map(shard_one, calls)):
            with naming(path):
                path.rename(shard_path(self.folder, k))
            yield written

    def close(self) -> None:
        """Let nobody write any more: workers who are still at it find their folder gone."""
        away = self.folder / f"{self.spill.name}-{uuid.uuid4().hex}"
        if self.spill.exists():
            self.spill.rename(away)
        shutil.rmtree(away, ignore_errors=True)


def deal_one(found: Found, names: Sequence[Hashable], folder: Path, n_parts: int) -> Seen:
    """Deal the rows of one file into a pile: what a worker does."""
    if not folder.exists():
        raise DataError(
            f"a worker does not see {folder}, where shards are to lie: pass a folder that this"
            " process and all workers see, or scan without the cluster"
        )
    dealt, pile = nothing_dealt(names), Pile(folder, n_parts)
    deal_file(dealt, reader_of(found), pile)
    before = [rows for _, rows in dealt.blocks]
    dealt.blocks.clear()
    return Seen(pile.file, pile.start, dealt, before)


def shard_one(plan: Path, k: int) -> tuple[Path, Written]:
    """Make one shard of all piles: what a worker does."""
    with naming(plan, "read"):
        dealers, wanted = pickle.loads(plan.read_bytes())
    path = plan.with_name(f"{uuid.uuid4().hex}.shard")
    pieces = [piece for dealer in dealers for piece in dealer.pieces(k)]
    return path, write_shard(pieces, wanted, path)
