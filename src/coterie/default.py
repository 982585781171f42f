"""The default in one line: from labels, of whatever kind, to a posterior."""

from __future__ import annotations

from typing import Any

from coterie.arguments import checked
from coterie.data.annotations import Annotations
from coterie.io import read
from coterie.io.scan.scanned import Scan
from coterie.models.registry import DEFAULT, make_model
from coterie.posterior import Posterior


@checked
def aggregate(
    labels: Any, *, model: str = DEFAULT, random_state: int | None = 0, **reading: Any
) -> Posterior:
    """Turn labels into a consensus: what ``coterie aggregate`` does, in Python.

    Parameters
    ----------
    labels
        Whatever :func:`coterie.read` takes: a file, a dataframe, triples; or Annotations, or
        what :func:`coterie.scan` gives.
    model
        A model by its short name; by default ``"consensus"``, :class:`coterie.Consensus`.
    random_state
        Seed: the same seed, the same result.
    **reading
        Options of :func:`coterie.read`: ``item=``, ``annotator=``, ``label=``, ``gold=``,
        ``classes=``, ``extra_answers=``, ``duplicates=``, and of exports ``question=`` and more.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> posterior = coterie.aggregate(crowd.annotations.to_frame())
    >>> posterior.labels().columns.tolist()
    ['item', 'label', 'probability', 'entropy', 'n_labels', 'runner_up', 'hardness']
    """
    if isinstance(labels, Annotations | Scan) and not reading:
        known: Annotations | Scan = labels
    else:
        known = read(labels, **reading)
    settings = {"random_state": random_state, "duplicates": reading.get("duplicates", "error")}
    return make_model(model, **settings).fit(known).posterior_
