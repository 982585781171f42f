"""What the sampling models share: parameters, checks, and the way from kernels to a Posterior."""

from __future__ import annotations

import hashlib
import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.abilities import Abilities, Method
from coterie.arguments import check_whole
from coterie.data.annotations import Annotations
from coterie.data.shards import cut
from coterie.errors import Argument, DataError
from coterie.files.json_values import to_json
from coterie.inference.chain import Sampler, plan_for
from coterie.inference.sample import Afterwards, Options, Sample, sample
from coterie.inference.shards import Blocks, Sizes
from coterie.io.scan.scanned import Scan
from coterie.kernels.people import Crowd, People
from coterie.kernels.vote import clear_votes
from coterie.models.base import Estimator
from coterie.models.priors import resolved
from coterie.models.update import agree_on_labels, going_on, news, run_of_rounds
from coterie.posterior import Posterior
from coterie.priors import Prior

SWEEPS, BURN_IN = 10_000, 3_000
"""Of each chain, as in the paper; Consensus and DynamicIBCC have their own."""
LENGTHS = {"sweeps": (1, 10_000_000), "burn_in": (0, 10_000_000), "chains": (1, 1_000)}
"""The least and the most of each; every sweep is noted, so that more would not fit in memory."""
GOING_ON, LEAST_BURN_IN = 3, 20
"""An update keeps so many times fewer sweeps than a fit; it drops as many fewer, but those at least
and, where much is new, more: as many as a fit where labels have doubled."""
ROUNDS = 4
"""So often chains go on at most, until they give one label on nearly all items."""
ELSEWHERE = ("prior", "n_jobs", "engine", "progress", "checkpoint", "duplicates")
"""Settings that a checkpoint need not share, or shares by what becomes of them."""


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
    at_vote: ClassVar[bool] = False  # start all chains at the vote, and everybody in one coterie

    prior: Prior | str = "paper"
    sweeps: int = SWEEPS
    burn_in: int = BURN_IN
    early_stop: bool = True
    chains: int = 4
    thin: int | None = None
    random_state: int | None = None
    n_jobs: int | None = None
    progress: bool = True
    checkpoint: str | os.PathLike[str] | None = None
    duplicates: str = "error"

    def people(self, prior: Any, crowd: Crowd, data: Any) -> People:
        """Give what the model believes of annotators, and what items are.

        Parameters
        ----------
        prior
            Resolved for the data.
        crowd
            Who there is.
        data
            The annotations, or a scan of them.
        """
        raise NotImplementedError  # pragma: no cover

    def after(self, people: People) -> Afterwards:
        """Say what becomes of the chains; of most models, as of all others."""
        return Afterwards()

    def _fit(self, annotations: Annotations) -> Posterior:
        self._check()
        sampler, identity = self._sampler(annotations), self._identity(annotations)
        return self._run(annotations, sampler, self._options(sampler), identity)

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
        rounds: list[Posterior] = []
        for number in range(ROUNDS):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                rounds.append(self._go_round(sampler, annotations, before, share, number))
            before, share = rounds[-1], 0.0
            if before.run["stopped"] == "interrupted" or agree_on_labels(before):
                break
        for warning in said:  # of where the chains are in the end
            warnings.warn(warning.message, stacklevel=3)
        return replace(before, run=run_of_rounds([one.run for one in rounds]))

    def _go_round(
        self,
        sampler: Sampler,
        annotations: Annotations,
        before: Posterior,
        share: float,
        number: int,
    ) -> Posterior:
        """Let the chains go on once.

        Parameters
        ----------
        sampler, annotations
            What is sampled, and all labels.
        before
            Where the chains ended.
        share
            How much is new.
        number
            Which round it is: each has random numbers of its own.
        """
        last = before.require_draws("chains").last
        dropped = math.ceil(max(share, 1 / GOING_ON) * self.burn_in)
        burn_in = min(max(LEAST_BURN_IN, dropped), self.burn_in)
        sweeps = burn_in + max((self.sweeps - self.burn_in) // GOING_ON, 1)
        thin = None if self.thin is None else min(self.thin, sweeps - burn_in)
        rows = self._rows_then(before.annotations, annotations)
        ended = going_on(last, before.annotations, annotations, sampler.people, rows)
        cells = sampler.people.n_extra
        plan = plan_for(annotations.codes, sweeps, burn_in, thin, more_cells=cells)
        seed = None if self.random_state is None else self.random_state + number
        # A checkpoint is of a whole run.
        options = self._options(sampler)._replace(checkpoint=None, random_state=seed)
        return self._run(annotations, replace(sampler, ended=ended, plan=plan), options, {})

    def _rows_then(self, old: Annotations, new: Annotations) -> NDArray[np.int64]:
        """Give the place of each row of the counts among those then, -1 if it is new."""
        return np.asarray(pd.Index(old.annotators).get_indexer(pd.Index(new.annotators)))

    def _run(
        self,
        annotations: Annotations,
        sampler: Sampler,
        options: Options,
        identity: Mapping[str, Any],
    ) -> Posterior:
        """Sample, and give what was found."""
        run = sample(sampler, options, identity)
        reported, own = run.reported, run.pooled.averages.item_probability
        return Posterior(
            annotations,
            reported.item_probability,
            raw_probability=None if reported.item_probability is own else own,
            item_numbers=reported.item_numbers,
            **self._told(run, sampler, options),
        )

    def _told(self, run: Sample, sampler: Sampler, options: Options) -> dict[str, Any]:
        """Give the fields of a posterior that are not about items."""
        weights = sampler.people.space.class_weight + run.pooled.class_total
        return {
            "class_balance": weights / weights.sum(),
            "confusion_mean": run.pooled.confusion_mean,
            "draws": run.pooled.draws,
            "mixing": options.after.mixing,
            "model": type(self).__name__,
            "method": self._method(options),
            "abilities": self.abilities,
            "converged": run.converged,
            "settings": self.get_params(),
            "run": run.facts,
        }

    def _sampler(self, annotations: Annotations) -> Sampler:
        """Put together what is sampled."""
        codes, prior = annotations.codes, self.resolve_prior(annotations)
        crowd = Crowd(annotations.labels_per_annotator, codes.n_classes, codes.n_answers)
        people, plain = self.people(prior, crowd, annotations), self._collapsed(annotations)
        cells = people.n_extra
        sampler = Sampler(
            people=people,
            data=codes,
            plan=plan_for(codes, self.sweeps, self.burn_in, self.thin, more_cells=cells),
            votes=annotations.votes,
            clear=clear_votes(annotations.votes, codes.gold),
            items=annotations.items,
            collapsed=plain,
            at_vote=self.at_vote,
        )
        return sampler if plain else self._with_blocks(sampler, annotations)

    def _with_blocks(self, sampler: Sampler, annotations: Annotations) -> Sampler:
        """Have the items swept, all of them in one shard or in several."""
        people = sampler.people
        shards = cut(annotations, self._n_shards(annotations))
        places = [shards.items_of(k) for k in range(len(shards))]
        if people.rows is not None:
            codes = shards.codes._replace(item_annotator=people.rows)
            shards = replace(shards, codes=codes)
        blocks = Blocks(shards, places, people.kinds)
        return replace(sampler, blocks=blocks, sizes=self._sizes(people, shards))

    def _sizes(self, people: People, shards: Any) -> Sizes:
        """Say how counts are laid out."""
        return Sizes(
            n_rows=people.n_rows,
            n_classes=shards.n_classes,
            n_answers=shards.n_answers,
            space=people.space,
            guessing=people.guessing,
        )

    def _collapsed(self, annotations: Annotations) -> str:
        """Give which collapsed sampler runs; none does of most models."""
        return ""

    def _n_shards(self, annotations: Annotations) -> int:
        """Give how finely items are cut; that changes no bit of a result."""
        return 1

    def _method(self, options: Options) -> Method:
        """Say how the model was fitted."""
        return self.method

    def _options(self, sampler: Sampler) -> Options:
        return Options(
            self.chains,
            self.random_state,
            self.early_stop,
            self.n_jobs,
            self.progress,
            self.checkpoint,
            type(self).__name__,
            after=self.after(sampler.people),
        )

    def _identity(self, annotations: Any) -> dict[str, Any]:
        """Say what a checkpoint must share with this fit, by the names users know."""
        if self.checkpoint is None:
            return {}
        params = self.get_params().items()
        settings = {name: to_json(value, or_text=True) for name, value in params}
        for name in ELSEWHERE:
            settings.pop(name, None)
        return {
            "data": (checksum_of if isinstance(annotations, Scan) else checksum)(annotations),
            "model": type(self).__name__,
            "prior": self.resolve_prior(annotations).checksum(),
            **settings,
        }

    def _check(self) -> None:
        """Check the lengths of the chains."""
        name = type(self).__name__
        for parameter, (least, most) in LENGTHS.items():
            check_whole(getattr(self, parameter), Argument(parameter, of=name), least, most)
        if self.random_state is not None:
            check_whole(self.random_state, Argument("random_state", of=name), 0)
        if self.n_jobs is not None and self.n_jobs != -1:
            check_whole(self.n_jobs, Argument("n_jobs", of=name), 1)
        if self.burn_in >= self.sweeps:
            raise DataError(
                f"{name} drops {self.burn_in:,} of {self.sweeps:,} sweeps, which leaves nothing",
                remedy=["raise ", Argument("sweeps"), " or lower ", Argument("burn_in")],
            )
        if self.thin is not None:
            check_whole(self.thin, Argument("thin", of=name), 1)
            if self.thin > self.sweeps - self.burn_in:
                raise DataError(
                    f"{name} keeps every {self.thin:,}th of {self.sweeps - self.burn_in:,} sweeps"
                    " after burn-in, which leaves nothing",
                    remedy=["lower ", Argument("thin")],
                )

    def resolve_prior(self, annotations: Any) -> Prior:
        """Give the prior with every field written out for these data."""
        prior: Prior = resolved(self, annotations)
        return prior


def checksum(annotations: Annotations) -> str:
    """Give a checksum of the labels, the gold and the words they stand for."""
    digest = hashlib.sha256()
    for array in annotations.codes[:7]:
        digest.update(np.ascontiguousarray(array).tobytes())
    if annotations.times is not None:
        digest.update(annotations.times.time.tobytes())
    for words in (annotations.items, annotations.annotators, annotations.answers):
        digest.update(repr(words.tolist()).encode())
    return digest.hexdigest()


def checksum_of(scan: Scan) -> str:
    """Give a checksum of the labels, the gold and the words, however they are cut."""
    digests = [hashlib.sha256() for _ in range(5)]
    for k in range(len(scan)):
        key, start, *others = scan.open(k)
        for digest, array in zip(digests, (key, np.diff(start), *others), strict=True):
            digest.update(np.ascontiguousarray(array).tobytes())
    whole = hashlib.sha256(b"".join(digest.digest() for digest in digests))
    for words in (scan.annotators, scan.answers):
        whole.update(repr(words.tolist()).encode())
    return whole.hexdigest()
