"""A file -> Table: which format it has, and what is wrong when it cannot be read."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zlib
from collections.abc import Callable, Hashable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from coterie.errors import DataError, MissingExtraError
from coterie.frames import Coded, Table, arrow_table, columns_table
from coterie.frames.table import listed

Opener = Callable[[], BinaryIO]
_GZIP, _PARQUET, _ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"
_HEAD = 65_536
