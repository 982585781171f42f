"""The default in one line: from labels, of whatever kind, to a posterior."""

from __future__ import annotations

import copy
import inspect
from typing import Any

from coterie.arguments import checked
from coterie.data.annotations import Annotations
from coterie.errors import DataError
from coterie.io.read import read
from coterie.io.scan.scanned import Scan
from coterie.models.base import Estimator
from coterie.models.registry import DEFAULT, make_model
from coterie.posterior import Posterior
from coterie.words.values import did_you_mean, join

READING = inspect.signature(read).parameters.keys() - {"source"}
BOTH = ("duplicates",)
"""What reading and fitting must agree on."""


@checked
def aggregate(
    labels: Any, *, model: str | Estimator = DEFAULT, random_state: int | None = 0, **options: Any
) -> Posterior:
    """Turn labels into a consensus: what ``coterie aggregate`` does, in Python.

    Parameters
    ----------
    labels
        Whatever :func:`coterie.read` takes: a file, a dataframe, triples; or Annotations, or
        what :func:`coterie.scan` gives.
    model
        A model by its short name; by default ``"consensus"``, :class:`coterie.Consensus`. Or an
        estimator, whose settings are taken.
    random_state
        Seed: the same seed, the same result. An estimator has its own.
    **options
        Settings of the model, such as ``chains=8`` or, of the vote, ``probabilities="shares"``;
        and options of :func:`coterie.read`: ``item=``, ``annotator=``, ``label=``, ``gold=``,
        ``classes=``, ``extra_answers=``, ``duplicates=``, and of exports ``question=`` and more.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=50, annotators=12, random_state=0)
    >>> posterior = coterie.aggregate(crowd.annotations.to_frame())
    >>> posterior.labels().columns.tolist()
    ['item', 'label', 'probability', 'entropy', 'n_labels', 'runner_up', 'hardness']
    >>> shares = coterie.aggregate(crowd.annotations, model="majority", probabilities="shares")
    >>> shares.probabilities().iloc[0].round(2).tolist()
    [0.0, 0.5, 0.5]
    """
    if isinstance(model, Estimator):
        estimator, name_of = copy.deepcopy(model), type(model).__name__
    else:
        estimator, name_of = make_model(model, random_state=random_state), repr(model)
    settings = {name: options[name] for name in options.keys() & estimator.get_params().keys()}
    reading = {name: options[name] for name in options if name not in settings or name in BOTH}
    for name in reading.keys() - READING:
        every = sorted(READING | estimator.get_params().keys())
        raise DataError(
            f"aggregate(model={name_of}) takes no {name}=...{did_you_mean(name, every)}",
            argument=name,
            remedy=f"settings of this model are {join(list(estimator.get_params()))}",
        )
    if isinstance(labels, Annotations | Scan) and not reading:
        known: Annotations | Scan = labels
    else:
        known = read(labels, **reading)
    return estimator.set_params(**settings).fit(known).posterior_
