"""The same programs, compiled: the only module that knows numba.

A compiled program is the text that CPython runs.  Every function that it calls is compiled with
it; :data:`INSTEAD` names those that NumPy computes many at a time for CPython and that have a
scalar form for the compiler.  In ``moved`` and ``select`` the compiler sees ``self`` as a tuple of
named numbers and arrays: what ``start`` left on it.

Numba keeps the compiled driver of each policy in its cache, in a file named after a digest of all
code that went into it, so an edit in any file is noticed.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.errors import NumbaError

from momab.engine import driver, streams, words
from momab.engine.reached import code_digest, is_numeric, is_ours, members_of, names_in, reached

Refused = NumbaError
"""What is raised when a function cannot be compiled."""

INSTEAD: dict[Any, Any] = {
    streams.refill: words.refill_with,
    streams.word: words.word_of,
    streams.four_words: words.four_words_of,
}

# Ours make no arrays, so uses need not be counted; only drivers are called from Python.
_UNCOUNTED: dict[str, Any] = {"_nrt": False}
_ALONE: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_WITHIN: dict[str, Any] = {**_ALONE, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_ready: dict[Any, Any] = {}
_PLAYER = "player__"


def as_part(function: Any, **options: Any) -> Any:
    """Compile a function, and those it calls, for use by other compiled functions."""
    function = INSTEAD.get(function, function)
    if function not in _ready:
        if function in words.INLINED:
            options = {"forceinline": True}
        options |= _UNCOUNTED if is_ours(function) else {}
        _ready[function] = numba.njit(**_WITHIN, **options)(_with_callees(function))
    return _ready[function]


class _CompiledModule(ModuleType):
    """One of our modules, with compiled functions in the places of functions."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        return as_part(value) if isinstance(value, FunctionType) else value


def _with_callees(function: Any, **more: Any) -> FunctionType:
    """Return a copy of a function whose globals hold compiled functions."""
    names = {**function.__globals__}
    for name in names_in(function.__code__):
        value = names.get(name)
        if isinstance(value, FunctionType) and name not in more:
            names[name] = as_part(value)
        elif isinstance(value, ModuleType) and is_ours(value):
            names[name] = _CompiledModule(value)
    names.update(more)
    copy = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    return copy


@cache
def driver_for(select: Any, moved: Any, keep: bool = True) -> Any:
    """Compile the driver with a policy's two functions; it is kept in numba's cache.

    What it keeps of a class without a module, or of an expression on whole arrays such as
    -self.score, it cannot read again: that raises ModuleNotFoundError, and such a driver must be
    compiled without being kept.
    """
    uncounted = _UNCOUNTED if is_ours(select) and is_ours(moved) else {}
    run = _with_callees(
        driver.play_run,
        policy_select=as_part(select, forceinline=True),
        policy_moved=as_part(moved, forceinline=True),
        pull=as_part(driver.pull, forceinline=True),
    )
    copy = _with_callees(driver.drive, play_run=numba.njit(**_WITHIN, **uncounted)(run))
    name = select.__qualname__.replace(".<locals>", "").replace(".", "_")
    copy.__qualname__ = f"drive_{name}_{_digest(driver.drive, select, moved)}"  # names the file
    return numba.njit(cache=keep, **_ALONE, **uncounted)(copy)


def is_kept(drive: Any) -> bool:
    """Whether numba's cache has a compiled driver of an earlier process."""
    folder = drive._cache.cache_path  # None: it is never kept
    return folder is not None and any(Path(folder).glob(f"*{drive.py_func.__qualname__}-*.nbi"))


@cache
def alone(function: Any) -> Any:
    """Compile a function that makes no arrays, and those it calls, for use from Python."""
    function = INSTEAD.get(function, function)
    copy = _with_callees(function)
    copy.__qualname__ = f"{function.__name__}_{_digest(function)}"
    return numba.njit(cache=True, **_ALONE, **_UNCOUNTED)(copy)


def _digest(*functions: Any) -> str:
    return code_digest(*functions, also=numba.__version__ + np.__version__, instead=INSTEAD)


def seated(player: Any, functions: tuple[Any, ...]) -> tuple[Any, driver.Memory]:
    """Return a player as a tuple of the numbers and arrays that some functions and the driver use.

    All arrays share the bytes of the memory, and as many as they shared before.
    """
    held = dict(members_of(type(player))) | vars(player)
    fields = {name: held[name] for name in _names(functions) if is_numeric(held.get(name))}
    arrays = {name: value for name, value in fields.items() if isinstance(value, np.ndarray)}
    owners = {id(owner): owner for owner in map(_owner, arrays.values())}
    starts = np.cumsum([0, *((owner.nbytes + 63) // 64 * 64 for owner in owners.values())])
    now = np.zeros(int(starts[-1]) + 64, dtype=np.uint8)
    now = now[-now.ctypes.data % 64 :][: int(starts[-1])]
    for owner, start in zip(owners.values(), starts):
        now[start : start + owner.nbytes] = owner.ravel("K").view(np.uint8)  # as in memory
    places = dict(zip(owners, starts))
    for name, array in arrays.items():
        owner = _owner(array)
        at = int(places[id(owner)]) + array.ctypes.data - owner.ctypes.data
        fields[name] = np.ndarray(array.shape, array.dtype, now, at, array.strides)
    kind = _tuple_type(_PLAYER + "__".join(fields))
    return kind(**fields), driver.Memory(now, now.copy())


def _owner(array: Any) -> Any:
    """The array whose memory an array shows."""
    return _owner(array.base) if isinstance(array.base, np.ndarray) else array


@cache
def _names(functions: tuple[Any, ...]) -> list[str]:
    """All names that some functions, the driver and those they call use, sorted."""
    found = reached(driver.play_run, driver.pull, *functions, instead=INSTEAD)
    return sorted({name for function in found for name in names_in(function.__code__)})


@cache
def _tuple_type(name: str) -> Any:
    """Make the type of a player's tuple; its name says the fields, so numba's cache finds it."""
    kind = namedtuple(name, name.split("__")[1:])  # type: ignore[misc]
    kind.__module__ = __name__
    return kind


def __getattr__(name: str) -> Any:
    """Return a type that numba's cache refers to."""
    if name.startswith(_PLAYER):
        return _tuple_type(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
