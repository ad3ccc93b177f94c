"""The policies: one module per family, each with a record and a readable selection function."""

from momab.engine.policies.annealing import AnnealingPareto, select_annealing_pareto
from momab.engine.policies.base import (
    SELECTIONS,
    TIE,
    Certificate,
    Given,
    Policy,
    Selection,
    View,
    given_for,
    make_policy,
    nondominated,
    one_of,
    selection,
    selection_for,
    top,
)
from momab.engine.policies.pareto_ucb1 import Q_RULES, ParetoUCB1, select_pareto_ucb1
from momab.engine.policies.scalarized import ScalarizedUCB, paper_weights, select_scalarized_ucb
from momab.engine.policies.width_guided import (
    OBJECTIVE_RULES,
    Races,
    WidthGuided,
    races,
    select_width_guided,
)

__all__ = [
    "OBJECTIVE_RULES",
    "Q_RULES",
    "SELECTIONS",
    "TIE",
    "AnnealingPareto",
    "Certificate",
    "Given",
    "ParetoUCB1",
    "Policy",
    "Races",
    "ScalarizedUCB",
    "Selection",
    "View",
    "WidthGuided",
    "given_for",
    "make_policy",
    "nondominated",
    "one_of",
    "paper_weights",
    "races",
    "select_annealing_pareto",
    "select_pareto_ucb1",
    "select_scalarized_ucb",
    "select_width_guided",
    "selection",
    "selection_for",
    "top",
]
