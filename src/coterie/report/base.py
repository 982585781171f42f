"""What every page shares: a frame that loads nothing, the style, the way templates are filled."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

HERE = "coterie.report"
STEPS = 20
"""Steps of colour of a heat map: the style has a class for each."""


def make_page(
    template: str,
    packages: Sequence[str],
    *,
    styles: Sequence[str],
    script: str | None = None,
    filters: Iterable[Callable[..., object]] = (),
    **names: Any,
) -> str:
    """Fill a template that extends ``base.html``: one self-contained page.

    Everything is escaped, a missing name is an error.

    Parameters
    ----------
    template
        Its file.
    packages
        Where the files are, in folders ``template``; those of every page are found anyway.
    styles, script
        Files of the page's own, which come after the style of every page.
    filters, names
        Functions, by their names, and whatever else the template uses.
    """
    style = "".join(read(name, packages) for name in ("base.css", *styles))
    code = "" if script is None else read(script, packages)
    return (
        _environment(packages, filters, True)
        .get_template(template)
        .render(style=style, script=code, policy=policy(style, code), **names)
    )


def make_sentences(
    template: str,
    packages: Sequence[str],
    *,
    filters: Iterable[Callable[..., object]] = (),
    **names: Any,
) -> list[str]:
    """Fill a template of plain text, and give its lines; names must be safe already."""
    text = _environment(packages, filters, False).get_template(template).render(**names)
    return [line for line in text.split("\n") if line]


def _environment(
    packages: Sequence[str], filters: Iterable[Callable[..., object]], escapes: bool
) -> Environment:
    made = Environment(
        loader=FunctionLoader(lambda name: read(name, packages)),
        autoescape=escapes,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {function.__name__: function for function in filters}
    return made


def read(name: str, packages: Sequence[str]) -> str:
    """Read the first file of this name in the folders ``template``, those of every page last."""
    places = [files(package).joinpath("template", name) for package in (*packages, HERE)]
    return next(place for place in places if place.is_file()).read_text("utf-8")


def policy(style: str, script: str) -> str:
    """Write the content security policy: this style, this script, inlined pictures, no more.

    Nothing can be loaded, sent or run, even if a name from the data were not escaped.
    """
    scripts = f"'{checksum(script)}'" if script else "'none'"
    return (
        f"default-src 'none'; style-src '{checksum(style)}'; script-src {scripts}; "
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


def heat(share: float | None) -> str:
    """Name the class that colours a cell of a heat map.

    Examples
    --------
    >>> heat(0.0), heat(0.51), heat(1.0), heat(None)
    ('h0', 'h10', 'h20', 'h0')
    """
    return f"h{0 if share is None else round(min(max(share, 0.0), 1.0) * STEPS)}"
