"""A simulated class: submissions made from the real handouts, with what grading must say.

Every pupil takes the handout of a chapter, fills its answer cells, and knows the status that each
programming exercise must get.  What is not said is right: the worked solution of the book.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from momab.book import editions, myst
from momab.book.notebook import Node
from momab.book.project import Project
from momab.course import handout

MAIN, SECOND = "width-floor", "model"
WIDTH, SAMPLES, SITUATION = "width-floor-2", "width-floor-3", "width-floor-5"
TEXT = "The sides that the proof uses."
LABELS = tuple(f"{MAIN}-{number}" for number in range(1, 8))
FAILS_LATER = 3  # seconds after which a daemon would write; grading the class takes longer


@dataclass
class Pupil:
    """Answers by exercise, own cells before them, and the statuses that are not 'right'.

    Where the timing of processes decides, a status names two, as in 'crashed or memory'.
    """

    name: str
    answers: dict[str, str] = field(default_factory=dict)
    expected: dict[str, str] = field(default_factory=dict)
    before: str = ""
    chapters: tuple[str, ...] = (MAIN,)
    change: Callable[[Node], object] | None = None  # the notebook, or the bytes of the file
    path: str = ""  # where the file lies; {name}/{chapter}.ipynb if empty


@dataclass(frozen=True)
class Grounds:
    """What pupils try to reach: a folder that must not change, and somebody else's notebook."""

    canary: Path
    other: Path
    root: Path


def solutions(project: Project, chapter: str) -> dict[str, str]:
    """The code of the worked solutions that define answers."""
    found: dict[str, list[str]] = {}
    for label, cell in editions.solution_cells(project.notebook(chapter).node):
        found.setdefault(label, []).append(cell.source)
    # the first cell defines the answer; later ones may use the chapter's variables
    return {label: cells[0] for label, cells in found.items()}


class School:
    """Handouts and solutions, read once."""

    def __init__(self, project: Project) -> None:
        self.handouts = {name: handout.make_handout(project, name) for name in (MAIN, SECOND)}
        self.solutions = {name: solutions(project, name) for name in (MAIN, SECOND)}
        self.exercises = {
            name: myst.exercises(project.notebook(name).node) for name in (MAIN, SECOND)
        }

    def notebook(self, pupil: Pupil, chapter: str) -> Node:
        """The handout with a pupil's answers."""
        node = copy.deepcopy(self.handouts[chapter])
        for cell in node.cells:
            facts = cell.metadata["momab"]
            if facts["role"] == "answer" and cell.cell_type == "code":
                label = facts["exercise"]
                cell.source = pupil.answers.get(label, self.solutions[chapter][label])
            elif facts["role"] == "answer":
                cell.source = TEXT
        if pupil.before:
            node.cells.insert(2, own_cell(pupil.before))
        return node

    def statuses(self, pupil: Pupil) -> dict[str, str]:
        """What grading must say about every exercise of both chapters."""
        found = {}
        for chapter, texts in self.exercises.items():
            for text in texts:
                usual = "right" if text.programming else "written"
                absent = chapter not in pupil.chapters
                found[text.label] = "missing" if absent else pupil.expected.get(text.label, usual)
        return found


def own_cell(source: str) -> Node:
    import nbformat

    cell = nbformat.v4.new_code_cell(source)
    cell.id = "own"
    return cell


def hand_in(school: School, pupils: list[Pupil], folder: Path) -> None:
    """Write every pupil's files below a folder."""
    for pupil in pupils:
        for chapter in pupil.chapters:
            node: object = school.notebook(pupil, chapter)
            if pupil.change and (changed := pupil.change(node)) is not None:
                node = changed
            place = pupil.path or "{name}/{chapter}.ipynb"
            path = folder / place.format(name=pupil.name, chapter=chapter)
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(node, Path):
                path.symlink_to(node)
            else:
                path.write_bytes(node if isinstance(node, bytes) else json.dumps(node).encode())


# ---- the pupils ----------------------------------------------------------------------------

GOOD_WIDTH = """
import numpy as np

def sampled_width(upper, radii):
    order = np.argsort(-upper, axis=0, kind="stable")[:2]
    return float(radii[order].sum(axis=0).max())
"""


def function(name: str, body: str) -> str:
    """An answer that does something when it is called."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"def {name}(*arguments):\n{lines}\n"


def width(body: str) -> str:
    return function("sampled_width", body)


def samples(body: str) -> str:
    return function("most_samples", body)


def send(data: str) -> str:
    """Code that writes bytes to everything that is open."""
    return (
        f"import os\nprint('width-floor-2: right')\nfor number in range(3, 20):\n"
        f"    try:\n        os.write(number, {data})\n    except OSError:\n        pass\n"
    )


def claim(*messages: object) -> str:
    """Code that says things in the grader's own language."""
    return send(repr("".join(json.dumps(message) + "\n" for message in messages).encode()))


def pupils(grounds: Grounds) -> list[Pupil]:
    """The whole class."""
    return [
        *_honest(),
        *_crashing(),
        *_endless(),
        *_reaching_out(grounds),
        *_greedy(),
        *_from_below(grounds),
        *_cheating(),
        *_broken_files(grounds),
    ]


def _honest() -> list[Pupil]:
    wrong = dict.fromkeys((WIDTH, SAMPLES, SITUATION), "wrong")
    return [
        Pupil("ada", chapters=(MAIN, SECOND)),
        Pupil(
            "ben",
            {
                WIDTH: width("return sorted(arguments[1])[-1] + sorted(arguments[1])[-2]"),
                SAMPLES: samples("return 7"),
                SITUATION: 'situation = {"means": [[0.9]], "estimates": [], "counts": [1]}',
                "model-1": "my_gaps = [0, 0, 0, 0, 1]",
                "model-2": "def pareto_set(means):\n    return [True for _ in means]",
            },
            {**wrong, "model-1": "wrong", "model-2": "wrong"},
            chapters=(MAIN, SECOND),
        ),
        Pupil("chloe", expected=dict.fromkeys(LABELS, "empty"), change=_untouched),
        Pupil(
            "magic",
            {WIDTH: f"%matplotlib inline\n!ls /\n{GOOD_WIDTH}"},
            before="%%time\nhelper = 1",
            path="{name}_{chapter}.ipynb",
        ),
        Pupil("yan", change=without_metadata, path="{name}-{chapter}.ipynb"),
        Pupil(
            "zoe",
            expected={WIDTH: "missing", "width-floor-1": "missing"},
            change=_deleted_cells,
        ),
        Pupil("=cmd()", path="{name}-{chapter}.ipynb"),
        Pupil("..\\..\\evil"),
        Pupil("-evil-"),
        Pupil(
            "<b>html&",
            {WIDTH: width("raise ValueError('<script>alert(1)</script>')")},
            {WIDTH: "crashed"},
        ),
    ]


def _crashing() -> list[Pupil]:
    return [
        Pupil(
            "dan",
            {
                WIDTH: width("raise ValueError('no idea')"),
                SAMPLES: "def most_samples(means, T, c)\n    return 1",
                SITUATION: "situation = 1 / 0",
            },
            dict.fromkeys((WIDTH, SAMPLES, SITUATION), "crashed"),
        ),
        Pupil(
            "eve",
            {
                WIDTH: width("return sampled_width(*arguments)"),
                SAMPLES: "import faulthandler\nfaulthandler._sigsegv()",
                SITUATION: "import ctypes\nctypes.string_at(0)",
            },
            {WIDTH: "crashed", SAMPLES: "crashed", SITUATION: "crashed"},
        ),
        Pupil(
            "quin",
            {WIDTH: width("import os\nos._exit(0)"), SAMPLES: "import sys\nsys.exit(0)"},
            {WIDTH: "crashed", SAMPLES: "crashed"},
        ),
        Pupil(
            "jon",
            # bytes() asks for memory without writing to it: a slow machine runs out of it as soon
            {WIDTH: "hog = []\nwhile True:\n    hog.append(bytes(10**6))"},
            {WIDTH: "memory"},
        ),
        Pupil(
            "kim",
            {SAMPLES: samples("import numpy as np\nreturn np.ones(10**9).sum()")},
            {SAMPLES: "memory"},
        ),
    ]


def _endless() -> list[Pupil]:
    stubborn = (
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True:\n"
        "    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
    )
    flood = width("while True:\n    print('x' * 10_000)")
    return [
        Pupil("finn", {WIDTH: width("while True:\n    pass")}, {WIDTH: "timeout"}),
        Pupil("gil", {SAMPLES: "import time\ntime.sleep(1000)"}, {SAMPLES: "timeout"}),
        Pupil("hal", {WIDTH: stubborn}, {WIDTH: "timeout"}),
        Pupil("iva", {WIDTH: flood}, {WIDTH: "timeout"}),
    ]


def _reaching_out(grounds: Grounds) -> list[Pupil]:
    file, folder = str(grounds.canary / "file.txt"), str(grounds.canary)
    later = str(grounds.canary / "later.txt")
    in_vain = dict.fromkeys((WIDTH, SAMPLES, SITUATION), "crashed")
    solutions_file = str(grounds.root / "notebooks" / f"{MAIN}.md")
    daemon = (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        f"        time.sleep({FAILS_LATER})\n        open({later!r}, 'w').write('late')\n"
        "    os._exit(0)\n"
    )
    return [
        Pupil(
            "lee",
            {
                WIDTH: width("return float(open('/etc/passwd').read()[0])"),
                SAMPLES: f"text = open({str(grounds.other)!r}).read()",
                SITUATION: f"import pathlib\ntext = pathlib.Path({solutions_file!r}).read_text()",
            },
            in_vain,
        ),
        Pupil(
            "lia",
            {
                WIDTH: "import momab.exercises.width_floor as answers\n"
                "sampled_width = answers.sampled_width",
                SAMPLES: f"import os\nos.listdir({folder!r})\n",
                SITUATION: "import glob, os\nopen(os.path.join('..', os.listdir('..')[0]))",
            },
            in_vain,
        ),
        Pupil(
            "mia",
            {
                WIDTH: width(f"open({file!r}, 'w').write('gone')"),
                SAMPLES: f"import shutil\nshutil.rmtree({folder!r})",
                SITUATION: f"import os\nos.chmod({file!r}, 0o777)",
            },
            in_vain,
        ),
        Pupil(
            "noa",
            {
                WIDTH: "import socket\nsocket.create_connection(('127.0.0.1', 22))",
                SAMPLES: "import urllib.request\nurllib.request.urlopen('http://127.0.0.1/')",
            },
            {WIDTH: "crashed", SAMPLES: "crashed"},
        ),
        Pupil(
            "oli",
            {
                WIDTH: "import os\nwhile True:\n    os.fork()",
                SAMPLES: f"import os\nos.system('touch {later}')",
                SITUATION: f"import subprocess\nsubprocess.run(['touch', {later!r}])",
            },
            dict.fromkeys(in_vain, "crashed or memory"),  # children: too many, or too much in all
        ),
        Pupil("pam", {WIDTH: daemon}, {WIDTH: "crashed"}),
        Pupil("amy", before="import os\nos.kill(1, 9)\nos.kill(1, 19)\nos.kill(os.getppid(), 15)"),
    ]


def _greedy() -> list[Pupil]:
    """Who takes more than there is: disk, folders, memory that belongs to nobody, threads."""
    disk = (
        "for n in range(100):\n    with open(f'{n}', 'wb') as file:\n"
        "        file.write(b'x' * 7_000_000)"
    )
    nested = (
        "import os\nfor _ in range(5000):\n    os.mkdir('x')\n    os.chdir('x')\n"
        "    os.chmod('.', 0o300)"
    )
    # Each process holds as many files as it may, and waits; only the memory of all is too much.
    files_in_memory = (
        "import os, signal\nwhile True:\n    kept = [os.memfd_create('x') for _ in range(40)]\n"
        "    for file in kept:\n        os.write(file, b'x' * 8_000_000)\n"
        "    if os.fork():\n        signal.pause()\n"
        "    for file in kept:\n        os.close(file)\n"
    )
    one_large_file = (
        "import os, mmap\nfile = os.memfd_create('x')\nos.ftruncate(file, 1_200_000_000)\n"
        "large = mmap.mmap(file, 1_200_000_000)\nlarge[:] = b'x' * 1_200_000_000"
    )
    segments = (
        "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.shmat.restype = ctypes.c_void_p\n"
        "for _ in range(20):\n    number = libc.shmget(0, ctypes.c_size_t(10**8), 0o1600)\n"
        "    place = libc.shmat(number, None, 0)\n    ctypes.memset(place, 1, 10**8)\n"
        "    libc.shmdt(ctypes.c_void_p(place))\n"
    )
    threads = (
        "import threading, time\nthreading.stack_size(2**16)\nfor _ in range(5000):\n"
        "    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()"
    )
    rows = (
        "situation = {'means': [[n / 10_000] for n in range(10_000)],\n"
        " 'estimates': [[0.5]] * 10_000, 'counts': [1] * 10_000}"
    )
    return [
        Pupil("disk", {WIDTH: disk}, {WIDTH: "crashed"}),
        Pupil("nest", before=nested),
        Pupil(
            "memfd",
            {WIDTH: files_in_memory, SAMPLES: one_large_file},
            {WIDTH: "memory", SAMPLES: "crashed"},
        ),
        Pupil("segments", {WIDTH: segments}, {WIDTH: "memory"}),
        Pupil("threads", {WIDTH: threads}, {WIDTH: "crashed"}),
        Pupil("rows", {SITUATION: rows}, {SITUATION: "wrong"}),
    ]


def _from_below(grounds: Grounds) -> list[Pupil]:
    """Attacks past Python; the answers themselves are right."""
    file, later = str(grounds.canary / "file.txt"), str(grounds.canary / "later.txt")
    solutions_file = str(grounds.root / "notebooks" / f"{MAIN}.md")
    return [
        Pupil(
            "bob",
            before="import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
            f"for place in (b'/etc/passwd', {file.encode()!r}, {solutions_file.encode()!r}):\n"
            "    assert libc.open(place, os.O_RDONLY) == -1\n"
            f"assert libc.open({file.encode()!r}, os.O_WRONLY | os.O_TRUNC) == -1\n"
            f"assert libc.unlink({file.encode()!r}) == -1\n"
            "assert libc.open(b'/proc/sys/kernel/core_pattern', os.O_WRONLY) == -1\n"
            "assert libc.open(b'/new', os.O_WRONLY | os.O_CREAT, 0o600) == -1\n"
            "assert libc.open(b'/dev/new', os.O_WRONLY | os.O_CREAT, 0o600) == -1\n"
            "assert libc.unshare(0x10000000) == -1\n"
            "assert libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == -1\n"
            "assert len([name for name in os.listdir('/proc') if name.isdigit()]) <= 3\n"
            "held = True\n",
            answers={WIDTH: f"assert held\n{GOOD_WIDTH}"},
        ),
        Pupil(
            "cat",
            before="import ctypes, os, time\nlibc = ctypes.CDLL(None)\nif libc.fork() == 0:\n"
            f"    libc.setsid()\n    time.sleep({FAILS_LATER})\n"
            f"    open({later!r}, 'w').write('late')\n    os._exit(0)\n",
        ),
        Pupil("own", before=_SET_OWNER),
        Pupil(
            "hide",
            {
                WIDTH: "import ctypes, time\nctypes.CDLL(None).prctl(4, 0)\ntime.sleep(2)"
                + GOOD_WIDTH
            },
            {WIDTH: "crashed"},
        ),
    ]


# whoever owns the reading end of a pipe gets a signal of one's choice when something is written
_SET_OWNER = """
import fcntl, os
for process in range(1, 40_000):
    try:
        reading, writing = os.pipe()
        fcntl.fcntl(reading, fcntl.F_SETOWN, process)
        fcntl.fcntl(reading, 10, 9)
        fcntl.fcntl(reading, fcntl.F_SETFL, fcntl.fcntl(reading, fcntl.F_GETFL) | os.O_ASYNC)
        if process != os.getpid():
            os.write(writing, b"x")
    except OSError:
        pass
    finally:
        os.close(reading)
        os.close(writing)
"""


def _cheating() -> list[Pupil]:
    wrong = dict.fromkeys((WIDTH, SAMPLES, SITUATION), "wrong")
    lazy = {WIDTH: width("return 1"), SAMPLES: samples("return 1"), SITUATION: "situation = 1"}
    fake = claim(
        ["done", [{"value": 1.0}] * 4], ["right"], ["verdict", True], "right", {"right": True}
    )
    jump = claim(["start", 10**9], ["start", -1], ["start", "x"], ["start"], ["ready"], [], [[]])
    nested = "b'[' * 900 + b']' * 900"
    deep = send("b'[' * 300_000 + b'\\n'")
    for word in ("raised", "refused", "done", "start"):
        deep += send(f"""b'["{word}", ' + {nested} + b']\\n'""")
    patches = (
        "import builtins, momab\nfrom momab import exercises\nfrom momab.exercises import core\n"
        "momab.check = exercises.check = lambda *a: print('right')\n"
        "core.Exercise.judge = lambda self, o: core.Verdict(self.name, ())\n"
        "core.Verdict.right = True\ncore.close = lambda *a: True\n"
        "builtins.all = lambda *a: True\n"
    )
    return [
        Pupil("ray", lazy, wrong, before=patches),
        Pupil("sam", {**lazy, WIDTH: fake + width("return 1")}, wrong, before=jump),
        Pupil("sue", {WIDTH: claim(["end"])}, {WIDTH: "crashed"}),
        Pupil(
            "tia",
            {
                WIDTH: width("x = []\nfor _ in range(10**5):\n    x = [x]\nreturn x"),
                SAMPLES: samples("return [0] * 10**6"),
                SITUATION: "import itertools\nsituation = itertools.count()",
            },
            wrong,
            before=deep,
        ),
        Pupil(
            "uma",
            {
                WIDTH: "class Evil:\n    def __eq__(self, other):\n        return True\n"
                "    def __float__(self):\n        return 0.25\n"
                "    def __array__(self, *a, **k):\n        raise SystemExit\n"
                + width("return Evil()"),
                SAMPLES: "class Number(float):\n    def __float__(self):\n"
                "        while True:\n            pass\n" + samples("return Number(3)"),
                SITUATION: "class Rows(dict):\n    def items(self):\n        raise SystemExit\n"
                "situation = Rows(means=1)",
            },
            {WIDTH: "wrong", SAMPLES: "timeout", SITUATION: "crashed"},
        ),
    ]


def _broken_files(grounds: Grounds) -> list[Pupil]:
    unreadable = dict.fromkeys(LABELS, "unreadable")
    flat = "{name}-{chapter}.ipynb"

    def pupil(name: str, change: Callable[[Node], object]) -> Pupil:
        return Pupil(name, {}, unreadable, change=change, path=flat)

    return [
        pupil("vic", lambda node: bytes(range(256)) * 10),
        pupil("wes", lambda node: json.dumps(node).encode()[:2000]),
        pupil("xia", lambda node: b""),
        pupil("xue", lambda node: b"[" * 200_000),
        pupil("link", lambda node: grounds.other),
        pupil("cells", lambda node: _many_cells()),
        pupil("lists", lambda node: b'{"cells": [' + b"[]," * 6_000_000 + b"[]]}"),
    ]


def _many_cells() -> bytes:
    """Almost 20 MB of empty cells."""
    cell = b'{"cell_type": "code", "source": "", "metadata": {}}'
    return b'{"nbformat": 4, "cells": [' + b",".join([cell] * 390_000) + b"]}"


def _untouched(node: Node) -> bytes:
    from tests.conftest import ROOT

    return json.dumps(handout.make_handout(Project.find(ROOT), MAIN)).encode()


def without_metadata(node: Node) -> None:
    node.metadata.clear()
    for cell in node.cells:
        cell.metadata.clear()


def _deleted_cells(node: Node) -> None:
    gone = (WIDTH, "width-floor-1")
    node.cells = [
        cell
        for cell in node.cells
        if cell.metadata["momab"].get("exercise") not in gone
        or cell.metadata["momab"]["role"] == "exercise"
    ]
