"""The pages of the library: signatures that one could have written."""

import pytest
from sphinx.util.inspect import signature, stringify_signature

from momab.auditing.report import Check
from momab.book.sphinx import api
from momab.course.settings import Course
from momab.exercises.core import Exercise, Redrawn


def shown(text):
    """A signature as the page has it."""
    changed = api._plain_defaults(None, "class", "", None, None, text, "")
    return changed[0]


@pytest.mark.parametrize("kind", [Check, Course, Exercise, Redrawn])
def test_a_default_is_python(kind):
    said = shown(stringify_signature(signature(kind), show_annotation=False))
    assert "<" not in said
    assert ", _" not in said
    compile(f"def f{said}: pass", "signature", "exec")


@pytest.mark.parametrize(
    ("found", "plain"),
    [
        ("(ready=lambda : ...)", "(ready=...)"),
        ("(a, tell=lambda line: ..., b=2)", "(a, tell=..., b=2)"),
        ("(same=<function close>)", "(same=close)"),
        ("(x, delimiter=',', _size=0)", "(x, delimiter=',')"),
    ],
)
def test_functions_have_their_name_or_dots(found, plain):
    assert shown(found) == plain


def test_a_field_of_a_tuple_has_no_words_of_python():
    lines = ["Alias for field number 3"]
    api._said_by_python(None, "attribute", "", None, None, lines)
    assert lines == []
