"""The whole book as one PDF, printed from the site by headless Chromium.

The pages' articles are put into one document in the order of the contents, each starting on a new
sheet; links between pages become links inside the document, and every fold is open.  Solutions and
teaching notes are left out unless somebody asks for them.
"""

from __future__ import annotations

import functools
import http.server
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from momab.book.policy import seal_page, site_policy
from momab.book.project import Project
from momab.book.templating import fill_page
from momab.errors import BuildError, MomabError

#: What keeps Chromium quiet, offline and usable as root.
CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    """Where a Chromium or Chrome is installed, if one is."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on a free local port; yields its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def print_book(project: Project, output: Path | None = None, answers: bool = False) -> Path:
    """Print the site that stands in ``_build/html``; returns the PDF's path.

    Solutions and teaching notes are printed only for somebody who asks for ``answers``.
    """
    chromium = find_chromium()
    if chromium is None:
        raise MomabError("the PDF needs Chromium or Chrome, and neither is installed.")
    site = project.build / "html"
    if not (site / "index.html").is_file():
        raise MomabError("there is no site to print yet; `momab book` builds it.")
    output = (output or project.build / "momab.pdf").resolve()
    output.parent.mkdir(parents=True, exist_ok=True)
    document = one_document(site, project.pages, answers)
    whole = site / "_whole.html"
    with tempfile.TemporaryDirectory() as profile, serve(site) as address:
        partial = Path(profile) / "book.pdf"
        command = [chromium, *CHROMIUM_FLAGS, f"--user-data-dir={profile}"]
        command += ["--no-pdf-header-footer", "--generate-pdf-document-outline"]
        command += ["--virtual-time-budget=60000", f"--print-to-pdf={partial}"]
        try:
            whole.write_text(document, encoding="utf-8")
            done = subprocess.run([*command, address + whole.name], capture_output=True, text=True)
        finally:
            whole.unlink(missing_ok=True)
        if done.returncode != 0 or not partial.is_file():
            raise BuildError(f"Chromium did not print the book: {done.stderr.strip()[-500:]}")
        shutil.move(partial, output)
    return output


def one_document(site: Path, pages: list[str], answers: bool = False) -> str:
    """All pages' articles in one HTML document, with links between them rewritten."""
    from bs4 import BeautifulSoup

    first = BeautifulSoup((site / f"{pages[0]}.html").read_text(encoding="utf-8"), "html.parser")
    articles = []
    for page in pages:
        text = (site / f"{page}.html").read_text(encoding="utf-8")
        article = BeautifulSoup(text, "html.parser").select_one("article.bd-article")
        if article is None:
            continue
        for extra in article.select("a.headerlink, button, .toctree-wrapper"):
            extra.decompose()
        for answer in [] if answers else article.select(":is(.solution, .teaching)"):
            answer.decompose()
        for fold in article.select("details"):
            fold["open"] = ""
        for element in article.select("[id]:not(svg, svg *)"):  # figures' own are unique already
            element["id"] = f"{page}--{element['id']}"
        for link in article.select("a[href]"):
            link["href"] = _local(str(link["href"]), page, pages)
        article["id"] = f"{page}--"
        articles.append(str(article))
    head = "".join(str(element) for element in first.select("head link[rel=stylesheet]"))
    title = first.title.get_text() if first.title else "momab"
    page = fill_page("whole.html", title=title, head=head, articles="".join(articles))
    return seal_page(page, site_policy(()))


def _local(target: str, page: str, pages: list[str]) -> str:
    """Where a link of one page leads inside the whole document."""
    if target.startswith("#"):
        return f"#{page}--{target[1:]}"
    name, _, anchor = target.partition("#")
    stem = name.removesuffix(".html")
    return f"#{stem}--{anchor}" if name.endswith(".html") and stem in pages else target
