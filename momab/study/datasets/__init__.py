"""The data sets: where they are, how they are read, and the geometry groups of their subsets.

Every module here that registers a data set is found by itself: a new one needs its own module
and its own test, and nothing else.
"""

from importlib import import_module
from pkgutil import iter_modules

from momab.study.datasets.content import checksum
from momab.study.datasets.npz import read_cohorts, write_cohorts
from momab.study.datasets.registry import (
    REGISTRY,
    address,
    find,
    folders,
    get,
    load,
    named,
    register_dataset,
)

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
