"""Definitions written twice: the quoted Coq text must be what stands in the sources."""

import re
from collections.abc import Callable

from momab.book.gate import without_comments
from momab.book.proofs import sources
from tests.conftest import ROOT


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def stands_in_the_sources(function: Callable[..., object]) -> bool:
    """Whether the sources have what a docstring quotes, from the first Coq keyword on."""
    said = function.__doc__ or ""
    quoted = said[re.search("Definition|Fixpoint|Inductive", said).start() :]
    texts = [_squeezed(without_comments(path.read_text())) for path in sources(ROOT / "proofs")]
    return any(_squeezed(quoted) in text for text in texts)
