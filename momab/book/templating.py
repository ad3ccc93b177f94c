"""The HTML that we write ourselves, as Jinja templates in the folder ``templates`` of a package."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2


@cache
def _templates(package: str) -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def fill_page(name: str, /, package: str = "momab.book", **values: object) -> str:
    """A template with its fields filled; texts are escaped unless the template says otherwise."""
    return _templates(package).get_template(name).render(**values)
