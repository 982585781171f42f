"""Labels in files larger than memory: streamed, checked, and brought together into shards."""

from coterie.io.scan.scan import scan
from coterie.io.scan.scanned import Scan

__all__ = ["Scan", "scan"]
