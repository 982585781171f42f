"""Files in and out."""

from coterie.io.read import read, read_truth

__all__ = ["read", "read_truth"]
