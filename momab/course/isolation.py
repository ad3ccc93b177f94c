"""Bubblewrap around the processes that run what students wrote.

Each of them lives in namespaces of its own: it sees no process but its own, has no network, shares
no memory with other processes, and has no rights.  Of the machine it sees, read-only, the
system's libraries, the Python installation and this package without the modules that judge; of
`/etc` next to nothing, of the users' folders nothing.  It can write into one small folder in memory
that ends with it.  When its first process ends, all end (see `momab.course.guard`).

For root there is a first bubblewrap around that one: it shows the same folders at places that
every user may enter, and from there everything runs as the user nobody, without any right.

A network namespace does not hold sockets of the family AF_VSOCK, which reach the host of a virtual
machine, so a filter of system calls refuses them, and io_uring, which could make them past the
filter; it knows x86-64 and ARM64, and elsewhere AF_VSOCK stays open.

Memory that no process has mapped and no file holds is not counted: pages that wait in pipes, at
most 64 MB per user as the kernel is usually set.  A control group around the grader would count
them.  What remains is the kernel: if you expect students who break out of kernels, grade in a
virtual machine.
"""

from __future__ import annotations

import errno
import os
import platform
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from momab.errors import MomabError

PACKAGE = Path(__file__).resolve().parents[1]
PRIVATE = "/private"
DISK = 64 * 2**20  # bytes that a process may write
_JUDGES = PACKAGE / "exercises"
_SPEAKING = (
    "__init__.py",
    "core.py",
    "draws.py",
)  # of the judges' folder: not to judge with
_NOBODY = "65534"
RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_NAMESPACES = ("user", "pid", "net", "ipc", "uts")
_SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives")
_GET_IT = (
    "`apt install bubblewrap` (Debian, Ubuntu) or `dnf install bubblewrap` (Fedora) gets it; "
    "--trust grades without it, if you would run every notebook as your own"
)


class IsolationError(MomabError):
    """Students' code cannot be isolated here; the command exits with code 2."""


@cache
def version() -> str:
    """The version of bubblewrap, for example '0.8.0'; empty without it."""
    if sys.platform != "linux" or shutil.which("bwrap") is None:
        return ""
    done = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=False)
    return done.stdout.strip().removeprefix("bubblewrap ") if done.returncode == 0 else ""


def demand() -> None:
    """Say in one sentence how to get bubblewrap if it is missing or does not work here."""
    if not version():
        raise IsolationError(
            f"students' code runs inside bubblewrap, which is not here: {_GET_IT}."
        )
    with call_filter() as files:
        command = enclosed([sys.executable, "-S", "-c", ""], {}, files)
        done = subprocess.run(command, capture_output=True, text=True, check=False, pass_fds=files)
    if done.returncode:
        said = " ".join(done.stderr.split())[:200]
        refused = any(word in said for word in ("namespace", "not permitted", "Permission denied"))
        kernel = ", because the kernel does not allow user namespaces" if refused else ""
        if refused and RESTRICTED.is_file() and RESTRICTED.read_text().strip() == "1":  # Ubuntu
            kernel += f"; `sudo sysctl -w kernel.{RESTRICTED.name}=0` allows them until a restart"
        raise IsolationError(
            f"bubblewrap does not work here ({said}){kernel}; --trust grades without it, if you "
            "would run every notebook as your own."
        )


def import_path() -> list[str]:
    """Where the process finds modules: in the Python installation, not beside this package."""
    base = Path(sys.base_prefix).resolve()
    return [
        entry
        for entry in sys.path
        if Path(entry).name in ("site-packages", "dist-packages")
        or (Path(entry).is_absolute() and Path(entry).resolve().is_relative_to(base))
    ]


def _readable() -> list[str]:
    """The folders of the Python installation and of this package, the outer ones first."""
    found = {os.path.realpath(sys.executable), sys.prefix, sys.base_prefix, *import_path()}
    found |= {os.path.realpath(place) for place in found} | {str(PACKAGE)}
    places = sorted(place for place in found if os.path.exists(place) and place != "/")
    return [
        place
        for place in places
        if not any(Path(place).is_relative_to(p) for p in (*_SYSTEM, *places) if p != place)
        or place == str(PACKAGE)
    ]


# architectures: their number in a filter, and those of their calls socket and io_uring_setup
_CALLS = {"x86_64": (0xC000003E, 41, 425), "aarch64": (0xC00000B7, 198, 425)}
_VSOCK = 40


def _filter() -> bytes:
    """A program of the kernel's packet filter that refuses what namespaces do not hold."""
    load, equal, less, answer = 0x20, 0x15, 0x35, 0x06  # instructions
    allow, refuse, kill = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
    architecture, socket, io_uring = _CALLS[platform.machine()]
    steps = [
        (load, 0, 0, 4),  # the architecture
        (equal, 1, 0, architecture),
        (answer, 0, 0, kill),
        (load, 0, 0, 0),  # the number of the call
        (less, 4, 0, 0x40000000),  # at least this: calls of x32, a second table
        (equal, 3, 0, io_uring),
        (equal, 0, 3, socket),
        (load, 0, 0, 16),  # its first argument, the family
        (equal, 0, 1, _VSOCK),
        (answer, 0, 0, refuse),
        (answer, 0, 0, allow),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


@contextmanager
def call_filter() -> Iterator[tuple[int, ...]]:
    """The file that bubblewrap reads the filter from, to be passed on; none where none is known."""
    if platform.machine() not in _CALLS:
        yield ()
        return
    reads, writes = os.pipe()
    try:
        os.write(writes, _filter())
        os.close(writes)
        yield (reads,)
    finally:
        os.close(reads)


def enclosed(
    command: Sequence[str], environment: Mapping[str, str], files: Sequence[int] = ()
) -> list[str]:
    """A command inside bubblewrap; ``files`` are those of `call_filter`."""
    filters = [word for number in files for word in ("--seccomp", str(number))]
    inner = ["bwrap", *_walls(environment), *filters, "--", *command]
    return [*_without_rights(), *inner] if os.geteuid() == 0 else inner


def _walls(environment: Mapping[str, str]) -> Iterator[str]:
    for name in _NAMESPACES:
        yield f"--unshare-{name}"
    yield from ("--unshare-cgroup-try", "--disable-userns", "--cap-drop", "ALL")
    yield from ("--uid", "1000", "--gid", "1000", "--hostname", "grader")
    yield from ("--new-session", "--die-with-parent", "--as-pid-1")
    yield from ("--proc", "/proc", "--dev", "/dev")
    # folders in memory that are not limited, or that tell and change the kernel's settings
    yield from ("--size", str(2**20), "--tmpfs", "/dev/shm", "--size", "4096", "--tmpfs", "/tmp")
    yield from ("--size", "4096", "--tmpfs", "/proc/sys", "--remount-ro", "/proc/sys")
    yield from ("--size", str(DISK), "--tmpfs", PRIVATE)
    yield from _folders()  # after the empty /tmp, because a checkout may lie below it
    # the modules that judge are not there, but for what lets an answer speak
    yield from ("--size", str(2**16), "--tmpfs", str(_JUDGES))
    for name in _SPEAKING:
        yield from ("--ro-bind", str(_JUDGES / name), str(_JUDGES / name))
    for place in ("/dev", str(_JUDGES), "/tmp", "/"):
        yield from ("--remount-ro", place)
    yield from ("--chdir", PRIVATE, "--clearenv")
    for name, value in environment.items():
        yield from ("--setenv", name, value)


def _folders() -> Iterator[str]:
    for place in (*_SYSTEM, *_readable()):
        yield from ("--ro-bind-try", place, place)


def _without_rights() -> Iterator[str]:
    """For root: a place where the user nobody can read what is needed, entered as that user."""
    yield from ("bwrap", "--die-with-parent", "--cap-add", "ALL", "--dir", "/tmp")
    places = (*_SYSTEM, *_readable())
    for parent in sorted({str(up) for place in places for up in Path(place).parents} - {"/"}):
        if not any(Path(parent).is_relative_to(place) for place in _SYSTEM):
            yield from ("--perms", "0755", "--dir", parent)
    yield from _folders()
    yield from ("--dev-bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev", "--chdir", "/")
    yield from ("--", "/usr/bin/setpriv", "--reuid", _NOBODY, "--regid", _NOBODY)
    yield from ("--clear-groups", "--bounding-set", "-all", "--inh-caps", "-all")
    yield from ("--no-new-privs", "--pdeathsig", "KILL", "--")
