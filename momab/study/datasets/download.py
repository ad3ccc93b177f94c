"""A download that is whole or not there, and resumes.

pooch downloads to a temporary name, compares the checksum and only then moves the file to its
place.  It does not resume, so :class:`Resuming` does: an interrupted download stays beside the
target as ``<name>.part`` and the next attempt asks the server for the missing bytes only.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from momab._util.progress import progress
from momab.errors import MomabError

_CHUNK = 1 << 13
_TIMEOUT = (10.0, 60.0)  # seconds: to connect, and between two pieces of the answer


class Resuming:
    """A downloader for pooch that keeps what it has got in ``part`` until the file is whole."""

    def __init__(self, part: Path, visible: bool = False) -> None:
        """Continue from ``part`` if it exists; show a progress bar on request."""
        self.part = part
        self.visible = visible

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        """Download ``url`` into ``output_file``, as pooch asks its downloaders to."""
        whole = self._answer(url, self._have())
        if whole is not None and self._have() != whole:
            raise MomabError(_broke_off(url, self._have()))
        os.replace(self.part, output_file)

    def _have(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _answer(self, url: str, have: int) -> int | None:
        """Fetch what is missing beyond the first ``have`` bytes; return the whole length."""
        import requests

        # "identity": a compressed answer would make lengths and ranges mean something else.
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
            span = response.headers.get("Content-Range", "")
            if have and response.status_code == 416 and span == f"bytes */{have}":
                return have  # nothing is missing
            continues = response.status_code == 206 and span.startswith(f"bytes {have}-")
            if have and not continues and response.status_code in (206, 416):
                self.part.unlink()
                return self._answer(url, 0)
            response.raise_for_status()
            length = response.headers.get("Content-Length")
            start = have if continues else 0
            whole = start + int(length) if length is not None else None
            shown = progress(whole, self.part.stem, "bytes", done=start, quiet=not self.visible)
            with self.part.open("ab" if continues else "wb") as file, shown as bar:
                try:
                    for piece in response.iter_content(_CHUNK):
                        file.write(piece)
                        bar.advance(len(piece))
                except requests.RequestException:
                    raise MomabError(_broke_off(url, file.tell())) from None
        return whole


def download(
    url: str, folder: Path, name: str, sha256: str | None = None, visible: bool = False
) -> Path:
    """Download ``url`` to ``folder / name`` and return that path.

    With ``sha256`` the file is compared with it before it takes its name.  Every failure is
    one sentence; a download that broke off is continued by the next call.
    """
    import pooch
    import requests

    part = folder / f"{name}.part"
    logger = pooch.get_logger()
    level = logger.level
    try:
        logger.setLevel(logging.WARNING)
        folder.mkdir(parents=True, exist_ok=True)
        pooch.retrieve(
            url,
            known_hash=None if sha256 is None else f"sha256:{sha256}",
            fname=name,
            path=folder,
            downloader=Resuming(part, visible),
        )
    except MomabError:
        raise
    except requests.HTTPError as error:
        status = error.response.status_code if error.response is not None else "an error"
        raise MomabError(f"the server answers {status} for {url}.") from None
    except requests.RequestException:
        raise MomabError(
            f"{url} cannot be reached; check the connection, or name a mirror with --mirror URL."
        ) from None
    except ValueError:
        raise MomabError(
            f"what {url} delivers does not have the expected checksum, so it was thrown away."
        ) from None
    except OSError as error:
        raise MomabError(f"the download cannot be written: {error}.") from None
    finally:
        logger.setLevel(level)
    return folder / name


def _broke_off(url: str, received: int) -> str:
    return (
        f"the download of {url} broke off after {received:,} bytes; "
        "the same command continues it from there."
    )
