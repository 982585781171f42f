"""DynamicIBCC: matrices that change with time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, cast

from coterie.arguments import check_number, check_one_of, check_whole
from coterie.data.annotations import Annotations
from coterie.errors import Argument, DataError
from coterie.inference import Hooks, Kernels, Sampler
from coterie.models.label_switching import judge_in_time, span_of
from coterie.models.sampling import SamplingEstimator
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

    def kernels(self) -> Kernels:
        """Give the module of the kernels."""
        from coterie.kernels.gibbs import dynamic

        return cast(Kernels, dynamic)

    def hooks(self) -> Hooks:
        """Say where the model departs from the others."""
        from coterie.kernels.gibbs.dynamic.model import check_state, layout_of

        return Hooks(layout=layout_of, check=check_state)

    def pack_prior(self, annotations: Annotations) -> Any:
        """Give the prior, and when labels were given."""
        from coterie.kernels.gibbs.dynamic.course import course_of
        from coterie.kernels.gibbs.dynamic.model import pack_prior

        if annotations.times is None:
            raise DataError(
                "DynamicIBCC needs the time of every label",
                remedy=["read the labels with ", Argument("time", "timestamp")],
            )
        prior = self.resolve_prior(annotations)
        assert isinstance(prior, DynamicPrior)
        course = course_of(annotations.times, self.clock, self.unit, self.step_size)
        return pack_prior(prior, course)

    def _sampler(self, annotations: Annotations) -> Sampler:
        """Put together what is sampled; chains are judged by how everybody goes along in time."""
        sampler, times = super()._sampler(annotations), annotations.times
        assert times is not None  # else there is no prior
        judge = partial(judge_in_time, span_of(sampler.prior.course, times.time))
        return replace(sampler, hooks=replace(sampler.hooks, judge=judge))

    def _check(self) -> None:
        super()._check()
        argument = partial(Argument, of="DynamicIBCC")
        check_one_of(self.clock, argument("clock"), CLOCKS, "'labels' or 'time'")
        check_number(self.unit, argument("unit"), "above 0", lambda x: 0 < x < float("inf"))
        check_whole(self.step_size, argument("step_size"), 1)
