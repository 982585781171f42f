"""Colours that people with any colour vision, and black-and-white print, can tell apart."""

from __future__ import annotations

from typing import NamedTuple


class Look(NamedTuple):
    """How the points of one group look."""

    color: str
    marker: str


SHADES = "Blues"
"""One hue from light to dark, for shares between 0 and 1."""
DARK = "#333333"
"""Lines and points that need no colour."""
PLAIN = Look("#0072B2", "o")
"""Points of a model that finds no groups."""
REST = Look("#999999", "o")
"""Groups beyond those that have a look of their own."""

LOOKS = (
    Look("#0072B2", "o"),
    Look("#D55E00", "s"),
    Look("#009E73", "^"),
    Look("#CC79A7", "D"),
    Look("#E69F00", "v"),
    Look("#56B4E9", "P"),
    Look("#000000", "X"),
)
"""The palette of Okabe and Ito without yellow, which white paper swallows; each with a shape."""


def look_of(coterie: int) -> Look:
    """Give the look of a coterie, counted from one; REST from the eighth on.

    Examples
    --------
    >>> look_of(2)
    Look(color='#D55E00', marker='s')
    >>> look_of(8) == REST
    True
    """
    return LOOKS[coterie - 1] if coterie <= len(LOOKS) else REST
