"""Models whose items are independent given matrices: which sampler runs, and on whose shards."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from coterie.abilities import Method, Takes
from coterie.arguments import check_one_of
from coterie.data.annotations import Annotations
from coterie.errors import Argument, DataError
from coterie.inference import Hooks, Kernels, Options, Sampler, plan_for, sample
from coterie.inference.blocked import Blocks
from coterie.io.scan.scanned import Scan
from coterie.kernels.vote import clear_votes
from coterie.models.blocked_shards import NamesOfItems, posterior_of
from coterie.models.sampling import SamplingEstimator
from coterie.posterior import Posterior

SAMPLERS = ("auto", "collapsed", "blocked")
BLOCKED_LABELS = 10_000_000
"""Labels from which on ``sampler="auto"`` takes the blocked sampler. Up to a million it needs as
much processor time per effective draw as the collapsed one, or more (benchmarks/crossing.py); a
chain of ten million should not wait for one core."""


class BlockedEstimator(SamplingEstimator):
    """Base of models that can be sampled in blocks, on shards of the items.

    Parameters
    ----------
    sampler
        ``"collapsed"`` moves one item after the other, ``"blocked"`` all of them in parts, with
        random numbers of their own. Both have the same posterior. ``"auto"`` takes blocked where
        there are many labels, or an engine is named. ``posterior.method`` says which ran.
    engine
        Who sweeps the parts: ``"threads"``, ``"dask"``, a ``distributed.Client`` or the address of
        a scheduler. It changes the time only, never a bit of the result.
    others
        As for every sampling model: see :class:`coterie.models.SamplingEstimator`.
    """

    takes: ClassVar[Takes] = Takes(engine=True)
    plain: ClassVar[str]  # the module of the kernels, within coterie.kernels.gibbs

    sampler: str = "auto"
    engine: Any = None

    @property
    def _can_block(self) -> bool:
        """Whether there is a blocked sampler of the model as it is."""
        return True

    def _n_hard(self, prior: Any) -> int:
        """Give how many kinds of hard items a packed prior has; most models have none."""
        return 0

    def _hooks_in_blocks(self, blocks: Blocks) -> Hooks:
        """Say where the model departs from the others if its items are elsewhere."""
        kernels: Any = self._blocked_kernels()
        return replace(self.hooks(), check=kernels.check_state)

    def _sampler(self, annotations: Annotations) -> Sampler:
        """Put together what is sampled: collapsed, or blocked in as many shards as the engine."""
        plain = super()._sampler(annotations)
        if not self._is_blocked(annotations):
            return plain
        return self._in_blocks(plain, Blocks.of(annotations))

    def _fit_shards(self, scan: Scan) -> Posterior:
        """Fit to labels in shards, by the blocked sampler."""
        self._check()
        if self.sampler == "collapsed" or not self._can_block:
            raise DataError(
                f"{type(self).__name__} takes a scan with the blocked sampler and without kinds of"
                " items",
                argument="sampler" if self.sampler == "collapsed" else "kinds",
                remedy="leave those settings out, or coterie.read the labels",
            )
        sampler = self._sampler_of_scan(scan)
        run = sample(sampler, self._options(), self._identity(scan))
        return posterior_of(scan, sampler, run, self._told(run, sampler))

    def _sampler_of_scan(self, scan: Scan) -> Sampler:
        """Put together what is sampled of a scan, items in the order of its shards."""
        blocks, codes = Blocks.opened(scan)
        prior, hooks = self.pack_prior(scan), self.hooks()
        layout = hooks.layout(codes, prior)
        cells = layout.n_draw_columns
        names: Any = NamesOfItems(scan, blocks.places)
        none = np.zeros((0, scan.n_classes), np.int32)
        plain = Sampler(
            kernels=self.kernels(),
            data=codes,
            prior=prior,
            plan=plan_for(codes, self.sweeps, self.burn_in, self.thin, more_cells=cells),
            votes=self._votes_of_scan(scan),
            clear=clear_votes(none, none[:, 0]),
            items=names,
            coteries=self.abilities.coteries,
            hooks=hooks,
            layout=layout,
        )
        return self._in_blocks(plain, blocks)

    def _votes_of_scan(self, scan: Scan) -> NDArray[np.int32]:
        """Give the votes of all items, in the order of the shards, where the model reports them."""
        return np.zeros((0, scan.n_classes), np.int32)

    def _in_blocks(self, plain: Sampler, blocks: Blocks) -> Sampler:
        """Have the items swept in blocks; who wins votes is then known where they are."""
        none = np.zeros((0, plain.data.n_classes), np.int32)
        blocks = replace(blocks, n_kinds=self._n_hard(plain.prior))
        return replace(
            plain,
            kernels=self._blocked_kernels(),
            clear=clear_votes(none, none[:, 0]),
            hooks=self._hooks_in_blocks(blocks),
            blocks=blocks,
        )

    def _blocked_kernels(self) -> Kernels:
        module = importlib.import_module(f"coterie.kernels.gibbs.blocked.{self.plain}")
        return cast(Kernels, module)

    def _is_blocked(self, annotations: Annotations) -> bool:
        if self.sampler == "auto" and self._can_block:
            return self.engine is not None or annotations.n_labels >= BLOCKED_LABELS
        return self.sampler == "blocked"

    def _options(self) -> Options:
        return super()._options()._replace(engine=self.engine)

    def _method(self, sampler: Sampler) -> Method:
        return "gibbs" if sampler.blocks is None else "blocked gibbs"

    def _check(self) -> None:
        super()._check()
        name = type(self).__name__
        sampler = Argument("sampler", of=name)
        check_one_of(self.sampler, sampler, SAMPLERS, f"one of {', '.join(SAMPLERS)}")
        if self.sampler == "collapsed" and self.engine is not None:
            raise DataError(
                [
                    replace(sampler, value="collapsed"),
                    " moves one item after the other, which no engine can share",
                ],
                remedy="leave the sampler at 'auto', or name no engine",
            )
