"""Exercises that check themselves: a module per chapter, and `check` for those who answer them.

The exercise ``width-floor-2`` is the second one of the chapter ``width-floor``; how an answer to
it is judged is in `momab.exercises.width_floor`.  Written exercises have no entry here.
"""

from __future__ import annotations

import pkgutil
import sys

from momab.errors import MomabError
from momab.exercises.core import Exercise, Outcome, Part


def chapters() -> list[str]:
    """The chapters that have programming exercises, by name."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(
        name.replace("_", "-")
        for name in found
        if name not in ("core", "draws") and not name.startswith("_")
    )


def of_chapter(chapter: str) -> tuple[Exercise, ...]:
    """The programming exercises of a chapter, in its order."""
    if chapter not in chapters():
        return ()
    # by name, so that a page depends on its own chapter's exercises only
    module = f"{__name__}.{chapter.replace('-', '_')}"
    found: tuple[Exercise, ...] = pkgutil.resolve_name(f"{module}:EXERCISES")
    return found


def find_exercise(name: str) -> Exercise:
    """The exercise with a name such as ``width-floor-2``."""
    known = of_chapter(str(name).rpartition("-")[0])
    for exercise in known:
        if exercise.name == name:
            return exercise
    if known:
        names = ", ".join(exercise.name for exercise in known)
        raise MomabError(f"no exercise {name!r} can be checked; this chapter has {names}.")
    raise MomabError(
        f"no exercise {name!r} can be checked; a name is a chapter and a number, such as "
        f"'model-2', and these chapters have some: {', '.join(chapters())}."
    )


def check(name: str, answer: object) -> None:
    """Say whether an answer is right, what about it is wrong, and a hint; never the solution."""
    exercise = find_exercise(name)
    verdict = exercise.judge(exercise.outcomes(answer))
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        from momab.chapters.figures.show import bundle

        bundle({"text/html": verdict.html(), "text/plain": verdict.text()})
    else:
        print(verdict.text())
