"""A panel of judges, looked at: who copies whom, who is led by the order, whom to keep."""

from coterie.judges.bias import Worth, effective_number
from coterie.judges.panel import Panel, look_at

__all__ = ["Panel", "Worth", "effective_number", "look_at"]
