"""Annotators without their names: salted hashes, the same person the same id."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import replace

import numpy as np

from coterie.data.annotations import Annotations
from coterie.data.codes import encode
from coterie.data.encoding import sort_order, value_array
from coterie.data.provenance import Form
from coterie.data.times import annotator_of, times_of

_BYTES = 6
"""Of a hash: among a million annotators two are alike in one of five hundred calls."""


def anonymised(annotations: Annotations) -> Annotations:
    """Give the annotations with a salted hash for every annotator's id.

    The salt is drawn anew in every call and never written: nobody can try out names, and ids of
    two calls cannot be put together.

    Examples
    --------
    >>> from coterie.data import annotations_from
    >>> crowd = annotations_from([("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "bob", "no")])
    >>> hidden = anonymised(crowd)
    >>> hidden.n_annotators, "ann" in hidden.annotators.tolist()
    (2, False)
    """
    salt = secrets.token_bytes(16)
    hashes = [_hash(salt, name) for name in annotations.annotators.tolist()]
    names = value_array(hashes)
    order = sort_order(names)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    codes = annotations.codes
    sizes = (annotations.n_items, annotations.n_annotators, codes.n_classes, codes.n_answers)
    person = rank[codes.item_annotator]
    encoded = encode(
        annotations.item_of_label, person, codes.item_answer, sizes=sizes, gold=codes.gold
    )
    found = annotations.provenance
    if found is not None:
        wide = tuple(names[order].tolist()) if found.form is Form.WIDE else found.annotators
        found = replace(found, annotators=wide, anonymised=True)
    times = annotations.times
    if times is not None:
        who = rank[annotator_of(times)]
        times = times_of(times.item, who, times.answer, times.time, len(names))
    return replace(
        annotations, annotators=names[order], codes=encoded, provenance=found, times=times
    )


def _hash(salt: bytes, name: object) -> str:
    digest = hashlib.blake2b(repr(name).encode("utf-8", "surrogatepass"), key=salt)
    return "a-" + digest.hexdigest()[: 2 * _BYTES]
