"""The parts of a sweep, each in a compiled loop of its own.

This is the one file that names inner functions of the kernels, as they stand in ``_sweep_many`` of
the model's module: when a sweep is cut up in another way, this follows.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from benchmarks.samplers.loops import Part, compiled
from coterie.kernels.gibbs import cbcc, ibcc
from coterie.kernels.gibbs.hcbcc import model as hcbcc

if TYPE_CHECKING:
    from benchmarks.samplers.adapters import Sampler

KERNELS = {"ibcc": ibcc, "cbcc": cbcc, "hcbcc": hcbcc}
ORDER = ("truth", "clusters", "splits", "parameters", "concentration", "trace")
"""In hcBCC splits are a part of what is done with the parameters."""


def parts_of(s: Sampler) -> dict[str, Part]:
    """Each part of a sweep by itself, as a function of how often to do it."""
    view = KERNELS[s.model].view_of(s.state, s.prior)
    trace = trace_loop(s.model)
    parts = {"truth": truth_sweeps(s), "trace": lambda n: trace(s.state, view, s.prior, n)}
    if s.model == "ibcc":
        return parts
    room = KERNELS[s.model].new_room(s.state, s.data)
    groups, concentration = group_loop(s.model), concentration_loop(s.model)
    parts["clusters"] = lambda n: groups(s.state, s.prior, room, s.rng, n)
    parts["concentration"] = lambda n: concentration(s.state, s.prior, s.rng, n)
    if s.model == "cbcc":
        splits, split = split_loop(), cbcc.new_scratch(s.state, s.data, s.prior).split
        parts["splits"] = lambda n: splits(s.state, s.prior, split, s.rng, n)
    if s.model == "hcbcc":
        parameters = parameter_loop()
        parts["parameters"] = lambda n: parameters(s.state, s.prior, room, s.rng, n)
    return {name: parts[name] for name in ORDER if name in parts}


def truth_sweeps(s: Sampler) -> Part:
    kernels = KERNELS[s.model]
    view = kernels.view_of(s.state, s.prior)
    loop, work = truth_loop(s.model), kernels.new_work(s.data, view)
    return lambda n: loop(view, s.data, work, s.rng, s.tally, n)


@cache
def truth_loop(model: str) -> Any:
    kernels: Any = KERNELS[model]
    sweep_truth = kernels.sweep_shared if model == "cbcc" else kernels.sweep_own
    add_shapes = kernels.add_shapes
    fixed = model == "ibcc"  # its shapes never change

    @compiled
    def loop(view, data, work, rng, tally, n):
        add_shapes(view, data, work)
        for _ in range(n):
            if not fixed:
                add_shapes(view, data, work)
            sweep_truth(view, data, work, rng, tally)

    return loop


@cache
def group_loop(model: str) -> Any:
    sweep_groups = KERNELS[model].sweep_groups

    @compiled
    def loop(state, prior, room, rng, n):
        for _ in range(n):
            sweep_groups(state, prior, room, rng)

    return loop


@cache
def split_loop() -> Any:
    split_and_merge = cbcc.split_and_merge

    @compiled
    def loop(state, prior, room, rng, n):
        for _ in range(n):
            split_and_merge(state, prior, room, rng)

    return loop


@cache
def parameter_loop() -> Any:
    sweep_parameters = hcbcc.sweep_parameters

    @compiled
    def loop(state, prior, room, rng, n):
        for _ in range(n):
            sweep_parameters(state, prior, room, rng)

    return loop


@cache
def concentration_loop(model: str) -> Any:
    update_concentration = KERNELS[model].update_concentration

    @compiled
    def loop(state, prior, rng, n):
        alpha, prior_alpha = state.log_concentration, prior.concentration
        for _ in range(n):
            update_concentration(alpha, state.size, state.n_coteries, prior_alpha, rng)

    return loop


@cache
def trace_loop(model: str) -> Any:
    log_truth = KERNELS[model].log_truth
    # Not every model has all of these, nor does its loop below use them.
    log_likelihood = getattr(KERNELS[model], "log_likelihood", None)
    log_partition = getattr(KERNELS[model], "log_partition", None)
    log_prior = getattr(KERNELS[model], "log_prior", None)

    @compiled
    def of_ibcc(state, view, prior, n):
        total = 0.0
        for _ in range(n):
            total += log_likelihood(state, prior) + log_truth(view)
        return total

    @compiled
    def of_cbcc(state, view, prior, n):
        total, log_alpha = 0.0, state.log_concentration
        for _ in range(n):
            total += log_likelihood(state, prior) + log_truth(view)
            total += log_partition(state.size, log_alpha[0], prior.concentration)
        return total

    @compiled
    def of_hcbcc(state, view, prior, n):
        total = 0.0  # the likelihood is left over from moving the annotators
        for _ in range(n):
            total += log_prior(state, prior) + log_truth(view)
        return total

    return {"ibcc": of_ibcc, "cbcc": of_cbcc, "hcbcc": of_hcbcc}[model]
