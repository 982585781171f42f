"""What the probabilities are worth where nobody has held them against a truth."""

from __future__ import annotations

from typing import Any

import coterie
from coterie.posterior import Posterior

UNCHECKED = "No truth was given, so nobody has checked these probabilities on this crowd."
CALIBRATED = (
    "They are calibrated on other crowds, where they held on average (docs, models); but mistakes "
    "that all annotators share look certain on any crowd."
)
TOO_SURE = (
    "They are the model's own, and on other crowds such probabilities claimed more than was right "
    "(docs, league)."
)
FOREIGN = "They are the model's own."
REMEDY = "Known labels of some items (--gold) would tell."


def worth_of(posterior: Posterior, facts: dict[str, Any]) -> str | None:
    """Say what the probabilities are worth; None where a truth or gold says it, or there are none.

    Parameters
    ----------
    posterior
        The result.
    facts
        What the page says already: caveat and truth.
    """
    nothing = facts["caveat"] is not None and facts["caveat"].nothing
    checked = facts["truth"] is not None or "gold_check" in posterior.run
    if nothing or checked or not posterior.abilities.probabilities:
        return None
    if posterior.abilities.share_right:
        how = CALIBRATED
    else:
        how = TOO_SURE if posterior.model in coterie.__all__ else FOREIGN
    return f"{UNCHECKED} {how} {REMEDY}"
