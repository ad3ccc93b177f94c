"""What a proof assistant has checked: compile ``proofs/`` with Coq, and record what it says.

A statement that begins with ``Theorem`` is advertised, a ``Lemma`` is a step on the way.
`record_proofs` compiles everything from cold, asks Coq for the closed statement and the axioms of
every theorem, and writes ``proofs/checked.json``.  The book reads that file and needs no Coq;
`Record.current` tells whether the sources are still those that were checked.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from momab._util.files import write_text
from momab.book.gate import (
    AXIOMS,
    PACKAGE,
    project_files,
    read_assumptions,
    read_summary,
    refused,
    without_comments,
)
from momab.book.globs import read_globs, rests_on, to_read
from momab.errors import BuildError, MomabError

RECORD = "checked.json"


@dataclass(frozen=True)
class Theorem:
    """One advertised statement: where it stands, what Coq says it says, what it rests on.

    ``reads`` are the definitions behind the statement, ``uses`` the theorems behind the proof.
    """

    name: str
    file: str
    line: int
    statement: str = ""
    axioms: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record:
    """The outcome of a check, with the digest of the sources that were checked."""

    coq: str
    date: str
    digest: str
    theorems: tuple[Theorem, ...]

    def current(self, folder: Path) -> bool:
        """Whether the sources in the folder are those that were checked."""
        return self.digest == digest(folder)


def sources(folder: Path) -> list[Path]:
    """The source files, in the order of ``_CoqProject``: each needs only those before it."""
    listed = project_files((folder / "_CoqProject").read_text(encoding="utf-8"))
    return [folder / name for name in listed]


def digest(folder: Path) -> str:
    """A digest of everything that is compiled."""
    found = hashlib.sha256()
    for path in (folder / "_CoqProject", *sources(folder)):
        found.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()


def advertised(folder: Path) -> list[Theorem]:
    """All theorems of the sources, in order."""
    found = []
    for path in sources(folder):
        lines = without_comments(path.read_text(encoding="utf-8")).splitlines()
        for number, line in enumerate(lines, start=1):
            if match := re.match(r"\s*Theorem\s+([\w']+)", line):
                found.append(Theorem(match[1], path.name, number))
    return found


def assumptions(folder: Path) -> list[str]:
    """What the sources say and may not: a command that assumes, or that is not known."""
    found, own = [], list[str]()
    for path in sources(folder):
        said = refused(path.read_text(encoding="utf-8"), own)
        found += [f"{path.name}:{number}: {words}" for number, words in said]
        own.append(path.stem)
    return found


_PROGRAMS = ("coqc", "coqchk", "coq_makefile", "make")


def find_coq() -> str:
    """The version of the Coq that is installed."""
    if any(shutil.which(program) is None for program in _PROGRAMS):
        raise MomabError("checking the proofs needs Coq 8.16 and make: apt-get install coq make.")
    said = subprocess.run(["coqc", "--version"], capture_output=True, text=True, check=True)
    match = re.search(r"version (\S+)", said.stdout)
    return match[1] if match else "unknown"


def compile_proofs(folder: Path, build: Path) -> None:
    """Compile the sources in a folder of their own: what has changed there, and what needs it."""
    build.mkdir(parents=True, exist_ok=True)
    for path in (folder / "_CoqProject", *sources(folder)):
        copy = build / path.name
        if not copy.is_file() or copy.read_bytes() != path.read_bytes():
            shutil.copyfile(path, copy)
    _run(["coq_makefile", "-f", "_CoqProject", "-o", "Makefile"], build)
    _run(["make", f"-j{os.cpu_count() or 1}"], build)


def recheck(folder: Path, build: Path) -> None:
    """Let the independent checker read what was compiled, and refuse what it does not accept."""
    command = ["coqchk", "-silent", "-o", "-Q", ".", PACKAGE]
    for path in sources(folder):
        command += ["-norec", f"{PACKAGE}.{path.stem}"]
    read_summary(_run(command, build))


def _run(command: list[str], folder: Path) -> str:
    plain = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("MAKE", "COQ", "OCAMLPATH"))
    }
    said = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=plain
    )
    if said.returncode:
        text = "\n".join((said.stderr or said.stdout).strip().splitlines()[:30])
        raise BuildError(f"the proofs were not accepted:\n{text}")
    return said.stdout + said.stderr


def _ask(build: Path, theorems: list[Theorem], modules: list[str]) -> list[Theorem]:
    """Let Coq print the closed statement and the axioms of every theorem.

    The axioms of one theorem take Coq a second, so every core asks for a share of them.
    """
    cores = os.cpu_count() or 1
    shares = [range(first, len(theorems), cores) for first in range(cores)]
    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(lambda share: _ask_for(build, theorems, modules, share), shares))
    answered = []
    for number, theorem in enumerate(theorems):
        statement = (build / f"{number}.statement.out").read_text(encoding="utf-8")
        axioms = (build / f"{number}.axioms.out").read_text(encoding="utf-8")
        try:
            found = tuple(sorted(read_assumptions(axioms)))
        except BuildError as error:
            raise BuildError(f"{theorem.name}: {error}") from None
        answered.append(replace(theorem, statement=_statement(statement), axioms=found))
    return answered


def _ask_for(build: Path, theorems: list[Theorem], modules: list[str], share: range) -> None:
    lines = ["Require Import Reals List.", "Import ListNotations."]
    lines += [f"Require Import {PACKAGE}.{module}." for module in modules]
    lines += ["Open Scope R_scope.", "Set Printing Width 96."]
    for number in share:
        name = f"{PACKAGE}.{Path(theorems[number].file).stem}.{theorems[number].name}"
        lines.append(f'Redirect "{number}.statement" Check @{name}.')
        lines.append(f'Redirect "{number}.axioms" Print Assumptions {name}.')
    path = build / f"Ask{share.start}.v"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    _run(["coqc", "-Q", ".", PACKAGE, path.name], build)


def _statement(said: str) -> str:
    """What stands behind the colon of Coq's answer to `Check`, shifted to the left."""
    text = said.split(":", 1)[1].rstrip("\n")
    first, *rest = text.splitlines()
    indent = min((len(line) - len(line.lstrip()) for line in rest), default=0)
    return "\n".join([first.strip(), *(line[indent:] for line in rest)])


def record_proofs(folder: Path, build: Path) -> Record:
    """Check everything from cold and record the outcome; a refusal leaves the record alone."""
    find_coq()
    shutil.rmtree(build, ignore_errors=True)
    record = check_proofs(folder, build)
    write_record(folder, record)
    return record


def check_proofs(folder: Path, build: Path) -> Record:
    """Compile, refuse what assumes too much, and return what was checked.

    What a folder of an earlier check holds of the same sources is not compiled again.
    """
    coq = find_coq()
    if found := assumptions(folder):
        raise BuildError(f"the proofs assume what they should prove: {'; '.join(found)}.")
    compile_proofs(folder, build)
    recheck(folder, build)
    theorems = _ask(build, advertised(folder), [path.stem for path in sources(folder)])
    items, names = read_globs(sources(folder), build), [theorem.name for theorem in theorems]
    theorems = [
        replace(
            theorem,
            reads=to_read(theorem.statement, items),
            uses=rests_on(theorem.name, items, names),
        )
        for theorem in theorems
    ]
    for theorem in theorems:
        if strange := sorted(set(theorem.axioms) - set(AXIOMS)):
            raise BuildError(f"{theorem.name} rests on {', '.join(strange)}.")
    today = datetime.now(UTC).date().isoformat()
    return Record(coq, today, digest(folder), tuple(theorems))


def write_record(folder: Path, record: Record) -> Path:
    """Write the outcome; the same outcome keeps the date of its first check."""
    path = folder / RECORD
    if path.is_file():
        old = read_record(folder)
        if asdict(old) | {"date": ""} == asdict(record) | {"date": ""}:
            return path
    return write_text(path, json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n")


_LISTS = ("axioms", "reads", "uses")


def read_record(folder: Path) -> Record:
    """Read the outcome of the last check."""
    path = folder / RECORD
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        theorems = tuple(
            Theorem(**entry | {key: tuple(entry.get(key, ())) for key in _LISTS})
            for entry in found.pop("theorems")
        )
        return Record(**found, theorems=theorems)
    except (OSError, ValueError, KeyError, TypeError):
        raise MomabError(f"{path} is missing or damaged; `make proofs` writes it.") from None
