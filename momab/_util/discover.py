"""Importing the modules of a package, so that each can register what it defines."""

import pkgutil
from collections.abc import Iterable


def import_modules(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, given by its name and its ``__path__``.

    The package that calls this needs all of its modules; `momab.book.fingerprint` knows.
    """
    for module in pkgutil.iter_modules(path):
        pkgutil.resolve_name(f"{package}.{module.name}")
