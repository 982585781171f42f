"""Which data sets are there: one file, or the sub-folders of a folder."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from coterie.errors import DataError

LABELS, TRUTH = "labels.csv", "truth.csv"


@dataclass(frozen=True)
class Source:
    """A data set on disk: the labels, and the truth that only scores.

    Parameters
    ----------
    name
        What the tables call it.
    labels
        The file of the labels.
    truth
        The file of the true labels, or None.
    """

    name: str
    labels: Path
    truth: Path | None


class Found(NamedTuple):
    """The data sets of a path, and the sub-folders that hold none."""

    sources: list[Source]
    passed_over: list[str]


def find_sources(path: Path, truth: Path | None = None, only: Sequence[str] | None = None) -> Found:
    """Find the data sets of a path, in the order of their names.

    Parameters
    ----------
    path
        A file of labels; or a folder with ``labels.csv`` and perhaps ``truth.csv``; or a folder of
        such folders.
    truth
        The true labels of the one file.
    only
        The names of the data sets wanted; by default all.

    Examples
    --------
    >>> find_sources(Path("nowhere.csv"))
    Traceback (most recent call last):
    coterie.errors.DataError: there is no file or folder nowhere.csv; check the path
    """
    if not path.exists():
        raise DataError(f"there is no file or folder {path}; check the path")
    if not path.is_dir():
        return Found(_wanted([_one_file(path, truth)], only), [])
    if truth is not None:
        raise DataError(
            f"{path} is a folder, whose data sets bring their own {TRUTH}; "
            "give --truth with one file of labels"
        )
    if (path / LABELS).is_file():
        return Found(_wanted([_folder(path, path.resolve().name)], only), [])
    folders = sorted(folder for folder in path.iterdir() if folder.is_dir())
    sources = [_folder(folder, folder.name) for folder in folders if (folder / LABELS).is_file()]
    if not sources:
        raise DataError(f"{path} holds no data set; expected {LABELS} in it or in its sub-folders")
    others = [folder.name for folder in folders if not (folder / LABELS).is_file()]
    return Found(_wanted(sources, only), others)


def _one_file(path: Path, truth: Path | None) -> Source:
    if truth is None:
        raise DataError(f"{path} has nothing to be scored against; pass the true labels: --truth")
    if not truth.is_file():
        raise DataError(f"there is no file {truth}; check --truth")
    return Source(_printable(path.name.split(".")[0] or path.name), path, truth)


def _folder(folder: Path, name: str) -> Source:
    truth = folder / TRUTH
    return Source(_printable(name), folder / LABELS, truth if truth.is_file() else None)


def _printable(name: str) -> str:
    """Names on disk need not be text."""
    return os.fsencode(name).decode("utf-8", "replace")


def _wanted(sources: list[Source], only: Sequence[str] | None) -> list[Source]:
    if only is None:
        return sources
    names = [source.name for source in sources]
    for name in only:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=3) or names
            more = ", ..." if len(near) < len(names) else ""
            raise DataError(f"no data set {name!r}; there are {', '.join(near)}{more}")
    return [source for source in sources if source.name in set(only)]
