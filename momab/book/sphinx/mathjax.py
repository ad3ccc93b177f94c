"""MathJax is served by the site itself, from the installed package that carries it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from momab.book.pages import mathjax_folder

_PARTS = (
    "tex-chtml.js",
    "output/chtml/fonts/woff-v2",
    "a11y",
    "input/tex/extensions",
    "sre",
)


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.connect("config-inited", _use_own_mathjax)
    app.connect("build-finished", _copy_mathjax)


def _use_own_mathjax(app: Sphinx, config: Any) -> None:
    config.mathjax_path = "mathjax/tex-chtml.js"


def _copy_mathjax(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    for part in _PARTS:
        source = mathjax_folder() / part
        target = Path(app.outdir) / "_static" / "mathjax" / part
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
