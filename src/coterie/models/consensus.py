"""Consensus, the default: hcBCC with hard items and a learnt base, and probabilities to believe."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coterie.abilities import Abilities
from coterie.arguments import check_number, check_one_of
from coterie.data.codes import Codes, codes_of, count_votes
from coterie.errors import Argument, DataError
from coterie.inference.chain import Sampler
from coterie.inference.sample import Afterwards, Averages, Options, Reported
from coterie.inference.shards import cores, counted_under
from coterie.inference.verdicts import judge_by_vote
from coterie.io.scan.scanned import Scan
from coterie.kernels import consensus as kernel
from coterie.kernels.people import Crowd, People, Streams
from coterie.kernels.vote import Mixing
from coterie.models.base import Labels, setting
from coterie.models.sampling import BlockedEstimator, sweeps_of
from coterie.numeric import FloatArray
from coterie.posterior import ItemNumbers, Posterior
from coterie.posterior.items import HARDNESS, KIND
from coterie.priors import ConsensusPrior, Prior
from coterie.words.visible import quoted

AT_LEAST_0 = (check_number, "a number of at least 0", lambda x: 0 <= x < float("inf"))
A_SHARE = (check_number, "between 0 and 1", lambda x: 0 <= x <= 1)


def votes_and_gold(labels: Labels) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Give the votes and the known classes of all items, of a scan by shards."""
    if not isinstance(labels, Scan):
        return labels.votes, labels.codes.gold
    shards = [labels.open(k) for k in range(len(labels))]
    codes = [codes_of(shard, labels.n_classes, labels.n_answers) for shard in shards]
    votes = [np.zeros((0, labels.n_classes), np.int32), *map(count_votes, codes)]
    return np.concatenate(votes), np.concatenate([np.zeros(0, np.int32), *(c.gold for c in codes)])


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
    design_effect: float = setting(0.05, *AT_LEAST_0, "0.05 is the default")
    vote_share: float = setting(1 / 3, *A_SHARE)
    skill_share: float = setting(0.0, *A_SHARE)
    matrices: str = setting("reported", check_one_of, ("reported", "raw"), "'reported' or 'raw'")
    sweeps: int = sweeps_of(300, least=1)
    burn_in: int = sweeps_of(100, least=0)
    early_stop: bool = False

    def people(self, prior: Any, crowd: Crowd, data: Any) -> People:
        """Give what the model believes of annotators."""
        free = np.setdiff1d(np.arange(crowd.n_classes), votes_and_gold(data)[1])  # others are known
        return kernel.ConsensusPeople(prior, crowd, free, self.matrices == "raw")

    def after(self, people: People) -> Afterwards:
        """Say what becomes of the chains: reported is what is tempered, mixed with the votes."""
        mixing = Mixing(
            overlap=float(self.design_effect),
            vote_share=float(self.vote_share),
            skill_share=float(self.skill_share),
        )
        kinds = ("plain", *(f"{share:.0%} guessed" for share in people.guessing[1:]))

        def report(found: Averages, data: Codes) -> Reported:
            hard = found.kinds[:, 1:].sum(axis=1, keepdims=True)
            numbers = {
                HARDNESS: ItemNumbers((HARDNESS,), hard),
                KIND: ItemNumbers(kinds, found.kinds),
            }
            return Reported(kernel.mix_members(found.tempered, found.votes, data, mixing), numbers)

        # The densities are of d, beta and eta.
        return Afterwards(judge_by_vote, report=report, mixing=mixing, coterie_densities=True)

    def _options(self, sampler: Sampler) -> Options:
        options = super()._options(sampler)
        if self.matrices == "raw":
            return options
        blocks, sizes = sampler.blocks, sampler.sizes
        assert blocks is not None
        n_threads = cores(self.n_jobs)
        heard = np.diff(sampler.data.annotator_start) > 0

        def matrices(draws: Any, mean: FloatArray, reported: FloatArray, streams: Streams) -> None:
            low, high = streams.draws.integers(2**32, size=2).tolist()
            counted = counted_under(blocks, sizes, reported, (low, high), n_threads)
            kernel.draw_given_reported(draws, mean, heard, counted, streams)

        return options._replace(after=replace(options.after, matrices=matrices))

    def _fit(self, labels: Labels) -> Posterior:
        if isinstance(labels, Scan) and self.skill_share > 0:
            asked = Argument("skill_share", self.skill_share, of="Consensus")
            why = " looks at all labels in turn, and cannot be fitted to a scan"
            raise DataError([asked, why], remedy="leave it at 0, or coterie.read the labels")
        return super()._fit(labels)

    def _sampler(self, labels: Labels) -> Sampler:
        sampler = super()._sampler(labels)
        sizes = replace(sampler.sizes, tempered=True, design_effect=float(self.design_effect))
        return replace(sampler, votes=votes_and_gold(labels)[0], sizes=sizes)

    def _check(self) -> None:
        super()._check()
        if self.vote_share + self.skill_share > 1:
            both = f"{quoted(self.vote_share)} and {quoted(self.skill_share)}"
            raise DataError(
                "Consensus(vote_share=..., skill_share=...) must be at most 1 together, got"
                f" {both}: what is left is the model's",
                argument="vote_share",
            )

    def resolve_prior(self, labels: Labels) -> Prior:
        """Give the prior with every field written out; class weights that are None, from votes."""
        prior = super().resolve_prior(labels)
        assert isinstance(prior, ConsensusPrior)
        if prior.class_weights is not None:
            return prior
        return replace(prior, class_weights=kernel.class_weights(*votes_and_gold(labels), prior))
