"""Accelerators: faster players of policies that stand elsewhere, for the compiled driver.

An accelerator has the same three methods in the same subset and makes the same decisions, which a
test compares round by round.  It earns its place by a factor of three or more on the paper's
tables or on the study of the limit; nothing else knows it.
"""

from __future__ import annotations

from typing import Any

from momab.engine.accelerators.kl_ucb import FastKLUCB
from momab.engine.accelerators.pareto_imed import FastParetoIMED
from momab.engine.accelerators.pareto_ucb1 import FastParetoUCB1
from momab.engine.policies.kl_ucb import KLUCB
from momab.engine.policies.pareto_imed import ParetoIMED
from momab.engine.policies.pareto_ucb1 import ParetoUCB1

ACCELERATORS: dict[type, Any] = {
    ParetoUCB1: FastParetoUCB1,
    KLUCB: FastKLUCB,
    ParetoIMED: FastParetoIMED,
}
