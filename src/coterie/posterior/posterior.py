"""Posterior: the one result object. Everything downstream reads only this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.abilities import POINT, SAMPLED, Abilities, Method
from coterie.arguments import checked_methods
from coterie.data import truth_for
from coterie.data.annotations import Annotations
from coterie.data.frames import table
from coterie.diagnostics import diagnose
from coterie.errors import CoterieError, DataError
from coterie.kernels.right import Right, right_labels
from coterie.kernels.vote import AS_FOUND, Mixing
from coterie.metrics import Score, score
from coterie.metrics.matching import Ties
from coterie.metrics.scorer import FLOOR
from coterie.metrics.scores import BINS
from coterie.partition import PointPartition
from coterie.posterior import dependence as pairs
from coterie.posterior import drift as change
from coterie.posterior import items, people
from coterie.posterior import predict as unseen
from coterie.posterior import verdicts as trust
from coterie.posterior.draws import Draws, ItemNumbers, datatree, once
from coterie.posterior.people import Loss
from coterie.roles import Roles
from coterie.words.names import as_html
from coterie.words.visible import visible

if TYPE_CHECKING:
    from coterie.plots import Plots

FloatArray = NDArray[np.float64]


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
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

    labels = items.labels
    probabilities = items.probabilities
    item_table = items.item_table
    difficulty = items.difficulty
    kinds = items.kinds
    annotators = people.annotators
    roles = people.roles
    partition = people.partition
    confusion = people.confusion
    cooccurrence = people.cooccurrence
    communities = people.communities
    dependence = pairs.dependence
    drift = change.drift
    trajectory = change.trajectory
    predict = unseen.predict
    readings = trust.readings

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
    def verdicts(self) -> trust.Verdicts:
        """What may be trusted: ``verdicts.labels`` and ``verdicts.coteries``.

        Each says whether it is ``settled``, in a ``sentence`` and in ``numbers``. Labels are
        settled if the chains that are kept give one label on at least 95 % of the items; coteries
        if the chains agree, to 10 % on average over pairs, on who belongs with whom.
        """
        return trust.verdicts_of(self)

    @property
    def label_code(self) -> NDArray[np.int64]:
        """The chosen class of each item as a code, shape (items,)."""
        return self.item_probability.argmax(axis=1) if self.label is None else self.label

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
        return people.coterie_table(self, self.partition(k, loss=loss))

    def coterie_roles(self, k: int | None = None, *, loss: Loss = "vi") -> Roles:
        """Give the role of each coterie, as data: what :meth:`coteries` says in words."""
        roles = self._coteries(k, loss)[1]
        if roles is None:  # of a point estimate
            self.require_draws("roles")
        return cast(Roles, roles)

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

    @property
    def item_names(self) -> Any:
        """What items are called, by their place among those of the run."""
        return self.annotations.items

    @once
    def right_labels(self) -> Right:
        """Give how many of everybody's labels are right under what is reported of their items."""
        codes, probability = self.annotations.codes, self.item_probability
        return right_labels(lambda: [(codes, probability)], np.diff(codes.annotator_start))

    def by_community(
        self, *, least: int = 1, restarts: int = 10, random_state: int = 0
    ) -> Posterior:
        """Give the same result with :meth:`communities` in the place of coteries.

        ``coteries()``, ``confusion(coterie=1)``, ``annotators()`` and the report are then of the
        communities. For results whose model finds no coteries; the parameters are those of
        :meth:`communities`.

        Examples
        --------
        >>> import coterie
        >>> crowd = coterie.simulate("mixed", items=40, annotators=6, random_state=1)
        >>> posterior = coterie.DawidSkene().fit(crowd.annotations).posterior_
        >>> posterior.by_community().coteries()["size"].sum()
        np.int64(6)
        """
        if self.abilities.coteries:
            raise CoterieError(
                f"{self.model} finds coteries while it fits; ask for coteries(), or for"
                " communities() to compare with"
            )
        return replace(self, groups=people.community_partition(self, least, restarts, random_state))

    def to_arviz(self) -> Any:
        """Give the draws as an ArviZ DataTree (needs arviz-base, the extra ``arviz``).

        Group ``posterior`` holds confusion, class_balance, partition, n_coteries and concentration
        at the kept draws, with dimensions chain, draw, annotator, true and answer; group
        ``sample_stats`` the watched quantities at every sweep after burn-in.
        """
        return datatree(self, self.require_draws("draws"))

    def compact(self) -> Posterior:
        """Give the same result with less to keep: what ``coterie aggregate`` saves.

        Of the draws of matrices at most 500 stay, of all chains together (fewer, but at least 100,
        of crowds whose matrices would take more than 16 MB), evenly spaced and in half precision,
        three digits. Quantiles of matrices, and with them intervals and probabilities of roles,
        change in their last digits. Everything else stays: labels, probabilities, mean matrices,
        partitions, traces, and where each chain ended.
        """
        return self if self.draws is None else replace(self, draws=self.draws.compact())

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one file, which :func:`coterie.load` reads.

        A file of that name is replaced, and only once the new one is whole. Ids keep their types.
        Settings that a file cannot keep (a generator, a callback) come back as text.
        """
        from coterie.posterior.store import save

        save(self, path)

    def report(
        self,
        path: str | PathLike[str],
        *,
        truth: Any = None,
        title: str | None = None,
        text: Any = None,
        image: Any = None,
        budget: float | None = None,
    ) -> None:
        """Write a report to pass around: one self-contained HTML file.

        Parameters
        ----------
        path
            Where to; a file of that name is replaced.
        truth
            Known labels (Series or dict, item -> label) that only score the result.
        title
            Heading of the page.
        text, image
            What items say and look like (Series or dict, item -> text; item -> a local file, which
            is embedded small, or an address, which is linked).
        budget
            Labels that can be asked for: the page then says what to do next (docs/decisions.md).
        """
        from coterie.report import Shown, write

        write(self, path, truth=truth, title=title, shown=Shown(text, image, budget=budget))

    def export(self, to: str, path: str | PathLike[str], **options: Any) -> None:
        """Write the file that a platform imports: ``"label-studio"``, ``"csv-gold"`` and more.

        :func:`coterie.io.exports.export` says what there is, and what the options are.
        """
        from coterie.io.exports.back import Result, export

        export(Result(self.annotations, self.labels(), self.model), to, path, **options)

    @property
    def plot(self) -> Plots:
        """Pictures for papers (needs matplotlib, the extra ``plots``): see docs/plots.md."""
        from coterie.plots import Plots

        return Plots(self)

    def require_partitions(self) -> Draws:
        """Give the draws, which have partitions; an error if the model finds no coteries."""
        if self.groups is not None:
            raise CoterieError(
                f"{self.model} has one grouping of the annotators and no draws of it; fit a"
                " model that finds coteries, such as Consensus"
            )
        if not self.abilities.coteries:
            raise CoterieError(
                f"{self.model} finds no coteries; fit a model that does, such as Consensus"
            )
        return self.require_draws("coteries")

    def require_chains(self, what: str) -> Draws:
        """Give the draws, which have traces; an error if they are not those of a sampler."""
        draws = self.require_draws(what)
        if self.method not in SAMPLED:
            raise CoterieError(
                f"{self.model} has no chains, and so no {what}: its draws are those of an"
                " approximation; fit a model that is sampled, such as Consensus"
            )
        return draws

    def require_draws(self, what: str) -> Draws:
        """Give the draws; an error if a point estimate is asked for what needs them."""
        if not self.abilities.uncertainty:
            raise CoterieError(
                f"{self.model} gives a point estimate without {what}; fit a model with"
                " draws, such as Consensus"
            )
        assert self.draws is not None  # as declared
        return self.draws

    def drawn(self, name: str) -> NDArray[np.float64] | None:
        """Give what the model draws of its own by this name; None where it draws no such thing.

        Shape (chains, draws, ...); ``draws.extra`` names the other axes.
        """
        if not self.abilities.uncertainty:
            return None
        found = self.require_draws(name).extra.get(name)
        return None if found is None else found.values

    @property
    def chains_agree(self) -> bool:
        """Whether the chains that were kept agree; others may have been left out."""
        return self.converged or bool(
            self.run.get("left_out") and self.require_draws("chains").settled()
        )
