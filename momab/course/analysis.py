"""What a class did, exercise by exercise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from momab.course.grading import Grade, Graded


def item_rows(graded: Graded) -> list[list[object]]:
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
