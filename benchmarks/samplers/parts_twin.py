"""The parts of a sweep of the frozen twin, each in a compiled loop of its own."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from benchmarks.samplers.loops import Part, compiled
from benchmarks.twin.kernels import cbcc, hcbcc, ibcc
from benchmarks.twin.kernels.groups import update_concentration
from benchmarks.twin.kernels.truth import log_truth, new_work, sweep_truth

if TYPE_CHECKING:
    from benchmarks.samplers.adapters import Sampler

KERNELS = {"ibcc": ibcc, "cbcc": cbcc, "hcbcc": hcbcc}


def parts_of(s: Sampler) -> dict[str, Part]:
    """Each part of a sweep by itself, as a function of how often to do it."""
    parts = {"truth": truth_sweeps(s)}
    if s.model != "ibcc":
        groups, concentration = group_loop(s.model), concentration_loop()
        room = s.kernels.new_room(s.state, s.data)
        parts["clusters"] = lambda n: groups(s.state, s.data, s.prior, room, s.rng, n)
        if s.model == "hcbcc":
            parameters = parameter_loop()
            parts["parameters"] = lambda n: parameters(s.state, s.prior, room.sums, s.rng, n)
        parts["concentration"] = lambda n: concentration(s.state, s.prior, s.rng, n)
    trace = trace_loop(s.model)
    parts["trace"] = lambda n: trace(s.state, s.prior, n)
    return parts


def truth_sweeps(s: Sampler) -> Part:
    loop = truth_loop(s.model)
    work = new_work(s.data, len(s.state.said))
    return lambda n: loop(s.state, s.data, s.prior, s.rng, s.tally, work, n)


@cache
def truth_loop(model: str) -> Any:
    view_of = KERNELS[model].view_of

    @compiled
    def loop(state, data, prior, rng, tally, work, n):
        view = view_of(state, prior)
        for _ in range(n):
            sweep_truth(view, data, work, rng, tally)

    return loop


@cache
def group_loop(model: str) -> Any:
    sweep_groups = KERNELS[model].sweep_groups

    @compiled
    def of_cbcc(state, data, prior, room, rng, n):
        for _ in range(n):
            sweep_groups(state, data, prior, room, rng)

    @compiled
    def of_hcbcc(state, data, prior, room, rng, n):
        for _ in range(n):
            sweep_groups(state, prior, room, rng)

    return of_cbcc if model == "cbcc" else of_hcbcc


@cache
def parameter_loop() -> Any:
    sweep_parameters = hcbcc.sweep_parameters

    @compiled
    def loop(state, prior, sums, rng, n):
        for _ in range(n):
            sweep_parameters(state, prior, sums, rng)

    return loop


@cache
def concentration_loop() -> Any:
    @compiled
    def loop(state, prior, rng, n):
        for _ in range(n):
            update_concentration(
                state.log_concentration, state.size, state.n_groups, prior.concentration, rng
            )

    return loop


@cache
def trace_loop(model: str) -> Any:
    kernels = KERNELS[model]
    view_of, log_likelihood = kernels.view_of, kernels.log_likelihood
    log_prior = getattr(kernels, "log_prior", None)

    @compiled
    def of_ibcc(state, prior, n):
        view, total = view_of(state, prior), 0.0
        for _ in range(n):
            total += log_likelihood(state, prior) + log_truth(view)
        return total

    @compiled
    def of_cbcc(state, prior, n):
        view, total = view_of(state, prior), 0.0
        for _ in range(n):
            total += log_likelihood(state, prior) + log_truth(view) + log_prior(state, prior)
        return total

    @compiled
    def of_hcbcc(state, prior, n):
        view, total = view_of(state, prior), 0.0
        for _ in range(n):
            total += log_likelihood(state) + log_truth(view) + log_prior(state, prior)
        return total

    return {"ibcc": of_ibcc, "cbcc": of_cbcc, "hcbcc": of_hcbcc}[model]
