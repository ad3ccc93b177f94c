"""Who uses whom: the data beside the statements, against the pages."""

import re

import pytest

from momab.book import myst
from momab.ledger import claims as ledger
from tests.conftest import PROJECT, ROOT

CLAIMS = ledger.read_claims()
BY_BLOCK = {}
for _claim in CLAIMS:
    if _claim.block:
        BY_BLOCK.setdefault(_claim.block, []).append(_claim)
REFERENCE = re.compile(r"\{prf:ref\}`(?:[^`<]*<)?([\w-]+)>?`")


def blocks():
    """Every labelled statement: page, label, and the references in its proof."""
    found = []
    for path in sorted((ROOT / "notebooks").glob("*.md")):
        if path.stem.endswith((".exercises", ".slides")):
            continue
        for block in myst.walk(path.read_text(encoding="utf-8")):
            if block.name == "prf:proof":
                found[-1][2].extend(REFERENCE.findall("\n".join(block.body)))
            elif block.name.startswith("prf:"):
                found.append((path.stem, block.options.get("label", ""), []))
    return found


BLOCKS = blocks()


def test_every_statement_of_a_page_is_in_the_ledger_and_the_other_way_round():
    on_pages = {label: page for page, label, _ in BLOCKS}
    assert len(on_pages) == len(BLOCKS)
    assert on_pages.keys() == BY_BLOCK.keys()
    for label, claims in BY_BLOCK.items():
        assert {claim.page for claim in claims} == {on_pages[label]}


def test_a_statement_of_the_paper_stands_on_the_page_under_its_number():
    for claim in CLAIMS:
        if claim.block and claim.block.startswith("paper-"):
            assert claim.block == f"paper-{claim.id}" == f"paper-{claim.kind}-{claim.number}"
        elif claim.kind not in ("text", "table", "figure", "ours", "background"):
            assert claim.id == "remark-2", "only Remark 2 has no block"


@pytest.mark.parametrize(("page", "label", "named"), BLOCKS, ids=lambda x: x if x else "")
def test_what_a_proof_refers_to_is_among_what_the_statement_uses(page, label, named):
    """The message says what to add to book/claims.yml."""
    used = {other for claim in BY_BLOCK[label] for other in claim.uses}
    for other in set(named) - {label}:
        ids = {claim.id for claim in BY_BLOCK[other]}
        assert ids & used, f"{label} ({page}) should use one of {sorted(ids)}"


def test_the_order_has_everything_after_what_it_uses():
    order = ledger.dependency_order(CLAIMS)
    place = {name: number for number, name in enumerate(order)}
    assert len(place) == len(CLAIMS)
    assert all(place[name] < place[claim.id] for claim in CLAIMS for name in claim.uses)


def test_what_is_proved_rests_on_nothing_that_is_not():
    """A proof may use what is verified, sharpened or proved, definitions and known results."""
    solid = {"verified", "verified with a caveat", "sharpened", "proved", None}
    standing = {claim.id: claim.status or claim.verdict for claim in CLAIMS}
    for claim in CLAIMS:
        if claim.status == "proved":
            assert {standing[name] for name in claim.uses} <= solid, claim.id


def test_a_corner_of_the_graph_is_as_it_should_be():
    uses = {claim.id: set(claim.uses) for claim in CLAIMS}
    assert uses["theorem-4"] == {"proposition-8", "lemma-9", "lemma-10", "lemma-11"}
    assert uses["corollary-6"] == {"lemma-9", "proposition-8"}
    assert "limit-optimal" in uses["limit-copies"]


def test_every_page_of_a_claim_is_in_the_table_of_contents():
    assert {claim.page for claim in CLAIMS} <= set(PROJECT.notebook_pages)
