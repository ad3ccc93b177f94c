"""What a machine has checked, in the book: the data behind it, the marks, the pages."""

import re
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document

from momab.book import formal
from momab.book.proofs import AXIOMS, read_record, sources
from momab.book.sphinx import formal as marks
from momab.errors import MomabError
from momab.ledger import claims as ledger
from tests.conftest import ROOT

CHECKED = formal.read_checked(ROOT)
ENTRIES = ledger.claims_of(ROOT)
FORMAL = [entry for entry in ENTRIES if entry.formal]
NAMES = formal.defined(CHECKED.folder)
SENTENCE = "not re-checked since the sources changed"


# ---- the data ------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", FORMAL, ids=lambda entry: entry.id)
def test_what_an_entry_names_is_a_theorem_that_was_checked(entry):
    assert set(entry.formal.theorems) <= CHECKED.theorems.keys()
    assert len(set(entry.formal.theorems)) == len(entry.formal.theorems)


def test_the_core_of_the_paper_is_checked():
    extent = {entry.id: entry.formal.extent for entry in FORMAL}
    for name in ("section-2", "proposition-1", "lemma-9", "lemma-10", "lemma-11", "proposition-3"):
        assert extent[name] == "yes"
    assert extent["price-theorem"] == "yes"
    for name in ("theorem-4", "remark-5", "corollary-6", "proposition-8", "kl-certificates"):
        assert extent[name] == "with a hypothesis"
    assert extent["lai-robbins"] == extent["limit-logarithmic"] == "in part"


def test_a_result_behind_a_finite_law_is_not_called_unconditional():
    """Where a formal statement has laws with finitely many values, the entry says so."""
    for entry in FORMAL:
        said = " ".join(CHECKED.theorems[name].statement for name in entry.formal.theorems)
        if "bounded_rewards" in said or "law X" in said:
            assert "finitely many values" in entry.formal.remark, entry.id


def test_every_theorem_and_every_hypothesis_is_explained_and_nothing_else():
    assert CHECKED.gloss.theorems.keys() == CHECKED.theorems.keys()
    used = {
        text
        for theorem in CHECKED.theorems.values()
        for text in formal.antecedents(theorem.statement)[0]
    }
    assert CHECKED.gloss.hypotheses.keys() == used
    words = [*CHECKED.gloss.theorems.values(), *CHECKED.gloss.hypotheses.values()]
    assert all(len(text.split()) >= 3 for text in words)


@pytest.mark.parametrize(
    ("statement", "found", "claim"),
    [
        ("forall n : nat, n = n", [], "n = n"),
        ("forall a b : nat,\na < b -> b > a", ["a < b"], "b > a"),
        ("A -> B <-> C", ["A"], "B <-> C"),
        (
            "forall f : nat -> R, (forall x, P x -> Q) -> forall y, R y",
            ["(forall x, P x -> Q)"],
            "R y",
        ),
        ("A /\\ (B -> C)", [], "A /\\ (B -> C)"),
        ("A -> exists x, forall y, B -> C", ["A"], "exists x, forall y, B -> C"),
        ("A /\\ forall x, B -> C", [], "A /\\ forall x, B -> C"),
    ],
)
def test_a_statement_is_taken_apart_at_its_arrows(statement, found, claim):
    assert formal.antecedents(statement) == (found, claim)


def test_a_quantifier_without_an_end_is_refused():
    with pytest.raises(MomabError, match="no end"):
        formal.antecedents("forall x : nat")


@pytest.mark.parametrize("text", ["", "theorems: {}", "- a", "a: ["])
def test_a_damaged_gloss_is_named(tmp_path, text):
    (tmp_path / "gloss.yml").write_text(text)
    with pytest.raises(MomabError, match=r"gloss\.yml"):
        formal.read_gloss(tmp_path)


def test_a_book_without_proofs_has_nothing_checked(tmp_path):
    assert formal.read_checked(tmp_path) is None


def test_sources_that_changed_are_told(tmp_path):
    shutil.copytree(CHECKED.folder, tmp_path / "proofs")
    assert formal.read_checked(tmp_path).current
    assert SENTENCE not in formal.read_checked(tmp_path).when
    with (tmp_path / "proofs" / "Lemmas.v").open("a") as file:
        file.write("\n")
    found = formal.read_checked(tmp_path)
    assert not found.current
    assert found.when == f"Checked by Coq {found.record.coq} on {found.record.date}; {SENTENCE}."


# ---- the sources as HTML -------------------------------------------------------------------


@pytest.mark.parametrize("path", sources(CHECKED.folder), ids=lambda path: path.name)
def test_every_name_is_a_target_once_and_every_link_has_one(path):
    text = formal.source_html(path, NAMES)
    here = [name for name, (file, _) in NAMES.items() if file == path.name]
    assert sorted(re.findall(r'id="coq-([^"]+)"', text)) == sorted(here)
    assert set(re.findall(r'href="#coq-([^"]+)"', text)) <= NAMES.keys()
    plain = re.sub(r"<[^>]+>", "", text).replace("&lt;", "<").replace("&gt;", ">")
    assert plain.replace("&amp;", "&").strip() == path.read_text("utf-8").strip()


def test_a_name_is_not_a_link_before_it_is_defined_or_within_a_proof(tmp_path):
    (tmp_path / "_CoqProject").write_text("-Q . Momab\nOne.v\n")
    path = tmp_path / "One.v"
    path.write_text(
        "Definition one (two : nat) := two.\nDefinition two := one 1.\n"
        "Lemma x : two = one 1.\nProof. unfold two. Qed.\n"
    )
    text = formal.source_html(path, formal.defined(tmp_path))
    assert text.count('href="#coq-two"') == 1
    assert text.count('href="#coq-one"') == 2


# ---- what a mark opens ---------------------------------------------------------------------


def test_a_mark_opens_statement_hypotheses_axioms_and_version():
    entry = next(entry for entry in FORMAL if entry.id == "theorem-4")
    text = marks.opened(entry, CHECKED, lambda at: f"{at[0]}.html#{at[1]}")
    for name in entry.formal.theorems:
        assert f'href="proof-sources.html#coq-{name}"' in text
        assert CHECKED.gloss.theorems[name] in text
        for _, says in CHECKED.explained(name):
            assert says in text
    for says in AXIOMS.values():
        assert says in text
    assert CHECKED.record.coq in text
    assert CHECKED.record.date in text
    assert SENTENCE not in text
    stale = marks.opened(entry, replace(CHECKED, current=False), lambda at: "")
    assert stale.count(SENTENCE.capitalize()) == 1
    assert f"; {SENTENCE}." in stale
    assert "Machine-checked with" not in stale
    assert "<a " not in stale


def test_pages_and_marks_say_when_the_sources_have_changed():
    stale = replace(CHECKED, current=False)
    assert {marks._word(entry.formal, stale) for entry in FORMAL} == {SENTENCE}
    app = SimpleNamespace(env=SimpleNamespace(temp_data={"momab_checked": stale}))
    for page in ("machine-checked", "proof-sources", "claims", "model"):
        tree = new_document(page)
        tree += nodes.section("", nodes.title("", "A title"))
        marks.say_if_stale(app, tree, page)
        assert (SENTENCE in tree.astext()) == (page != "model")


# ---- the book ------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", [e for e in FORMAL if e.block], ids=lambda entry: entry.id)
def test_a_checked_statement_carries_its_mark_and_what_it_opens(parsed, entry):
    statement = parsed.page(entry.page).find(id=entry.block)
    [mark] = statement.select(f'.admonition-title a[href="#formal-{entry.id}"]')
    assert mark.get_text().startswith("machine-checked")
    assert (entry.formal.extent == "yes") == (mark.get_text() == "machine-checked")
    box = statement.find(id=f"formal-{entry.id}")
    reads = {theorem.name: theorem.reads for theorem in read_record(ROOT / "proofs").theorems}
    words = [word for name in entry.formal.theorems for word in (name, *reads[name])]
    assert [code.get_text() for code in box.select("p > a > code")] == words
    assert len(box.select("pre")) == len(entry.formal.theorems)


def test_nothing_else_is_marked(parsed):
    for name in parsed.names:
        boxes = [
            tag
            for tag in parsed.tags(name, "details")
            if "formal-box" in tag.get("class", "").split()
        ]
        found = {tag["id"].removeprefix("formal-") for tag in boxes}
        assert found == {e.id for e in FORMAL if e.block and e.page == name}, name


def test_the_table_and_the_ledger_say_how_far(parsed):
    rows = parsed.page("machine-checked").select("section#the-statements tbody tr")
    assert len(rows) == len(FORMAL)
    for row, entry in zip(rows, FORMAL, strict=True):
        assert row.select("td")[1].get_text().startswith(entry.formal.extent)
        links = {a["href"] for a in row.select("td:last-child a")}
        assert links == {f"proof-sources.html#coq-{name}" for name in entry.formal.theorems}
    for entry in ENTRIES:
        if entry.ledger:
            box = parsed.page(entry.ledger).find(id=entry.anchor)
            extent = entry.formal.extent if entry.formal else "no"
            assert f"checked-{extent.replace(' ', '-')}" in box["class"]
            assert f"Machine-checked. {extent.capitalize()}" in box.get_text()


def test_a_mark_opens_its_box(tour):
    page = tour.go("certificates")
    box = page.locator("#formal-lemma-9 pre").first
    assert not box.is_visible()
    page.locator("#paper-lemma-9 a.formal-link").click()
    assert box.is_visible()


def test_every_advertised_theorem_is_linked_and_said_in_plain_words(parsed):
    page = parsed.page("proof-sources")
    links = {a["href"].rpartition("#")[2]: a for a in page.select("li a[href*='#coq-']")}
    for name, says in CHECKED.gloss.theorems.items():
        assert says.replace("'", "’") in links[f"coq-{name}"].find_parent("li").get_text()
        assert f"coq-{name}" in parsed.anchors("proof-sources")


@pytest.mark.parametrize("page", ["certificates", "machine-checked", "proof-sources"])
def test_the_proofs_of_the_book_are_those_that_were_checked(parsed, page):
    assert SENTENCE not in parsed.page(page).main.get_text()
