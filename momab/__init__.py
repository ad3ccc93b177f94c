"""momab: exact, fast tools for stochastic multi-objective bandits."""

from momab.errors import MomabError

__version__ = "0.1.0"
__all__ = ["MomabError", "__version__"]
