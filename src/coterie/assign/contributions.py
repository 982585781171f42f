"""What each annotator's labels changed, and a sum shared by it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd

from coterie.arguments import checked
from coterie.assign.belief import belief_of
from coterie.assign.leave_one_out import bits_per_label
from coterie.assign.payments import share_out
from coterie.posterior import Posterior


@checked
def contributions(posterior: Posterior, pay: float | None = None) -> pd.DataFrame:
    """Say how much each annotator's labels moved what is believed, and share a sum by it.

    A label's bits are the divergence between belief about its item with and without the
    annotator's labels of it. Agreeing with a clear majority brings little, and so does noise; a
    label that decides brings much. What is taken out is the direct effect on the item: that others'
    matrices would be a little different too is left out (docs/decisions.md has it compared with
    real refits).

    Parameters
    ----------
    posterior
        The result.
    pay
        A sum to share; the column ``payment`` shares it by bits, ``equal_payment`` by labels. Both
        add up to it to the cent.

    Returns
    -------
    DataFrame
        annotator, n_labels, bits, bits_per_label, and payment and equal_payment if there is a sum.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=30, annotators=8, random_state=0)
    >>> posterior = coterie.QuickConsensus().fit(crowd.annotations).posterior_
    >>> table = coterie.assign.contributions(posterior, pay=100)
    >>> table.columns.tolist()
    ['annotator', 'n_labels', 'bits', 'bits_per_label', 'payment', 'equal_payment']
    >>> [f"{table[column].sum():.2f}" for column in ("payment", "equal_payment")]
    ['100.00', '100.00']
    """
    a, codes = posterior.annotations, posterior.annotations.codes
    by_label = bits_per_label(codes, belief_of(posterior))
    start = codes.annotator_start.tolist()
    # Sums that do not depend on the order of the items, so that names of items change no cent.
    bits = np.array([math.fsum(by_label[x:y]) for x, y in itertools.pairwise(start)])
    n = a.labels_per_annotator
    table = pd.DataFrame(
        {
            "annotator": a.annotators,
            "n_labels": n,
            "bits": bits,
            "bits_per_label": np.divide(bits, n, out=np.full(len(n), np.nan), where=n > 0),
        }
    )
    if pay is not None:
        paid = n > 0
        for column, weights in (("payment", bits), ("equal_payment", n.astype(np.float64))):
            money = np.zeros(len(n))
            money[paid] = share_out(pay, weights[paid])
            table[column] = money
    return table
