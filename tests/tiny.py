"""A tiny book to try the pipeline on, and what a test run makes only once."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from momab.book import build as pipeline
from momab.book.build import BuildReport
from momab.book.project import Project

ROOT = Path(__file__).resolve().parents[1]
HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

"""
PARAMETERS = """```{code-cell} ipython3
:tags: [parameters]

seed: int = 1  # seed of everything [0, 1_000]
```

"""


def cell(code: str) -> str:
    return f"```{{code-cell}} ipython3\n{code}\n```\n\n"


def write(book: Path, name: str, *cells: str, title: str | None = None) -> None:
    text = HEADER + f"# {title or name.title()}\n\n" + PARAMETERS + "".join(map(cell, cells))
    (book / "notebooks" / f"{name}.md").write_text(text)


def make(folder: Path) -> Path:
    """A book of two notebooks and a library of two modules."""
    for name in ("notebooks", "book/_static", "book/profiles", "momab_tiny"):
        (folder / name).mkdir(parents=True)
    (folder / "book/profiles/quick.yml").write_text("description: nothing\n")
    (folder / "requirements.txt").write_text("tiny==1\n")
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: notebooks/index\nchapters:\n  - file: notebooks/other\n"
    )
    (folder / "_config.yml").write_text(
        "title: Tiny\nonly_build_toc_files: true\nsphinx:\n"
        "  extra_extensions: [momab.book.sphinx]\n  config:\n    language: en\n"
    )
    (folder / "momab_tiny/__init__.py").write_text('"""A package."""\n')
    (folder / "momab_tiny/one.py").write_text(
        "from momab_tiny.two import base\n\n\ndef used():\n    return base() + 1\n\n\n"
        "def unused():\n    return 5\n"
    )
    (folder / "momab_tiny/two.py").write_text("def base():\n    return 1\n")
    write(
        folder,
        "index",
        "import sys; sys.path.insert(0, '..')\nfrom momab_tiny import one",
        "print(one.used() + seed)",
    )
    write(folder, "other", "import math", "print(math.pi * seed)")
    return folder


def dress(folder: Path) -> None:
    """Give a book the styles, templates and extensions of the real one."""
    config = (folder / "_config.yml").read_text()
    config = config.replace("[momab.book.sphinx]", "[sphinx_exercise, momab.book.sphinx]")
    config += "    templates_path: [book/_templates]\n    html_static_path: [book/_static]\n"
    config += "parse:\n  myst_enable_extensions: [colon_fence]\n"
    (folder / "_config.yml").write_text(config)
    for name in ("_static", "_templates"):
        shutil.copytree(ROOT / "book" / name, folder / "book" / name, dirs_exist_ok=True)


def project(book: Path) -> Project:
    return Project(book, book / "momab_tiny")


# ---- a book as a publishing workflow builds it ---------------------------------------------------

VALUES = ("other.seed=2",)
PUBLISHING = {
    "MOMAB_REPOSITORY": "https://github.com/someone/tiny",
    "MOMAB_BASEURL": "https://someone.example/tiny",
}
EXERCISES = (
    HEADER
    + "## Exercises\n\n:::{exercise} A sum\n:label: other-1\n:class: warm-up\n\nAdd them.\n:::\n\n"
    + ":::{solution-start} other-1\n:::\n\n"
    + cell("print('the', 'answer', seed)")
    + ":::{solution-end}\n:::\n"
)
SLIDES = ":::{slide} On the deck\n- terse words\n:::\n\n:::{notes}\nwhispered words\n:::\n"
RESULTS = """from IPython.display import Markdown
Markdown('Read <a href="downloads/results.csv" download>results.csv</a>.')"""


def declare(book: Path, pattern: str) -> None:
    """Let the notebook ``other`` declare an input."""
    source = book / "notebooks/other.md"
    header = f"momab:\n  inputs: [{pattern}]\n---\n\n#"
    source.write_text(source.read_text().replace("---\n\n#", header, 1))


def add_companions(book: Path) -> None:
    (book / "notebooks/other.exercises.md").write_text(EXERCISES)
    (book / "notebooks/other.slides.md").write_text(SLIDES)
    dress(book)


def build(book: Path, *assignments: str) -> BuildReport:
    return pipeline.build(project(book), assignments=assignments, workers=1, quiet=True)


def publish(folder: Path) -> None:
    """A tiny book with companions, recorded results and other values, built."""
    book = make(folder)
    add_companions(book)
    (book / "results.csv").write_text("a,b\n1,2\n")
    declare(book, "../results.csv")
    other, index = book / "notebooks/other.md", book / "notebooks/index.md"
    other.write_text(other.read_text().replace("# Other", "(far)=\n# Other") + cell(RESULTS))
    words = index.read_text().replace("# Index", "(front)=\n# The front page")
    index.write_text(words + "\nAs in {ref}`far`, see {ref}`the words <far>`.\n")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in PUBLISHING.items():
            patch.setenv(name, value)
        report = build(book, *VALUES)
    assert (report.executed, report.built) == (2, True)


def published(factory: pytest.TempPathFactory) -> Path:
    """That book, built once in a test run; a test that changes it takes a copy."""
    return once(factory, "published", publish)


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that one worker of a test run makes, and the others find; nobody may change it."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # of all workers
    folder, made = base / name, base / f"{name}.made"
    with FileLock(base / f"{name}.lock"):
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            made.touch()
    return folder
