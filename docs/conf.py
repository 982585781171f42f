"""Sphinx configuration: Markdown pages and the API from the docstrings."""

import importlib.metadata

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

lexers["csv"] = TextLexer()  # pages show files of labels, which their examples then read
project = "coterie"
author = "The coterie developers"
release = importlib.metadata.version("coterie")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
]
myst_enable_extensions = ["deflist", "dollarmath"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "coterie"
napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
