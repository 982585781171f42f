"""The report people pass around: one self-contained page about a Posterior."""

from coterie.report.facts import Shown, gather
from coterie.report.page import render, write

__all__ = ["Shown", "gather", "render", "write"]
