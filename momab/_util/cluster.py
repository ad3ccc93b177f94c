"""A cluster to compute on: the Dask scheduler that ``--dask`` or ``MOMAB_DASK`` names.

The environment variable is how the notebooks that a command executes, in processes of their own,
learn of it.  Where a run is played changes none of its digits.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from momab._util.extras import require
from momab.errors import MomabError

VARIABLE = "MOMAB_DASK"
PATIENCE = 10  # seconds until a scheduler that does not answer is given up

_connected: dict[tuple[int, str], Any] = {}


def connect(address: str) -> Any:
    """A client of the scheduler at an address; MomabError in one sentence if none answers."""
    require("dask", "--dask")
    import distributed

    connected: Any = distributed.Client  # it has no types
    try:
        # A client without an answer is left to the garbage collector, which closes it at any
        # time, and if that is while the next one starts, both wait for each other permanently.
        with ThreadPoolExecutor(1) as own:  # the thread of a notebook runs a loop already
            own.submit(asyncio.run, _knock(address)).result()
        client = connected(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError, ImportError):
        raise MomabError(
            f"no Dask scheduler answers at {address!r}; start one with `dask scheduler`, "
            "and name the address that it says, such as tcp://host:8786."
        ) from None
    if not client.scheduler_info()["workers"]:
        client.close()
        raise MomabError(
            f"the Dask scheduler at {address!r} has no workers; start some with `dask worker`."
        )
    return client


async def _knock(address: str) -> None:
    """Open a connection to an address, as a client would, and close it."""
    from distributed import security
    from distributed.comm import core

    connecting: Any = core.connect  # these have no types
    secured: Any = security.Security
    arguments = secured().get_connection_args("client")
    line = await connecting(address, timeout=PATIENCE, **arguments)
    await line.close()


def named_client() -> Any:
    """A client of the scheduler that the environment names; None if it names none."""
    address = os.environ.get(VARIABLE, "")
    if not address:
        return None
    key = (os.getpid(), address)
    if key not in _connected or _connected[key].status != "running":
        _connected[key] = connect(address)
    return _connected[key]


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Let all simulations inside run on a cluster, also those of other processes."""
    if not address:
        yield
        return
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = address
    try:
        named_client()  # a scheduler that is not there is missed before the work
        yield
    finally:
        client = _connected.pop((os.getpid(), address), None)
        if client is not None:
            client.close()
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before
