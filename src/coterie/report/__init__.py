"""The report people pass around: one self-contained page about a Posterior."""

from coterie.report.facts import gather
from coterie.report.page import render, write

__all__ = ["gather", "render", "write"]
