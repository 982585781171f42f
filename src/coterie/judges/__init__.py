"""A panel of judges, looked at: who copies whom, who is led by the order, whom to keep."""

from coterie.judges.panel import Panel, look_at
from coterie.judges.worth import Worth, effective_number

__all__ = ["Panel", "Worth", "effective_number", "look_at"]
