"""The paper's experiments again, one file a table or figure."""

from coterie.experiments.registry import EXPERIMENTS
from coterie.experiments.run import Reproduction, Watch, reproduce
from coterie.experiments.settings import FULL, QUICK, Settings

__all__ = ["EXPERIMENTS", "FULL", "QUICK", "Reproduction", "Settings", "Watch", "reproduce"]
