"""Labels of a result in shards as files: one part for each shard, written as it is looked at."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from coterie.files.atomic import Writer
from coterie.io.write import table_writer
from coterie.posterior.sheets import label_counts, label_sheet

if TYPE_CHECKING:
    from coterie.posterior.sharded import ShardedPosterior


class Totals:
    """What is summed over the parts while they are written."""

    def __init__(self, posterior: ShardedPosterior) -> None:
        scan = posterior.scan
        self.items = np.zeros(scan.n_classes, np.int64)  # by label
        self.review = 0  # items worth a second look
        self.said = np.zeros((scan.n_annotators, scan.n_classes, scan.n_answers), np.int64)


def part_paths(posterior: ShardedPosterior, folder: Path) -> list[Path]:
    """Name the files of the labels: ``part-00000.parquet`` and so on."""
    return [folder / f"part-{k:05d}.parquet" for k in range(len(posterior.scan))]


def part_writers(
    posterior: ShardedPosterior, folder: Path, totals: Totals | None = None
) -> dict[Path, Writer]:
    """Give what writes the labels of every shard; totals, if given, are summed on the way."""
    return {
        path: partial(_write, posterior, k, totals)
        for k, path in enumerate(part_paths(posterior, folder))
    }


def sum_up(posterior: ShardedPosterior, totals: Totals) -> None:
    """Sum the totals without writing anything."""
    for k in range(len(posterior.scan)):
        _add(posterior, k, totals)


def _add(posterior: ShardedPosterior, k: int, totals: Totals | None) -> pd.DataFrame:
    part = posterior.part(k)
    sheet = label_sheet(part)
    if totals is not None:
        totals.items += np.bincount(part.label_code, minlength=len(totals.items))
        totals.review += int(sheet["review"].sum())
        totals.said += label_counts(part)
    return sheet


def _write(posterior: ShardedPosterior, k: int, totals: Totals | None, path: Path) -> None:
    table_writer(_add(posterior, k, totals), "parquet")(path)
