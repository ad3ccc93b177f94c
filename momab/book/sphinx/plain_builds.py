"""``jupyter-book build .`` and ``momab book`` write to the same folder, but do not mix in it.

A plain build that finds a site of the pipeline (it has a ``build.json``) begins with an empty
folder; and because that record is gone, the pipeline does not take the plain pages for its own.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("builder-inited", _begin, priority=10)


def _begin(app: Sphinx) -> None:
    site = Path(app.outdir)
    if app.builder.format == "html" and (site / "build.json").is_file():
        shutil.rmtree(site)
        site.mkdir(parents=True)
