"""Plots: the pictures of one posterior."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from coterie.arguments import checked_methods
from coterie.errors import DataError
from coterie.plots.colours import canvas
from coterie.plots.lines import (
    MOST_COTERIES,
    draw_annotators,
    draw_coteries,
    draw_drift,
    draw_reliability,
    draw_trace,
    height_of_names,
    rank,
    trace_of,
)
from coterie.plots.matrices import (
    draw_confusion,
    draw_cooccurrence,
    matrix_of,
    order_by_coterie,
    size_of_matrix,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from coterie.posterior import Posterior


@checked_methods
class Plots:
    """Pictures of a posterior, fit for a paper as they are.

    Each method draws into ``ax`` and returns it. Without ``ax`` it makes a figure one column
    (3.3 inches) wide with 8-point text; axes that are handed in keep their size and fonts.

    Parameters
    ----------
    posterior
        Whose pictures.

    Examples
    --------
    >>> import coterie
    >>> from coterie.plots import Plots
    >>> crowd = coterie.simulate("mixed", random_state=0)
    >>> posterior = coterie.DawidSkene().fit(crowd.annotations).posterior_
    >>> ax = Plots(posterior).confusion("a30")
    >>> ax.get_title(), ax.get_xlabel(), ax.get_ylabel()
    ('annotator a30', 'given answer', 'true class')
    """

    def __init__(self, posterior: Posterior) -> None:
        self._posterior = posterior

    def __repr__(self) -> str:
        names = "annotators, calibration, confusion, cooccurrence, coteries, drift, trace"
        return f"<Plots of {self._posterior!r}: {names}>"

    def confusion(
        self,
        annotator: Hashable | None = None,
        *,
        coterie: int | None = None,
        k: int | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a confusion matrix: true class (rows, summing to one) by given answer (columns).

        Parameters
        ----------
        annotator
            Whose matrix.
        coterie
            Instead, which coterie's, counted from one. Without either, the mean of the matrices
            of all annotators with labels, which every model has.
        k
            As for :meth:`coterie.Posterior.coteries`.
        ax
            Where to draw.
        """
        title, matrix = matrix_of(self._posterior, annotator, coterie, k)
        height, width = size_of_matrix(matrix)
        with canvas(ax, height, width) as where:
            draw_confusion(where, title, matrix)
            return where

    def cooccurrence(
        self,
        annotators: Sequence[Hashable] | None = None,
        *,
        k: int | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the probability that two annotators share a coterie.

        Annotators stand coterie by coterie, the largest first, and in it the surest members
        first; lines part the coteries that are large enough for lines, and the label of the axis
        says how many they are. Annotators without labels are left out.

        Parameters
        ----------
        annotators
            Whom to show, a list of names; by default everybody, up to 5,000.
        k
            As for :meth:`coterie.Posterior.coteries`.
        ax
            Where to draw; the colour bar takes a part of it.
        """
        order, group = order_by_coterie(self._posterior, annotators, k)
        table = self._posterior.cooccurrence(order)
        with canvas(ax, height=2.9) as where:
            draw_cooccurrence(where, table, group)
            return where

    def coteries(self, k: int | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw each coterie's accuracy and its 95 % interval, the largest coterie on top.

        The largest are shown, up to 20 and as many as there is room for; the label of the axis
        counts the others.

        Parameters
        ----------
        k
            As for :meth:`coterie.Posterior.coteries`.
        ax
            Where to draw.
        """
        table = self._posterior.coteries(k=k)
        with canvas(ax, height=0.6 + 0.42 * min(len(table), MOST_COTERIES)) as where:
            draw_coteries(where, table)
            return where

    def trace(self, quantity: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw a quantity of each chain against the sweeps at which it was recorded.

        Parameters
        ----------
        quantity
            ``n_coteries``, or a quantity of :meth:`coterie.Posterior.diagnostics`, such as
            ``log_joint``, ``concentration`` or ``class_total[0]``. By default ``n_coteries``, and
            ``log_joint`` of a model that finds none.
        ax
            Where to draw.
        """
        trace = trace_of(self._posterior, quantity)
        with canvas(ax, height=1.8) as where:
            draw_trace(where, trace)
            return where

    def calibration(self, truth: Any, *, bins: int = 10, ax: Axes | None = None) -> Axes:
        """Draw how often labels are right against how probable they are said to be.

        Points are the bins of :func:`coterie.metrics.reliability`, with the number of items
        above them and Jeffreys' 95 % interval, which is what chance alone would do; on the
        dashed line a probability of 0.8 is right in 80 of 100. The title is the expected
        calibration error. Items with gold are left out:
        their labels were given, not found.

        Parameters
        ----------
        truth
            As for :meth:`coterie.Posterior.score`.
        bins
            How many bins, of equal width.
        ax
            Where to draw.
        """
        score = self._posterior.score(truth, bins=bins)
        if not score.items:
            raise DataError("every item with a truth is known (gold): nothing is left to draw")
        with canvas(ax, height=2.9) as where:
            draw_reliability(where, score.calibration, score.calibration_error)
            return where

    def annotators(self, k: int | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw each annotator's accuracy and its 95 % interval, the most accurate first.

        Colours and shapes are the coteries, where the model finds them; a point estimate has no
        intervals. Annotators without labels are left out.

        Parameters
        ----------
        k
            As for :meth:`coterie.Posterior.coteries`.
        ax
            Where to draw.
        """
        if k is not None:
            self._posterior.require_partitions()  # says so if the model finds no coteries
        table = rank(self._posterior.annotators(k))
        with canvas(ax, height=2.0 + height_of_names(table)) as where:
            draw_annotators(where, table)
            return where

    def drift(
        self, annotators: Sequence[Hashable] | None = None, *, ax: Axes | None = None
    ) -> Axes:
        """Draw accuracy in time with its 95 % band, of a model that knows of time (DynamicIBCC).

        Parameters
        ----------
        annotators
            Whose; by default the four that are likeliest to have changed.
        ax
            Where to draw.
        """
        posterior = self._posterior
        if annotators is None:
            annotators = posterior.drift()["annotator"].head(4).tolist()
        courses = {who: posterior.trajectory(who) for who in annotators}
        with canvas(ax, height=2.4) as where:
            draw_drift(where, courses)
            return where
