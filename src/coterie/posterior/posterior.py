"""Posterior: the one result object. Everything downstream reads only this."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.abilities import POINT, Abilities, Method
from coterie.arguments import checked_methods
from coterie.data import truth_for
from coterie.data.annotations import Annotations
from coterie.data.frames import table
from coterie.diagnostics import diagnose
from coterie.errors import CoterieError, DataError
from coterie.kernels.vote import AS_FOUND, Mixing
from coterie.metrics import Score, score
from coterie.metrics.calibration import BINS
from coterie.metrics.matching import Ties
from coterie.metrics.scorer import FLOOR
from coterie.partition import PointPartition
from coterie.posterior.communities import community_table
from coterie.posterior.computed_once import once
from coterie.posterior.confusion import annotator_confusion, check_quantile, coterie_confusion
from coterie.posterior.coteries import Loss, cooccurrence_table, coterie_table, partition_of
from coterie.posterior.dependence import Together
from coterie.posterior.draws import Draws
from coterie.posterior.items import ItemNumbers, item_table, label_table
from coterie.posterior.optional_tables import MoreTables
from coterie.posterior.outputs import Outputs
from coterie.posterior.people import annotator_roles, annotator_table
from coterie.posterior.required import Requirements
from coterie.posterior.verdicts import Verdicts, reading_table, verdicts_of
from coterie.roles import Roles
from coterie.words.names import as_html
from coterie.words.visible import visible

FloatArray = NDArray[np.float64]


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Posterior(MoreTables, Outputs, Requirements, Together):
    """What a model knows after seeing the annotations.

    Its tables are those of pandas; every method that gives one takes ``to="polars"`` or
    ``to="pyarrow"``, which have the index as columns.

    Parameters
    ----------
    annotations
        The data the model was fitted to.
    item_probability
        Probability of each class for each item, shape (items, classes).
    class_balance
        Proportion of each class, shape (classes,).
    confusion_mean
        Each annotator's confusion matrix, rows the true class, columns the given answer, rows
        summing to one, shape (annotators, classes, answers).
    label
        The chosen class of each item, shape (items,); by default the most probable one, the
        lowest if several are.
    draws
        What a sampler kept; None for a point estimate, which has no intervals.
    model, settings
        The name and the parameters of the model.
    method, abilities
        How the model was fitted, and what it can do: everybody asks these, nobody the name.
    converged
        Whether the labels may be trusted to be what they would be after more work. A sampler's:
        the chains that are kept give one label on at least 95 % of the items (of a single chain,
        R-hat and effective sample size of all that it watches are within limits). An iteration's:
        whether it reached its tolerance. A count always has converged.
    raw_probability
        The model's own item probabilities, shape (items, classes), where it reports others.
    mixing
        How the model reports: what its own probabilities are mixed with, and how far they are
        tempered.
    item_numbers
        Further numbers per item, by name.
    run
        Facts of the run, such as how it stopped.
    groups
        One grouping of the annotators where there are no draws of partitions, such as
        :meth:`by_community` gives; tables of coteries are then of that.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "yes"), ("q1", "cat", "no")]
    >>> rows += [("q2", "ann", "no")]
    >>> posterior = coterie.MajorityVote(probabilities="shares").fit(rows).posterior_
    >>> posterior
    <Posterior of MajorityVote: 2 items, 3 annotators, 2 classes>
    >>> posterior.labels()
      item label  probability   entropy  n_labels runner_up
    0   q1   yes     0.666667  0.636514         3        no
    1   q2    no     1.000000  0.000000         1       yes
    """

    annotations: Annotations
    item_probability: FloatArray
    class_balance: FloatArray
    confusion_mean: FloatArray
    label: NDArray[np.int64] | None = None
    draws: Draws | None = None
    model: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)
    method: Method = "count"
    abilities: Abilities = POINT
    converged: bool = True
    raw_probability: FloatArray | None = None
    mixing: Mixing = AS_FOUND
    item_numbers: Mapping[str, ItemNumbers] = field(default_factory=dict)
    groups: PointPartition | None = None
    _computed: dict[tuple[Any, ...], Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        drawn = self.draws is not None
        grouped = self.draws is not None and self.draws.partition is not None
        if self.abilities.uncertainty != drawn or self.abilities.coteries != grouped:
            raise DataError(
                f"{self.model or 'the model'} has draws: {drawn}, with partitions: {grouped}, but "
                f"declares {self.abilities}; declare uncertainty if there are draws, and coteries "
                "if they have partitions"
            )

    def __repr__(self) -> str:
        a = self.annotations
        sizes = f"{a.n_items:,} items, {a.n_annotators:,} annotators, {a.n_classes} classes"
        return f"<Posterior of {visible(self.model)}: {sizes}>"

    def _repr_html_(self) -> str:
        found = [self.verdicts.labels, self.verdicts.coteries]
        sentences = [verdict.sentence for verdict in found if verdict is not None]
        tables = [self.labels(), self.annotators()]
        tables += [self.coteries()] if self.abilities.coteries else []
        return as_html(repr(self), tables, sentences)

    @property
    def verdicts(self) -> Verdicts:
        """What may be trusted: ``verdicts.labels`` and ``verdicts.coteries``.

        Each says whether it is ``settled``, in a ``sentence`` and in ``numbers``. Labels are
        settled if the chains that are kept give one label on at least 95 % of the items; coteries
        if the chains agree, to 10 % on average over pairs, on who belongs with whom.
        """
        return verdicts_of(self)

    @table
    def readings(self) -> pd.DataFrame | None:
        """Two readings of the labels side by side, where chains split between two; else None.

        Both are of chains that no rule leaves out, so that nothing in the labels says which holds;
        what is reported is pooled over both. One row per item that would decide: both readings are
        sure of different labels, and gold of such items settles it. The surest come first, 20 at
        most. Columns: item, then of each reading the label and its probability.
        """
        return reading_table(self)

    @property
    def label_code(self) -> NDArray[np.int64]:
        """The chosen class of each item as a code, shape (items,)."""
        return self.item_probability.argmax(axis=1) if self.label is None else self.label

    @table
    @once
    def labels(self) -> pd.DataFrame:
        """One row per item: item, label, its probability, the entropy (in nats), and more.

        n_labels is the number of labels that the item has; runner_up the next most probable class
        (missing where there is only one). Numbers of the model's own, such as hardness, come last.
        """
        return label_table(self)

    @table
    def probabilities(self, *, raw: bool = False) -> pd.DataFrame:
        """Probability of each class: index item, one column per class.

        Parameters
        ----------
        raw
            The model's own, where what it reports was calibrated afterwards.
        """
        a = self.annotations
        own = self.item_probability if self.raw_probability is None else self.raw_probability
        return pd.DataFrame(
            own if raw else self.item_probability,
            index=pd.Index(a.items, name="item"),
            columns=pd.Index(a.classes, name="label"),
        )

    @table
    def item_table(self, name: str) -> pd.DataFrame:
        """Further numbers per item, such as the probabilities of its kinds: index item.

        Parameters
        ----------
        name
            Which numbers, of those in ``item_numbers``.
        """
        return item_table(self, name)

    def score(
        self, truth: Any, *, ties: Ties = "shared", floor: float = FLOOR, bins: int = BINS
    ) -> Score:
        """Score the result against labels that no model has seen.

        Items whose label was given (gold) are left out, and so are items without a truth and
        truths of items that are not in the data; the result counts them. A true label that is
        not among the classes, because nobody gave it, is a miss, and counted too.

        Parameters
        ----------
        truth
            Series or dict, item -> label, or a dataframe of items and labels; blanks are unknown.
            :func:`coterie.io.read_truth` reads a file. '7' and 7 are the same item.
        ties
            ``"shared"``: k equally probable classes count 1/k each, as if one were drawn.
            ``"lowest"``: only the first of them in class order counts, as in the paper's tables.
        floor
            The log loss counts smaller probabilities of the truth as this one.
        bins
            Bins of the calibration table.

        Examples
        --------
        >>> import coterie
        >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no")]
        >>> posterior = coterie.MajorityVote(probabilities="shares").fit(rows).posterior_
        >>> posterior.score({"q1": "yes", "q2": "no"})
        <Score of 2 items: accuracy 0.750 (ties shared), balanced 0.750, log loss 0.347 (floor
        0.0001), Brier 0.250, calibration error 0.000>
        """
        known, gold = truth_for(self.annotations, truth), self.annotations.gold
        return score(self.probabilities(), known, ties=ties, floor=floor, bins=bins, gold=gold)

    @table
    @once
    def annotators(self, k: int | None = None, *, loss: Loss = "vi") -> pd.DataFrame:
        """One row per annotator: annotator, n_labels, accuracy, informativeness, and more.

        Accuracy is sum over t of tau[t] Psi[t,t]: the chance of answering the truth on this
        crowd's items. A sampler adds its 95 % interval, accuracy_low and accuracy_high, and last
        the role with its probability (docs/roles.md). Models with coteries add coterie and
        membership: with what probability in a draw the annotator sits with another of its
        coterie. An annotator without labels has neither.

        Parameters
        ----------
        k, loss
            Which coteries, as for :meth:`coteries`.
        """
        grouped = self.abilities.coteries or self.groups is not None
        return annotator_table(self, self.partition(k, loss=loss) if grouped else None)

    @table
    def coteries(self, k: int | None = None, *, loss: Loss = "vi") -> pd.DataFrame:
        """One row per coterie, the largest first: who they are and how they answer.

        Columns: coterie (1 is the largest), size, share (of the annotators), label_share (of the
        labels), role, role_probability, accuracy, accuracy_low, accuracy_high, informativeness,
        and spread: how much the members differ from each other (0: not at all; at most 1).

        The coteries are the one partition of the annotators that is closest, on average over the
        draws, to what the sampler saw; ``.attrs["expected_loss"]`` is that average distance.

        Parameters
        ----------
        k
            Number of coteries; by default the data decide.
        loss
            Distance of partitions: "vi", the variation of information in nats, or "binder", the
            share of pairs that one joins and the other keeps apart.
        """
        return self._coteries(k, loss)[0].copy()

    @once
    def _coteries(self, k: int | None, loss: Loss) -> tuple[pd.DataFrame, Roles | None]:
        return coterie_table(self, self.partition(k, loss=loss))

    @once
    def roles(self) -> Roles:
        """Give the role of each annotator, as data: what :meth:`annotators` says in words.

        Each has a ``pattern``, the labels that it is ``about``, and a ``kind``: good, weak, noise,
        against or unknown (docs/roles.md).
        """
        return annotator_roles(self)

    def coterie_roles(self, k: int | None = None, *, loss: Loss = "vi") -> Roles:
        """Give the role of each coterie, as data: what :meth:`coteries` says in words."""
        return self.require_roles(self._coteries(k, loss)[1])

    @once
    def partition(self, k: int | None = None, *, loss: Loss = "vi") -> PointPartition:
        """One partition of the annotators from many draws, as arrays: see :meth:`coteries`."""
        return partition_of(self, k, loss)

    @table
    def confusion(
        self,
        annotator: Hashable | None = None,
        *,
        coterie: int | None = None,
        k: int | None = None,
        loss: Loss = "vi",
        quantile: float | None = None,
    ) -> pd.DataFrame:
        """Confusion matrix: true class (rows, summing to one) by given answer (columns).

        Parameters
        ----------
        annotator
            Whose matrix; by default everybody's, with the annotator as first index level.
        coterie
            Or the matrix of this coterie (1 is the largest): the mean of its members'.
        k, loss
            Of which coteries, as for :meth:`coteries`.
        quantile
            A quantile of the posterior, cell by cell, instead of its mean: 0.025 and 0.975 bound
            the 95 % interval. Samplers only.
        """
        check_quantile(quantile)
        if coterie is None:
            return annotator_confusion(self, annotator, quantile)
        if annotator is not None:
            raise CoterieError(
                "confusion takes an annotator or a coterie, not both", argument="coterie"
            )
        return coterie_confusion(self, coterie, self.partition(k, loss=loss), quantile)

    @table
    def communities(
        self, *, least: int = 1, restarts: int = 10, random_state: int = 0
    ) -> pd.DataFrame:
        """Group annotators after the fact by how alike their matrices are: any result has these.

        One row per annotator: annotator, n_labels, community (1 is the largest) and membership,
        the share that the annotator has in it. The Hellinger distances of the mean matrices' rows
        become similarities, and those are factorised (after Simpson and others, 2011): communities
        that are not needed empty themselves. It knows nothing of how sure the matrices are, so
        that annotators with few labels look like the prior and each other, and it never changes a
        label; coteries, found while fitting, do. It may well find one community where
        :meth:`coteries` finds several. ``.attrs["objective"]`` is what restarts are compared by.

        Parameters
        ----------
        least
            Annotators with fewer labels get no community.
        restarts
            Random starts, each of up to 2,000 rounds over all pairs; the best objective is kept.
        random_state
            Seed of the starts.

        Examples
        --------
        >>> import coterie
        >>> crowd = coterie.simulate("mixed", items=40, annotators=6, random_state=1)
        >>> found = coterie.DawidSkene().fit(crowd.annotations).posterior_.communities()
        >>> list(found.columns)
        ['annotator', 'n_labels', 'community', 'membership']
        """
        return community_table(self, least, restarts, random_state)

    @table
    def cooccurrence(self, annotators: Sequence[Hashable] | None = None) -> pd.DataFrame:
        """Probability that two annotators share a coterie, counted over the kept partitions.

        Parameters
        ----------
        annotators
            Whom to compare; by default everybody, up to 20,000.
        """
        return cooccurrence_table(self, annotators)

    @property
    def n_coteries(self) -> NDArray[np.int64]:
        """Number of coteries in each draw, shape (chains, draws)."""
        counts = self.require_partitions().n_coteries
        assert counts is not None  # a model with coteries counts them
        return counts

    @table
    @once
    def diagnostics(self) -> pd.DataFrame:
        """One row per watched quantity: quantity, mean, sd, mcse, ess_bulk, ess_tail, r_hat.

        R-hat is NaN for a quantity that never moves and is the same in all chains, which counts as
        converged, and infinite if it never moves and differs. With one chain it compares the
        chain's halves: that chains from different starts agree is then not tested.
        """
        return diagnose(self.require_chains("diagnostics").trace)
