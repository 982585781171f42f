"""Confusion matrices as tables: of annotators or of a coterie, their mean or a quantile."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.errors import Argument, CoterieError, DataError
from coterie.partition import PointPartition
from coterie.posterior.coteries import matrices_of_coteries, mean_of_members
from coterie.posterior.people import codes_of

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior


def check_quantile(quantile: float | None) -> None:
    """Raise CoterieError unless a quantile, where one is asked for, is between 0 and 1."""
    if quantile is not None and not 0 <= quantile <= 1:
        raise CoterieError(
            [Argument("quantile", quantile), " is not between 0 and 1"], remedy="0.975 is one"
        )


def annotator_confusion(
    posterior: Posterior, annotator: Hashable | None, quantile: float | None
) -> pd.DataFrame:
    """Give one annotator's matrix, or everybody's with the annotator as first index level."""
    a = posterior.annotations
    l = slice(None) if annotator is None else int(codes_of([annotator], a.annotators)[0])
    if quantile is None:
        matrix = posterior.confusion_mean[l]
    else:
        matrix = posterior.require_draws("intervals").confusion_quantile(l, quantile)
    if annotator is not None:
        return _table(posterior, matrix)
    rows = pd.Index(a.classes, name="true")
    index = pd.MultiIndex.from_product([pd.Index(a.annotators, name="annotator"), rows])
    columns = pd.Index(a.answers, name="answer")
    return pd.DataFrame(matrix.reshape(-1, a.n_answers), index=index, columns=columns)


def coterie_confusion(
    posterior: Posterior, coterie: int, partition: PointPartition, quantile: float | None
) -> pd.DataFrame:
    """Give the matrix of one coterie, numbered from one: its mean or a quantile."""
    n = partition.n_coteries
    if coterie not in range(1, n + 1):
        raise DataError(
            f"no coterie {coterie!r}: they are numbered from 1 to {n}", argument="coterie"
        )
    m = coterie - 1
    if quantile is None:
        return _table(posterior, mean_of_members(posterior.confusion_mean[None], partition)[0, m])
    matrices = matrices_of_coteries(posterior.require_draws("intervals"), partition)
    return _table(posterior, np.quantile(matrices[:, m], quantile, axis=0))


def _table(posterior: Posterior, matrix: NDArray[np.float64]) -> pd.DataFrame:
    a = posterior.annotations
    rows, columns = pd.Index(a.classes, name="true"), pd.Index(a.answers, name="answer")
    return pd.DataFrame(np.asarray(matrix, np.float64), index=rows, columns=columns)
