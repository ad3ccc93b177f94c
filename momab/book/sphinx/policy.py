"""Every page of the site says which scripts it may run (`momab.book.policy`).

What the theme puts around a page is trusted as it stands; of what stands in the page's own text
only scripts of our templates are.  Anything else is a complaint, and does not run.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from sphinx.application import Sphinx
from sphinx.util import logging

from momab.book.policy import (
    inline_hashes,
    seal_page,
    site_policy,
    written_scripts,
)

_log = logging.getLogger(__name__)
_framed: WeakKeyDictionary[Sphinx, dict[str, set[str]]] = WeakKeyDictionary()
_THEBE = re.compile(
    r'<script type="text/x-thebe-config">.*?</script>\s*<script>kernelName = [^<]*</script>',
    re.DOTALL,
)


def find_strange_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Find the scripts in the text of a page; none of ours are there."""
    body = _THEBE.sub("", context.get("body") or "")
    if "body" in context:
        context["body"] = body
    strange = set(inline_hashes(body))
    _framed.setdefault(app, {})[page] = strange
    if strange:
        _log.warning(
            "the page has a script in its text, which will not run; put it into a file of "
            "book/_static",
            location=page,
            type="momab",
            subtype="script",
        )


def write_policies(app: Sphinx, error: Exception | None) -> None:
    """Put its policy into every page."""
    framed = _framed.pop(app, {})
    if error is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    notes = site / "_static" / "reveal" / "notes.js"
    speaker = written_scripts(notes.read_text(encoding="utf-8")) if notes.is_file() else []
    for path in site.rglob("*.html"):
        name = path.relative_to(site).with_suffix("").as_posix()
        page = path.read_text(encoding="utf-8")
        if "Content-Security-Policy" in page[:1000] or name.startswith("_static/"):
            continue  # of an earlier build, or no page
        page = page.replace(' onclick="window.print()"', " data-print")
        hashes = set(inline_hashes(page))
        hashes = hashes - framed[name] if name in framed else set()
        if name.startswith("slides/") and name not in framed:
            hashes |= set(speaker)
        policy = site_policy(hashes, base=name == "404")
        path.write_text(seal_page(page, policy), encoding="utf-8")
