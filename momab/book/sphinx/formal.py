"""What a machine has checked, in the book: marks on statements, tables, and the sources as a page.

- A statement that formal theorems check carries a mark beside its verdict, which opens them: the
  formal statement, its hypotheses in plain words, axioms, date and version, the way to the source.
- ``{machine-checked} summary``, ``statements``, ``axioms``, ``names`` and ``reading`` are parts of
  the page that explains this; ``{coq-sources}`` sets the sources, each name a target.
- Where the name of a theorem stands as code on a page about claims, it is a link to the theorem.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from momab.book.formal import (
    STALE,
    Checked,
    anchor,
    code_html,
    defined,
    read_checked,
    source_html,
)
from momab.book.gate import AXIOMS
from momab.book.proofs import sources
from momab.book.sphinx.ledger import entries_of, way_to
from momab.book.sphinx.statement_graph import linked
from momab.book.templating import fill_page
from momab.ledger.claims import Claim, Formal, by_block

SOURCES, EXPLAINED = "proof-sources", "machine-checked"
HEADLINES = (
    "theorem_4",
    "corollary_6",
    "proposition_3",
    "price_theorem",
    "imed_pulls_bound",
)
"""The theorems whose definitions the page lists."""
ABOUT = (EXPLAINED, SOURCES, "claims", "referee", "statements")
"""The pages that speak of the formal proofs."""


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_directive("machine-checked", MachineChecked)
    app.add_directive("coq-sources", CoqSources)


def checked_of(app: Sphinx) -> Checked | None:
    """What was checked of the proofs of the book that is being built."""
    kept = app.env.temp_data
    if "momab_checked" not in kept:
        kept["momab_checked"] = read_checked(Path(app.srcdir))
    found: Checked | None = kept["momab_checked"]
    return found


# ---- marks ---------------------------------------------------------------------------------


def mark_statements(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Give every statement that a machine has checked a mark, and what it opens."""
    checked = checked_of(app)
    if checked is None or app.builder.format != "html":
        return
    known = by_block(entry for entry in entries_of(app) if entry.formal)
    for block in list(tree.findall(nodes.Element)):
        if "proof" in block["classes"]:
            for entry in known.get(block.get("label", ""), []):
                block[0] += nodes.Text(" ")
                block[0] += _mark(entry, checked)
                text = opened(entry, checked, lambda at: way_to(app, page, *at))
                block += nodes.raw("", text, format="html")


def _mark(entry: Claim, checked: Checked) -> nodes.Node:
    assert entry.formal
    badge = nodes.inline("", _word(entry.formal, checked), classes=["verdict-badge", "formal"])
    return nodes.reference(
        "",
        "",
        badge,
        refuri=f"#formal-{entry.id}",
        internal=True,
        reftitle="What a machine has checked of this",
        classes=["verdict-link", "formal-link"],
    )


def _word(formal: Formal, checked: Checked) -> str:
    if not checked.current:
        return STALE
    return "machine-checked" if formal.extent == "yes" else f"machine-checked {formal.extent}"


Way = Callable[[tuple[str, str]], str]
"""The way to an anchor on a page; empty if there is none."""


def opened(entry: Claim, checked: Checked, way: Way) -> str:
    """What a mark opens, as HTML."""
    assert entry.formal
    names = defined(checked.folder)

    def href(name: str) -> str:
        return way((SOURCES, anchor(name))) if name in names else ""

    theorems = [
        {
            "name": name,
            "file": checked.theorems[name].file,
            "target": href(name),
            "says": checked.gloss.theorems[name],
            "code": code_html(checked.theorems[name].statement, href),
            "hypotheses": checked.explained(name),
            "reads": [(read, href(read)) for read in checked.theorems[name].reads],
        }
        for name in entry.formal.theorems
    ]
    axioms = sorted({axiom for name in entry.formal.theorems for axiom in _axioms(checked, name)})
    return fill_page(
        "formal.html",
        entry=entry,
        formal=entry.formal,
        word=_word(entry.formal, checked),
        theorems=theorems,
        axioms=[(axiom.rpartition(".")[2], AXIOMS[axiom]) for axiom in axioms],
        when=checked.when,
        explained=way((EXPLAINED, EXPLAINED)),
    )


def _axioms(checked: Checked, name: str) -> tuple[str, ...]:
    return checked.theorems[name].axioms


# ---- pages about it ------------------------------------------------------------------------


def link_theorems(app: Sphinx, tree: nodes.document, page: str) -> None:
    """On pages about claims, let the name of a theorem be a link to it."""
    checked = checked_of(app)
    if checked is None or page.rpartition("/")[2] not in ABOUT:
        return
    known = set(checked.theorems)
    if page.rpartition("/")[2] == EXPLAINED:
        known |= defined(checked.folder).keys()
    for code in list(tree.findall(nodes.literal)):
        if code.astext() in known and not isinstance(code.parent, nodes.reference):
            to = way_to(app, page, SOURCES, anchor(code.astext()))
            if to:
                code.replace_self(
                    nodes.reference("", "", code.deepcopy(), refuri=to, internal=True)
                )


def say_if_stale(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Say at the top of such a page that the proofs have changed since they were checked."""
    checked = checked_of(app)
    if checked is None or checked.current or page.rpartition("/")[2] not in ABOUT:
        return
    said = f"The formal proofs were {STALE}. The command make proofs checks them."
    for title in list(tree.findall(nodes.title))[:1]:
        place = title.parent
        place.insert(place.index(title) + 1, nodes.paragraph("", said, classes=["stale-proofs"]))


class _FromProofs(SphinxDirective):
    """A directive that reads the proofs of the book."""

    def checked(self) -> Checked:
        """What was checked, noted as what the page depends on."""
        found = checked_of(self.env.app)
        if found is None:
            raise self.error("there is no proofs/checked.json; `make proofs` writes it.")
        for path in found.folder.iterdir():
            self.env.note_dependency(str(path))
        return found

    def parsed(self, text: str) -> list[nodes.Node]:
        """The nodes of a text in Markdown."""
        place = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), "proofs"), 0, place)
        return list(place.children)


class MachineChecked(_FromProofs):
    """``{machine-checked} statements``: a part of the page on what was checked."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the part that is asked for."""
        self.env.note_dependency(str(Path(self.env.srcdir) / "book" / "claims.yml"))
        parts: Mapping[str, Callable[[Checked], str]] = {
            "summary": lambda checked: summary(checked, entries_of(self.env.app)),
            "statements": lambda checked: statement_table(entries_of(self.env.app)),
            "axioms": axiom_list,
            "names": name_list,
            "reading": reading_list,
        }
        if self.arguments[0] not in parts:
            raise self.error(f"the parts are {', '.join(parts)}; not {self.arguments[0]}.")
        content = self.parsed(parts[self.arguments[0]](self.checked()))
        return [nodes.container("", *content, classes=[f"formal-{self.arguments[0]}"])]


def summary(checked: Checked, entries: tuple[Claim, ...]) -> str:
    """How much was checked, by whom and when, in two sentences."""
    extents = Counter(entry.formal.extent for entry in entries if entry.formal)
    files = {theorem.file for theorem in checked.theorems.values()}
    return (
        f"{checked.when} These are {len(checked.theorems)} theorems in {len(files)} files. "
        f"They check {extents.total()} statements of this book: {extents['yes']} as they are, "
        f"{extents['with a hypothesis']} with a hypothesis, {extents['in part']} in part."
    )


def statement_table(entries: tuple[Claim, ...]) -> str:
    """Every entry that was checked, how far, and by which theorems."""
    rows = ["| statement | machine-checked | theorems |", "| --- | --- | --- |"]
    for entry in entries:
        if entry.formal:
            remark = f": {entry.formal.remark}" if entry.formal.remark else ""
            theorems = ", ".join(f"`{name}`" for name in entry.formal.theorems)
            name = linked(entry, entry.name)
            rows.append(f"| {name} | {entry.formal.extent}{remark} | {theorems} |")
    return "\n".join(rows)


def axiom_list(checked: Checked) -> str:
    """The axioms that some theorem rests on, each in one line."""
    used = Counter(axiom for theorem in checked.theorems.values() for axiom in theorem.axioms)
    return "\n".join(
        f"- `{axiom.rpartition('.')[2]}` ({used[axiom]} theorems): {says}."
        for axiom, says in AXIOMS.items()
        if used[axiom]
    )


def reading_list(checked: Checked) -> str:
    """For each headline theorem the definitions behind its statement, all the way down."""
    return "\n".join(
        f"- `{name}`: {', '.join(f'`{read}`' for read in checked.theorems[name].reads)}."
        for name in HEADLINES
        if name in checked.theorems
    )


def name_list(checked: Checked) -> str:
    """The words of which formal statements are made."""
    rows = ["| in Coq | here |", "| --- | --- |"]
    for names, says in checked.gloss.names.items():
        rows.append(f"| {', '.join(f'`{name}`' for name in names.split(', '))} | {says} |")
    return "\n".join(rows)


# ---- the sources ---------------------------------------------------------------------------


class CoqSources(_FromProofs):
    """``{coq-sources}``: every source file as a section, what it proves in plain words first."""

    def run(self) -> list[nodes.Node]:
        """Make the sections."""
        checked = self.checked()
        names = defined(checked.folder)
        found: list[nodes.Node] = []
        for path in sources(checked.folder):
            part = nodes.section(ids=[f"coq-file-{path.stem.lower()}"], names=[path.name])
            part += nodes.title("", path.name)
            listed = [
                f"- `{theorem.name}`: {checked.gloss.theorems[theorem.name]}"
                for theorem in checked.theorems.values()
                if theorem.file == path.name
            ]
            part += self.parsed("\n".join(listed))
            code = source_html(path, names)
            lines = len(path.read_text(encoding="utf-8").splitlines())
            text = (
                f'<details class="fold"><summary>The source, {lines:,} lines</summary>'
                f'<div class="highlight coq-source"><pre>{code}</pre></div></details>'
            )
            part += nodes.raw("", text, format="html")
            found.append(part)
        return found
