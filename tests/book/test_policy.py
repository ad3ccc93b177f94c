"""Which scripts a page may run, and that names from a reader's table stay names."""

import re
from pathlib import Path

import pytest

from momab._util.prose import literal
from momab.book.policy import (
    alone_policy,
    inline_hashes,
    script_hash,
    seal_page,
    served_policy,
    site_policy,
    written_scripts,
)
from momab.chapters.figures import show
from momab.chapters.figures.magics import caption_and_alt
from tests.browsing import Visit

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("index", "algorithm", "claims", "search", "slides/model", "genindex")


def policy_of(page: str) -> dict[str, list[str]]:
    found = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert found is not None
    assert "<script" not in page[: found.start()]
    parts = [part.split() for part in found[1].split(";")]
    return {name: sources for name, *sources in parts}


def test_hashes_are_those_of_browsers():
    # the example of the specification of Content-Security-Policy
    assert script_hash("doSomething();") == "'sha256-RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc='"
    assert script_hash("a\r\nb") == script_hash("a\nb")


def test_only_scripts_that_stand_in_the_page_are_hashed():
    page = (
        '<script src="x.js"></script><script type="application/json">{}</script>'
        "<script>one()</script><SCRIPT TYPE='module'>two()</SCRIPT >"
    )
    assert inline_hashes(page) == [script_hash("one()"), script_hash("two()")]


def test_a_served_page_runs_scripts_of_the_server_and_those_that_stand_in_it():
    for page, hashes in (("<script>f()</script><b onclick='g()'>", ["f()"]), ("<p>none", [])):
        parts = dict(part.split(" ", 1) for part in served_policy(page).split("; "))
        assert parts["script-src"].split()[2:] == [script_hash(text) for text in hashes]
        assert parts["script-src"].split()[:2] == ["'self'", "'wasm-unsafe-eval'"]
        assert parts["frame-ancestors"] == "'none'"


def test_a_page_alone_runs_what_we_put_into_it_and_nothing_else():
    page = "<head><meta charset='utf-8'></head><script>ours()</script><script>theirs()</script>"
    found = policy_of(seal_page(page, alone_policy(["ours()"])))
    assert found["script-src"] == ["'wasm-unsafe-eval'", script_hash("ours()")]
    assert found["default-src"] == ["'none'"]
    assert policy_of(seal_page(page, alone_policy()))["script-src"] == ["'none'"]
    for page in (
        "<script>1</script>",
        "<!doctype html>\n<html lang='en'><head><script>1</script><meta charset='utf-8'>",
        "<html><p>no head",
    ):
        sealed = seal_page(page, alone_policy())
        assert policy_of(sealed)["script-src"] == ["'none'"]
        assert sealed.replace(re.search("\n<meta http[^>]*>", sealed)[0], "") == page


def test_no_policy_allows_inline_scripts_or_evaluation():
    for policy in (site_policy(["'sha256-x'"]), alone_policy(["x"])):
        rules = {name: sources for name, *sources in (p.split() for p in policy.split(";"))}
        assert "'unsafe-inline'" not in rules["script-src"]
        assert "'unsafe-eval'" not in rules["script-src"]
        assert not any(s.startswith("http") or s == "*" for s in rules["script-src"])


def test_what_a_script_writes_is_found():
    source = r'w.document.write("<b>\n<script>\n\tgo(\"x\", \x27y\u0041\x27)<\/script>")'
    assert written_scripts(source) == [script_hash("\n\tgo(\"x\", 'yA')")]


def test_every_page_of_the_site_has_a_policy(site, parsed):
    for path in (*site.glob("*.html"), *site.glob("slides/*.html")):
        text = parsed.text(path.relative_to(site).with_suffix("").as_posix())
        rules = policy_of(text)
        assert "'unsafe-inline'" not in rules["script-src"], path
        assert set(inline_hashes(text)) <= set(rules["script-src"]), path
        assert not re.search(
            r"<[a-z][^<>]*\son[a-z]+=", re.sub(r"(?s)<script.*?</script>", "", text)
        )


@pytest.mark.parametrize("page", KINDS)
def test_nothing_is_refused_of_a_page_that_is_opened_from_a_folder(browser, site, page):
    """A page of the web is visited in test_site."""
    with Visit(browser, f"{site.as_uri()}/", page) as visit:
        assert visit.trouble == []


@pytest.mark.parametrize("page", ["index", "slides/model"])
def test_a_planted_script_does_not_run(tour, parsed, page):
    text = parsed.text(page)
    planted = "<script>window.planted = 1</script><img src=x onerror='window.planted = 2'>"
    text = text.replace("<body", f"<body data-x>{planted}<p", 1)
    tour.page.route(f"**/{page}.html", lambda route: route.fulfill(body=text))
    tour.page.goto(f"{tour.address}{page}.html")
    assert tour.page.locator("body[data-x]").count() == 1
    assert tour.page.evaluate("window.planted") is None
    tour.page.unroute_all()


# ---- names -----------------------------------------------------------------------------------

HOSTILE = (
    "<script>window.planted = 1</script>",
    "$5 and $6",
    r"\(x^2\) \frac",
    "{ref}`model` *star* _under_",
    "](javascript:alert(1)) <b onclick='window.planted = 1'>b</b>",
    "two\n\n# lines ::: | & \"quotes\" 'single'",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_literal_name_is_what_it_was(name):
    from markdown_it import MarkdownIt

    flat = " ".join(name.split())
    html = MarkdownIt("commonmark").renderInline(f"x {literal(name)} y")
    assert re.sub(r"&(lt|gt|amp|quot);", "", html).count("<") == 0
    assert show.spoken(literal(name)) == flat
    caption, alt = caption_and_alt(f"{literal(name)} of $x$\nAlt: It shows {literal(name)} here.")
    assert alt == f"It shows {flat} here."
    shown = show._inline(caption)
    assert "<" not in shown
    assert shown.count(r"\(") == 1


def test_labels_of_figures_are_no_formulas():
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from momab.chapters.own_data import _clip

    for name in ("$x^2$", r"$\frac$", "$5", "a_b$c$"):
        with mpl.rc_context():
            fig = Figure()
            text = fig.text(0.5, 0.5, _clip(name))
            fig.canvas.draw() if hasattr(fig.canvas, "draw") else None
            shown, mathematics = text._preprocess_math(text.get_text())
        assert (shown, mathematics) == (name, False)


def hostile_table(folder: Path) -> Path:
    import pandas as pd

    path = folder / "<img onerror=x> $5.csv"
    rows = [(name, i / 7, 1 - i / 8) for i, name in enumerate(HOSTILE) for _ in range(2)]
    pd.DataFrame(rows, columns=["arm", "$a$ <i>", "b*c*_d_"]).to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_a_report_on_a_hostile_table_is_harmless(tmp_path, browser):
    from bs4 import BeautifulSoup

    from momab.book.report import make_report
    from momab.study.own import Request

    table, columns = hostile_table(tmp_path), ["$a$ <i>", "b*c*_d_"]
    asked = Request(str(table), "arm", columns, units={columns[0]: "<b>$"}, horizon=200, runs=2)
    report = make_report("study", asked.values, asked.command)
    page = tmp_path / "out" / "report.html"
    page.parent.mkdir()
    page.write_text(report.page, encoding="utf-8")
    soup = BeautifulSoup(report.page, "html.parser")
    text = " ".join(soup.main.get_text().split())
    assert any(f"hoose {' '.join(name.split())}" in text for name in HOSTILE)
    assert not soup.main.select("b[onclick], img, script")
    command = soup.select_one("footer code").get_text()
    assert command.startswith(f"momab study '{table}' --arm arm --objectives '$a$ <i>,b*c*_d_'")
    with Visit(browser, f"{page.parent.as_uri()}/", page.stem) as visit:
        assert visit.page.evaluate("window.planted") is None
        assert visit.trouble == []


def test_a_plain_build_begins_with_an_empty_folder(tmp_path):
    """And the pipeline, which finds no record of its own there, builds anew."""
    from types import SimpleNamespace

    from momab.book.inputs import BuildRecord
    from momab.book.sphinx import plain_builds

    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html"))
    (tmp_path / "mine.html").write_text("plain")
    plain_builds.empty_folder(app)
    assert (tmp_path / "mine.html").exists()  # of an earlier plain build
    BuildRecord("inputs", 2).write(tmp_path)
    plain_builds.empty_folder(app)
    assert list(tmp_path.iterdir()) == []
    assert BuildRecord.read(tmp_path) == BuildRecord()
