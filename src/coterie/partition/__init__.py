"""One partition that stands for many draws, and how well it does."""

from coterie.partition.measure import expected_loss, membership
from coterie.partition.point import PointPartition, point_partition

__all__ = ["PointPartition", "expected_loss", "membership", "point_partition"]
