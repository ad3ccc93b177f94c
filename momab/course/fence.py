"""The fence that closes around a grading process before it runs what a student wrote.

A fence, not a prison.  It holds against accidents, curiosity and ordinary mischief; whoever must
run code that is written to break out of a kernel should put a container or a virtual machine
around the whole command as well.  The layers, each used where the system has it:

- limits of memory, file size, open files and core dumps (``resource``; not on Windows, and macOS
  does not enforce the limit of memory);
- Landlock (Linux 5.13 and later): the kernel refuses to open files for reading outside the Python
  installation, this package and the private folder, and to write, create or delete anything
  outside the private folder; where the kernel knows how, also connections over TCP and signals
  to other processes;
- a filter of system calls (Linux on x86-64 and arm64): the kernel refuses new processes, other
  programs, sockets, signals to others, changed permissions, changed limits, and what only an
  administrator may do.  With it, no process can be left behind;
- an audit hook (everywhere): Python itself refuses the same things with a clear message, and
  tells the grader about it.

What is not guaranteed.  The audit hook alone can be got round by who knows Python well, so
without the two kernel layers (macOS, Windows, old kernels) read and write protection is a matter
of good manners, and a process that detaches itself may survive.  File names, sizes and dates can
be seen, contents cannot.  The private folder can be filled up to the disk's space until the time
is up.  The answer may be looked up in whatever the library itself offers.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CELL = "<cell"  # how the file names of a student's code objects begin
FILE_SIZE = 32 * 2**20
OPEN_FILES = 128


class Refused(PermissionError):  # noqa: N818 (students read this name)
    """What the code tried is not allowed while it is graded."""


@dataclass(frozen=True)
class Ground:
    """What the process may touch: its private folder, and what it may read beside it."""

    private: str
    readable: tuple[str, ...]
    hidden: tuple[str, ...] = ()  # not to be read although it lies below something readable


def close_fence(ground: Ground, memory: int, notice: Callable[[str], None]) -> list[str]:
    """Close the fence around this process, for good; say which layers hold.

    ``memory`` is in megabytes; ``notice`` is told what the audit hook refuses to a cell.
    """
    layers = []
    if _limit_resources(memory):
        layers.append("limits of memory and files")
    if abi := _landlock(ground):
        layers.append(f"Landlock {abi}")
    if _filter_system_calls():
        layers.append("system-call filter")
    else:
        _forbid_processes()
    sys.addaudithook(_hook(ground, notice))
    layers.append("audit hook")
    return layers


# ---- limits --------------------------------------------------------------------------------


def _limit_resources(memory: int) -> bool:
    try:
        import resource
    except ImportError:
        return False
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: FILE_SIZE,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_AS: memory * 2**20,
    }
    for kind, most in limits.items():
        with suppress(ValueError, OSError):  # macOS has no working limit of the address space
            resource.setrlimit(kind, (most, most))
    with suppress(OSError):  # if the machine runs out of memory, this process goes first
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    return True


def _forbid_processes() -> None:
    """Without a filter of system calls: no further process or thread for this user."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def die_with_parent() -> None:
    """Ask the kernel to end this process when the one that started it ends (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, ctypes.c_ulong(9))  # PR_SET_PDEATHSIG, SIGKILL


def _no_new_privileges(libc: Any) -> None:
    """Give up ever gaining rights, which the kernel asks of who wants to be fenced in."""
    libc.prctl(38, *map(ctypes.c_ulong, (1, 0, 0, 0)))  # PR_SET_NO_NEW_PRIVS


# ---- Landlock ------------------------------------------------------------------------------

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all architectures
_WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
_MAKE_AND_REMOVE = 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 13
_READ = _READ_FILE | _READ_DIR
# file-system rights by the version of Landlock that brought them, starting with version 1
_FS_RIGHTS = (13, 14, 15, 15, 16)
_SYSTEM = (  # what shared libraries, time zones and numerical libraries look up
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/zoneinfo",
    "/lib",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/dev/null",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
)
_DEVICES = ("/dev/null",)  # may be written


def _landlock(ground: Ground) -> int:
    """Let the kernel enforce the rules for files; the version of Landlock, 0 without it."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    abi: int = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if abi < 1:
        return 0
    handled = (1 << _FS_RIGHTS[min(abi, len(_FS_RIGHTS)) - 1]) - 1
    fields = [handled]
    if abi >= 4:
        fields.append(0b11)  # bind and connect over TCP
    if abi >= 6:
        fields.append(0b11)  # abstract sockets and signals of other processes
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = libc.syscall(
        _CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)
    )
    if ruleset < 0:
        return 0
    try:
        everything = _READ | _WRITE_FILE | _TRUNCATE | _MAKE_AND_REMOVE
        _allow(libc, ruleset, ground.private, everything & handled)
        for device in _DEVICES:
            _allow(libc, ruleset, device, (_READ | _WRITE_FILE | _TRUNCATE) & handled)
        for root in (*ground.readable, *_SYSTEM):
            for path, rights in _visible(Path(root).resolve(), ground.hidden):
                _allow(libc, ruleset, str(path), rights)
        _no_new_privileges(libc)
        return abi if libc.syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint32(0)) == 0 else 0
    finally:
        os.close(ruleset)


def _allow(libc: Any, ruleset: int, path: str, rights: int) -> None:
    """Add a rule for a path and everything below it; what is not there needs none."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _READ_FILE | _WRITE_FILE | _TRUNCATE
        rule = struct.pack("=Qi", rights, place)
        libc.syscall(_ADD_RULE, ruleset, 1, rule, ctypes.c_uint32(0))
    finally:
        os.close(place)


def _visible(root: Path, hidden: tuple[str, ...]) -> Iterator[tuple[Path, int]]:
    """The parts of a folder without what is hidden; the folders around that can be listed.

    Rules of Landlock only ever add rights, so what is hidden must be left out.
    """
    if not any(Path(item).is_relative_to(root) for item in hidden):
        yield root, _READ
    elif str(root) not in hidden:
        yield root, _READ_DIR
        with suppress(OSError):
            for child in root.iterdir():
                yield from _visible(child, hidden)


# ---- the filter of system calls ------------------------------------------------------------

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
# numbers on x86-64 and on arm64; None where there is no such call
_DENIED: dict[str, tuple[int | None, int | None]] = {
    # processes and programs
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "setrlimit": (160, 164),
    "setpriority": (141, 140),
    # the network, and what could reach it by another way
    "socket": (41, 198),
    "io_uring_setup": (425, 425),
    # what Landlock does not cover: permissions, owners, dates, attributes
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    # what would outlive the process
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    # what an administrator may do, should one run the grader
    "mount": (165, 40),
    "umount2": (166, 39),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "syslog": (103, 116),
}
_CLONE, _CLONE3 = (56, 220), (435, 435)
_KILL, _TGKILL, _PRLIMIT = (62, 129), (234, 131), (302, 261)
_CLONE_THREAD = 0x10000

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_NOT_PERMITTED, _NOT_KNOWN = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS

_Instruction = tuple[int, int, int, int]


def _filter_system_calls() -> bool:
    """Let the kernel refuse system calls that no answer needs; whether it does."""
    if sys.platform != "linux" or platform.machine() not in _ARCHITECTURES:
        return False
    program = b"".join(struct.pack("=HBBI", *step) for step in _program())
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    _no_new_privileges(libc)
    number = (317, 277)[_ARCHITECTURES[platform.machine()][1]]
    return bool(libc.syscall(number, 1, 1, header) == 0)  # a filter, for all threads


def _program() -> Iterator[_Instruction]:
    """The filter, for the kernel's small machine; jumps count the steps to skip."""
    architecture, column = _ARCHITECTURES[platform.machine()]
    yield _LOAD, 0, 0, 4
    yield _EQUAL, 1, 0, architecture
    yield _RETURN, 0, 0, _KILL_PROCESS
    yield _LOAD, 0, 0, 0
    if column == 0:  # the x32 calls have numbers of their own
        yield _AT_LEAST, 0, 1, 0x40000000
        yield _RETURN, 0, 0, _NOT_PERMITTED
    for numbers in _DENIED.values():
        if (number := numbers[column]) is not None:
            yield _EQUAL, 0, 1, number
            yield _RETURN, 0, 0, _NOT_PERMITTED
    # the C library falls back to clone, whose flags can be looked at: threads are fine
    yield _EQUAL, 0, 1, _CLONE3[column]
    yield _RETURN, 0, 0, _NOT_KNOWN
    yield from _only_if(_CLONE[column], (_ANY_BIT, _CLONE_THREAD))
    yield from _only_if(_KILL[column], (_EQUAL, os.getpid()))
    yield from _only_if(_TGKILL[column], (_EQUAL, os.getpid()))
    # limits may be asked for: the third argument, the new limits, is a null pointer then
    yield _EQUAL, 0, 6, _PRLIMIT[column]
    yield _LOAD, 0, 0, 32
    yield _EQUAL, 0, 2, 0
    yield _LOAD, 0, 0, 36
    yield _EQUAL, 1, 0, 0
    yield _RETURN, 0, 0, _NOT_PERMITTED
    yield _RETURN, 0, 0, _ALLOW
    yield _RETURN, 0, 0, _ALLOW


def _only_if(number: int, test: tuple[int, int]) -> Iterator[_Instruction]:
    """Allow a system call only if its first argument passes a test."""
    yield _EQUAL, 0, 4, number
    yield _LOAD, 0, 0, 16
    yield test[0], 1, 0, test[1]
    yield _RETURN, 0, 0, _NOT_PERMITTED
    yield _RETURN, 0, 0, _ALLOW


# ---- the audit hook ------------------------------------------------------------------------

_NEVER = frozenset(
    {
        *("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"),
        *("os.startfile", "os.startfile/2", "os.kill", "os.killpg", "pty.spawn"),
        *("signal.pthread_kill", "resource.setrlimit", "resource.prlimit", "subprocess.Popen"),
        *("urllib.Request", "_winapi.CreateProcess", "_winapi.OpenProcess"),
        "_winapi.TerminateProcess",
    }
)
_NEVER_BEGINS = ("socket.", "winreg.")
_READS = frozenset(["os.listdir", "os.scandir"])
# where the paths stand among the arguments, and the folder that each is relative to
_WRITES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((0, 2), (1, 3)),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.lchmod": ((0, None),),
    "os.chflags": ((0, None),),
    "os.utime": ((0, 3),),
    "os.setxattr": ((0, None),),
    "os.removexattr": ((0, None),),
}
_FOLLOW = frozenset(["os.truncate", "os.chmod", "os.chown", "os.utime"])  # change a link's target
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _hook(ground: Ground, notice: Callable[[str], None]) -> Callable[[str, tuple[Any, ...]], None]:
    """The audit hook that refuses what the ground does not hold."""
    private = os.path.realpath(ground.private)
    readable = tuple(os.path.realpath(p) for p in (private, *ground.readable, *_SYSTEM))
    writable = (private, *(os.path.realpath(p) for p in _DEVICES))
    hidden = tuple(os.path.realpath(p) for p in ground.hidden)
    below = _below

    def refuse(what: str) -> None:
        if _called_by_student():  # libraries try this and that, and live with a refusal
            notice(what)
        raise Refused(f"the grader does not allow this: {what}")

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if isinstance(path, int) or path is None:
                return
            place = _real(path)
            writes = bool((flags or 0) & _WRITE_FLAGS)
            writes = writes or (isinstance(mode, str) and not set("wax+").isdisjoint(mode))
            if writes and not below(place, writable):
                refuse(f"writing {place}")
            if below(place, hidden) or not below(place, readable):
                refuse(f"reading {place}")
        elif event in _READS:
            if arguments[0] is not None and not isinstance(arguments[0], int):
                place = _real(arguments[0])
                if not below(place, readable):
                    refuse(f"listing {place}")
        elif event in _WRITES:
            for position, folder in _WRITES[event]:
                path = arguments[position]
                if isinstance(path, int):
                    continue
                inside = arguments[folder] if folder is not None else -1
                place = _real(path, inside, event in _FOLLOW)
                if not below(place, writable):
                    refuse(f"{event} {place}")
        elif (
            event in _NEVER
            or event.startswith(_NEVER_BEGINS)
            or (event.startswith("ctypes.") and _called_by_student())
        ):
            refuse(event)

    return hook


def _below(place: str, folders: tuple[str, ...]) -> bool:
    return any(place == folder or place.startswith(folder + os.sep) for folder in folders)


def _real(path: Any, folder: int = -1, follow: bool = True) -> str:
    """Where a path leads, links followed except perhaps the last; relative to an open folder."""
    text = os.fsdecode(path)
    if folder >= 0 and not os.path.isabs(text):
        text = os.path.join(os.path.realpath(f"/proc/self/fd/{folder}"), text)
    if follow:
        return os.path.realpath(text)
    parent, name = os.path.split(os.path.abspath(text))
    return os.path.join(os.path.realpath(parent), name)


def _called_by_student() -> bool:
    """Whether a student's cell itself asks for it, rather than a library that it calls.

    That is, whether a cell comes first when one looks upwards past the standard library.
    """
    frame = sys._getframe(2)
    while frame.f_back and _standard(frame.f_code.co_filename):
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(CELL)


_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = os.path.join(_STANDARD, "site-packages"), os.path.join(_STANDARD, "dist-packages")


def _standard(file: str) -> bool:
    if file.startswith("<frozen"):
        return True
    return file == __file__ or (file.startswith(_STANDARD) and not file.startswith(_INSTALLED))
