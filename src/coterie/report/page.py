"""The report as one file: template, style and script in one page that loads nothing."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any

from coterie.diagnostics import LARGEST_R_HAT, LEAST_ESS
from coterie.files.atomic import Writer, text_writer, write_file
from coterie.files.paths import to_write
from coterie.posterior import Posterior
from coterie.report.base import HERE, heat, make_page, read
from coterie.report.facts import gather
from coterie.report.items import CERTAIN, DOUBTFUL, certainty
from coterie.words import numbers
from coterie.words.visible import shorten


def sentence(clauses: str) -> str:
    """Make a sentence of clauses, each with a semicolon behind; they are safe already."""
    said = clauses.strip().rstrip("; ")
    return said[:1].upper() + said[1:] + "."


FILTERS = (
    *(numbers.percent, numbers.hundredths, numbers.tenths, numbers.span, numbers.around),
    *(numbers.exact, numbers.decimal, numbers.count, numbers.rough, numbers.be, numbers.listed),
    *(shorten, certainty, heat, sentence),
)
"""Of the templates: numbers and names as they are shown."""
LIMITS = {"certain": CERTAIN, "doubtful": DOUBTFUL, "r_hat": LARGEST_R_HAT, "ess": LEAST_ESS}


def render(posterior: Posterior, **options: Any) -> str:
    """Write the report as HTML: one self-contained page, under 3 MB however large the data.

    Parameters
    ----------
    posterior
        The result.
    options
        As for :func:`coterie.report.facts.gather`: truth, title, record, shown.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "<b>ann</b>", "yes"), ("q1", "bob", "yes"), ("q2", "bob", "no")]
    >>> page = render(coterie.MajorityVote().fit(rows).posterior_)
    >>> page[:15], "<b>ann" in page, "&lt;b&gt;ann" in page
    ('<!doctype html>', False, True)
    """
    return make_page(
        "page.html",
        [HERE],
        styles=["style.css"],
        script="script.js",
        filters=FILTERS,
        limits=LIMITS,
        terms=json.loads(read("terms.json", [HERE])),
        facts=gather(posterior, **options),
    )


def writer(posterior: Posterior, **options: Any) -> Writer:
    """Make the report, and give what writes it, for :func:`coterie.files.atomic.write_files`."""
    return text_writer(render(posterior, **options))


def write(posterior: Posterior, path: str | PathLike[str], **options: Any) -> None:
    """Write the report to a file, which is replaced only once the new one is whole.

    Parameters
    ----------
    posterior
        The result.
    path
        Where to.
    options
        As for :func:`render`: truth, title, record, shown.
    """
    write_file(to_write(path), writer(posterior, **options))
