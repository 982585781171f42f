"""A model of somebody else's, made through the door: see docs/adding-a-model.md."""

from door.onecoin.model import OneCoin
from door.onecoin.prior import OneCoinPrior

__all__ = ["OneCoin", "OneCoinPrior"]
