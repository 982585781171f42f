"""Labels in files larger than memory: streamed, checked, and brought together into shards."""

from coterie.io.scan.scanned import Scan
from coterie.io.scan.scanning import scan

__all__ = ["Scan", "scan"]
