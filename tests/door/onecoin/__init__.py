"""A model of somebody else's, made through the door: see docs/adding-a-model.md."""

from onecoin.model import OneCoin
from onecoin.prior import OneCoinPrior

__all__ = ["OneCoin", "OneCoinPrior"]
