"""Has a kernel kept its bargain? What it must bring, and what it must have written in its sweeps.

Kernels of other packages come here too: each thing that can be forgotten has its sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coterie.errors import CoterieError
from coterie.inference.protocol import Reported, matrices_as_found
from coterie.words.visible import quoted

if TYPE_CHECKING:
    from coterie.inference.chain import Chain, Sampler

SLACK = 1e-4
"""Of sums of probabilities: they are added up one by one, and some have 32 bits."""
TINY = 1e-12
"""Of what is certain."""
FUNCTIONS = ("initial_state", "new_scratch", "run_block")


def check_brought(sampler: Sampler) -> None:
    """Refuse kernels without their functions, and a packed prior without class weights."""
    if sampler.blocks is not None:  # of coterie's own, with functions of their own
        return
    missing = [name for name in FUNCTIONS if not hasattr(sampler.kernels, name)]
    if missing:
        raise _broken(sampler, f"has no {missing[0]}", "coterie.extend.Kernels says what it does")
    n_classes = sampler.data.n_classes
    weight: Any = getattr(sampler.prior, "class_weight", None)
    if np.shape(weight) != (n_classes,):
        came = "has none" if weight is None else f"has one of shape {np.shape(weight)}"
        raise _broken(
            sampler,
            f"needs a prior with class_weight, shape (classes,) = ({n_classes},), and what"
            f" pack_prior gave {came}",
            "give one weight per class there",
        )


def check_start(state: Any, sampler: Sampler) -> None:
    """Refuse a starting state that lacks what everybody reads of it."""
    data = sampler.data
    fields = getattr(state, "_fields", ())
    odd = [name for name in fields if not isinstance(getattr(state, name), np.ndarray)]
    if not fields or odd:
        came = f"its {odd[0]} is a {type(getattr(state, odd[0])).__name__}" if odd else repr(state)
        wrong = f"must start in a NamedTuple of arrays, and {came}"
        raise _broken(sampler, wrong, "what changes in place must be an array, if of one number")
    wanted = {"truth": len(data.gold)}
    if sampler.coteries:
        wanted["group"] = len(data.annotator_start) - 1
    for name, n in wanted.items():
        found = getattr(state, name, None)
        if found is None or found.dtype.kind != "i" or found.ndim != 1 or found.size % max(n, 1):
            came = "none" if found is None else f"{found.dtype} of shape {found.shape}"
            wrong = f"must start with whole numbers {name}, shape ({n},), and there is {came}"
            raise _broken(sampler, wrong, "see initial_state of coterie.extend.Kernels")
    if sampler.coteries and not hasattr(state, "size"):
        wrong = "must start with whole numbers size, and there is none"
        raise _broken(sampler, wrong, "count the annotators of each coterie: starting_groups does")
    known = data.gold >= 0
    unseated = (np.diff(data.item_start) > 0) & (state.truth < 0)
    if (state.truth[known] != data.gold[known]).any() or unseated.any():
        wrong = "started items with labels without a class, or known ones with another class"
        raise _broken(sampler, wrong, "let initial_state begin with starting_truth(truth, data)")


def check_recorded(chain: Chain) -> None:
    """Refuse what a kernel has written of its sweeps after burn-in, if something was forgotten."""
    plan = chain.sampler.plan
    sweeps = chain.done - plan.burn_in
    if sweeps <= 0 or chain.sampler.blocks is not None:
        return
    _check_counts(chain, sweeps)
    _check_trace(chain, sweeps)
    _check_items(chain)
    if chain.kept.used[1]:
        _check_draws(chain)


def _check_counts(chain: Chain, sweeps: int) -> None:
    """Were all sweeps tallied, all draws kept?"""
    sampler, used = chain.sampler, chain.kept.used
    draws = sweeps // sampler.plan.thin
    tallied = float(chain.tally.sweeps[0])
    if tallied != sweeps:
        raise _broken(
            sampler,
            f"tallied {tallied:g} of {sweeps:,} sweeps",
            "end every sweep of run_block with tally.sweeps[0] += tally.weight",
        )
    if used[0] != sweeps:
        raise _broken(
            sampler,
            f"asked after {used[0]:,} of {sweeps:,} sweeps whether a draw is due",
            "ask draw_is_due(keep) once at the end of every sweep",
        )
    if used[1] != draws:
        raise _broken(
            sampler,
            f"finished {used[1]:,} of {draws:,} draws that were due",
            "keep one whenever draw_is_due(keep) says so, and end it with finish_draw(keep)",
        )


def _check_trace(chain: Chain, sweeps: int) -> None:
    """Was what is watched written in every sweep?"""
    sampler, data, trace = chain.sampler, chain.data, chain.kept.trace
    n_known = int(np.count_nonzero((np.diff(data.item_start) > 0) | (data.gold >= 0)))
    totals = trace.class_total[:sweeps].sum(axis=1)
    off = totals != n_known
    if off.any():
        raise _broken(
            sampler,
            f"noted classes of {totals[off][0]:,} items where {n_known:,} have one",
            "call note_classes(sweep, state.class_total, trace) in every sweep, and move"
            " class_total whenever a class moves",
        )
    if data.n_answers > 1 and len(data.item_answer) and not trace.log_joint[:sweeps].any():
        remedy = "write trace.log_joint[sweep] in every sweep: chains are judged by it"
        raise _broken(sampler, "noted no log joint", remedy)
    if sampler.coteries and len(data.item_answer) and trace.n_coteries[:sweeps].min() < 1:
        remedy = "write trace.n_coteries[sweep] in every sweep, or declare no coteries"
        raise _broken(sampler, "noted no coteries, which its model declares", remedy)


def _check_items(chain: Chain) -> None:
    """Are what was tallied of the items probabilities, and is what is known certain?"""
    sampler, data = chain.sampler, chain.data
    mean = chain.tally.probability / chain.tally.sweeps[0]
    total = mean.sum(axis=1)
    off = np.flatnonzero(np.isfinite(total) & (np.abs(total - 1) > SLACK))
    if len(off):
        raise _broken(
            sampler,
            f"tallied probabilities of item {_item(sampler, off[0])} that sum to"
            f" {total[off[0]]:.4g}",
            "add tally.weight times its normalised weights to tally.probability in every sweep, of"
            " items without labels too",
        )
    known = np.flatnonzero(data.gold >= 0)
    moved = known[mean[known, data.gold[known]] < 1 - TINY]
    if len(moved):
        raise _broken(
            sampler,
            f"moved item {_item(sampler, moved[0])}, whose class is known",
            "leave items alone whose data.gold is not -1, and tally 1 for that class",
        )


def _check_draws(chain: Chain) -> None:
    """Is there in the last draw what every draw must hold?"""
    sampler, kept = chain.sampler, chain.kept
    _, draws, matrices = map(int, kept.used)
    if np.isnan(kept.vote_agreement[:draws]).any():
        remedy = "begin a draw with keep_state(n_coteries, state.truth, keep)"
        raise _broken(sampler, "kept draws without their state", remedy)
    _check_rows(chain, kept.confusion_sum / draws, "keep.confusion_sum", "in every draw")
    if matrices:
        if sampler.hooks.matrices is matrices_as_found:
            where = "where matrices_are_due(keep)"
            _check_rows(chain, kept.confusion[matrices - 1], "keep.confusion[keep.used[2]]", where)
        if abs(kept.class_balance[matrices - 1].sum() - 1) > SLACK:
            remedy = "call keep_class_balance where matrices_are_due(keep)"
            raise _broken(sampler, "kept a draw without a class balance", remedy)
    if sampler.coteries and len(chain.state.group) == kept.partition.shape[1]:
        n_coteries, said = kept.partition[draws - 1].max() + 1, kept.n_coteries[draws - 1]
        if n_coteries < said:
            raise _broken(
                sampler,
                f"kept a partition of {n_coteries} coteries in a draw that has {said}",
                "write keep.partition[keep.used[1]] by seat_everybody and write_partition",
            )


def _check_rows(chain: Chain, matrix: NDArray[Any], name: str, when: str) -> None:
    """Do the rows of everybody's matrix, shape (annotators, classes, answers), sum to one?"""
    total = matrix.sum(axis=2, dtype=np.float64)
    off = np.argwhere(np.isfinite(total) & (np.abs(total - 1) > SLACK))
    if len(off):
        l, t = off[0]
        raise _broken(
            chain.sampler,
            f"kept a matrix of annotator {l} whose row {t} sums to {total[l, t]:.4g}",
            f"add everybody's matrix, of those without labels too, to {name} {when}",
        )


def check_reported(reported: Reported, sampler: Sampler) -> None:
    """Refuse what a hook reports of the items if it is not of these items and classes."""
    n_items = len(sampler.data.gold)
    wanted = n_items, sampler.data.n_classes
    if np.shape(reported.item_probability) != wanted:
        raise _broken_hook(
            f"probabilities of shape {np.shape(reported.item_probability)}; give them of shape"
            f" (items, classes) = {wanted}"
        )
    for name, numbers in reported.item_numbers.items():
        if np.shape(numbers.values) != (n_items, len(numbers.columns)):
            raise _broken_hook(
                f"numbers {name!r} of shape {np.shape(numbers.values)} with"
                f" {len(numbers.columns)} columns; give them of shape (items, columns)"
            )


def _item(sampler: Sampler, i: int) -> str:
    (name,) = sampler.items[i : i + 1].tolist()
    return quoted(name)


def _broken_hook(what: str) -> CoterieError:
    return CoterieError(f"the hook report gave {what}")


def _broken(sampler: Sampler, what: str, remedy: str) -> CoterieError:
    name = getattr(sampler.kernels, "__name__", type(sampler.kernels).__name__)
    return CoterieError(f"the kernel {name} {what}", remedy=remedy)
