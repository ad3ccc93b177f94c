"""The policies: one module per family, each with a record and a readable selection function.

Every module of this package is imported here, so that a new file registers itself;
:mod:`momab.engine.policies.base` says what it should hold.
"""

from importlib import import_module
from pkgutil import iter_modules

from momab.engine.policies.annealing import AnnealingPareto, select_annealing_pareto
from momab.engine.policies.anytime import AnytimeWidthGuided, epoch_end, select_anytime
from momab.engine.policies.base import (
    SELECTIONS,
    TIE,
    Certificate,
    Given,
    OneObjective,
    Policy,
    Selection,
    View,
    as_published,
    coins_of,
    family_of,
    given_for,
    make_policy,
    nondominated,
    one_of,
    registered,
    selection,
    selection_for,
    standard,
    top,
)
from momab.engine.policies.kl_ucb import KLUCB, klucb_index, select_klucb
from momab.engine.policies.pareto_imed import EVIDENCE, ParetoIMED, select_pareto_imed
from momab.engine.policies.pareto_thompson import ParetoThompson, select_pareto_thompson
from momab.engine.policies.pareto_ucb1 import Q_RULES, ParetoUCB1, select_pareto_ucb1
from momab.engine.policies.scalarized import ScalarizedUCB, paper_weights, select_scalarized_ucb
from momab.engine.policies.single_ucb1 import SingleUCB1, select_single_ucb1
from momab.engine.policies.width_guided import (
    CERTIFICATES,
    OBJECTIVE_RULES,
    Races,
    WidthGuided,
    kl_apart,
    kl_interval,
    races,
    select_width_guided,
)

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "CERTIFICATES",
    "EVIDENCE",
    "KLUCB",
    "OBJECTIVE_RULES",
    "Q_RULES",
    "SELECTIONS",
    "TIE",
    "AnnealingPareto",
    "AnytimeWidthGuided",
    "Certificate",
    "Given",
    "OneObjective",
    "ParetoIMED",
    "ParetoThompson",
    "ParetoUCB1",
    "Policy",
    "Races",
    "ScalarizedUCB",
    "Selection",
    "SingleUCB1",
    "View",
    "WidthGuided",
    "as_published",
    "coins_of",
    "epoch_end",
    "family_of",
    "given_for",
    "kl_apart",
    "kl_interval",
    "klucb_index",
    "make_policy",
    "nondominated",
    "one_of",
    "paper_weights",
    "races",
    "registered",
    "select_annealing_pareto",
    "select_anytime",
    "select_klucb",
    "select_pareto_imed",
    "select_pareto_thompson",
    "select_pareto_ucb1",
    "select_scalarized_ucb",
    "select_single_ucb1",
    "select_width_guided",
    "selection",
    "selection_for",
    "standard",
    "top",
]
