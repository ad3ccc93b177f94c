"""What a learning platform gives for download: its zip, and whose file is whose.

Moodle ("download all submissions") calls entries ``Ada Lovelace_12345_assignsubmission_file_``, a
folder or the beginning of a file's name; Canvas calls files ``lovelaceada_LATE_678_9012_name``,
with the ids of student and file.  The id tells students apart, never the name: two of one
name stay two, and one who changes names stays one.  Their zips do not say when a file was handed
in, so what is late is for the platform to say.

A zip comes from a network, and its names from students.  It is looked through before anything is
unpacked, and only its notebooks are, into a folder that ends with the grading.
"""

from __future__ import annotations

import datetime
import os
import re
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from momab.errors import MomabError

ENTRIES = 20_000  # of a zip
TOTAL = 4 * 2**30  # bytes of its notebooks
_MOODLE = re.compile(r"(?P<name>[^_]*)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_")
_CANVAS = re.compile(r"(?P<name>.+?)(?:_LATE)?_(?P<id>\d+)_\d+_.")
_KNOWN_BY = re.compile(r"#(\d+)$")


def platform_student(first: str) -> str:
    """The student in the first part of a platform's path, as *name #id*; empty if it is not one."""
    match = _MOODLE.match(first) or _CANVAS.match(first)
    return f"{match['name']} #{match['id']}".strip() if match else ""


def id_of(student: str) -> str:
    """The platform's id of a student, or nothing."""
    match = _KNOWN_BY.search(student)
    return match[1] if match else ""


@contextmanager
def unpacked(path: Path, largest: int) -> Iterator[Path]:
    """The folder with the notebooks: the path itself, or what its zip holds, as long as needed.

    Of a notebook, at most one byte more than the ``largest`` is unpacked.
    """
    if not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="momab-class-") as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                entries = _entries(archive, largest)
                _unpack(archive, entries, Path(folder), largest)
        except MomabError as error:
            raise MomabError(f"{path} {error}; nothing was unpacked.") from None
        except UnicodeDecodeError:
            raise MomabError(f"{path} {_NOT_UTF8}; nothing was unpacked.") from None
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            why = str(error).rstrip(".")
            raise MomabError(f"{path} is no zip, or a damaged one ({why}).") from None
        except (NotImplementedError, RuntimeError):
            raise MomabError(f"{path} is encrypted or packed in an unknown way.") from None
        except OSError as error:
            raise MomabError(f"{path} cannot be unpacked: {error.strerror or error}.") from None
        yield Path(folder, _around(list(entries)))


def _around(names: list[PurePosixPath]) -> str:
    """A folder around the students' own, which packers like to add; empty if there is none."""
    if len({name.parts[0] for name in names}) > 1 or any(len(name.parts) < 2 for name in names):
        return ""
    top = names[0].parts[0]
    inner = {name.parts[1] for name in names}
    folders = len(inner) > 1 and all(len(name.parts) > 2 for name in names)
    theirs = all(map(platform_student, inner))
    return top if (folders or theirs) and not platform_student(top) else ""


_NOT_UTF8 = "has a name that is not UTF-8"


def _entries(archive: zipfile.ZipFile, largest: int) -> dict[PurePosixPath, zipfile.ZipInfo]:
    """The notebooks of a zip that has nothing odd in it."""
    listed = archive.infolist()
    if len(listed) > ENTRIES:
        raise MomabError(f"has {len(listed):,} entries, more than {ENTRIES:,}")
    found: dict[PurePosixPath, zipfile.ZipInfo] = {}
    paths = set()
    for entry in listed:
        name = _name(entry)
        path = PurePosixPath(name)
        if path in paths:
            raise MomabError(f"has {_said(name)} twice")
        paths.add(path)
        if path.is_absolute() or ".." in path.parts or "\\" in name or name[1:2] == ":":
            raise MomabError(f"has {_said(name)}, which leads out of it")
        mode = entry.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise MomabError(f"has {_said(name)}, which is a link or no ordinary file")
        notebook = name.lower().endswith(".ipynb") and path.parts[0] != "__MACOSX"
        if notebook and not entry.is_dir():
            found[path] = entry
    if not found:
        raise MomabError("holds no notebook (.ipynb)")
    total = sum(min(entry.file_size, largest + 1) for entry in found.values())
    if total > TOTAL:
        raise MomabError(f"holds more than {TOTAL // 2**30} GB of notebooks")
    return found


def _name(entry: zipfile.ZipInfo) -> str:
    """A name; packers that do not say that it is UTF-8 mostly write UTF-8 nevertheless."""
    if entry.flag_bits & 0x800:
        return entry.filename
    return entry.filename.encode("cp437").decode("utf-8")


def _said(name: str) -> str:
    return ascii(name if len(name) <= 80 else f"{name[:80]}...")


def _unpack(
    archive: zipfile.ZipFile,
    entries: dict[PurePosixPath, zipfile.ZipInfo],
    folder: Path,
    largest: int,
) -> None:
    for name, entry in entries.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as packed, target.open("xb") as file:
            file.write(packed.read(largest + 1))
        with suppress(ValueError, OverflowError):  # some packers leave the date out
            changed = datetime.datetime(*entry.date_time).timestamp()
            os.utime(target, (changed, changed))
