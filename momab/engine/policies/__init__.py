"""The policies: one module per family, each with one class that the driver plays.

Every module of this package is imported here, so that a new file registers itself;
:mod:`momab.engine.policies.base` says what it should hold.
"""

from importlib import import_module
from pkgutil import iter_modules

from momab.engine.policies.annealing import AnnealingPareto
from momab.engine.policies.base import (
    Policy,
    as_published,
    coins_of,
    family_of,
    given_for,
    make_policy,
    register_all,
    registered,
    standard,
)
from momab.engine.policies.kl_ucb import KLUCB
from momab.engine.policies.pareto_imed import ParetoIMED
from momab.engine.policies.pareto_ucb1 import ParetoUCB1
from momab.engine.policies.scalarized import ScalarizedUCB, paper_weights
from momab.engine.policies.width_guided import OBJECTIVE_RULES, WidthGuided

for _module in iter_modules(__path__):
    register_all(import_module(f"{__name__}.{_module.name}"))

__all__ = [
    "KLUCB",
    "OBJECTIVE_RULES",
    "AnnealingPareto",
    "ParetoIMED",
    "ParetoUCB1",
    "Policy",
    "ScalarizedUCB",
    "WidthGuided",
    "as_published",
    "coins_of",
    "family_of",
    "given_for",
    "make_policy",
    "paper_weights",
    "register_all",
    "registered",
    "standard",
]
