"""The parts of a sweep of either side, each as a function of how often to do it."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.samplers.adapters import Sampler
    from benchmarks.samplers.loops import Part

ORDER = ("truth", "clusters", "parameters", "concentration", "trace")


def parts_of(sampler: Sampler) -> dict[str, Part]:
    """In the order of ``ORDER``; a model has those that it has."""
    parts = _module(sampler).parts_of(sampler)
    return {name: parts[name] for name in ORDER if name in parts}


def truth_sweeps(sampler: Sampler) -> Part:
    """The truth sweep alone."""
    return _module(sampler).truth_sweeps(sampler)


def _module(sampler: Sampler) -> ModuleType:
    if sampler.side.name == "twin":
        from benchmarks.samplers import parts_twin as module
    else:
        from benchmarks.samplers import parts_ours as module
    return module
