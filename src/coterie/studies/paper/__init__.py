"""The paper's experiments again, one file per table or figure."""

from coterie.studies.paper.registry import EXPERIMENTS
from coterie.studies.paper.run import Reproduction, Watch, reproduce
from coterie.studies.paper.settings import FULL, QUICK, Settings

__all__ = ["EXPERIMENTS", "FULL", "QUICK", "Reproduction", "Settings", "Watch", "reproduce"]
