"""The Sphinx extension of the book."""

from momab.book.sphinx.extension import setup

__all__ = ["setup"]
