"""What every builder of posteriors shares: words, annotations from codes, other kinds of fit."""

from dataclasses import replace

import numpy as np

import coterie
from coterie.data.annotations import Annotations
from coterie.data.codes import encode


def words(values):
    """An array of these objects, whatever they are: numpy must not look into them."""
    array = np.empty(len(values), object)
    array[:] = values
    return array


def annotate(triples, items, annotators, classes, extra=(), *, gold=None, provenance=None):
    """Annotations of codes: items, annotators and answers, each of shape (labels,)."""
    sizes = (len(items), len(annotators), len(classes), len(classes) + len(extra))
    names = [
        names if isinstance(names, np.ndarray) else words(list(names))
        for names in (items, annotators, classes, extra)
    ]
    codes = encode(*triples, sizes=sizes, gold=gold)
    return Annotations(*names, codes, **({"provenance": provenance} if provenance else {}))


def point(posterior, model="DawidSkene"):
    """The same posterior as a point estimate."""
    kind = getattr(coterie, model)
    return replace(
        posterior,
        draws=None,
        model=model,
        method=kind.method,
        abilities=kind.abilities,
        converged=True,
        settings={"duplicates": "error"},
        run={"iterations": 12} if kind.method == "em" else {},
    )


def ungrouped(posterior):
    """The same posterior as a sampler's that groups nobody."""
    draws = posterior.draws
    trace = {name: values for name, values in draws.trace.items() if name != "n_coteries"}
    return replace(
        posterior,
        draws=replace(draws, partition=None, n_coteries=None, trace=trace),
        model="IBCC",
        method="gibbs",
        abilities=coterie.IBCC.abilities,
    )
