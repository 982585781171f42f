"""DynamicIBCC: matrices that change with time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.arguments import check_number, check_one_of, check_whole
from coterie.data.annotations import Annotations
from coterie.data.times import Times
from coterie.errors import Argument, DataError
from coterie.inference.chain import Sampler
from coterie.inference.sample import Options
from coterie.kernels.dynamic import Course, DynamicPeople, course_of
from coterie.kernels.people import Crowd, People
from coterie.models.label_switching import judge_in_time, span_of
from coterie.models.sampling import SamplingEstimator
from coterie.posterior import Posterior
from coterie.priors import DynamicPrior, Prior

CLOCKS = ("labels", "time")


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

    prior_type: ClassVar[type[Prior]] = DynamicPrior
    needs: ClassVar[tuple[str, ...]] = ("time",)

    clock: str = "labels"
    unit: float = 86_400.0
    step_size: int = 1
    sweeps: int = 4_000
    burn_in: int = 1_000

    def people(self, prior: Any, crowd: Crowd, data: Any) -> People:
        """Give what the model believes of annotators: matrices at every moment of theirs."""
        if data.times is None:
            raise DataError(
                "DynamicIBCC needs the time of every label",
                remedy=["read the labels with ", Argument("time", "timestamp")],
            )
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

    def _run(
        self, annotations: Annotations, sampler: Sampler, options: Options, identity: Any
    ) -> Posterior:
        """Sample; chains are judged by how everybody goes along in time."""
        times = annotations.times
        assert times is not None  # else there are no people
        judge = partial(judge_in_time, span_of(self._course(times), times.time))
        options = options._replace(after=replace(options.after, judge=judge))
        return super()._run(annotations, sampler, options, identity)

    def _check(self) -> None:
        super()._check()
        argument = partial(Argument, of="DynamicIBCC")
        check_one_of(self.clock, argument("clock"), CLOCKS, "'labels' or 'time'")
        check_number(self.unit, argument("unit"), "above 0", lambda x: 0 < x < float("inf"))
        check_whole(self.step_size, argument("step_size"), 1)
