"""What a chain of Consensus takes over from where an earlier one ended, beside classes and groups.

That is alpha, w, and of each coterie d, beta and eta; the kinds of the items, and where each label
came from. New items are plain, and new labels from their annotators' matrices, as at any start.
"""

from __future__ import annotations

import numpy as np

from coterie.data.codes import Codes
from coterie.kernels.gibbs.consensus.state import State
from coterie.kernels.gibbs.ended import Ended, carry_parameters, matched_groups, taken_over


def carry(state: State, ended: Ended, data: Codes) -> None:
    """Take over where the earlier chain ended, in place; what is counted, is counted anew."""
    carry_parameters(state, ended, data)
    now, then = matched_groups(state.group, ended)
    state.known[now] = ended.state["known"][then]
    state.guess[:], state.log_guess[:] = ended.state["guess"], ended.state["log_guess"]
    state.kind[:] = taken_over(ended.state["kind"], ended.items, state.kind)
    state.kind[np.diff(data.item_start) == 0] = -1
    state.own[:] = taken_over(ended.state["own"], ended.labels, state.own)
    _count(state, data)


def _count(state: State, data: Codes) -> None:
    """Count kinds of items and sources of labels."""
    item = np.repeat(np.arange(len(state.kind)), np.diff(data.item_start))
    own = state.own == 1
    state.kind_total[:] = np.bincount(state.kind[state.kind >= 0], minlength=len(state.kind_total))
    state.source[:] = 0
    np.add.at(state.source, (state.kind[item], state.own), 1)
    state.guessed[:] = np.bincount(data.item_answer[~own], minlength=data.n_answers)
    state.said[:] = 0
    place = (data.item_annotator[own], data.item_answer[own], state.truth[item[own]])
    np.add.at(state.said, place, 1)
    state.said_total[:] = state.said.sum(axis=1)
