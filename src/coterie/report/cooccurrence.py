"""Who is grouped with whom: the co-occurrence matrix as a picture, ordered by coterie."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.posterior import Posterior
from coterie.words.names import name

MOST_PIXELS = 400
"""Annotators of the picture, one per pixel; of more, so many are picked evenly."""

MOST_NAMES = 45
MOST_BLOCKS = 12
LEVELS = 32
"""Steps of colour: the eye sees no more, and the file stays small."""

COLOUR = (38, 113, 196)
"""A blue that stands out from white and from black paper."""

Facts = dict[str, Any]


def cooccurrence_facts(posterior: Posterior, table: pd.DataFrame) -> Facts | None:
    """Describe how often annotators share a coterie; None with fewer than two annotators.

    Parameters
    ----------
    posterior
        Of a model with coteries.
    table
        ``posterior.annotators()``.
    """
    labelled = table[table["coterie"].notna().to_numpy(bool)]
    if len(labelled) < 2:
        return None
    by = labelled.astype({"coterie": int}).sort_values(
        ["coterie", "membership"], ascending=[True, False], kind="stable"
    )
    shown = by.iloc[np.linspace(0, len(by) - 1, min(len(by), MOST_PIXELS)).round().astype(int)]
    together = posterior.cooccurrence(shown["annotator"].tolist()).to_numpy()
    coterie = shown["coterie"].to_numpy()
    starts = np.flatnonzero(np.diff(coterie, prepend=0))
    sizes = np.diff(starts, append=len(coterie))
    return {
        "n": len(shown),
        "left_out": len(labelled) - len(shown),
        "image": picture(together),
        "groups": [
            {"coterie": int(coterie[start]), "start": int(start), "size": int(size)}
            for start, size in zip(starts, sizes, strict=True)
        ],
        "names": [name(l) for l in shown["annotator"]] if len(shown) <= MOST_NAMES else [],
        **blocks(together, starts, sizes, coterie),
    }


def blocks(
    together: NDArray[np.float64],
    starts: NDArray[Any],
    sizes: NDArray[Any],
    coterie: NDArray[Any],
) -> Facts:
    """Average over pairs of different annotators, by their coteries: the picture in numbers."""
    total = np.add.reduceat(np.add.reduceat(together, starts, axis=0), starts, axis=1)
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    total = total - np.diag(np.add.reduceat(np.diag(together), starts))
    mean = np.divide(total, pairs, out=np.full(total.shape, np.nan), where=pairs > 0)
    few = slice(MOST_BLOCKS)
    rows = [[None if np.isnan(x) else float(x) for x in row] for row in mean[few, few]]
    return {"block_names": coterie[starts][few].tolist(), "blocks": rows}


def picture(share: NDArray[np.float64]) -> str:
    """Draw shares between 0 and 1 as a PNG, one pixel each, the higher the less transparent.

    Returns
    -------
    The picture as a data URI.

    Examples
    --------
    >>> picture(np.eye(2))[:26]
    'data:image/png;base64,iVBO'
    """
    height, width = share.shape
    level = np.rint(np.clip(share, 0, 1) * LEVELS).astype(np.uint8)
    rows = np.column_stack([np.zeros(height, np.uint8), level])  # each row starts with its filter
    alpha = bytes(round(255 * k / LEVELS) for k in range(LEVELS + 1))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", bytes(COLOUR) * (LEVELS + 1)),
        (b"tRNS", alpha),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    content = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)
    return "data:image/png;base64," + base64.b64encode(content).decode("ascii")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
