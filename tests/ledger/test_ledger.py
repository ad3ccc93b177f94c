"""The claims ledger: complete, every check runs, every verdict is the recorded one."""

import re
from collections import Counter

import pytest

from momab import study
from momab.chapters.figures import show
from momab.errors import MomabError
from momab.ledger import claims as ledger
from momab.ledger import study as checks
from momab.ledger.claims import Claim, ClaimOutcome, ClaimResult
from momab.study import survival
from tests.chapters.running import run_chapter, text_of

CLAIMS = ledger.read_claims()
CHECKED = [claim for claim in CLAIMS if claim.check is not None]


def test_no_item_of_the_paper_is_missing():
    assert ledger.uncovered(CLAIMS) == ()
    assert ("lemma", 10) in ledger.uncovered(tuple(c for c in CLAIMS if c.id != "lemma-10"))
    assert len(ledger.NUMBERED) == 19


def test_the_numbering_is_the_paper_s(shared):
    source = (shared / "paper" / "paper.tex").read_text()
    environments = re.findall(
        r"^\\begin\{(theorem|proposition|lemma|corollary|remark|definition|algorithm|table|figure)\}",
        source,
        re.MULTILINE,
    )
    counters = Counter()
    found = set()
    for kind in environments:
        together = ("theorem", "proposition", "lemma", "corollary", "remark")
        counter = "theorem" if kind in together else kind
        counters[counter] += 1
        found.add((kind, counters[counter]))
    assert found == set(ledger.NUMBERED)


@pytest.mark.parametrize("claim", CHECKED, ids=lambda claim: claim.id)
def test_verdict_is_the_recorded_one(claim):
    result = ledger.audit_claim(claim)
    assert result.outcome is not None, f"{claim.id} has no check that ran"
    assert result.outcome.verdict == claim.verdict, result.evidence
    assert result.agrees
    assert re.search(r"\d", result.evidence)
    assert "\n" not in result.evidence
    assert not ascii_mathematics(result.evidence)
    # every number that the check returns is told
    assert all(re.search(rf"\b{name}\b", claim.evidence) for name in result.outcome.numbers)


def ascii_mathematics(text):
    """What of a text, outside formulas, should be one: mu_b, <=, T^2, 1e-7, log T."""
    words = re.sub(r"\$[^$]+\$", " ", text)
    return re.findall(r"\w+_\w+|[<>]=|\w\^|\d[eE][+-]?\d|\blog T\b|\b[KTcg] = |\bdelta\b", words)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_formulas_are_formulas(claim):
    texts = (claim.title, claim.statement, claim.reason, claim.proof, claim.pending or "")
    fields = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", " ", claim.evidence)
    for text in (*texts, fields):
        assert not ascii_mathematics(text)
        assert text.count("$") % 2 == 0
    assert "$" not in claim.title  # a title also stands in the graph, which is a picture


def test_numbers_with_many_zeros_are_powers_of_ten():
    claim = next(claim for claim in CLAIMS if claim.id == "section-2")
    claim = claim.model_copy(update={"evidence": "From {{ a }} to {{ b }}, {{ c }}."})
    numbers = {"a": 4e-17, "b": 1e-9, "c": 3.5e20}
    said = ClaimResult(claim, ClaimOutcome(True, numbers)).evidence
    assert said == r"From $4\times10^{-17}$ to $10^{-9}$, $3.5\times10^{20}$."


def test_only_data_and_long_runs_may_wait():
    theory = {"theorem", "proposition", "lemma", "corollary", "remark", "definition", "algorithm"}
    for claim in ledger.paper_claims(CLAIMS):
        if claim.pending is not None:
            assert claim.kind not in theory
            assert claim.page in ("synthetic", "real-data", "many-runs", "tuning", "fairness")


def test_every_check_of_the_file_is_a_different_function_of_the_module():
    names = [claim.check for claim in CHECKED]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"momab\.ledger\.[a-z_]+\.\w+", name) for name in names)


def test_statements_are_whole_sentences_in_our_own_words(shared):
    source = " ".join((shared / "paper" / "paper.tex").read_text().split())
    for claim in CLAIMS:
        words = claim.statement.split()
        assert words[-1].endswith((".", "?") if claim.status == "open" else ".")
        assert len(words) >= 8
        for i in range(len(words) - 11):  # no dozen words in a row are the paper's
            assert " ".join(words[i : i + 12]) not in source


def test_verdicts_follow_from_facts():
    facts = {"holds": True}
    assert ClaimOutcome(**facts).verdict == "verified"
    assert ClaimOutcome(**facts, caveat=True).verdict == "verified with a caveat"
    assert ClaimOutcome(**facts, caveat=True, stronger=True).verdict == "sharpened"
    assert ClaimOutcome(**facts, wrong=True, stronger=True).verdict == "corrected"
    assert ClaimOutcome(holds=False, stronger=True).verdict == "refuted"


def test_a_changed_verdict_or_a_check_that_did_not_run_is_noticed():
    claim = next(claim for claim in CLAIMS if claim.id == "proposition-1")
    assert not ClaimResult(claim, ClaimOutcome(holds=False)).agrees
    assert not ClaimResult(claim, None).agrees
    assert not ledger.audit_claim(claim.model_copy(update={"verdict": "corrected"})).agrees
    with pytest.raises(MomabError, match="there is no check"):
        ledger.audit_claim(claim.model_copy(update={"check": "momab.ledger.theory.lemma_12"}))


def test_evidence_is_filled_with_the_numbers_of_the_check():
    claim = next(claim for claim in CLAIMS if claim.id == "section-2")
    claim = claim.model_copy(update={"evidence": "Off by {{ worst }}\nat most."})
    assert (
        ClaimResult(claim, ClaimOutcome(True, {"worst": 0.25})).evidence == "Off by 0.25 at most."
    )
    assert ClaimResult(claim, None).evidence == ""
    with pytest.raises(MomabError, match="uses a name that no cell defines: 'worst'"):
        _ = ClaimResult(claim, ClaimOutcome(True)).evidence


def test_table_for_the_page():
    few = tuple(c for c in CLAIMS if c.id in ("proposition-1", "definition-1"))
    open_claim = Claim(
        **(
            few[0].model_dump()
            | {"check": None, "verdict": None, "reason": "", "pending": "needs more thought"}
        )
    )
    table = ledger.ledger_table(ledger.audit_claims((*few, open_claim)))
    assert list(table["item"]) == ["Proposition 1", "Definition 1", "Proposition 1"]
    assert list(table["verdict"]) == ["verified", "verified with a caveat", "pending"]
    assert (table["verdict"] == table["recorded"]).all()
    assert list(table["id"])[:2] == ["proposition-1", "definition-1"]
    assert list(table["block"])[:2] == ["paper-proposition-1", "paper-definition-1"]
    assert table["reason"].str.len().min() > 10
    assert open_claim.model_copy(update={"kind": "text", "number": "Abstract"}).label == "Abstract"


def ours(number, status="proved", **changes):
    """An entry of kind ours; its check is another claim's."""
    entry = {
        **{"id": f"ours-{number}", "kind": "ours", "number": number, "status": status},
        **{"title": "A title", "statement": "A statement.", "page": "price", "reason": "Tried."},
        **{"check": "momab.ledger.theory.pareto_gap", "verdict": "verified"},
        "evidence": "Off by {{ worst }} over {{ arms }} arms.",
    }
    return Claim(**(entry | changes))


def test_the_paper_s_claims_and_ours_are_kept_apart():
    mixed = (ours("P10"), *CLAIMS[:2], ours("P2"), ours("L1", "open"))
    assert [claim.label for claim in ledger.our_claims(mixed)] == ["L1", "P2", "P10"]
    assert ledger.paper_claims(mixed) == CLAIMS[:2]
    background = tuple(claim for claim in CLAIMS if claim.kind == "background")
    assert background
    assert ledger.paper_claims(background) == ledger.our_claims(background) == ()
    assert ledger.our_claims(CLAIMS[:2]) == ()
    assert ledger.uncovered((*CLAIMS, ours("P1"))) == ()
    assert len(ledger.our_claims()) + len(ledger.paper_claims()) == len(CLAIMS) - len(background)
    counts = ledger.status_counts(ledger.our_claims(mixed))
    assert counts == {"proved": 2, "measured": 0, "conjectured": 0, "open": 1}
    assert tuple(counts) == ledger.STATUSES


def test_labels_and_statuses_of_our_own_claims():
    own = ledger.our_claims(CLAIMS)
    labels = [claim.label for claim in own]
    assert len(set(labels)) == len(labels)
    for claim in own:  # only an open question or a conjecture may do without a check
        assert claim.check is not None or claim.status in ("open", "conjectured")
    table = ledger.ledger_table(ledger.audit_claims((ours("P1"), CLAIMS[1])))
    assert list(table["item"]) == ["P1", "Abstract, dimension"]
    assert list(table["status"]) == ["proved", ""]
    assert list(ledger.ledger_table(()).columns) == list(table.columns)


def played(monkeypatch, claims, **values):
    """What the referee's page says about some claims."""
    bundles = []
    monkeypatch.setattr(show, "bundle", bundles.append)
    monkeypatch.setattr(ledger, "our_claims", lambda: tuple(claims))
    return run_chapter("referee", **values), text_of(bundles)


def test_the_referee_s_page_lists_our_claims_and_works_without_any(monkeypatch):
    waiting = {"check": None, "verdict": None, "reason": "", "pending": "A proof is missing."}
    two = [ours("L1", "open", **waiting), ours("P2")]
    _, said = played(monkeypatch, two)
    assert "proved (1)" in said
    assert "open (1)" in said
    assert ":name: claim-ours-P2" in said
    assert re.search(r"\*\*P2: A title\*\* — \*proved\*; see\s+\{ref\}`price`\.", said)
    assert "*The claim.* A statement." in said
    assert "*Check.* Tried." in said
    assert "*Missing.* A proof is missing." in said
    assert "{prf:ref}" not in said
    shown = ours("P3", block="price-theorem", proof="It follows from P1.")
    _, said = played(monkeypatch, [shown, ours("P1")])
    assert "{prf:ref}`the statement <price-theorem>` in {ref}`price`" in said
    assert "*Proof.* It follows from {ref}`P1 <claim-ours-P1>`." in said
    assert re.search(r"\*The result.\* Off by \$[\d.]+\\times10\^\{-\d+\}\$ over \d+ arms.", said)
    _, said = played(monkeypatch, two, status="open")
    assert "**L1" in said
    assert "**P2" not in said
    space, said = played(monkeypatch, [])
    assert len(space["table"]) == 0
    assert "There is no entry." in said


GOOD = """
- id: a
  kind: lemma
  number: 9
  title: t
  statement: s
  page: model
  check: momab.ledger.theory.lemma_9
  verdict: verified
  reason: r
  evidence: e
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + GOOD, "two entries with the id 'a'"),
        (GOOD.replace("lemma\n", "axiom\n"), "'kind' must be one of"),
        (GOOD.replace("statement: s", "statement: ''"), "lacks the key 'statement'"),
        (GOOD.replace("verdict: verified", "verdict: proved"), "needs a reason and a verdict"),
        (GOOD.replace("reason: r", "because: r"), "has the key 'because'"),
        (GOOD.replace("  evidence: e\n", ""), "needs evidence"),
        (GOOD.replace("title: t", "title: 7"), "has a 'title' that is not a valid string"),
        (GOOD + "  pending: later\n", "either a check or why it is pending"),
        (GOOD + "  status: proved\n", "only a claim of kind ours has a status"),
        (GOOD.replace("lemma\n", "ours\n"), "needs a status, one of proved, measured"),
        (GOOD.replace("lemma\n", "ours\n") + "  status: sure\n", "it is 'sure'"),
        (GOOD.replace("lemma\n", "ours\n") + "  status: open\n", "such as P1; it is 9"),
        (GOOD + "  uses: [b]\n", "claim a uses 'b', which is not in the file"),
        (GOOD + "  uses: [a]\n", "in a circle: a, a"),
        (GOOD.replace("  number: 9\n", ""), "'number' is missing"),
        (GOOD.replace("lemma\n", "background\n"), "no number, no check and no verdict"),
        ("- lemma 9\n", "mapping with an id"),
        ("a: [", "not readable YAML"),
        ("", "list of claims"),
    ],
)
def test_a_bad_file_gets_one_sentence(tmp_path, text, message):
    path = tmp_path / "claims.yml"
    path.write_text(text)
    with pytest.raises(MomabError, match=message):
        ledger.read_claims(path)


def test_a_missing_file_gets_one_sentence(tmp_path):
    with pytest.raises(MomabError, match="there is no claims file"):
        ledger.read_claims(tmp_path / "none.yml")


# ---- verdicts that follow from our runs --------------------------------------------------------


def test_table_1_is_judged_by_the_comparison_of_the_chapter_on_sixty_runs():
    """One comparison, one number: the ledger counts what the chapter counts."""
    found = checks.table_1()
    pooled = survival.group_risk(study.recorded_results("risk"))
    rivals, real = study.recorded_results("rivals"), study.recorded_results("real")
    verdicts = list(survival.survival(pooled, rivals, real)["verdict"])
    assert found.numbers["won"] == verdicts.count("Width-guided is better")
    assert found.numbers["lost"] == verdicts.count("the rival is better") > 0
    assert found.numbers["equal"] == found.numbers["won"]


def test_the_equal_comparison_has_equally_many_runs_of_both_that_settle():
    table = checks._equal_sizes()
    assert set(table["policy"]) == set(checks.FOUR)
    assert len(table) == 6 * 4
    heavy = table[table["policy"].isin(["Width-guided (paper's c)", "Annealing-Pareto"])]
    assert heavy["runs"].nunique() == 1
    assert table["runs"].max() == heavy["runs"].max()


def test_a_table_without_a_lost_group_would_be_verified(monkeypatch):
    always = checks._survival().assign(verdict="Width-guided is better")
    monkeypatch.setattr(checks, "_survival", lambda: always)
    monkeypatch.setattr(checks, "_lowest", lambda column: [None] * 6)
    assert checks.table_1().verdict == "verified"
