"""The HTML that the pipeline writes itself, as Jinja templates in ``momab/book/templates``."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("momab.book"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )


def fill_page(name: str, **values: object) -> str:
    """A template with its fields filled; texts are escaped unless the template says otherwise."""
    return _templates().get_template(name).render(**values)
