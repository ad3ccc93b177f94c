"""The policies: one module per family, each with one class that the driver plays.

Every module of this package is imported here, so that a new file registers itself;
:mod:`momab.engine.policies.base` says what it should hold.
"""

from importlib import import_module
from pkgutil import iter_modules

from momab.engine.policies.annealing import AnnealingPareto
from momab.engine.policies.anytime import AnytimeWidthGuided, epoch_end
from momab.engine.policies.base import (
    Certificate,
    Given,
    OneObjective,
    Policy,
    as_published,
    coins_of,
    family_of,
    given_for,
    make_policy,
    nondominated,
    one_of,
    register_all,
    registered,
    seat,
    standard,
)
from momab.engine.policies.kl_ucb import KLUCB, klucb_index
from momab.engine.policies.pareto_imed import EVIDENCE, ParetoIMED
from momab.engine.policies.pareto_thompson import ParetoThompson
from momab.engine.policies.pareto_ucb1 import Q_RULES, ParetoUCB1
from momab.engine.policies.scalarized import ScalarizedUCB, paper_weights
from momab.engine.policies.single_ucb1 import SingleUCB1
from momab.engine.policies.width_guided import (
    CERTIFICATES,
    OBJECTIVE_RULES,
    WidthGuided,
    kl_interval,
)

for _module in iter_modules(__path__):
    register_all(import_module(f"{__name__}.{_module.name}"))

__all__ = [
    "CERTIFICATES",
    "EVIDENCE",
    "KLUCB",
    "OBJECTIVE_RULES",
    "Q_RULES",
    "AnnealingPareto",
    "AnytimeWidthGuided",
    "Certificate",
    "Given",
    "OneObjective",
    "ParetoIMED",
    "ParetoThompson",
    "ParetoUCB1",
    "Policy",
    "ScalarizedUCB",
    "SingleUCB1",
    "WidthGuided",
    "as_published",
    "coins_of",
    "epoch_end",
    "family_of",
    "given_for",
    "kl_interval",
    "klucb_index",
    "make_policy",
    "nondominated",
    "one_of",
    "paper_weights",
    "register_all",
    "registered",
    "seat",
    "standard",
]
