"""What to do next: whom to ask, about what, whom to pay, when to stop."""

from coterie.assign.actions import actions
from coterie.assign.contributions import contributions
from coterie.assign.forecast import Forecast, forecast
from coterie.assign.stop import Stop, stop
from coterie.assign.tasks import next_labels

__all__ = ["Forecast", "Stop", "actions", "contributions", "forecast", "next_labels", "stop"]
