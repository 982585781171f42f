"""Synthetic crowds whose truth and groups are known."""

from coterie.simulation.build import simulate
from coterie.simulation.crowd import Crowd
from coterie.simulation.groups import Group

__all__ = ["Crowd", "Group", "simulate"]
