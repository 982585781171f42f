"""The walks of one annotator: omega, how far they drift, and the sticks at every moment."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.numeric.choice import normalise, pick
from coterie.numeric.jit import part, piece
from coterie.numeric.polya_gamma import draw_polya_gamma
from coterie.numeric.random_walk import filter_walk, sample_walk

FloatArray = NDArray[np.float64]


class Room(NamedTuple):
    """Room for the walks of one annotator: sticks first, so that a walk is a run of memory."""

    omega: FloatArray  # (classes, sticks, moments)
    kappa: FloatArray  # (classes, sticks, moments)
    mean: FloatArray  # (moments,)
    variance: FloatArray  # (moments,)
    walk: FloatArray  # (moments,)
    weights: FloatArray  # (drifts,)
    balance: FloatArray  # (classes,)   tau, drawn in every sweep
    item: FloatArray  # (classes,)   room for one item


@piece
def stick(v: float) -> float:
    """Give s(v), the logistic function."""
    return 1 / (1 + math.exp(-v)) if v > -700 else 0.0


@piece
def log_answer(t: int, c: int, s: int, v: FloatArray, place: NDArray[Any]) -> float:
    """Give log Psi[t, c] at moment s, v of shape (moments, classes, sticks)."""
    result, last = 0.0, place[t, c]
    for j in range(v.shape[2]):
        x = v[s, t, j]
        if j < last:
            result -= x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))
        elif j == last:
            result -= math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x)) - x
    return result


@part
def see_labels(l: int, state: Any, prior: Any, room: Room, rng: np.random.Generator) -> None:
    """Draw omega of every label and stick of annotator l, and add up what they say."""
    course, place, v = prior.course, prior.sticks.place, state.v
    first = course.moment_start[l]
    n = course.moment_start[l + 1] - first
    n_classes, n_sticks, _ = room.omega.shape
    for t in range(n_classes):
        for j in range(n_sticks):
            for s in range(n):
                room.omega[t, j, s] = 0.0
                room.kappa[t, j, s] = 0.0
    for k in range(course.start[l], course.start[l + 1]):
        t, s, c = state.truth[course.item[k]], course.moment[k], course.answer[k]
        for j in range(min(place[t, c] + 1, n_sticks)):
            room.omega[t, j, s - first] += draw_polya_gamma(v[s, t, j], rng)
            room.kappa[t, j, s - first] += 0.5 if j == place[t, c] else -0.5


@part
def choose_drift(l: int, prior: Any, room: Room, rng: np.random.Generator) -> int:
    """Draw how far annotator l drifts, given omega, the walks integrated out."""
    course, sticks = prior.course, prior.sticks
    first, last = course.moment_start[l], course.moment_start[l + 1]
    n, step = last - first, course.step[first:last]
    n_classes, n_sticks, _ = room.omega.shape
    filtered = (room.mean[:n], room.variance[:n])
    for g in range(len(prior.drift)):
        room.weights[g] = prior.log_drift[g]
        for t in range(n_classes):
            for j in range(n_sticks):
                start = (sticks.mean[t, j], sticks.variance[t, j])
                seen = (step, room.omega[t, j, :n], room.kappa[t, j, :n])
                room.weights[g] += filter_walk(start, prior.drift[g], seen, filtered)
    normalise(room.weights)
    return pick(room.weights, rng.random())


@part
def draw_walks(
    l: int, drift: float, state: Any, prior: Any, room: Room, rng: np.random.Generator
) -> None:
    """Draw the sticks of annotator l at every moment, given omega and the drift."""
    course, sticks = prior.course, prior.sticks
    first, last = course.moment_start[l], course.moment_start[l + 1]
    n, step = last - first, course.step[first:last]
    n_classes, n_sticks, _ = room.omega.shape
    filtered = (room.mean[:n], room.variance[:n])
    for t in range(n_classes):
        for j in range(n_sticks):
            start = (sticks.mean[t, j], sticks.variance[t, j])
            seen = (step, room.omega[t, j, :n], room.kappa[t, j, :n])
            filter_walk(start, drift, seen, filtered)
            sample_walk(drift, step, filtered, rng, room.walk[:n])
            for s in range(n):
                state.v[first + s, t, j] = room.walk[s]
