"""The people half of a sweep: given counts, everybody's matrices, in the order of the paper.

Counts are ``state["said"]``, labels n[l, c, f] by annotator, answer and cell of their items, and
``state["cell_total"]``, items by cell. A model says here what it believes of annotators; the items
half (:mod:`coterie.kernels.items`) is the same for all. Each sweep

    draw   parameters of people, then everybody's matrices, given the counts
           (the items' cells, and with them new counts, given the matrices)
    move   who belongs with whom, given the new counts, matrices integrated out

The three models of the paper are here; collapsed sampling (:mod:`coterie.kernels.collapsed`) asks
them for priors, and for what is kept of a draw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from coterie.kernels import collapsed, regroup
from coterie.kernels.collapsed import draw_tables, log_marginal, log_risings, with_total
from coterie.kernels.space import Space, classes_alone
from coterie.numeric import Array, BoolArray, FloatArray, IntArray, LongArray, State, dirichlet
from coterie.numeric.dirichlet import canonical_groups, draw_crp, log_dirichlet, log_gamma_draws
from coterie.priors import CBCCPrior, Gamma, HCBCCPrior, IBCCPrior

Kept = State  # of a draw

SWEEP_CALLS = 300_000  # what a sweep's calls of NumPy cost, counted in weights of a label
DOZENS = 32  # coteries that are drawn ahead for those who move


class Crowd(NamedTuple):
    """Who there is, and how many labels there are."""

    n_labels: LongArray  # (annotators,)
    n_classes: int
    n_answers: int

    @property
    def heard(self) -> BoolArray:
        """Who has labels; the others are not seated, and have random numbers of their own."""
        return self.n_labels > 0


class Streams(NamedTuple):
    """A chain's sources of randomness.

    What is kept never changes where the chain goes: the draws of matrices have a stream of their
    own. Annotators without labels have one too, so that they change nobody's bits.
    """

    moves: Generator
    draws: Generator
    spare: Generator


class Columns(NamedTuple):
    """Which column of the matrices the labels of an item are from, and its shapes."""

    place: LongArray  # (rows, cells)   the column of somebody's labels of items in a cell
    base: LongArray  # (columns,)   whose shapes it has
    logs: FloatArray  # (bases, answers + 1)   the logs of these, and of their sum behind them
    shared: bool  # whether two labels of an item may be from one column, or two cells have one


class People:
    """What a model believes of annotators: a model overrides what it has of its own.

    Parameters
    ----------
    crowd
        Who there is.
    space
        What items may be.
    """

    coteries: ClassVar[bool] = False
    guessing: FloatArray = np.zeros(1)  # share of guesses on items of each kind
    dims: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # names of the axes of what is kept beside
    watched: ClassVar[tuple[str, ...]] = ()  # what must converge beside what always must
    of_coteries: ClassVar[tuple[str, ...]] = ()  # arrays of the state with a row per coterie

    def __init__(self, crowd: Crowd, space: Space) -> None:
        self.crowd, self.space = crowd, space
        self.n_rows = len(crowd.n_labels)  # of the counts
        self.rows: IntArray | None = None  # (labels,)   of the counts, if not annotators
        self.kinds: IntArray | None = None  # (items,)   known kinds
        self.n_extra = 0  # numbers that are kept of a draw beside what always is

    def start(self, group: IntArray, rng: Generator) -> State:
        """Give what a chain starts with beside the counts; ``group`` is -1 or 0, 1 ..."""
        return {}

    def draw(self, state: State, rng: Generator) -> FloatArray:
        """Draw everything that is people's, given the counts; give log Psi, (rows, C, cells)."""
        raise NotImplementedError

    def draw_parameters(self, state: State, rng: Generator) -> None:
        """Draw what is people's but the matrices, given the counts; of most there is nothing."""

    def columns(self, state: State) -> Columns:
        """Say where labels are from, for items that are moved one after the other."""
        raise NotImplementedError

    def move(self, state: State, sweep: int, rng: Generator) -> float:
        """Draw who belongs with whom, given the counts; give log p(labels), Psi integrated out."""
        raise NotImplementedError

    def log_rest(self, state: State) -> float:
        """Give the log probability of what is people's, beside their labels."""
        return 0.0

    def trace(self, state: State, log_labels: float) -> dict[str, Any]:
        """Give what is noted of a sweep; the log joint is of everything that is sampled."""
        log_joint = log_labels + self.space.log_p(state["cell_total"]) + self.log_rest(state)
        return {"log_joint": log_joint, "log_likelihood": log_labels}

    def keep(self, state: State, streams: Streams, whole: bool) -> Kept:
        """Give what is kept of a draw; of a ``whole`` one also drawn matrices and class balance.

        ``confusion_mean`` are everybody's matrices (annotators, T, C) given the state.
        """
        seats, total = self.seat_everybody(state, streams.spare), state["cell_total"]
        kept = self.notes(state, seats)
        means = self.means(state, seats)
        kept["confusion_mean"] = self.by_class(state, means, self.space.shares(total))
        if whole:
            shares = np.exp(self.space.draw(total, streams.draws))
            kept["class_balance"] = self.space.balance(total, shares)
            drawn = self.matrices(state, seats, streams)
            kept["confusion"] = self.by_class(state, drawn, shares)
            kept |= self.extra(state, drawn, shares, kept["class_balance"])
        return kept

    def seat_everybody(self, state: State, spare: Generator) -> Any:
        """Seat also those without labels, for a draw."""
        return None

    def notes(self, state: State, seats: Any) -> Kept:
        """Give what is kept of who belongs with whom."""
        return {}

    def means(self, state: State, seats: Any) -> FloatArray:
        """Give the mean of everybody's matrices given the state, (rows, C, cells)."""
        raise NotImplementedError

    def matrices(self, state: State, seats: Any, streams: Streams) -> FloatArray:
        """Draw everybody's matrices given the state, (rows, C, cells)."""
        raise NotImplementedError

    def extra(self, state: State, drawn: Array, shares: Array, balance: Array) -> Kept:
        """Give what a model keeps of its own, by the names of ``dims``."""
        return {}

    def by_class(self, state: State, matrices: FloatArray, shares: FloatArray) -> FloatArray:
        """Mix the matrices of a class's cells, in their shares, to (annotators, T, C)."""
        n_classes = self.space.n_classes
        if matrices.shape[2] == n_classes:
            return matrices.swapaxes(1, 2)
        of = self.space.cell_class
        parts = matrices * (shares / np.bincount(of, shares)[of])
        return np.stack([parts[:, :, of == t].sum(axis=2) for t in range(n_classes)], axis=1)

    def check(self, state: State) -> None:
        """Raise ValueError unless people can be so; counts are checked elsewhere."""


class OwnPeople(People):
    """Everybody has matrices of their own: rows ~ Dir(weight[:, f]), of iBCC and EBCC.

    Parameters
    ----------
    crowd, space
        As everywhere.
    weight
        beta eta, shape (answers, cells).
    """

    def __init__(self, crowd: Crowd, space: Space, weight: FloatArray) -> None:
        super().__init__(crowd, space)
        self.weight, self.log_weight, self.rising = weight, np.log(weight), log_risings(weight)

    @classmethod
    def of(cls, prior: IBCCPrior, crowd: Crowd) -> OwnPeople:
        """Give those of iBCC."""
        return cls(crowd, classes_alone(np.array(prior.class_weights)), weight_of(prior))

    def draw(self, state: State, rng: Generator) -> FloatArray:
        """Draw log Psi[l, f] ~ Dir(weight[f] + n[l, f])."""
        heard, log_chance = self.crowd.heard, np.zeros(state["said"].shape)
        shape = state["said"][heard] + self.weight
        log_chance[heard] = log_dirichlet(shape, rng, 1, self.log_weight)
        return log_chance

    def columns(self, state: State) -> Columns:
        n_rows, _, n_cells = state["said"].shape
        base = np.tile(np.arange(n_cells), n_rows)
        logs = np.log(with_total(self.weight)).T
        return Columns(own_places(n_rows, n_cells), base, logs, shared=False)

    def move(self, state: State, sweep: int, rng: Generator) -> float:
        return log_marginal(state["said"][self.crowd.heard], self.weight)

    def means(self, state: State, seats: Any) -> FloatArray:
        """Give (n[l, c, f] + weight[c, f]) / (n[l, f] + its sum)."""
        return mean_of(state["said"], self.weight, self.log_weight)

    def matrices(self, state: State, seats: Any, streams: Streams) -> FloatArray:
        said, weight = state["said"], np.broadcast_to(self.weight, state["said"].shape)
        return own_matrices(said, weight, np.log(weight), self.crowd.heard, streams)


class Seats(NamedTuple):
    """Where everybody sits in a draw, and the parameters of the coteries that there are then."""

    seat: IntArray  # (annotators,)
    log_strength: FloatArray  # (coteries, T or 1)
    log_mean: FloatArray  # (coteries, C, T)

    @property
    def log_weight(self) -> FloatArray:
        """Everybody's log beta eta, (annotators, C, T)."""
        return np.asarray((self.log_strength[:, None] + self.log_mean)[self.seat])


class SeatedPeople(People):
    """People who belong to coteries: q ~ CRP(alpha); of cBCC, and base of those like hcBCC.

    Parameters
    ----------
    crowd, space
        As everywhere.
    concentration
        alpha, or its Gamma prior.
    """

    coteries = True

    def __init__(self, crowd: Crowd, space: Space, concentration: float | Gamma) -> None:
        super().__init__(crowd, space)
        self.concentration, self.alpha = concentration, (0.0, 0.0)
        if isinstance(concentration, Gamma):
            shape, rate = np.asarray(concentration.shape), np.asarray(concentration.rate)
            self.alpha = float(shape), float(rate)  # of its prior; zeros where it is fixed
        self.n_seated = int(np.count_nonzero(crowd.heard))
        self.work = int(crowd.n_labels.sum()) * len(space.cell_class)

    def start(self, group: IntArray, rng: Generator) -> State:
        if isinstance(self.concentration, Gamma):
            log_alpha = log_gamma_draws(np.array(self.alpha[:1]), rng) - math.log(self.alpha[1])
        else:
            log_alpha = np.log([self.concentration])
        return {"group": canonical_groups(group), "log_concentration": log_alpha}

    def proposals(self, sweep: int, calls: int = SWEEP_CALLS) -> int:
        """Give how many splits and merges are due, by the sizes of the crowd alone."""
        n_cells = self.crowd.n_answers * self.space.n_classes
        cost = regroup.work_of_a_proposal(self.n_seated, n_cells)
        return regroup.proposals(sweep, self.work + calls, cost)

    def move(self, state: State, sweep: int, rng: Generator) -> float:
        """Split and merge coteries, then move everybody; draw alpha."""
        self.regroup(state, self.proposals(sweep), rng)
        log_labels = self.seat_people(state, rng)
        self.draw_alpha(state, rng)
        return log_labels

    def regroup(self, state: State, n: int, rng: Generator) -> None:
        """Propose so many splits and merges of coteries."""
        raise NotImplementedError

    def seat_people(self, state: State, rng: Generator) -> float:
        """Move everybody who has a coterie, matrices integrated out; give log p(labels)."""
        raise NotImplementedError

    def draw_alpha(self, state: State, rng: Generator) -> None:
        """Draw alpha given the partition."""
        alpha = np.append(state["log_concentration"], self.alpha)
        collapsed.concentration_loop(alpha, self.n_seated, count_groups(state["group"]), rng)
        state["log_concentration"] = alpha[:1]

    def log_rest(self, state: State) -> float:
        """Give log p(q | alpha) p(alpha)."""
        size = np.bincount(state["group"][state["group"] >= 0])
        return float(self.log_seats(gammaln(size).sum(), len(size), state["log_concentration"])[0])

    def log_seats(self, log_sizes: Any, n_groups: Any, log_alpha: FloatArray) -> FloatArray:
        """Give log p(q | alpha) p(alpha), the latter only if alpha is sampled, of some sweeps.

        Given are sums over coteries of log (size - 1)!, numbers of coteries, and log alpha.
        """
        shape, rate = self.alpha
        # alpha^M / (alpha)_(L) without the alpha of both, which may be zero as a float
        log_p = log_sizes + np.maximum(n_groups - 1, 0) * log_alpha
        log_p = log_p - collapsed.log_risen(np.exp(log_alpha) + 1, max(self.n_seated - 1, 0))
        if shape > 0:
            log_p += shape * math.log(rate) - math.lgamma(shape)
            log_p += (shape - 1) * log_alpha - rate * np.exp(log_alpha)
        return np.asarray(log_p)

    def trace(self, state: State, log_labels: float) -> dict[str, Any]:
        alpha = math.exp(state["log_concentration"][0])
        found = {"n_coteries": count_groups(state["group"]), "concentration": alpha}
        return super().trace(state, log_labels) | found

    def seat_everybody(self, state: State, spare: Generator) -> Seats:
        """Seat those without labels as newcomers, in fresh coteries where they open any."""
        seat, alpha = state["group"].astype(np.int32), math.exp(state["log_concentration"][0])
        silent, n = seat < 0, count_groups(seat)
        seat[silent] = draw_crp(int(silent.sum()), alpha, spare, seat[~silent].tolist())
        return Seats(seat, *self.parameters(state, count_groups(seat) - n, spare))

    def parameters(self, state: State, opened: int, spare: Generator) -> list[FloatArray]:
        """Give those of all coteries, and of some that are opened for a draw."""
        raise NotImplementedError

    def notes(self, state: State, seats: Seats) -> Kept:
        return {"partition": canonical_groups(seats.seat)}

    def newcomer(self, state: State, base: FloatArray, each: FloatArray) -> FloatArray:
        """Give the mean matrix of one more annotator, (C, T), who joins a coterie or opens one.

        ``base`` is the mean of a new coterie, ``each`` (M, C, T) that of those there are.
        """
        size = np.bincount(state["group"][state["group"] >= 0]).astype(np.float64)
        alpha = math.exp(state["log_concentration"][0])
        new = alpha / (size.sum() + alpha)
        share = (1 - new) * size / max(size.sum(), 1.0)
        return np.asarray(new * base + (share[:, None, None] * each[: len(size)]).sum(axis=0))

    def check(self, state: State) -> None:
        group, n = state["group"], count_groups(state["group"])
        numbered = np.array_equal(np.unique(group[group >= 0]), np.arange(n))
        if not numbered or not np.array_equal(group >= 0, self.crowd.heard):
            raise ValueError("group is not everybody's with labels")
        parameters = [state[name] for name in self.of_coteries]
        if any(len(array) != n for array in parameters):
            raise ValueError("parameters are not of the coteries that there are")
        if not all(np.isfinite(x).all() for x in [state["log_concentration"], *parameters]):
            raise ValueError("parameters are not finite")
        if "log_mean" in state and not np.allclose(np.exp(state["log_mean"]).sum(1), 1, atol=1e-6):
            raise ValueError("log_mean is out of range")


class SharedPeople(SeatedPeople):
    """cBCC: the members of a coterie share one matrix, Psi[m, t] ~ Dir(beta[t] eta[t])."""

    def __init__(self, prior: CBCCPrior, crowd: Crowd) -> None:
        super().__init__(crowd, classes_alone(np.array(prior.class_weights)), prior.concentration)
        self.weight = weight_of(prior)
        self.log_weight, self.rising = np.log(self.weight), log_risings(self.weight)

    def said_together(self, state: State) -> LongArray:
        """Count what members said, (M, C, T)."""
        group = state["group"]
        said = np.zeros((count_groups(group), *state["said"].shape[1:]), np.int64)
        np.add.at(said, group[group >= 0], state["said"][group >= 0])
        return said

    def draw(self, state: State, rng: Generator) -> FloatArray:
        """Draw log Psi[m, t] ~ Dir(beta[t] eta[t] + n[m, t]), which all members have."""
        shared = log_dirichlet(self.said_together(state) + self.weight, rng, 1, self.log_weight)
        log_chance, group = np.zeros(state["said"].shape), state["group"]
        log_chance[group >= 0] = shared[group[group >= 0]]
        return log_chance

    def columns(self, state: State) -> Columns:
        n_classes, n_groups = state["said"].shape[2], count_groups(state["group"])
        place = own_places(max(n_groups, 1), n_classes)[state["group"]]
        logs = np.log(with_total(self.weight)).T
        base = np.tile(np.arange(n_classes), max(n_groups, 1))
        return Columns(place, base, logs, shared=True)

    def seat_people(self, state: State, rng: Generator) -> float:
        """Move everybody by the sizes of coteries, alpha for a new one, and p(their labels)."""
        counts, seats = with_total(state["said"].astype(np.int32)), state["group"].astype(np.int32)
        people, together, size = collapsed.members_of(counts, seats)
        logs = np.log(with_total(self.weight))[None]
        log_alpha = float(state["log_concentration"][0])
        collapsed.join_loop(
            people, counts, together, seats, size, logs, self.rising, log_alpha, rng
        )
        seats[people] = np.unique(seats[people], return_inverse=True)[1]
        state["group"] = seats
        return log_marginal(self.said_together(state), self.weight)

    def regroup(self, state: State, n: int, rng: Generator) -> None:
        regroup.regroup_shared(state, self.weight, rng, n)

    def parameters(self, state: State, opened: int, spare: Generator) -> list[FloatArray]:
        """Give the logs of the shapes of every coterie's matrix, which has no parameters."""
        said = self.said_together(state)
        shapes = np.concatenate([said + self.weight, np.tile(self.weight, (opened, 1, 1))])
        return [np.log(shapes.sum(axis=1)), np.log(shapes)]

    def means(self, state: State, seats: Seats) -> FloatArray:
        n, group = count_groups(state["group"]), state["group"]
        each = np.exp(seats.log_mean[:n] - seats.log_strength[:n, None])
        base = self.weight / self.weight.sum(axis=0)
        own, newcomer = each[group] if n else base, self.newcomer(state, base, each)
        return np.where((group >= 0)[:, None, None], own, newcomer)

    def matrices(self, state: State, seats: Seats, streams: Streams) -> FloatArray:
        """Draw the matrix of every coterie; those that newcomers open change nobody's bits."""
        n, shapes = count_groups(state["group"]), np.exp(seats.log_mean)
        drawn = np.empty(shapes.shape)
        for some, rng in ((slice(n), streams.draws), (slice(n, None), streams.spare)):
            drawn[some] = np.exp(log_dirichlet(shapes[some], rng, 1, seats.log_mean[some]))
        return drawn[seats.seat]


class SimilarPeople(SeatedPeople):
    """hcBCC: the members of a coterie resemble one another.

    Psi[l, t] ~ Dir(beta[m, t] eta[m, t]) with m = q[l], beta[m, t] ~ Gamma(a[t], b[t]),
    eta[m, t] ~ Dir(phi[t] gamma[t]).
    """

    of_coteries: ClassVar[tuple[str, ...]] = ("log_strength", "log_mean")

    def __init__(self, prior: HCBCCPrior, crowd: Crowd) -> None:
        super().__init__(crowd, classes_alone(np.array(prior.class_weights)), prior.concentration)
        self.auxiliaries = prior.auxiliaries
        self.shape, self.rate = np.array(prior.strength.shape), np.array(prior.strength.rate)
        self.mean_weight = (np.asarray(prior.mean_strength)[:, None] * prior.mean).T.copy()

    def base(self, state: State) -> regroup.Base:
        """Give the prior of beta and eta, as splits and merges read it."""
        return regroup.Base.of(self.shape, self.rate, self.mean_weight)

    def base_mean(self, state: State) -> FloatArray:
        """Give the mean of eta before any label, (C, T)."""
        return np.asarray(self.mean_weight / self.mean_weight.sum(axis=0))

    def start(self, group: IntArray, rng: Generator) -> State:
        """Draw beta and eta of the coteries from the prior; a sweep first draws them anew."""
        state = super().start(group, rng)
        return state | self.fresh(state, count_groups(state["group"]), rng)

    def fresh(self, state: State, n: int, rng: Generator) -> State:
        """Draw beta and eta of n coteries from the prior."""
        log_g = log_gamma_draws(np.tile(self.shape, (n, 1)), rng)
        log_mean = log_dirichlet(np.tile(self.mean_weight, (n, 1, 1)), rng, axis=1)
        return {"log_strength": log_g - np.log(self.rate), "log_mean": log_mean}

    def draw(self, state: State, rng: Generator) -> FloatArray:
        self.draw_parameters(state, rng)
        return self.draw_matrices(state, rng)

    def draw_parameters(self, state: State, rng: Generator) -> None:
        """Draw nu and s, then beta and eta.

        nu[l, t]   ~ Beta(beta[m, t], n[l, t])  where n[l, t] > 0
        s[l, t, c] ~ Antoniak(n[l, t, c], beta[m, t] eta[m, t, c])
        beta[m, t] ~ Gamma(a + sum over members and c of s,  b - sum over members of log nu)
        eta[m, t]  ~ Dir(phi gamma[t] + sum over members of s)
        """
        tables = draw_tables(state["said"], state["group"], np.exp(log_weight_of(state)), rng)
        log_rate = draw_log_rate(state, self.rate, rng)
        log_g = log_gamma_draws(self.shape + tables.sum(axis=1), rng)
        state["log_strength"] = log_g - log_rate
        state["log_mean"] = log_dirichlet(self.mean_weight + tables, rng, axis=1)

    def draw_matrices(self, state: State, rng: Generator) -> FloatArray:
        """Draw log Psi[l, t] ~ Dir(beta[m, t] eta[m, t] + n[l, t])."""
        heard, log_chance = state["group"] >= 0, np.zeros(state["said"].shape)
        log_weight = log_weight_of(state)[state["group"][heard]]
        shape = np.exp(log_weight) + state["said"][heard]
        log_chance[heard] = log_dirichlet(shape, rng, 1, log_weight)
        return log_chance

    def columns(self, state: State) -> Columns:
        n_rows, n_answers, n_classes = state["said"].shape
        logs = collapsed.with_strength(state["log_strength"], state["log_mean"])
        logs = logs.swapaxes(1, 2).reshape(-1, n_answers + 1)
        if len(logs) == 0:  # nobody is seated
            logs = np.zeros((n_classes, n_answers + 1))
        base = own_places(len(logs) // n_classes, n_classes)[state["group"]].ravel()
        return Columns(own_places(n_rows, n_classes), base, logs, shared=False)

    def seat_people(self, state: State, rng: Generator) -> float:
        """Move everybody to a coterie, or one of h auxiliary ones (Reuse, Favaro and Teh).

        Beside these h, coteries are drawn ahead from the prior; the loop says when all are opened.
        """
        counts, seats = with_total(state["said"].astype(np.int32)), state["group"].astype(np.int32)
        people, m, h = np.flatnonzero(seats >= 0), count_groups(seats), self.auxiliaries
        size = np.append(np.bincount(seats[people], minlength=m), np.zeros(h, np.int64))
        spare, done, used, log_labels = np.arange(m, m + h), 0, m + h, 0.0
        log_alpha, more = float(state["log_concentration"][0]), h + DOZENS
        while done < len(people) or more > DOZENS:
            for name, drawn in self.fresh(state, more, rng).items():
                state[name] = np.concatenate([state[name], drawn])
            more, size = DOZENS, np.append(size, np.full(len(state["log_mean"]) - len(size), -1))
            logs = collapsed.with_strength(state["log_strength"], state["log_mean"])
            done, used, log_p = collapsed.reuse_loop(
                done, people, counts, logs, seats, size, spare, used, log_alpha, rng
            )
            log_labels += log_p
        places, seats[people] = np.unique(seats[people], return_inverse=True)
        state |= {"group": seats} | {name: state[name][places] for name in self.of_coteries}
        return log_labels

    def regroup(self, state: State, n: int, rng: Generator) -> None:
        if n > 0:
            regroup.regroup_own(state, self.base(state), rng, n)

    def log_rest(self, state: State) -> float:
        """Give log p(q | alpha) p(alpha) p(beta, eta)."""
        log_beta, log_eta = state["log_strength"], state["log_mean"]
        found = ((self.shape - 1) * log_beta - self.rate * np.exp(log_beta)).sum()
        found += ((self.mean_weight - 1) * log_eta).sum()
        return super().log_rest(state) + float(self.log_parameters(found, len(log_beta)))

    def log_parameters(self, found: Any, n_groups: Any) -> FloatArray:
        """Give log p(beta, eta) of so many coteries, by what it has beside its constants."""
        a, b, w = self.shape, self.rate, self.mean_weight
        constant = a * np.log(b) - gammaln(a) + gammaln(w.sum(axis=0)) - gammaln(w).sum(axis=0)
        return np.asarray(found + n_groups * constant.sum())

    def parameters(self, state: State, opened: int, spare: Generator) -> list[FloatArray]:
        names = "log_strength", "log_mean"
        if opened == 0:
            return [state[name] for name in names]
        more = self.fresh(state, opened, spare)
        return [np.concatenate([state[name], more[name]]) for name in names]

    def means(self, state: State, seats: Seats) -> FloatArray:
        """Give (n[l, c, t] + beta eta) / (n[l, t] + beta); a newcomer's mean without labels."""
        n, group = count_groups(state["group"]), state["group"]
        log_weight = seats.log_weight
        found = mean_of(state["said"], np.exp(log_weight), log_weight)
        newcomer = self.newcomer(state, self.base_mean(state), np.exp(seats.log_mean[:n]))
        return np.where((group >= 0)[:, None, None], found, newcomer)

    def matrices(self, state: State, seats: Seats, streams: Streams) -> FloatArray:
        heard, log_weight = state["group"] >= 0, seats.log_weight
        return own_matrices(state["said"], np.exp(log_weight), log_weight, heard, streams)


def weight_of(prior: IBCCPrior | CBCCPrior) -> FloatArray:
    """Give beta eta of a resolved prior, (C, T)."""
    return np.ascontiguousarray((np.asarray(prior.strength)[:, None] * prior.mean).T)


def own_places(n_rows: int, n_cells: int) -> LongArray:
    """Give every row a number for each cell, (rows, cells)."""
    return np.arange(n_rows * n_cells).reshape(n_rows, n_cells)


def count_groups(group: Array) -> int:
    return int(group.max(initial=-1)) + 1


def log_weight_of(state: State) -> FloatArray:
    """Give log beta eta of all coteries, (M, C, T)."""
    return np.asarray(state["log_strength"][:, None] + state["log_mean"])


def draw_log_rate(state: State, rate: FloatArray, rng: Generator) -> FloatArray:
    """Draw nu; give log(b - sum over members of log nu[l, t]), (M, T).

    A Beta(x, n) number is U^(1 / x) times a Beta(x + 1, n - 1) number. The former may be too small
    for a float; minus their logs add up to a Gamma(members, x) number.
    """
    seated = state["group"] >= 0
    group, n = state["group"][seated], state["said"][seated].sum(axis=1)  # (people, T)
    log_beta = np.broadcast_to(state["log_strength"], (len(state["log_strength"]), n.shape[1]))
    log_odds = log_gamma_draws(np.maximum(n - 1, 0), rng)
    log_odds -= log_gamma_draws(np.exp(log_beta)[group] + 1, rng)
    members, decay = np.zeros((2, *log_beta.shape))
    np.add.at(decay, group, np.log1p(np.exp(log_odds)))
    np.add.at(members, group, n > 0)
    log_more = log_gamma_draws(members, rng) - log_beta
    with np.errstate(divide="ignore"):  # of rate 0, as Consensus asks
        return np.asarray(np.logaddexp(np.log(rate + decay), log_more))


def mean_of(said: IntArray, weight: FloatArray, log_weight: FloatArray) -> FloatArray:
    """Give the mean of Dir(weight + said) along the answers, also where all have underflowed."""
    shape = said + weight
    total = shape.sum(axis=1, keepdims=True)
    vague = total < dirichlet.SMALL
    mean = shape / np.where(vague, 1.0, total)
    if vague.any():
        logs = log_weight - np.logaddexp.reduce(log_weight, axis=-2, keepdims=True)
        mean = np.where(vague, np.exp(logs), mean)
    return np.asarray(mean)


def own_matrices(
    said: IntArray, weight: FloatArray, log_weight: FloatArray, heard: BoolArray,
    streams: Streams,
) -> FloatArray:  # fmt: skip
    """Draw Dir(weight + said) of everybody; those without labels change nobody's bits."""
    drawn = np.empty(said.shape)
    for some, rng in ((heard, streams.draws), (~heard, streams.spare)):
        drawn[some] = np.exp(log_dirichlet(said[some] + weight[some], rng, 1, log_weight[some]))
    return drawn
