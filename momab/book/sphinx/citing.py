"""``{how-to-cite}``: the paper and this companion as BibTeX, made from ``CITATION.cff``.

The address of the repository is one setting, ``momab_repository`` of ``_config.yml`` (the
environment variable ``MOMAB_REPOSITORY`` goes before it); while it is empty, nothing links there.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_config_value("momab_repository", "", "html")
    app.add_config_value("momab_paper", "", "html")
    app.add_directive("how-to-cite", HowToCite)


def repository(app: Sphinx) -> str:
    """Where the source of the book is published; empty if it is not."""
    said = os.environ.get("MOMAB_REPOSITORY", "") or app.config.momab_repository
    return str(said).rstrip("/")


def tell_templates(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Tell templates where paper and repository are."""
    context |= {"repository": repository(app), "paper": app.config.momab_paper}


class HowToCite(SphinxDirective):
    """A block of BibTeX for the paper, and one for the companion."""

    def run(self) -> list[nodes.Node]:
        """Write both entries."""
        path = Path(self.env.srcdir) / "CITATION.cff"
        self.env.note_dependency(str(path))
        about = yaml.safe_load(path.read_text(encoding="utf-8"))
        entries = bibtex(about, repository(self.env.app))
        return [nodes.literal_block(entry, entry, language="bibtex") for entry in entries]


def bibtex(about: dict[str, Any], address: str = "") -> list[str]:
    """The entries for the paper and for the software that a citation file names."""
    paper = about["preferred-citation"]
    arxiv = str(paper.get("url", "")).partition("arxiv.org/abs/")[2]
    link = {"eprint": arxiv, "eprinttype": "arxiv"} if arxiv else {"url": paper.get("url")}
    year = str(about["date-released"])[:4]
    return [
        _entry("misc", "harder", {**_shared(paper), "year": paper["year"], **link}),
        _entry(
            "software",
            "momab",
            {**_shared(about), "year": year, "version": about["version"], "url": address},
        ),
    ]


def _shared(work: dict[str, Any]) -> dict[str, str]:
    people = [
        f"{{{person['name']}}}"
        if "name" in person
        else f"{person['family-names']}, {person['given-names']}"
        for person in work["authors"]
    ]
    return {"author": " and ".join(people), "title": work["title"]}


def _entry(kind: str, key: str, fields: dict[str, Any]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])
