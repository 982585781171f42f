"""What becomes of a posterior: a file, a page, a picture, another library's object."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from coterie.data.frames import table

if TYPE_CHECKING:
    import pandas as pd

    from coterie.plots import Plots
    from coterie.posterior.posterior import Posterior


class Outputs:
    """The methods of a posterior that hand it on; all that they need is imported by then."""

    @property
    def _whole(self) -> Posterior:
        return cast("Posterior", self)

    def to_arviz(self) -> Any:
        """Give the draws as an ArviZ DataTree (needs arviz-base, the extra ``arviz``).

        Group ``posterior`` holds confusion, class_balance, partition, n_coteries and concentration
        at the kept draws, with dimensions chain, draw, annotator, true and answer; group
        ``sample_stats`` the watched quantities at every sweep after burn-in.
        """
        from coterie.posterior.arviz import datatree

        return datatree(self._whole, self._whole.require_draws("draws"))

    def compact(self) -> Posterior:
        """Give the same result with less to keep: what ``coterie aggregate`` saves.

        Of the draws of matrices at most 500 stay, of all chains together (fewer, but at least 100,
        of crowds whose matrices would take more than 16 MB), evenly spaced and in half precision,
        three digits. Quantiles of matrices, and with them intervals and probabilities of roles,
        change in their last digits. Everything else stays: labels, probabilities, mean matrices,
        partitions, traces, and where each chain ended.
        """
        from coterie.posterior.compact import compact

        return compact(self._whole)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one file, which :func:`coterie.load` reads.

        A file of that name is replaced, and only once the new one is whole. Ids keep their types.
        Settings that a file cannot keep (a generator, a callback) come back as text.
        """
        from coterie.posterior.store import save

        save(self._whole, path)

    @table
    def predict(self, /, more: Any, **reading: Any) -> pd.DataFrame:
        """Say what items are by labels that the result has not seen, without fitting again.

        Annotators of the run answer as their matrices say, in every draw; anybody else as all
        annotators do on average. An item of the run starts from its probabilities there, a new one
        from the class balance; labels are tempered, and mixed with the vote, as in the fit. Each
        item is looked at alone: nothing is learnt about people from the new labels. For that, fit
        again with all of them.

        Parameters
        ----------
        more
            New labels: whatever :func:`coterie.read` takes, with answers that the run knows.
        reading
            Options of :func:`coterie.read`: ``item=``, ``annotator=``, ``label=``, ...

        Returns
        -------
        DataFrame
            One row per item of ``more``: item, label, probability, entropy, n_labels, n_newcomers
            (labels by annotators whom the run does not know), runner_up, and ``p(class)`` of every
            class.

        Examples
        --------
        >>> import coterie
        >>> crowd = coterie.simulate("mixed", items=60, annotators=9, random_state=0)
        >>> posterior = coterie.DawidSkene().fit(crowd.annotations).posterior_
        >>> more = [("new", "a1", "a"), ("new", "a2", "a"), ("new", "nobody", "b")]
        >>> posterior.predict(more)[["item", "label", "n_labels", "n_newcomers"]]
          item label  n_labels  n_newcomers
        0  new     a         3            1
        """
        from coterie.posterior.predict import predict_table

        return predict_table(self._whole, more, reading)

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

        write(self._whole, path, truth=truth, title=title, shown=Shown(text, image, budget=budget))

    def export(self, to: str, path: str | PathLike[str], **options: Any) -> None:
        """Write the file that a platform imports: ``"label-studio"``, ``"csv-gold"`` and more.

        :func:`coterie.io.exports.export` says what there is, and what the options are.
        """
        from coterie.io.exports.back import Result, export

        whole = self._whole
        export(Result(whole.annotations, whole.labels(), whole.model), to, path, **options)

    @property
    def plot(self) -> Plots:
        """Pictures for papers (needs matplotlib, the extra ``plots``): see docs/plots.md."""
        from coterie.plots import Plots

        return Plots(self._whole)
