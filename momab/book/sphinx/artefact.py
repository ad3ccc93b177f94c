"""What recomputes which claims: ``{artefact-table}`` sets ``book/artefact.yml`` with the digests.

The digests are those of the files that the checkout has when the page is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from momab._util.files import file_digest
from momab._util.yaml_files import Strict, read_yaml
from momab.book.sphinx.ledger import entries_of
from momab.book.sphinx.statement_graph import linked
from momab.errors import MomabError
from momab.ledger.claims import Claim

CHECKOUT = Path(__file__).parents[3]


class Sample(Strict):
    """A command that does a share of another's work: so often its minutes are the whole."""

    command: str
    minutes: float
    times: float = 1.0


class ArtefactRow(Strict):
    """Some claims, the command that recomputes what they rest on, and what must come out."""

    claims: tuple[str, ...]
    command: str
    says: str = ""
    about: str = ""
    files: tuple[str, ...] = ()
    minutes: float | None = None
    samples: tuple[Sample, ...] = ()
    data: bool = False


class Artefact(Strict):
    """The table, and the machine on which the minutes were measured."""

    machine: str
    rows: tuple[ArtefactRow, ...]


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_directive("artefact-table", ArtefactTable)


def read_artefact(root: Path) -> Artefact:
    """The table of a book's source."""
    return read_yaml(root / "book" / "artefact.yml", Artefact, "book/artefact.yml")


class ArtefactTable(SphinxDirective):
    """``{artefact-table}``: claims, command, minutes, digest."""

    def run(self) -> list[nodes.Node]:
        """Parse the table that the sources give."""
        root = Path(self.env.srcdir)
        for path in (root / "book" / "artefact.yml", root / "book" / "claims.yml"):
            self.env.note_dependency(str(path))
        known = {entry.id: entry for entry in entries_of(self.env.app)}
        try:
            text = artefact_table(read_artefact(root), known)
        except MomabError as error:
            raise self.error(str(error)) from None
        place = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), "artefact"), 0, place)
        for table in place.findall(nodes.table):
            table["classes"].append("commands")
        return list(place.children)


def artefact_table(artefact: Artefact, entries: Mapping[str, Claim]) -> str:
    """The table in Markdown, and where the minutes were measured."""
    lines = [
        "| claim | command | data | minutes | expected |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in artefact.rows:
        if unknown := [name for name in row.claims if name not in entries]:
            raise MomabError(f"book/artefact.yml: there is no claim {unknown[0]!r}.")
        if unknown := [name for name in row.files if not (CHECKOUT / name).is_file()]:
            raise MomabError(f"book/artefact.yml: there is no file {unknown[0]}.")
        claims = [linked(entries[name], entries[name].label) for name in row.claims]
        files = [f"`{name.rpartition('/')[2]}` `{_digest(name)}`" for name in row.files]
        cells = [
            "; ".join([*claims, *filter(None, [row.about])]),
            f"`{row.command}`",
            "yes" if row.data else "no",
            _minutes(row),
            ", ".join(files) or f"it says `{row.says}`",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(
        [
            *lines,
            "",
            "The last column has the first digits of SHA-256. Minutes are processor time, summed "
            f"over cores, measured on {artefact.machine}; *about* marks an estimate, scaled up "
            "from a shorter command that was measured.",
        ]
    )


def _digest(name: str) -> str:
    return file_digest(CHECKOUT / name)[:12]


def _minutes(row: ArtefactRow) -> str:
    if row.minutes is None:
        return f"about {_two_digits(sum(part.minutes * part.times for part in row.samples))}"
    return "< 0.1" if row.minutes < 0.1 else _two_digits(row.minutes)


def _two_digits(number: float) -> str:
    """Two digits that count; zeros stand for the rest of a large number."""
    return f"{float(f'{number:.2g}'):,g}"
