"""Pieces of text and HTML that are too long for a string in Python: the files in ``templates``.

They are Jinja templates with the filters of `momab._util.prose`, and as strict about
names.  A text in a notebook can import them, too.
"""

from __future__ import annotations

from typing import Any

from momab._util.prose import environment


def fill_template(name: str, **values: Any) -> str:
    """Fill in a template.

    Parameters
    ----------
    name
        The name of a file in the folder ``templates``.
    values
        What the names in it stand for.

    Returns
    -------
    str
        The text as it is shown.
    """
    return environment().get_template(name).render(values)
