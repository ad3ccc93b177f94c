"""A cluster to compute on: the Dask scheduler that ``--dask`` or ``MOMAB_DASK`` names.

The environment variable is how the notebooks that a command executes, in processes of their own,
learn of it.  Where a run is played changes none of its digits.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from momab._util.extras import require
from momab.errors import MomabError

VARIABLE = "MOMAB_DASK"
PATIENCE = 10  # seconds until a scheduler that does not answer is given up

LOOK, ALONE = 2.0, 30.0  # seconds between two looks at the workers, and without any until we stop
_LOST = {"FutureCancelledError", "CancelledError", "CommClosedError", "KilledWorker"}
Result = TypeVar("Result")

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


def watched(begin: Callable[[], Iterable[Result]], client: Any) -> Iterator[Result]:
    """What computations on a cluster yield; MomabError in one sentence if the cluster has ended.

    They run in a thread of their own, because they wait for as long as the cluster has no worker.
    """
    found: SimpleQueue[tuple[str, Any]] = SimpleQueue()

    def fetch() -> None:
        try:
            for one in begin():
                found.put(("result", one))
            found.put(("end", None))
        except BaseException as error:
            found.put(("error", error))

    Thread(target=fetch, daemon=True).start()
    silent = 0.0
    while True:
        try:
            kind, what = found.get(timeout=LOOK)
        except Empty:
            silent = 0.0 if _has_workers(client) else silent + LOOK
            if silent >= ALONE:
                raise MomabError(
                    f"the Dask scheduler has had no workers for {ALONE:g} s; start some with "
                    "`dask worker`, and the same command with -o goes on where this one stopped."
                ) from None
            continue
        silent = 0.0
        if kind == "result":
            yield what
        elif kind == "end":
            return
        elif type(what).__name__ in _LOST or client.status != "running":
            raise MomabError(
                "the Dask scheduler has ended; start it again, and the same command with -o goes "
                "on where this one stopped."
            ) from None
        else:
            raise what


def _has_workers(client: Any) -> bool:
    try:
        return client.status != "running" or bool(client.scheduler_info()["workers"])
    except Exception:  # it has lost its scheduler, and the computation will say so
        return True


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
