"""Kinds of items, latent or known: what IBCC, CBCC and HCBCC share."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from coterie.abilities import Takes
from coterie.arguments import check_whole
from coterie.data.annotations import Annotations
from coterie.data.kinds import KnownKinds
from coterie.errors import Argument, DataError
from coterie.inference.chain import Sampler
from coterie.inference.sample import Afterwards, Averages, Options, Reported, as_found
from coterie.io.scan.scanned import Scan
from coterie.kernels.kinds import KindsPeople, pairs_of
from coterie.kernels.people import Crowd, People
from coterie.kernels.space import of_known_kind, with_kinds
from coterie.models.base import TrueLabels, as_scanned
from coterie.models.blocked import BlockedEstimator
from coterie.models.known_kinds import certain_kinds, check_not_told, find_kinds
from coterie.models.label_switching import judge_kinds
from coterie.posterior import ItemNumbers, Posterior
from coterie.posterior.kinds import KIND

MOST_KINDS = 50


class KindsEstimator(BlockedEstimator):
    """Base of the paper's models, whose items may be of kinds.

    Parameters
    ----------
    kinds
        Number of latent kinds of items: an annotator may be an expert of some and a novice in
        others, and everybody has a matrix, and a coterie, per kind. One is the paper's model.
        Kinds that are known are given to :meth:`fit` instead.
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
    """

    takes: ClassVar[Takes] = Takes(known_kinds=True, latent_kinds=True, engine=True)
    densities: ClassVar[bool] = False  # of every coterie's parameters, in the log joint
    known_kinds_: KnownKinds | None = field(init=False)

    kinds: int = 1

    def fit(
        self,
        data: Any,
        true_labels: TrueLabels = None,
        *,
        item: Hashable | None = None,
        annotator: Any = None,
        label: Hashable | None = None,
        kinds: Any = None,
        **reading: Any,
    ) -> Self:
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
        if isinstance(data, Scan):
            told = {"kinds": kinds, **columns}
            self.posterior_ = self._fit_shards(as_scanned(data, true_labels, told))
            return self
        annotations = self._read(data, true_labels, **columns)
        self.known_kinds_ = None if kinds is None else find_kinds(kinds, data, annotations)
        if kinds is not None and self.kinds != 1:
            raise DataError(
                [
                    Argument("kinds", self.kinds, of=type(self).__name__),
                    " looks for latent kinds, but fit was given known ones",
                ],
                remedy="leave it at 1",
            )
        self.posterior_ = self._fit(annotations)
        return self

    @property
    def _known(self) -> KnownKinds | None:
        known: KnownKinds | None = vars(self).get("known_kinds_")
        return known

    @property
    def _has_kinds(self) -> bool:
        return self.kinds > 1 or self._known is not None

    @property
    def _can_block(self) -> bool:
        return not self._has_kinds

    def plain_people(self, prior: Any, crowd: Crowd) -> People:
        """Give what the model believes of annotators, without kinds."""
        raise NotImplementedError  # pragma: no cover

    def people(self, prior: Any, crowd: Crowd, data: Any) -> People:
        """Give what the model believes of annotators, or of their pairs with kinds."""
        if not self._has_kinds:
            return self.plain_people(prior, crowd)
        known, weight = self._known, np.array(prior.class_weights)
        n_kinds = self.kinds if known is None else len(known.names)
        pairs = self.plain_people(prior, pairs_of(crowd, n_kinds))
        if known is not None:
            return KindsPeople(crowd, of_known_kind(weight, n_kinds), pairs, known.codes)
        share = np.full(n_kinds, float(prior.kind_weights) / n_kinds)
        return KindsPeople(crowd, with_kinds(weight, share), pairs)

    def after(self, people: People) -> Afterwards:
        """Say what becomes of the chains."""
        if not self._has_kinds:
            return Afterwards(coterie_densities=self.densities)
        return Afterwards(
            report=self._report_kinds,
            align=as_found if self._known else align_kinds,
            coterie_densities=self.densities,
        )

    def _collapsed(self, annotations: Annotations) -> str:
        return "" if self._has_kinds else super()._collapsed(annotations)

    def _run(
        self,
        annotations: Annotations,
        sampler: Sampler,
        options: Options,
        identity: Mapping[str, Any],
    ) -> Posterior:
        """Sample, and look whether a latent kind has taken the place of a class."""
        if self.kinds > 1:
            after = replace(options.after, judge=partial(judge_kinds, annotations))
            options = options._replace(after=after)
        return super()._run(annotations, sampler, options, identity)

    def _go_on(self, annotations: Annotations, before: Posterior) -> Posterior:
        """Go on as every model does, unless items have kinds that were told: new ones have none."""
        told = self.kinds == 1 and KIND in before.item_numbers
        check_not_told(self, told or self._known is not None)
        return super()._go_on(annotations, before)

    def _report_kinds(self, found: Averages, data: Any) -> Reported:
        """Report the kinds of items, latent ones by size, the largest first."""
        known = self._known
        if known is not None:
            kinds = certain_kinds(known)
        else:
            order = np.argsort(-found.kinds.sum(axis=0), kind="stable")
            names = tuple(str(k + 1) for k in range(self.kinds))
            kinds = ItemNumbers(names, found.kinds[:, order])
        return Reported(found.item_probability, {KIND: kinds})

    def _identity(self, annotations: Any) -> dict[str, Any]:
        identity, known = super()._identity(annotations), self._known
        if identity and known is not None:
            text = repr((known.names, known.codes.tolist()))
            identity["known kinds"] = hashlib.sha256(text.encode()).hexdigest()
        return identity

    def _check(self) -> None:
        super()._check()
        name = type(self).__name__
        check_whole(self.kinds, Argument("kinds", of=name), 1, MOST_KINDS)
        if self._has_kinds and (self.sampler == "blocked" or self.engine is not None):
            raise DataError(
                f"{name} with kinds of items cannot be swept in parts",
                argument="sampler" if self.sampler == "blocked" else "engine",
                remedy="leave the sampler at 'auto' and name no engine",
            )


def align_kinds(reference: NDArray[np.float64], found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Put a chain's latent kinds, shape (items, kinds), in the order that fits the first chain's.

    Examples
    --------
    >>> align_kinds(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([[1., 0.],
           [0., 1.]])
    """
    from scipy.optimize import linear_sum_assignment

    _, order = linear_sum_assignment(-(reference.T @ found))
    aligned: NDArray[np.float64] = found[:, order]
    return aligned
