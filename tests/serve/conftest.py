"""A small book in the dress of the real one, and a server for it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from momab.book import build as pipeline
from momab.book.project import Project
from momab.serve.app import Serving
from tests import tiny
from tests.conftest import ROOT

PAGE = """
# Dice

```{code-cell} ipython3
:tags: [parameters]

seed: int = 1  # seed of the throws [0, 2_147_483_647]
throws: int = 40  # throws [2, 100_000]
share: float = 0.5  # share of sixes (0, 1)
kind: str = "fair"  # which dice {fair, loaded}
wait: float = 0.0  # seconds to think [0, 600]
levels: list[float] = [0.1, 0.2]  # levels to compare [0.01, 1]
```

```{code-cell} ipython3
import time

import numpy as np

import momab
from momab.chapters import zero_gap

rng = np.random.default_rng(seed)
sixes = int(rng.binomial(throws, share))
time.sleep(wait)
```

```{code-cell} ipython3
if kind == "loaded":
    raise ValueError("the dice are loaded")
```

```{code-cell} ipython3
:tags: [remove-input]

%%prose
Of {{ throws }} throws {{ sixes }} were sixes. Nothing else is said of seven dwarfs.
```

```{code-cell} ipython3
:tags: [remove-input]

%%figure bars(throws, sixes)
The throws.

Alt: A bar of {{ throws }} and a bar of {{ sixes }}.
```
"""
BARS = """import matplotlib as mpl

from momab.figures.style import BLUE, STYLE, new_axes


def bars(throws, sixes):
    with mpl.rc_context(STYLE):
        fig, (axes,) = new_axes(size=(3, 2))
        axes.bar([0, 1], [throws, sixes], color=BLUE)
    return fig"""

OWN = """
# Bring your own data

```{code-cell} ipython3
:tags: [parameters]

table: str = ""  # a CSV file; the example if empty
arm: str = "cafe"  # the column that names the arm
objectives: str = "coffee;quiet"  # the reward columns
scale: str = ""  # columns to scale first
minimize: str = ""  # columns of which less is better
missing: str = "error"  # what becomes of rows with gaps {error, drop}
delimiter: str = ""  # found if empty
encoding: str = ""  # found if empty
fingerprint: str = ""  # of the file, to notice changes
horizon: int = 1_000  # rounds per run [100, 10_000]
runs: int = 2  # runs per policy [2, 10]
coefficient: float = 0.1  # a second c [0.001, 2]
seed: int = 1  # seed [0, 1_000]
```

```{code-cell} ipython3
from IPython.display import HTML

import momab
from momab.chapters import own_data
from momab.model.tables import parse_scale
```

```{code-cell} ipython3
names = ["an example"]
if table:
    ranges = parse_scale(own_data.columns_of(scale))
    columns = own_data.columns_of(objectives)
    names = momab.from_csv(table, arm, columns, ranges, missing=missing).arm_names
HTML("<p>Arms: " + ", ".join(names) + "</p>")  # careless on purpose
```
"""

ASKED = "## Exercises\n\nWhich of our cafés is the best?\n"


def make_book(folder: Path) -> Project:
    """A book of two pages with the styles, scripts and settings of the real one."""
    tiny.make(folder)
    dice = PAGE.replace("rng = np", f"{BARS}\n\n\nrng = np", 1).replace(
        "from momab.chapters import zero_gap\n", ""
    )
    for name, text in (("index", dice), ("own-data", OWN)):
        (folder / "notebooks" / f"{name}.md").write_text(tiny.HEADER + text)
    (folder / "notebooks" / "other.md").unlink()
    (folder / "notebooks" / "own-data.exercises.md").write_text(tiny.HEADER + ASKED)
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: notebooks/index\nchapters:\n  - file: notebooks/own-data\n"
    )
    (folder / "book/profiles/paper.yml").write_text("notebooks: {index: {throws: 500}}\n")
    for name in ("_static", "_templates"):
        shutil.copytree(ROOT / "book" / name, folder / "book" / name, dirs_exist_ok=True)
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    del config["bibtex_bibfiles"]
    del config["sphinx"]["config"]["html_additional_pages"]
    config["sphinx"]["config"]["html_theme_options"]["footer_content_items"] = ["copyright.html"]
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    return Project(folder, folder / "momab_tiny")


@pytest.fixture(scope="session")
def small_book(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The small book, built."""
    project = make_book(tmp_path_factory.mktemp("served"))
    pipeline.build(project, quiet=True)
    return project


@pytest.fixture(scope="session")
def serving(small_book: Project) -> Iterator[Serving]:
    """The small book, served."""
    with closing(Serving(small_book, small_book.build / "html")) as serving:
        serving.server.start()
        yield serving


@pytest.fixture
def one_worker(small_book: Project) -> Iterator[Serving]:
    """Another server of the same book, with a single worker."""
    with closing(Serving(small_book, small_book.build / "html", workers=1)) as serving:
        serving.server.start()
        yield serving


@pytest.fixture
def leftovers(small_book: Project) -> Callable[[], set[Path]]:
    """What is in the build folder of the small book, apart from what finished runs leave."""

    def found() -> set[Path]:
        return {path for path in small_book.build.rglob("*") if path.is_file()}

    return found
