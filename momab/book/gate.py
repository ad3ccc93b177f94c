"""The gate of the formal proofs: what a source may say, and how Coq's answers are read.

Two rules.  Every sentence of a source begins with a word that is allowed, so that a command which
switches a check off, loads a plugin or changes what a statement looks like is refused because it is
not known, not because it is known to be bad.  And every line in which Coq says what a theorem
rests on is understood, or the check fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from momab.errors import BuildError

PACKAGE = "Momab"

AXIOMS: Mapping[str, str] = {
    "ClassicalDedekindReals.sig_forall_dec": "real numbers: a sequence of yes and no is yes "
    "throughout, or there is a first no",
    "ClassicalDedekindReals.sig_not_dec": "real numbers: a statement is refuted, or it is not",
    "FunctionalExtensionality.functional_extensionality_dep": "functions with equal values are "
    "equal",
    "Classical_Prop.classic": "every statement is true or false",
}
"""What the proofs may rest on: the axioms of Coq's real numbers and of classical logic."""

LIBRARY = frozenset(
    ("Reals", "Lra", "Lia", "Arith", "List", "Bool", "Classical_Prop", "FunctionalExtensionality")
)
"""The modules of Coq's own library that a source may require."""

_STATING = ("Definition", "Fixpoint", "Inductive", "Lemma", "Theorem")
_LOCAL = ("Variable", "Variables", "Hypothesis", "Hypotheses", "Context")
_PLAIN = (*_STATING, "Proof", "Qed", "Section", "End")
_WHOLE = ("Import ListNotations", "Open Scope R_scope")
_REFUSED_TACTICS = frozenset(("admit", "give_up", "native_compute", "Admitted"))

_BULLET = re.compile(r"\s*(?:\d+\s*:\s*)?[-+*{}]+")
_SEALED = (
    "Coq.Reals.Rdefinitions.RbaseSymbolsImpl.",
    "Coq.Reals.Rdefinitions.RinvImpl.",
    "Coq.ssr.ssrunder.Under_rel.",
)
"""Modules of Coq's library that hide how they are made; the checker lists what is in them."""


# ---- what a source may say -----------------------------------------------------------------


def without_comments(text: str) -> str:
    """The source with its comments blanked out, line breaks kept; comments nest."""
    kept, depth = [], 0
    for piece in re.split(r"(\(\*|\*\))", text):
        depth += (piece == "(*") - (piece == "*)")
        inside = depth > 0 or piece == "*)"
        kept.append(re.sub(r"[^\n]", " ", piece) if inside else piece)
    return "".join(kept)


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a source with their lines, without comments, bullets and braces."""
    plain, start = without_comments(text), 0
    for end in [match.start() for match in re.finditer(r"\.(?=\s|$)", plain)] + [len(plain)]:
        sentence = plain[start:end]
        while bullet := _BULLET.match(sentence):
            sentence = sentence[bullet.end() :]
        if words := sentence.split():
            place = end - len(sentence.lstrip())
            yield plain.count("\n", 0, place) + 1, " ".join(words)
        start = end + 1


def refused(text: str, own: Iterable[str]) -> list[tuple[int, str]]:
    """The sentences of a source that are not allowed, with their lines.

    ``own`` are the modules of the project that the source may require.  A variable or a hypothesis
    belongs to a section, whose theorems have it as an antecedent; outside it would be an axiom.
    """
    quoted = [
        (number, "a string")
        for number, line in enumerate(text.splitlines(), start=1)
        if '"' in line
    ]
    if quoted:  # a string may hide where a comment begins or ends
        return quoted
    depth, found = 0, []
    own = frozenset(own)
    for number, sentence in sentences(text):
        first = sentence.split()[0]
        depth += (first == "Section") - (first == "End")
        if not _allowed(sentence, own) or (first in _LOCAL and depth <= 0):
            found.append((number, " ".join(sentence.split()[:4])))
    return found


def _allowed(sentence: str, own: frozenset[str]) -> bool:
    first, *rest = sentence.split()
    if _REFUSED_TACTICS.intersection(re.findall(r"\w+", sentence)):
        return False
    if first == "Require":
        modules = {f"{PACKAGE}.{name}" for name in own} | LIBRARY
        return rest[:1] == ["Import"] and set(rest[1:]) <= modules
    if first == "Local":
        return re.match(r"Local Notation [\w']+ := \(", sentence) is not None
    if first in _PLAIN or first in _LOCAL or sentence in _WHOLE:
        return True
    return re.match(r"[a-z\[(]", first) is not None and first != "#"


def project_files(text: str) -> list[str]:
    """The sources that ``_CoqProject`` lists; nothing else may stand there."""
    first, *names = text.split("\n")
    names = [name for name in names if name]
    if first != f"-Q . {PACKAGE}" or not all(re.fullmatch(r"[A-Z]\w*\.v", name) for name in names):
        raise BuildError(f"_CoqProject holds more than -Q . {PACKAGE} and the names of sources.")
    return names


# ---- what Coq answers ----------------------------------------------------------------------


def read_assumptions(said: str) -> set[str]:
    """The axioms in Coq's answer to `Print Assumptions`; a line that is not understood fails.

    A line that begins at the margin has the name of an axiom, alone or before a colon; the lines
    of its type are indented.  "f is assumed to be guarded." is neither.
    """
    if said == "Closed under the global context\n":
        return set()
    lines = said.rstrip("\n").split("\n")
    if lines[0] != "Axioms:" or len(lines) == 1:
        raise BuildError(f"this answer of Coq was not understood: {lines[0]}")
    found = set[str]()
    for line in lines[1:]:
        if match := re.fullmatch(r"([A-Za-z_][\w.']*)(?: :(?: .*)?)?", line):
            found.add(match[1])
        elif not found or not line.startswith("  "):
            raise BuildError(f"this answer of Coq was not understood: {line}")
    return found


_SUMMARY = {
    "Theory": "Set is predicative",
    "Constants/Inductives relying on type-in-type": "<none>",
    "Constants/Inductives relying on unsafe (co)fixpoints": "<none>",
    "Inductives whose positivity is assumed": "<none>",
}


def read_summary(said: str) -> None:
    """Read what the independent checker ``coqchk`` says; refuse all but the known axioms."""
    _, _, summary = said.partition("CONTEXT SUMMARY")
    parts = [part.strip() for part in re.split(r"^\* ", summary, flags=re.MULTILINE)[1:]]
    told = dict(part.split(":", 1) for part in parts)
    axioms = told.pop("Axioms", "").split()
    if {key: value.strip() for key, value in told.items()} != _SUMMARY:
        raise BuildError(f"the checker refuses the compiled proofs: {'; '.join(parts)}")
    known = {f".{name}" for name in AXIOMS}
    for name in axioms:
        if name.startswith("Coq.") and (
            name.startswith(_SEALED) or any(name.endswith(end) for end in known)
        ):
            continue
        if name != "<none>":
            raise BuildError(f"the checker finds the axiom {name}.")
