"""What a class did, exercise by exercise, and which answers are built alike.

Two programs are compared by their structure: the pieces of six neighbouring nodes of their syntax
trees, without names, numbers, texts and comments.  Their similarity is the share of pieces that
they have in common.  Short programs are alike by nature, so only those with enough pieces count;
and a way that many have found is no evidence, so the table says how many have the very same
structure, and leaves out what a tenth of the class has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import fmean

from momab.course.grading import Class, Grade

ALIKE = 0.85
_PIECES = 25  # a program with fewer is too short to say anything


def item_rows(graded: Class) -> list[list[object]]:
    """For every programming exercise, how many did what, and whether it tells students apart.

    ``discrimination`` is the correlation of its marks with the total of the others.
    """
    rows: list[list[object]] = [
        ["exercise", "points", "answered", "right", "mean share", "discrimination", "often"]
    ]
    totals = {student: graded.total(student) for student in graded.students}
    by_exercise: dict[str, list[Grade]] = {}
    for grade in graded.grades:
        by_exercise.setdefault(grade.exercise, []).append(grade)
    for text in graded.exercises:
        grades = [g for g in by_exercise.get(text.label, []) if g.marks is not None]
        if not text.programming or not grades:
            continue
        worth = graded.course.worth(text.label)
        marks = [grade.marks or 0.0 for grade in grades]
        rest = [totals[g.student] - mark for g, mark in zip(grades, marks, strict=True)]
        hints = Counter(g.hint for g in grades if g.status == "wrong" and g.hint)
        rows.append(
            [
                text.label,
                worth,
                sum(g.status not in ("empty", "missing", "unreadable") for g in grades),
                sum(g.status == "right" for g in grades),
                round(fmean(marks) / worth, 3) if worth else None,
                _correlation(marks, rest),
                hints.most_common(1)[0][0] if hints else "",
            ]
        )
    return rows


def _correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    a, b = fmean(first), fmean(second)
    spread = sum((x - a) ** 2 for x in first) * sum((y - b) ** 2 for y in second)
    if spread <= 1e-12:
        return None
    joint = sum((x - a) * (y - b) for x, y in zip(first, second, strict=True))
    return round(float(joint / spread**0.5), 2)


def similar_rows(graded: Class) -> list[list[object]]:
    """Pairs of answers that are built alike, the most suspicious first."""
    head: list[object] = ["exercise", "first", "second", "similarity", "pieces", "same structure"]
    found = sorted(_pairs(graded), key=lambda row: (row[5], -row[3], -row[4]))
    return [head, *(list(row) for row in found)]


def _pairs(graded: Class) -> Iterator[tuple[str, str, str, float, int, int]]:
    by_exercise: dict[str, list[Grade]] = {}
    for grade in graded.grades:
        if len(grade.structure) >= _PIECES:
            by_exercise.setdefault(grade.exercise, []).append(grade)
    for exercise, grades in by_exercise.items():
        same = Counter(grade.structure for grade in grades)
        for one, other in combinations(grades, 2):
            common = len(one.structure & other.structure)
            share = common / len(one.structure | other.structure)
            crowd = same[one.structure] if one.structure == other.structure else 2
            if share >= ALIKE and crowd <= max(2, len(graded.students) // 10):
                pieces = min(len(one.structure), len(other.structure))
                yield exercise, one.student, other.student, round(share, 3), pieces, crowd
