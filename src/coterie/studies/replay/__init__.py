"""Replay: the real labels of dense data sets revealed as a policy asks for them."""

from coterie.studies.replay.policies import POLICIES
from coterie.studies.replay.replay import Point, Settings, replay
from coterie.studies.replay.study import Given, Standing, run_study, standings

__all__ = [
    "POLICIES",
    "Given",
    "Point",
    "Settings",
    "Standing",
    "replay",
    "run_study",
    "standings",
]
