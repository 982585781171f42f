"""The report as one file: template, style and script in one page that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from coterie.files.atomic import Writer, text_writer, write_file
from coterie.posterior import Posterior
from coterie.report import charts
from coterie.report.facts import gather
from coterie.report.items import certainty
from coterie.words import numbers
from coterie.words.names import shorten


def render(
    posterior: Posterior,
    *,
    truth: Any = None,
    title: str | None = None,
    record: Mapping[str, Any] | None = None,
) -> str:
    """Write the report as HTML: one self-contained page, under 3 MB however large the data.

    Parameters
    ----------
    posterior
        The result.
    truth
        True labels that only score the result: a file, frame, Series or mapping.
    title
        The title; by default the numbers of annotators and items.
    record
        What ``run.json`` says of the run: its command, input and gold, shown under how to make
        the result again.

    Examples
    --------
    >>> import coterie
    >>> rows = [("q1", "<b>ann</b>", "yes"), ("q1", "bob", "yes"), ("q2", "bob", "no")]
    >>> page = render(coterie.MajorityVote().fit(rows).posterior_)
    >>> page[:15], "<b>ann" in page, "&lt;b&gt;ann" in page
    ('<!doctype html>', False, True)
    """
    style, script = read("style.css"), read("script.js")
    return (
        environment()
        .get_template("page.html")
        .render(
            facts=gather(posterior, truth=truth, title=title, record=record),
            style=style,
            script=script,
            policy=policy(style, script),
        )
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
        As for :func:`render`: truth, title, record.
    """
    write_file(Path(path), writer(posterior, **options))


def read(name: str) -> str:
    """Read a file of the template."""
    return files("coterie.report").joinpath("template", name).read_text("utf-8")


def policy(style: str, script: str) -> str:
    """Write the content security policy: this style, this script, inlined pictures, no more.

    Nothing can be loaded, sent or run, even if a name from the data were not escaped.
    """
    return (
        f"default-src 'none'; style-src '{checksum(style)}'; script-src '{checksum(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def checksum(text: str) -> str:
    """Give the checksum by which a policy allows an inline style or script.

    Examples
    --------
    >>> checksum("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


def environment() -> Environment:
    """Make the environment of the template: everything is escaped, a missing name is an error."""
    made = Environment(
        loader=FunctionLoader(read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shown = (
        *(numbers.percent, numbers.hundredths, numbers.tenths, numbers.span, numbers.around),
        *(numbers.exact, numbers.decimal, numbers.count, shorten, certainty),
    )
    made.filters |= {function.__name__: function for function in shown}
    made.globals |= {"charts": charts}
    return made
