"""momab: exact, fast tools for stochastic multi-objective bandits.

The names below are imported when they are first used, so ``import momab`` costs next to nothing.
In a notebook the import also registers the cell magics ``%%prose``, ``%%figure`` and ``%%table``
(see `momab.chapters.figures.magics`).
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from momab.errors import MomabError

if TYPE_CHECKING:  # a name as itself is offered to type checkers, too
    from momab._util import parameters as parameters
    from momab.chapters.figures.style import palette as palette
    from momab.engine.policies.annealing import AnnealingPareto as AnnealingPareto
    from momab.engine.policies.anytime import AnytimeWidthGuided as AnytimeWidthGuided
    from momab.engine.policies.base import Policy as Policy
    from momab.engine.policies.kl_ucb import KLUCB as KLUCB
    from momab.engine.policies.moss import MOSS as MOSS
    from momab.engine.policies.pareto_imed import ParetoIMED as ParetoIMED
    from momab.engine.policies.pareto_thompson import ParetoThompson as ParetoThompson
    from momab.engine.policies.pareto_ucb1 import ParetoUCB1 as ParetoUCB1
    from momab.engine.policies.scalarized import ScalarizedUCB as ScalarizedUCB
    from momab.engine.policies.single_ucb1 import SingleUCB1 as SingleUCB1
    from momab.engine.policies.sticky_imed import StickyIMED as StickyIMED
    from momab.engine.policies.width_guided import WidthGuided as WidthGuided
    from momab.engine.streams import word as word
    from momab.engine.tools import choose as choose
    from momab.engine.tools import choose_among as choose_among
    from momab.engine.tools import choose_top as choose_top
    from momab.engine.tools import commit as commit
    from momab.exercises import check as check
    from momab.ledger.auditing.auditor import audit as audit
    from momab.ledger.auditing.trace import trace as trace
    from momab.model import metrics as metrics
    from momab.model import pareto as pareto
    from momab.model import theory as theory
    from momab.model.instances import Instance as Instance
    from momab.model.instances import bernoulli as bernoulli
    from momab.model.instances import duplicated as duplicated
    from momab.model.instances import synthetic as synthetic
    from momab.model.tables import from_csv as from_csv
    from momab.model.tables import from_frame as from_frame
    from momab.study.results import Results as Results
    from momab.study.simulate import simulate as simulate

__version__ = "0.1.0"

PUBLIC = {
    "AnnealingPareto": "momab.engine.policies.annealing",
    "AnytimeWidthGuided": "momab.engine.policies.anytime",
    "Instance": "momab.model.instances",
    "KLUCB": "momab.engine.policies.kl_ucb",
    "MOSS": "momab.engine.policies.moss",
    "ParetoIMED": "momab.engine.policies.pareto_imed",
    "ParetoThompson": "momab.engine.policies.pareto_thompson",
    "ParetoUCB1": "momab.engine.policies.pareto_ucb1",
    "Policy": "momab.engine.policies.base",
    "Results": "momab.study.results",
    "ScalarizedUCB": "momab.engine.policies.scalarized",
    "SingleUCB1": "momab.engine.policies.single_ucb1",
    "StickyIMED": "momab.engine.policies.sticky_imed",
    "WidthGuided": "momab.engine.policies.width_guided",
    "audit": "momab.ledger.auditing.auditor",
    "bernoulli": "momab.model.instances",
    "check": "momab.exercises",
    "choose": "momab.engine.tools",
    "choose_among": "momab.engine.tools",
    "choose_top": "momab.engine.tools",
    "commit": "momab.engine.tools",
    "duplicated": "momab.model.instances",
    "from_csv": "momab.model.tables",
    "from_frame": "momab.model.tables",
    "metrics": "momab.model.metrics",
    "palette": "momab.chapters.figures.style",
    "parameters": "momab._util.parameters",
    "pareto": "momab.model.pareto",
    "simulate": "momab.study.simulate",
    "synthetic": "momab.model.instances",
    "theory": "momab.model.theory",
    "trace": "momab.ledger.auditing.trace",
    "word": "momab.engine.streams",
}
"""Where each public name is defined; a module stands for itself."""

__all__ = ["MomabError", "__version__", *PUBLIC]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562)."""
    if name not in PUBLIC:
        raise AttributeError(f"module 'momab' has no attribute {name!r}")
    module = import_module(PUBLIC[name])
    value = getattr(module, name, module)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted(__all__)


def _register_magics() -> None:
    """Let a notebook that imports momab use its cell magics, which load when they are used."""
    if "IPython" not in sys.modules:
        return
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell is None:
        return
    for name in ("prose", "figure", "table"):

        def magic(line: str, cell: str, name: str = name) -> None:
            module = import_module("momab.chapters.figures.magics")
            getattr(module, name)(line, cell, shell.user_ns)

        shell.register_magic_function(magic, "cell", name)


_register_magics()
