"""The paper's models, iBCC, cBCC and hcBCC, and relatives: EBCCGibbs, EasyHardBCC, DynamicIBCC."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from coterie import priors
from coterie.abilities import Abilities, Takes
from coterie.arguments import check_number, check_one_of, check_whole
from coterie.data.annotations import Annotations
from coterie.data.codes import Times
from coterie.errors import Argument, ConvergenceWarning, DataError
from coterie.inference import verdicts
from coterie.inference.chain import CELLS
from coterie.inference.sample import Afterwards, Averages, Reported
from coterie.inference.verdicts import Evidence, Verdict
from coterie.kernels.dynamic import Course, DynamicPeople, course_of
from coterie.kernels.kinds import HARD, EasyHardPeople, KindsPeople, pairs_of
from coterie.kernels.people import Crowd, OwnPeople, People, SharedPeople, SimilarPeople, weight_of
from coterie.kernels.space import of_known_kind, with_kinds, with_subtypes
from coterie.kernels.vote import clear_votes
from coterie.models.base import TrueLabels, certain_kinds, setting
from coterie.models.sampling import BlockedEstimator, SamplingEstimator, sweeps_of
from coterie.models.vb import resolved_by_votes
from coterie.numeric import FloatArray
from coterie.posterior import ItemNumbers
from coterie.posterior.items import HARDNESS, KIND
from coterie.words.numbers import percent

CUTS = 9
"""So many cuts of time, evenly spread over the labels, are looked at."""
FEW = 0.05
"""Share of the items below which a kind of items is too small to say how it is answered."""
MOST_KINDS = 50
SWALLOWED, LEAST_ITEMS = 0.8, 10
"""A kind has so much of a class and so little of the others, of so many items at least."""
MakePeople = Callable[[Any, Crowd], People]


class IBCC(BlockedEstimator):
    """iBCC: every annotator has a confusion matrix of their own.

    Psi[l, t] ~ Dir(strength[t] mean[t]) for every annotator l, tau ~ Dir(class_weights); both are
    integrated out, the truth z is sampled.

    Parameters
    ----------
    kinds
        Number of latent kinds of items: an annotator may be an expert of some and a novice in
        others, and everybody has a matrix, and a coterie, per kind. One is the paper's model.
        Kinds that are known are given to :meth:`fit` instead. ``posterior.kinds()`` says which item
        is of which.
    sampler
        ``"collapsed"`` integrates the matrices out and moves one item after the other;
        ``"blocked"`` draws them, so that items are independent and can be swept in parts. Both have
        the same posterior; blocked sweeps are cheaper and mix more slowly. ``"auto"`` takes blocked
        where there are many labels, or an engine is named. ``posterior.method`` says which ran.
    engine
        Who sweeps the parts of a blocked sampler: ``"threads"``, ``"dask"``, a
        ``distributed.Client`` or the address of a scheduler. It changes the time only, never a bit
        of the result.
    others
        As for every sampling model: see :class:`coterie.models.SamplingEstimator`.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> coterie.IBCC(burn_in=1_000, random_state=0).fit(crowd.annotations).posterior_
    <Posterior of IBCC: 50 items, 12 annotators, 3 classes>
    """

    takes: ClassVar[Takes] = Takes(known_kinds=True, latent_kinds=True, engine=True)
    prior_type: ClassVar[type[priors.Prior]] = priors.IBCCPrior
    plain: ClassVar[str] = "ibcc"
    plain_people: ClassVar[MakePeople] = OwnPeople.of  # of items without kinds
    densities: ClassVar[bool] = False  # of every coterie's parameters, in the log joint

    kinds: int = setting(1, check_whole, 1, MOST_KINDS)

    def fit(
        self, data: Any, true_labels: TrueLabels = None, *, item: Hashable | None = None,
        annotator: Any = None, label: Hashable | None = None, kinds: Any = None, **reading: Any,
    ) -> Self:  # fmt: skip
        """Fit the model.

        Parameters
        ----------
        data, true_labels, item, annotator, label, **reading
            As for every model.
        kinds
            The known kind of every item: a Series or dict, item -> kind, or the name of a column of
            ``data``. Every annotator then has a matrix, and every kind a class balance, of its own.
        """
        columns = {"item": item, "annotator": annotator, "label": label, **reading}
        labels = self._read(data, true_labels, columns, kinds=kinds)
        if kinds is not None and self.kinds != 1:
            asked = Argument("kinds", self.kinds, of=type(self).__name__)
            why = " looks for latent kinds, but fit was given known ones"
            raise DataError([asked, why], remedy="leave it at 1")
        self.posterior_ = self._fit(labels)
        return self

    @property
    def _has_kinds(self) -> bool:
        return self.kinds > 1 or self.known_kinds_ is not None

    def people(self, prior: Any, crowd: Crowd, data: Any) -> People:
        """Give what the model believes of annotators, or of their pairs with kinds."""
        plain_people = type(self).plain_people
        if not self._has_kinds:
            return plain_people(prior, crowd)
        known, weight = self.known_kinds_, np.array(prior.class_weights)
        n_kinds = self.kinds if known is None else len(known.names)
        pairs = plain_people(prior, pairs_of(crowd, n_kinds))
        if known is not None:
            return KindsPeople(crowd, of_known_kind(weight, n_kinds), pairs, known.codes)
        share = np.full(n_kinds, float(prior.kind_weights) / n_kinds)
        return KindsPeople(crowd, with_kinds(weight, share), pairs)

    def after(self, people: People) -> Afterwards:
        """Say what becomes of the chains; kinds are reported by size, the largest first."""
        after, known = Afterwards(coterie_densities=self.densities), self.known_kinds_
        if not self._has_kinds:
            return after

        def report(found: Averages, data: Any) -> Reported:
            if known is not None:
                return Reported(found.item_probability, {KIND: certain_kinds(known)})
            order = np.argsort(-found.kinds.sum(axis=0), kind="stable")
            names = tuple(str(k + 1) for k in range(self.kinds))
            numbers = ItemNumbers(names, found.kinds[:, order])
            return Reported(found.item_probability, {KIND: numbers})

        return replace(after, report=report, align=align_kinds if known is None else None)

    def _judge(self, labels: Annotations) -> Callable[[Evidence], Verdict] | None:
        return partial(judge_kinds, labels) if self.kinds > 1 else None


def align_kinds(reference: NDArray[np.float64], found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Put a chain's latent kinds, shape (items, kinds), in the order that fits the first's."""
    from scipy.optimize import linear_sum_assignment

    _, order = linear_sum_assignment(-(reference.T @ found))
    return np.asarray(found[:, order])


def judge_kinds(a: Annotations, evidence: Evidence) -> Verdict:
    """Judge modes as ever; warn if a latent kind has nearly all items of a class and no other.

    Classes are those known or voted for: where a kind takes the place of a class, the truth does
    not follow the vote any more, and kinds look independent of it.
    """
    verdict, gold = verdicts.judge_modes(evidence), a.codes.gold
    clear = clear_votes(a.votes, gold)
    voted = np.where((gold >= 0) & (a.labels_per_item > 0), gold, -1)
    voted[clear.item] = clear.winner
    found = [swallowed(evidence.kind[k], voted) for k in verdict.kept]
    if chains := [one for one in found if one is not None]:
        t, own, others = max(chains, key=lambda one: one[1] - one[2])
        message = (
            f"in {len(chains)} of {len(found)} chains a kind has taken the place of a class: it"
            f" has {percent(own)} of the items voted {a.classes[t]!r}, and {percent(others)} of"
            " the others; take fewer kinds or a prior that expects more of annotators, or add"
            " gold labels"
        )
        numbers = {"chains": float(len(chains)), "own": own, "others": others}
        warnings.warn(ConvergenceWarning(message, numbers), stacklevel=2)
    return verdict


def swallowed(kind: NDArray[Any], voted: NDArray[Any]) -> tuple[int, float, float] | None:
    """Give the class that a kind has swallowed, and which share of it and of the others it has.

    Where no class of an item is known, ``voted`` is -1.
    """
    known = voted >= 0
    kind, voted = kind[known], voted[known]
    for t in np.unique(voted):
        own, others = kind[voted == t], kind[voted != t]
        if min(len(own), len(others)) < LEAST_ITEMS:
            continue
        for k in np.unique(own):
            share, rest = float(np.mean(own == k)), float(np.mean(others == k))
            if share >= SWALLOWED and rest <= 1 - SWALLOWED:
                return int(t), share, rest
    return None


class CBCC(IBCC):
    """cBCC: annotators of a coterie share one confusion matrix; their number is unknown.

    Coteries ~ CRP(concentration), Psi[m, t] ~ Dir(strength[t] mean[t]) for every coterie m; the
    matrices and tau are integrated out, the truth z, the coteries q and alpha are sampled.

    The parameters are those of :class:`coterie.IBCC`, ``kinds`` and all.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> coterie.CBCC(burn_in=1_000, random_state=0).fit(crowd.annotations).posterior_
    <Posterior of CBCC: 50 items, 12 annotators, 3 classes>
    """

    abilities: ClassVar[Abilities] = Abilities(coteries=True, uncertainty=True)
    prior_type: ClassVar[type[priors.Prior]] = priors.CBCCPrior
    plain: ClassVar[str] = "cbcc"
    plain_people: ClassVar[MakePeople] = SharedPeople


class HCBCC(IBCC):
    """hcBCC: annotators of a coterie are similar, not equal; the number of coteries is unknown.

    Coteries ~ CRP(concentration), Psi[l, t] ~ Dir(beta[m, t] eta[m, t]) for every annotator l of
    coterie m, with beta ~ strength and eta[m, t] ~ Dir(mean_strength[t] mean[t]); the matrices
    and tau are integrated out, all else is sampled.

    The parameters are those of :class:`coterie.IBCC`, ``kinds`` and all.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> coterie.HCBCC(burn_in=1_000, random_state=0).fit(crowd.annotations).posterior_
    <Posterior of HCBCC: 50 items, 12 annotators, 3 classes>
    """

    abilities: ClassVar[Abilities] = Abilities(coteries=True, uncertainty=True)
    prior_type: ClassVar[type[priors.Prior]] = priors.HCBCCPrior
    plain: ClassVar[str] = "hcbcc"
    densities: ClassVar[bool] = True  # of beta and eta
    plain_people: ClassVar[MakePeople] = SimilarPeople


class EBCCGibbs(SamplingEstimator):
    """EBCC by Gibbs sampling: sub-types of classes carry the mistakes that annotators share.

    The model is that of :class:`coterie.EBCC`; everything is sampled, so that intervals are as wide
    as they should be. Chains may end with a sub-type in the wrong class: the verdict names those.

    The parameters are those of every sampling model: see :class:`coterie.models.SamplingEstimator`;
    ``prior`` is ``"paper"``, ``"li2019"`` or an ``EBCCPrior``, as in :class:`coterie.EBCC`.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> prior = coterie.EBCCPrior(subtypes=2)
    >>> coterie.EBCCGibbs(prior=prior, random_state=0).fit(crowd.annotations).posterior_
    <Posterior of EBCCGibbs: 50 items, 12 annotators, 3 classes>
    """

    prior_type: ClassVar[type[priors.Prior]] = priors.EBCCPrior
    plain: ClassVar[str] = CELLS

    def resolve_prior(self, labels: Annotations) -> priors.Prior:
        """Give the prior with every field written out for these data, votes as numbers."""
        return resolved_by_votes(self, labels)

    def people(self, prior: Any, crowd: Crowd, data: Any) -> People:
        """Give what the model believes of annotators: a row of their own for each sub-type."""
        weight = np.array(prior.class_weights, np.float64)
        space = with_subtypes(weight, prior.subtypes, prior.subtype_weight)
        return OwnPeople(crowd, space, weight_of(prior)[:, space.cell_class])


class EasyHardBCC(SamplingEstimator):
    """Easy and hard items: which are hard, and who is good at those?

    Every item is easy or hard. Everybody answers easy items from one matrix, which is nearly always
    right, and hard ones from a matrix of their own. After Kim and Ghahramani's "enhanced" model;
    their priors of the Dirichlets' parameters are left out, as in iBCC they are fixed.

    ``posterior.difficulty()`` says how likely each item is hard, ``draws.extra["hard_accuracy"]``
    how good everybody is at hard items; a confusion matrix is over easy and hard items together.

    The parameters are those of every sampling model: see :class:`coterie.models.SamplingEstimator`.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> model = coterie.EasyHardBCC(burn_in=1_000, random_state=0)
    >>> model.fit(crowd.annotations).posterior_.difficulty().columns.tolist()
    ['item', 'label', 'hardness', 'n_labels']
    """

    prior_type: ClassVar[type[priors.Prior]] = priors.EasyHardPrior
    plain: ClassVar[str] = CELLS

    def people(self, prior: Any, crowd: Crowd, data: Any) -> People:
        """Give what the model believes of annotators."""
        return EasyHardPeople(prior, crowd)

    def after(self, people: People) -> Afterwards:
        """Report how hard items are; look whether the two kinds have changed places."""

        def report(found: Averages, data: Any) -> Reported:
            hard = ItemNumbers((HARDNESS,), found.kinds[:, HARD:])
            return Reported(found.item_probability, {HARDNESS: hard})

        return Afterwards(judge=judge_easy, report=report)


def judge_easy(evidence: Evidence) -> Verdict:
    """Judge modes as ever; warn of chains whose easy items are answered worse than their hard ones.

    Which kind is easy is said by its prior alone: where that is weak, kinds change places.
    """
    verdict, drawn = verdicts.judge_modes(evidence), evidence.drawn
    right = np.diagonal(drawn["easy_confusion"], axis1=1, axis2=2)  # (chains, classes)
    easy = (right * drawn["class_balance"]).sum(axis=1)
    heard = evidence.n_labels > 0
    hard = drawn["hard_accuracy"][:, heard].mean(axis=1) if heard.any() else easy
    share = drawn["hard_share"]
    swapped = (easy < hard) & (share > FEW) & (share < 1 - FEW)
    if kept := [k for k in verdict.kept if swapped[k]]:
        numbers = {"easy": float(easy[kept].mean()), "hard": float(hard[kept].mean())}
        message = (
            f"in {len(kept)} of {len(verdict.kept)} chains items called easy are answered right"
            f" less often ({percent(numbers['easy'])}) than those called hard"
            f" ({percent(numbers['hard'])}): the two kinds have changed places, and hardness"
            " cannot be trusted; raise easy_strength of EasyHardPrior"
        )
        warnings.warn(ConvergenceWarning(message, numbers), stacklevel=2)
    return verdict


class DynamicIBCC(SamplingEstimator):
    """Who has learnt, tired or turned, and when? iBCC whose matrices walk at random.

    It needs the time of every label: ``coterie.read(..., time="timestamp")``. After Simpson and
    others' DynIBCC (2013), as an exact Gibbs sampler: rows of a matrix break sticks whose logits
    walk, by Polya-Gamma variables. ``posterior.drift()`` has a row per annotator, likeliest to have
    changed first, ``posterior.trajectory(annotator)`` their accuracy in time.

    Parameters
    ----------
    clock
        A step of the walk is a label done, ``"labels"``, or ``unit`` of time, ``"time"``.
    unit
        What time is divided by: seconds of a day, for dates.
    step_size
        Moments that share a state, at least one; equal times always do.
    others
        As for every sampling model: see :class:`coterie.models.SamplingEstimator`.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("drifting", items=60, annotators=6, classes=2, random_state=0)
    >>> model = coterie.DynamicIBCC(sweeps=200, burn_in=100, chains=2, random_state=0)
    >>> model.fit(crowd.annotations).posterior_.drift().columns.tolist()
    ['annotator', 'n_labels', 'changed', 'static', 'after', 'when', 'first', 'first_low',
    'first_high', 'last', 'last_low', 'last_high']
    """

    prior_type: ClassVar[type[priors.Prior]] = priors.DynamicPrior
    needs: ClassVar[tuple[str, ...]] = ("time",)

    clock: str = setting("labels", check_one_of, ("labels", "time"), "'labels' or 'time'")
    unit: float = setting(86_400.0, check_number, "above 0", lambda x: 0 < x < float("inf"))
    step_size: int = setting(1, check_whole, 1)
    sweeps: int = sweeps_of(4_000, least=1)
    burn_in: int = sweeps_of(1_000, least=0)

    def people(self, prior: Any, crowd: Crowd, data: Any) -> People:
        """Give what the model believes of annotators: matrices at every moment of theirs."""
        if data.times is None:
            remedy = "read the labels with ", Argument("time", "timestamp")
            raise DataError("DynamicIBCC needs the time of every label", remedy=remedy)
        return DynamicPeople(prior, crowd, self._course(data.times))

    def _course(self, times: Times) -> Course:
        return course_of(times, self.clock, self.unit, self.step_size)

    def _rows_then(self, old: Annotations, new: Annotations) -> NDArray[np.int64]:
        """Take an annotator's moments, in their order, for those that they had then."""
        assert old.times is not None  # else there were no people
        assert new.times is not None
        place = super()._rows_then(old, new)
        then, now = (self._course(times).moment_start for times in (old.times, new.times))
        who = np.repeat(np.arange(len(place)), np.diff(now))
        turn = np.arange(now[-1]) - now[who]
        had = (place[who] >= 0) & (turn < np.diff(then)[place[who]])
        return np.where(had, then[place[who]] + turn, -1)

    def _judge(self, labels: Annotations) -> Callable[[Evidence], Verdict]:
        """Chains are judged by how everybody goes along in time."""
        assert labels.times is not None  # else there are no people
        course, time = self._course(labels.times), labels.times.time
        n = np.diff(course.moment_start)
        first = np.searchsorted(course.moment, np.arange(n.sum()))
        span = Span(np.repeat(np.arange(len(n)), n), time[first], course.n_labels)
        return partial(judge_in_time, span)


class Span(NamedTuple):
    """Every moment of labels, those of an annotator together."""

    annotator: NDArray[Any]  # (moments,)
    time: FloatArray  # (moments,)
    n_labels: FloatArray  # (moments,)


def judge_in_time(span: Span, evidence: Evidence) -> Verdict:
    """Leave out mirrored chains, for all time or from some time on; if all are, keep all and warn.

    The log joint of DynamicIBCC holds no density of the walks, and so not what tells mirrored
    classes apart: nobody is poorer by it, and the vote decides. A chain that turns half-way agrees
    with half of it, but everybody in it turns at once.
    """
    ended = verdicts.modes_of(evidence.log_joint, evidence.vote_agreement)
    turns = [turn(course, span) for course in evidence.drawn["accuracy_at"]]
    turned = set()  # in which the accuracy of all crosses 1/2, and more than halves or doubles
    for k, (low, high) in enumerate(map(sorted, turns)):
        if low < 1 / 2 < high and low < verdicts.MIRRORED * high:
            turned.add(k)
    closest = max(ended, key=lambda mode: mode.vote_agreement)
    odd = turned | {mode.chain for mode in ended if verdicts.is_mirrored(mode, closest)}
    if evidence.vote_agreement.shape[1] < verdicts.LEAST_DRAWS or len(odd) == len(ended):
        odd = set()
    kept = [mode.chain for mode in ended if mode.chain not in odd]
    rival = ended[max(kept, key=lambda k: ended[k].vote_agreement)]
    if both := [turns[k] for k in kept if k in turned]:
        before, after = np.mean(both, axis=0)
        message = (
            f"at some time annotators all turn at once, from {percent(before)} right to "
            f"{percent(after)}: more likely than that, the classes change places there; add "
            "gold labels, early and late, or run more chains"
        )
        numbers = {"before": float(before), "after": float(after)}
        warnings.warn(ConvergenceWarning(message, numbers), stacklevel=2)
    return Verdict(ended, kept, dict.fromkeys(sorted(odd), "mirrored"), dict.fromkeys(odd, rival))


def turn(accuracy: FloatArray, span: Span) -> tuple[float, float]:
    """Give the mean accuracy before and after the time at which it differs most.

    Over those who have labels before it and after it, if these are half of all at least: others
    would change the mean by coming and going.
    """
    best = (0.0, 0.0)
    n = int(span.annotator.max(initial=-1)) + 1
    least = max(2.0, len(np.unique(span.annotator)) / 2)
    for at in np.unique(np.quantile(span.time, np.arange(1, CUTS + 1) / (CUTS + 1))):
        late = 2 * span.annotator + (span.time >= at)
        labels = np.bincount(late, span.n_labels, 2 * n).reshape(n, 2)
        right = np.bincount(late, span.n_labels * accuracy, 2 * n).reshape(n, 2)
        both = (labels > 0).all(axis=1)
        if both.sum() >= least:
            before, after = (right[both] / labels[both]).mean(axis=0).tolist()
            best = max(best, (before, after), key=lambda sides: abs(sides[0] - sides[1]))
    return best
