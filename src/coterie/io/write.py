"""Results to files: written aside, then renamed, so that nothing is ever half-written."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from coterie.errors import DataError, MissingExtraError
from coterie.posterior import Posterior

FORMATS = ("csv", "parquet", "json")


def targets(out: Path, format: str) -> dict[str, Path]:
    """Name the files that a run writes, by what they hold."""
    if format not in FORMATS:
        raise DataError(f"no format {format!r}; choose one of {', '.join(FORMATS)}")
    tables = {name: out / f"{name}.{format}" for name in ("labels", "annotators")}
    return {**tables, "run": out / "run.json"}


def check_target(out: Path, format: str, *, force: bool) -> None:
    """Refuse, before any work is done, to write where earlier results lie."""
    if out.exists() and not out.is_dir():
        raise DataError(f"{out} is a file, not a folder; choose another --out")
    if format == "parquet":
        _need_pyarrow()
    there = [path.name for path in targets(out, format).values() if path.exists()]
    if there and not force:
        raise DataError(
            f"{out} already holds {', '.join(there)}; choose another --out, or pass --force"
        )


def write_results(
    posterior: Posterior, out: Path, record: Mapping[str, Any], *, format: str = "csv"
) -> list[Path]:
    """Write the tables of a result and the record of the run into a folder.

    Every file is written aside first; only when all are complete do they take their names.
    """
    paths = targets(out, format)
    text = json.dumps(record, indent=2, ensure_ascii=False, default=_plain) + "\n"
    writers: dict[str, Callable[[Path], object]] = {
        "labels": lambda path: _write_table(posterior.labels(), path, format),
        "annotators": lambda path: _write_table(posterior.annotators(), path, format),
        "run": lambda path: path.write_text(text, "utf-8"),
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_together({paths[name]: write for name, write in writers.items()})
    except OSError as error:
        raise DataError(f"cannot write to {out}: {error.strerror or error}") from None
    return list(paths.values())


def write_together(writers: Mapping[Path, Callable[[Path], object]]) -> None:
    """Write several files aside, then give them their names; on failure leave nothing."""
    aside = {path: path.with_name(f".{path.name}.{os.getpid()}.part") for path in writers}
    try:
        for path, write in writers.items():
            write(aside[path])
        for path, part in aside.items():
            part.replace(path)
    finally:
        for part in aside.values():
            part.unlink(missing_ok=True)


def sha256_of(source: Path | BytesIO) -> str:
    """Checksum of a file or of bytes in memory."""
    if isinstance(source, BytesIO):
        return hashlib.sha256(source.getvalue()).hexdigest()
    with source.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_table(table: pd.DataFrame, path: Path, format: str) -> None:
    if format == "csv":
        table.to_csv(path, index=False)
    elif format == "parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_json(path, orient="records", indent=1, force_ascii=False, date_format="iso")


def _need_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("writing Parquet", "pyarrow", "parquet") from None


def _plain(value: Any) -> Any:
    """Give what JSON knows for what it does not: numpy numbers and arrays, dates, priors."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return str(value)
