"""Sphinx configuration: Markdown pages and the API from the docstrings."""

import importlib.metadata

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
myst_enable_extensions = ["dollarmath"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "coterie"
napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
