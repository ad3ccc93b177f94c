"""What a data set's file holds: reading it when it may be broken, and its checksum."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from momab._util.validate import FloatArray, IntArray
from momab.errors import MomabError
from momab.model.instances import Instance, Rows, Samples

if TYPE_CHECKING:
    import pandas as pd


def recorded_rewards(instance: Instance) -> tuple[FloatArray, IntArray]:
    """The rewards of an instance made of records, and where those of each cell begin."""
    source = instance.source
    if isinstance(source, Rows):
        return source.table, source.offsets
    if isinstance(source, Samples):
        return source.values, source.offsets
    raise MomabError(f"{instance.name} is not made of recorded rewards.")


def checksum(instance: Instance) -> str:
    """The sha256 of an instance made of recorded rewards: names, rewards and their layout."""
    rewards, offsets = recorded_rewards(instance)
    names = json.dumps([instance.arm_names, instance.objective_names])
    sha = hashlib.sha256(names.encode())
    sha.update(rewards.astype("<f8").tobytes())
    sha.update(offsets.astype("<i8").tobytes())
    return sha.hexdigest()


@contextmanager
def readable_file(path: Path) -> Iterator[None]:
    """Turn whatever a broken file raises into one sentence."""
    try:
        yield
    except MomabError:
        raise
    except (OSError, ValueError, EOFError, LookupError, zlib.error, zipfile.BadZipFile) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise MomabError(f"{path.name} cannot be read: {reason.rstrip('.')}.") from None


def text_table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Some columns of a CSV file, as text: numbers are converted exactly, and once, later."""
    import pandas as pd

    with readable_file(path):
        present = set(pd.read_csv(path, nrows=0).columns)
        missing = [column for column in columns if column not in present]
        if missing:
            raise MomabError(f"{path.name} has no column {', '.join(missing)}.")
        return pd.read_csv(path, usecols=list(columns), dtype=str, keep_default_na=False)
