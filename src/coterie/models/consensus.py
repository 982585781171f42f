"""Consensus, the default: hcBCC with hard items and a learnt base, and probabilities to believe."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.abilities import Abilities
from coterie.arguments import check_number, check_one_of
from coterie.data.annotations import Annotations
from coterie.data.codes import Codes
from coterie.errors import Argument, DataError
from coterie.inference.chain import Sampler
from coterie.inference.sample import Afterwards, Averages, Options, Reported
from coterie.inference.shards import Sizes, cores, counted_under
from coterie.inference.verdicts import judge_by_vote
from coterie.io.scan.scanned import Scan
from coterie.kernels.consensus import (
    ConsensusPeople,
    class_weights,
    draw_given_reported,
    mix_members,
)
from coterie.kernels.people import Crowd, People, Streams
from coterie.kernels.vote import Mixing
from coterie.models.blocked import BlockedEstimator
from coterie.models.sharded import votes_in_shards
from coterie.numeric import FloatArray
from coterie.posterior import ItemNumbers, Posterior
from coterie.priors import ConsensusPrior, Prior
from coterie.words.visible import quoted


class Consensus(BlockedEstimator):
    """The default: coteries of annotators, hard items, and calibrated probabilities.

    The model is hcBCC with three changes. The mean matrices of all coteries lie around what their
    members know and what a guess looks like, which is learnt from the data; some items are hard,
    and answered by guesses whoever answers; classes are held near how often they are voted for.
    See :class:`coterie.ConsensusPrior`.

    Reported are not the model's own probabilities, which ``probabilities(raw=True)`` gives, but
    these tempered, because annotators share mistakes, and mixed with the smoothed votes. Every item
    has a ``hardness``: the probability that it is not of the plain kind. What is said of people
    follows what is reported: an accuracy is the share of right labels, with an interval that allows
    for mistakes that everybody shares.

    Chains start at the vote. Of two classes, a chain that agrees with the vote on fewer than half
    of the items is left out; if all chains are, all are kept, with a warning. The run has converged
    if the chains that are kept give one label on at least 95 % of the items.

    Parameters
    ----------
    prior
        ``"default"``, or a :class:`coterie.ConsensusPrior`.
    sampler, engine
        Items are always drawn given everybody's matrix, independently of each other.
        ``"collapsed"``, named as in the other models, has each chain's thread draw all of them;
        ``"blocked"`` cuts them into shards, which the ``engine`` shares out, for the same bits:
        ``"threads"``, ``"dask"``, a ``distributed.Client`` or the address of a scheduler.
        ``"auto"`` takes blocked where an engine is named, for what :func:`coterie.scan` gives, and
        from ten million labels on. See ``docs/scale.md``.
    design_effect
        How alike labels of an item are, beyond their truth: the evidence of n labels counts
        1 / (1 + design_effect (n - 1)). Zero tempers nothing.
    vote_share, skill_share
        Weights of the smoothed votes, (V + 1/T) / (n + 1), and of the tempered skill model of
        :class:`coterie.QuickConsensus` in what is reported; the rest is the model's. See
        ``docs/models.md`` for what the third member is worth.
    matrices
        Confusion matrices given classes drawn from what is reported, ``"reported"``, or the
        model's own, ``"raw"``, which are of labels that are no guesses on hard items. Both are
        compared with the truth in ``docs/people.md``.
    sweeps, burn_in, early_stop, chains, thin, random_state, n_jobs, progress, checkpoint
        and ``duplicates``, as for every sampling model: see
        :class:`coterie.models.SamplingEstimator`. Chains keep the mode that they have found by
        sweep 150 or so: more chains help, more sweeps do not.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> posterior = coterie.Consensus(random_state=0).fit(crowd.annotations).posterior_
    >>> posterior
    <Posterior of Consensus: 50 items, 12 annotators, 3 classes>
    >>> posterior.labels().columns.tolist()
    ['item', 'label', 'probability', 'entropy', 'n_labels', 'runner_up', 'hardness']
    """

    abilities: ClassVar[Abilities] = Abilities(coteries=True, uncertainty=True, share_right=True)
    prior_type: ClassVar[type[Prior]] = ConsensusPrior
    at_vote: ClassVar[bool] = True

    prior: Prior | str = "default"
    design_effect: float = 0.05
    vote_share: float = 1 / 3
    skill_share: float = 0.0
    matrices: str = "reported"
    sweeps: int = 300
    burn_in: int = 100
    early_stop: bool = False

    def people(self, prior: Any, crowd: Crowd, data: Any) -> People:
        """Give what the model believes of annotators."""
        gold = votes_in_shards(data)[1] if isinstance(data, Scan) else data.codes.gold
        free = np.setdiff1d(np.arange(crowd.n_classes), gold)  # known truths cannot move
        return ConsensusPeople(prior, crowd, free, self.matrices == "raw")

    def after(self, people: People) -> Afterwards:
        """Say what becomes of the chains."""
        return Afterwards(
            judge=judge_by_vote,
            report=partial(self._report, people.guessing),
            mixing=self._mixing,
            coterie_densities=True,  # of d, beta and eta
        )

    def _options(self, sampler: Sampler) -> Options:
        options = super()._options(sampler)
        if self.matrices == "raw":
            return options
        matrices = partial(self._draw_matrices, sampler)
        return options._replace(after=replace(options.after, matrices=matrices))

    def _draw_matrices(
        self, sampler: Sampler, draws: NDArray[Any], mean: FloatArray, probability: FloatArray,
        streams: Streams,
    ) -> None:  # fmt: skip
        """Turn shapes into matrices given classes drawn from what is reported."""
        assert sampler.blocks is not None
        assert sampler.sizes is not None
        low, high = streams.draws.integers(2**32, size=2).tolist()
        words, n_threads = (low, high), cores(self.n_jobs)
        counted = counted_under(sampler.blocks, sampler.sizes, probability, words, n_threads)
        heard = np.diff(sampler.data.annotator_start) > 0
        draw_given_reported(draws, mean, heard, counted, streams)

    def _sizes(self, people: People, shards: Any) -> Sizes:
        sizes = super()._sizes(people, shards)
        return replace(sizes, tempered=True, design_effect=float(self.design_effect))

    def _votes_of_scan(self, scan: Scan) -> NDArray[np.int32]:
        return votes_in_shards(scan)[0]

    def _fit_shards(self, scan: Scan) -> Posterior:
        if self.skill_share > 0:
            raise DataError(
                [
                    Argument("skill_share", self.skill_share, of="Consensus"),
                    " looks at all labels in turn, and cannot be fitted to a scan",
                ],
                remedy="leave it at 0, or coterie.read the labels",
            )
        return super()._fit_shards(scan)

    @property
    def _mixing(self) -> Mixing:
        """How what is reported comes from the model's own."""
        return Mixing(
            overlap=float(self.design_effect),
            vote_share=float(self.vote_share),
            skill_share=float(self.skill_share),
        )

    def _report(self, guessing: FloatArray, found: Averages, data: Codes) -> Reported:
        """Mix the tempered probabilities with the votes; how hard items are."""
        kinds = ("plain", *(f"{share:.0%} guessed" for share in guessing[1:]))
        hard = found.kinds[:, 1:].sum(axis=1, keepdims=True)
        return Reported(
            mix_members(found.tempered, found.votes, data, self._mixing),
            {
                "hardness": ItemNumbers(("hardness",), hard),
                "kind": ItemNumbers(kinds, found.kinds),
            },
        )

    def _check(self) -> None:
        super()._check()
        argument = partial(Argument, of="Consensus")
        check_number(
            self.design_effect,
            argument("design_effect"),
            "a number of at least 0",
            lambda x: 0 <= x < float("inf"),
            remedy="0.05 is the default",
        )
        known = ("reported", "raw")
        check_one_of(self.matrices, argument("matrices"), known, "'reported' or 'raw'")
        for name in ("vote_share", "skill_share"):
            check_number(
                getattr(self, name), argument(name), "between 0 and 1", lambda x: 0 <= x <= 1
            )
        if self.vote_share + self.skill_share > 1:
            raise DataError(
                "Consensus(vote_share=..., skill_share=...) must be at most 1 together, got"
                f" {quoted(self.vote_share)} and {quoted(self.skill_share)}: what is left is the "
                "model's",
                argument="vote_share",
            )

    def resolve_prior(self, annotations: Annotations | Scan) -> Prior:
        """Give the prior with every field written out; class weights that are None, from votes."""
        prior = super().resolve_prior(annotations)
        assert isinstance(prior, ConsensusPrior)
        if prior.class_weights is not None:
            return prior
        if isinstance(annotations, Scan):
            votes, gold = votes_in_shards(annotations)
        else:
            votes, gold = annotations.votes, annotations.codes.gold
        weights = class_weights(votes, gold, prior)
        return replace(prior, class_weights=weights)
