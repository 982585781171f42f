"""From settings to chains to a Posterior: what all sampled models share, also in shards."""

from __future__ import annotations

import hashlib
import math
import os
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.abilities import Abilities, Method, Takes
from coterie.arguments import check_one_of, check_whole
from coterie.data.annotations import Annotations
from coterie.data.codes import Codes, cut
from coterie.data.table import value_array
from coterie.errors import Argument, DataError
from coterie.files.values import to_json
from coterie.inference.chain import CELLS, Sampler, make_plan
from coterie.inference.sample import Afterwards, Options, sample
from coterie.inference.shards import Blocks, Sizes, opened, without_items
from coterie.inference.verdicts import Evidence, Verdict
from coterie.io.scan.scanned import Scan
from coterie.kernels.people import Crowd, People
from coterie.kernels.vote import clear_votes
from coterie.models.base import Estimator, Labels, resolved, setting
from coterie.numeric import Array, State
from coterie.posterior import ItemNumbers, Posterior
from coterie.posterior.sharded import Found, FoundItems
from coterie.posterior.verdicts import ONE_LABEL
from coterie.priors import Prior

MOST_SWEEPS = 10_000_000
"""Every sweep is noted, so that more would not fit in memory."""
GOING_ON, LEAST_BURN_IN = 3, 20
"""An update keeps so many times fewer sweeps than a fit; it drops as many fewer, but those at least
and, where much is new, more: as many as a fit where labels have doubled."""
ROUNDS = 4
"""So often chains go on at most, until they give one label on nearly all items."""
ELSEWHERE = ("prior", "n_jobs", "engine", "progress", "checkpoint", "duplicates")
"""Settings that a checkpoint need not share, or shares by what becomes of them."""
SAMPLERS = ("auto", "collapsed", "blocked")
BLOCKED_LABELS = 10_000_000
"""Labels from which on ``sampler="auto"`` takes the blocked sampler. Up to a million it needs as
much processor time per effective draw as the collapsed one, or more (benchmarks/crossing.py); a
chain of ten million should not wait for one core."""
LABELS_PER_SHARD = 2**18
"""Labels in memory are cut into shards of about so many: enough for a few milliseconds of work."""


def sweeps_of(default: int, least: int) -> Any:
    """Declare a number of sweeps."""
    return setting(default, check_whole, least, MOST_SWEEPS)


def check_jobs(value: object, argument: Argument) -> None:
    """Raise DataError unless there is a thread at least; -1 takes all cores, as None does."""
    if value != -1:
        check_whole(value, argument, 1)


class SamplingEstimator(Estimator):
    """Base of the models that are sampled: a model names its prior and its people, and is done.

    It says so by ``prior_type`` and :meth:`people`, what it can do by ``abilities``, and where it
    departs from the others in what becomes of its chains by :meth:`after`: docs/adding-a-model.md
    walks through it.

    Parameters
    ----------
    prior
        The name of a prior, such as ``"paper"``, or a prior object of the model.
    sweeps
        Sweeps of each chain at most, burn-in included.
    burn_in
        Sweeps dropped at the start of each chain.
    early_stop
        Stop before ``sweeps`` when the chains have converged: R-hat <= 1.01 and 400 effective
        draws of the log joint, the number of coteries, alpha and the class totals, looked at every
        500 sweeps after burn-in. False is the paper's run.
    chains
        Number of chains; they start far apart, so that their agreement means something.
    thin
        Sweeps between the draws that are kept; by default about 1,000 draws per chain are. Item
        probabilities are averaged over every sweep after burn-in whatever ``thin`` is.
    random_state
        Seed; the same seed gives the same bits.
    n_jobs
        Threads; None takes all cores. It changes the time only, never the result.
    progress
        Show progress on standard error: a bar on a terminal or in a notebook, elsewhere a line
        every ten seconds.
    checkpoint
        A file to keep the run in; a later fit with the same data and settings goes on from it.
    duplicates
        What an annotator's repeated labels of one item mean: "error", "first", "last", "keep".
    """

    method: ClassVar[Method] = "gibbs"
    abilities: ClassVar[Abilities] = Abilities(uncertainty=True)
    prior_type: ClassVar[type[Prior]]
    plain: ClassVar[str] = ""  # the collapsed sampler of items without kinds, if there is one
    sampler, engine = "collapsed", cast("Any", None)  # of models that are not sampled in blocks
    at_vote: ClassVar[bool] = False  # start all chains at the vote, and everybody in one coterie

    prior: Prior | str = "paper"
    sweeps: int = sweeps_of(10_000, least=1)
    burn_in: int = sweeps_of(3_000, least=0)
    early_stop: bool = True
    chains: int = setting(4, check_whole, 1, 1_000)
    thin: int | None = setting(None, check_whole, 1)
    random_state: int | None = setting(None, check_whole, 0)
    n_jobs: int | None = setting(None, check_jobs)
    progress: bool = True
    checkpoint: str | os.PathLike[str] | None = None
    duplicates: str = "error"

    def people(self, prior: Any, crowd: Crowd, data: Any) -> People:
        """Give what the model believes of annotators, and what items are.

        The prior is resolved for the data, which are annotations or a scan of them.
        """
        raise NotImplementedError  # pragma: no cover

    def after(self, people: People) -> Afterwards:
        """Say what becomes of the chains; of most models, as of all others."""
        return Afterwards()

    def _judge(self, labels: Any) -> Callable[[Evidence], Verdict] | None:
        """Give what judges where chains ended, if that looks at the labels."""
        return None

    def resolve_prior(self, labels: Any) -> Any:
        """Give the prior with every field written out for these data."""
        return resolved(self, labels)

    def _fit(self, labels: Labels) -> Posterior:
        self._check()
        sampler = self._sampler(labels)
        return self._run(labels, sampler, self._options(sampler), self._identity(labels))

    def _run(
        self, labels: Labels, sampler: Sampler, options: Options, identity: Mapping[str, Any]
    ) -> Posterior:
        """Sample, and give what was found."""
        if (judge := self._judge(labels)) is not None:
            options = options._replace(after=replace(options.after, judge=judge))
        run = sample(sampler, options, identity)
        reported, own = run.reported, run.averages.item_probability
        raw = None if reported.item_probability is own else own
        whole = FoundItems(reported.item_probability, raw=raw, numbers=reported.item_numbers)
        found: Found | FoundItems = whole
        names = {}
        if isinstance(labels, Scan):
            assert sampler.blocks is not None
            found = partial(found_by_place, whole, sampler.blocks.places)
            names = {"names": sampler.items}
        weights = run.draws.trace["class_total"].mean(axis=(0, 1))
        weights += sampler.people.space.class_weight
        return self._posterior(
            labels,
            found,
            class_balance=weights / weights.sum(),
            confusion_mean=run.confusion_mean,
            draws=run.draws,
            mixing=options.after.mixing,
            method="blocked gibbs" if options.blocked else self.method,
            converged=run.converged,
            run=run.facts,
            **names,
        )

    def _go_on(self, annotations: Annotations, before: Posterior) -> Posterior:
        """Let the chains go on from where they ended, for a part of their length.

        Where they do not give one label on nearly all items then, they go on for as long again;
        where they had not even before, they start again.
        """
        self._check()
        last = before.require_draws("chains").last
        sampler = self._sampler(annotations)
        if not last or not agree_on_labels(before):
            return self._fit(annotations)
        share = news(before.annotations, annotations) if sampler.people.rows is None else 1.0
        runs: list[Mapping[str, Any]] = []
        for number in range(ROUNDS):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                before = self._go_round(sampler, annotations, before, share, number)
            runs.append(before.run)
            share = 0.0
            if before.run["stopped"] == "interrupted" or agree_on_labels(before):
                break
        for warning in said:  # of where the chains are in the end
            warnings.warn(warning.message, stacklevel=3)
        earlier = sum(int(run["sweeps"]) for run in runs[:-1])  # all before the last was burn-in
        whole = {name: runs[-1][name] + earlier for name in ("sweeps", "burn_in")}
        return replace(before, run={**runs[-1], **whole, "rounds": len(runs)})

    def _go_round(
        self, sampler: Sampler, annotations: Annotations, before: Posterior, share: float,
        number: int,
    ) -> Posterior:  # fmt: skip
        """Let the chains go on once, where a share is new; each round has its own randomness."""
        last = before.require_draws("chains").last
        dropped = math.ceil(max(share, 1 / GOING_ON) * self.burn_in)
        burn_in = min(max(LEAST_BURN_IN, dropped), self.burn_in)
        sweeps = burn_in + max((self.sweeps - self.burn_in) // GOING_ON, 1)
        thin = None if self.thin is None else min(self.thin, sweeps - burn_in)
        people = sampler.people
        rows = self._rows_then(before.annotations, annotations)
        ended = going_on(last, before.annotations, annotations, people, rows)
        plan = make_plan(sweeps, burn_in, thin, people)
        seed = None if self.random_state is None else self.random_state + number
        # A checkpoint is of a whole run.
        options = self._options(sampler)._replace(checkpoint=None, random_state=seed)
        return self._run(annotations, replace(sampler, ended=ended, plan=plan), options, {})

    def _rows_then(self, old: Annotations, new: Annotations) -> NDArray[np.int64]:
        """Give the place of each row of the counts among those then, -1 if it is new."""
        return np.asarray(pd.Index(old.annotators).get_indexer(pd.Index(new.annotators)))

    def _sampler(self, labels: Labels) -> Sampler:
        """Put together what is sampled."""
        if isinstance(labels, Scan) and (self.sampler == "collapsed" or self._has_kinds):
            raise DataError(
                f"{type(self).__name__} takes a scan with the blocked sampler and without kinds of"
                " items",
                argument="sampler" if self.sampler == "collapsed" else "kinds",
                remedy="leave those settings out, or coterie.read the labels",
            )
        shards: Any = labels
        places: list[Any]
        items: Any
        if isinstance(labels, Scan):
            codes, places = items_of_scan(labels)
            votes = np.zeros((0, labels.n_classes), np.int32)
            items = NamesOfItems(labels, places)
        else:
            codes, votes, items = labels.codes, labels.votes, labels.items
        crowd = Crowd(labels.labels_per_annotator, labels.n_classes, labels.n_answers)
        people = self.people(self.resolve_prior(labels), crowd, labels)
        sizes = Sizes(
            people.n_rows, crowd.n_classes, crowd.n_answers, people.space, people.guessing
        )
        plan = make_plan(self.sweeps, self.burn_in, self.thin, people)
        clear = clear_votes(votes, codes.gold[: len(votes)])
        sampler = Sampler(
            people=people, sizes=sizes, data=codes, plan=plan, votes=votes, clear=clear,
            items=items, at_vote=self.at_vote,
        )  # fmt: skip
        if not isinstance(labels, Scan):
            blocked = self._is_blocked(labels.n_labels)
            if self.plain and not blocked:
                return replace(sampler, collapsed=CELLS if self._has_kinds else self.plain)
            # How finely items are cut changes no bit of a result.
            shards = cut(labels, 1 + int(labels.n_labels // LABELS_PER_SHARD) if blocked else 1)
            places = [shards.items_of(k) for k in range(len(shards))]
            if people.rows is not None:
                codes = shards.codes._replace(item_annotator=people.rows)
                shards = replace(shards, codes=codes)
        return replace(sampler, blocks=Blocks(shards, places, people.kinds))

    @property
    def _has_kinds(self) -> bool:
        return self.known_kinds_ is not None

    def _is_blocked(self, n_labels: int) -> bool:
        if self.sampler == "auto" and not self._has_kinds:
            return self.engine is not None or n_labels >= BLOCKED_LABELS
        return self.sampler == "blocked"

    def _options(self, sampler: Sampler) -> Options:
        shards = None if sampler.blocks is None else sampler.blocks.shards
        blocked = shards is not None and self._is_blocked(shards.n_labels)
        settings = {name: getattr(self, name) for name in Options._fields[:7]}
        return Options(
            **settings,
            name=type(self).__name__,
            blocked=blocked or isinstance(shards, Scan),
            after=self.after(sampler.people),
        )

    def _identity(self, labels: Labels) -> dict[str, Any]:
        """Say what a checkpoint must share with this fit, by the names users know."""
        if self.checkpoint is None:
            return {}
        params = {name: one for name, one in self.get_params().items() if name not in ELSEWHERE}
        identity = {
            "data": checksum(labels),
            "model": type(self).__name__,
            "prior": self.resolve_prior(labels).checksum(),
            **{name: to_json(value, or_text=True) for name, value in params.items()},
        }
        if (known := self.known_kinds_) is not None:
            text = repr((known.names, known.codes.tolist()))
            identity["known kinds"] = hashlib.sha256(text.encode()).hexdigest()
        return identity

    def _check(self) -> None:
        super()._check()
        name, kept = type(self).__name__, self.sweeps - self.burn_in
        if kept <= 0:
            why = f"{name} drops {self.burn_in:,} of {self.sweeps:,} sweeps, which leaves nothing"
            remedy = "raise ", Argument("sweeps"), " or lower ", Argument("burn_in")
            raise DataError(why, remedy=remedy)
        if self.thin is not None and self.thin > kept:
            why = f"{name} keeps every {self.thin:,}th of {kept:,} sweeps after burn-in"
            raise DataError(f"{why}, which leaves nothing", remedy=["lower ", Argument("thin")])
        blocked = self.sampler == "blocked"
        if self._has_kinds and (blocked or self.engine is not None):
            raise DataError(
                f"{type(self).__name__} with kinds of items cannot be swept in parts",
                argument="sampler" if blocked else "engine",
                remedy="leave the sampler at 'auto' and name no engine",
            )
        if self.sampler == "collapsed" and self.engine is not None:
            asked = Argument("sampler", "collapsed", of=type(self).__name__)
            why = " moves one item after the other, which no engine can share"
            raise DataError([asked, why], remedy="leave the sampler at 'auto', or name no engine")


class BlockedEstimator(SamplingEstimator):
    """Base of models that can be sampled in blocks, on shards of the items.

    :class:`coterie.IBCC` says what ``sampler`` and ``engine`` are.
    """

    takes: ClassVar[Takes] = Takes(engine=True)
    shards: ClassVar[bool] = True

    sampler: str = setting("auto", check_one_of, SAMPLERS, f"one of {', '.join(SAMPLERS)}")
    engine: Any = None


class NamesOfItems:
    """What items of a scan are called, by their place among all: looked up when asked for."""

    def __init__(self, scan: Scan, places: Sequence[slice]) -> None:
        self._scan, self._stops = scan, [place.stop for place in places]

    def __getitem__(self, wanted: Sequence[int]) -> NDArray[Any]:
        shards = np.searchsorted(self._stops, wanted, side="right").tolist()
        ids = {k: self._scan.items(k) for k in set(shards)}
        pairs = zip(wanted, shards, strict=True)
        return value_array([ids[k][at - (self._stops[k - 1] if k else 0)] for at, k in pairs])


def found_by_place(whole: FoundItems, places: Sequence[slice], k: int) -> FoundItems:
    """Give what was found of a shard's items."""
    place = places[k]
    numbers = {n: ItemNumbers(one.columns, one.values[place]) for n, one in whole.numbers.items()}
    raw = None if whole.raw is None else whole.raw[place]
    return FoundItems(whole.probability[place], raw=raw, numbers=numbers)


def items_of_scan(scan: Scan) -> tuple[Codes, list[slice]]:
    """Give codes of the items of a scan in the order of its shards, and where each of them lies."""
    places, n_labels, gold, end = [], [np.zeros(1, np.int64)], [np.zeros(0, np.int32)], 0
    for k in range(len(scan)):
        shard = opened(scan, k)
        places.append(slice(end, end + len(shard.gold)))
        end += len(shard.gold)
        gold.append(np.array(shard.gold, np.int32))
        n_labels.append(np.diff(shard.item_start))
    start, known = np.concatenate(n_labels).cumsum(), np.concatenate(gold)
    return without_items(scan)._replace(item_start=start, gold=known), places


def checksum(labels: Labels) -> str:
    """Give a checksum of the labels, the gold and the words, however a scan is cut."""
    words = [labels.annotators, labels.answers]
    parts: Iterable[tuple[NDArray[Any], ...]]
    if isinstance(labels, Scan):
        shards = map(labels.open, range(len(labels)))
        parts = ((shard.key, np.diff(shard.item_start), *shard[2:]) for shard in shards)
    else:
        times = () if labels.times is None else (labels.times.time,)
        parts, words = [(*labels.codes[:7], *times)], [labels.items, *words]
    digests: dict[int, Any] = defaultdict(hashlib.sha256)
    for part in parts:
        for k, array in enumerate(part):
            digests[k].update(np.ascontiguousarray(array).tobytes())
    whole = hashlib.sha256(b"".join(digest.digest() for digest in digests.values()))
    for some in words:
        whole.update(repr(some.tolist()).encode())
    return whole.hexdigest()


def news(old: Annotations, new: Annotations) -> float:
    """Give how many labels are new, or of items that have become known, for each old one."""
    known = set(new.gold) - set(old.gold)
    moved = old.labels_per_item[pd.Index(old.items).isin(list(known))].sum()
    return float((new.n_labels - old.n_labels + moved) / max(old.n_labels, 1))


def agree_on_labels(posterior: Posterior) -> bool:
    """Say whether the chains give one label on nearly all items."""
    noted = posterior.run.get("verdicts", {}).get("labels", {})
    return float(noted.get("one_label", 1.0)) >= ONE_LABEL


def going_on(
    last: Sequence[Mapping[str, Array]], old: Annotations, new: Annotations, people: People,
    rows: NDArray[np.int64],
) -> Callable[[int, State], State]:  # fmt: skip
    """Give what starts chains where those of an earlier run ended.

    An old annotator keeps their coterie, a coterie its parameters, and of what everybody has said
    the counts; new annotators join the largest coterie, new items and labels are drawn first of
    all. Chains that move one item after the other keep also the classes of old items, if these
    were known then. ``last`` are the last states of all chains, ``people`` are the model's, for the
    new annotations; ``rows`` says where each row of the counts was then, -1 if it is new.
    """
    items = pd.Index(old.items).get_indexer(pd.Index(new.items))
    place = pd.Index(old.annotators).get_indexer(pd.Index(new.annotators))
    gold = new.codes.gold

    def start(number: int, state: State) -> State:
        then = last[number % len(last)]
        if "truth" in state and "truth" in then:
            had = taken_over(then["truth"], items, np.full(len(items), -1))
            fits = (gold < 0) | (people.space.cell_class[had] == gold)
            fits &= (had >= 0) & (state["truth"] >= 0)
            state["truth"] = np.where(fits, had, state["truth"]).astype(np.int32)
        elif "truth" not in state:
            kept = taken_over(then["said"], rows, np.zeros((len(rows), *then["said"].shape[1:])))
            extra = state["said"].shape[1] - kept.shape[1]  # further answers
            state["said"] = np.pad(kept, ((0, 0), (0, extra), (0, 0))).astype(np.int32)
        if "walk" in state:
            state["walk"] = taken_over(then["walk"], rows, state["walk"])
        if "group" in state:
            # Of pairs of annotators and kinds there are several for each.
            each = len(state["group"]) // max(len(place), 1)
            pairs = (np.repeat(place, each) * each + np.tile(np.arange(each), len(place))).clip(-1)
            group, source = carried_groups(then["group"], pairs, state["group"] >= 0)
            state["group"] = group
            state |= {name: then[name][source] for name in people.of_coteries}
        own = {"truth", "said", "walk", "group", *people.of_coteries}
        for name in state.keys() & then.keys() - own:
            if then[name].shape == state[name].shape:
                state[name] = np.array(then[name])
        return state

    return start


def taken_over(then: Array, place: NDArray[np.int64], fresh: Array) -> Array:
    """Give what was there then, by place; fresh where it is new."""
    result = np.array(fresh)
    result[place >= 0] = then[place[place >= 0]]
    return result


def carried_groups(
    then: Array, place: NDArray[np.int64], seated: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Give everybody's coterie, numbered from 0, and which each of them was.

    Those who are new join the largest; nobody is seated who has no labels.
    """
    had = taken_over(then, place, np.full(len(place), -1))
    sat = had[(had >= 0) & seated]
    largest = int(np.bincount(sat).argmax()) if len(sat) else 0
    group = np.where(had >= 0, had, largest)[seated]
    source, which = np.unique(group, return_inverse=True)
    found = np.full(len(place), -1, np.int32)
    found[seated] = which
    return found, source
