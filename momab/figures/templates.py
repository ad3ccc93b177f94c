"""Pieces of text and HTML that are too long for a string in Python: the files in ``templates``.

They are Jinja templates with the number filters of `momab.figures.magics`, and are as strict about
names.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from momab.figures import magics


def joined(text: str) -> str:
    """Join lines to one, without what indents them: for HTML that is written over many lines."""
    return re.sub(r"\s*\n\s*", "", text)


@cache
def environment() -> jinja2.Environment:
    """The Jinja environment of the files: that of the magics, and the filter :func:`joined`."""
    found = magics.environment().overlay(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    )
    found.filters = {**found.filters, "joined": joined}
    return found


def fill(name: str, **values: Any) -> str:
    """Fill in the template file of this name."""
    return environment().get_template(name).render(values)
