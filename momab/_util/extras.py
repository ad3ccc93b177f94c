"""What needs more than the base installation, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

from momab.errors import MomabError

EXTRAS: Mapping[str, Sequence[str]] = {
    "plots": ("matplotlib", "seaborn", "jinja2", "IPython"),
    "book": (
        "jupyter_book",
        "jupytext",
        "papermill",
        "nbformat",
        "yaml",
        "pydantic",
        "bs4",
        "sphinx_proof",
        "sphinx_exercise",
        "sphinx_revealjs",
        "sphinxcontrib.bibtex",
        "py_mini_racer",
        "tornado",
        "psutil",
        "ipykernel",
        "matplotlib",
        "seaborn",
        "jinja2",
    ),
    "fast": ("numba",),
    "dask": ("distributed",),
    "tables": ("pyarrow", "openpyxl"),
}
"""The packages of the optional installations, as they are imported."""


def require(extra: str, what: str) -> None:
    """Raise MomabError, naming the extra, if a package of it is not installed."""
    for package in EXTRAS[extra]:
        try:
            missing = find_spec(package) is None
        except ModuleNotFoundError:  # of the package around it
            missing = True
        if missing:
            raise MomabError(_sentence(what, extra))


@contextmanager
def named_extras(what: str) -> Iterator[None]:
    """Let a package that is missing because its extra is not installed be a MomabError."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        for extra, packages in EXTRAS.items():
            if package in packages:
                raise MomabError(_sentence(what, extra)) from None
        raise


def _sentence(what: str, extra: str) -> str:
    return (
        f"{what} needs the extra '{extra}'; where momab was installed from its folder, "
        f"pip install '.[{extra}]' there adds it."
    )
