"""The lower bound (Proposition 3): a policy without random ties."""

from __future__ import annotations

from typing import ClassVar

from momab.engine.policies.width_guided import WidthGuided


class FirstOfTies(WidthGuided):
    """Width-guided with every tie given to the first, so that a run needs no random ties."""

    name: ClassVar[str] = "width-guided-first"
    label: ClassVar[str] = "Width-guided, first of ties"
    coins: ClassVar[str] = ""
