"""The secured server: loopback only, a token per start, Host and Origin checked, bodies bounded.

What it defends against, and how:

- other machines: it binds 127.0.0.1 and nothing else;
- other people and programs of this machine: every request needs the token of this start, which
  only the terminal shows.  The first visit brings it in the address and gets it as a cookie;
- other web sites in the same browser: the cookie is not sent with their requests
  (``SameSite=Strict``), what changes something must carry our own ``Origin``, and a request that
  the browser marks as coming from elsewhere is refused;
- names that are made to point to this machine (DNS rebinding): ``Host`` must be ours;
- large bodies: a handler states its limit, and all of the above is checked before a byte is read.

>>> class Hello(Handler):
...     async def get(self) -> None:
...         self.send_text("hello")
>>> server = Loopback([("/hello", Hello)])
>>> server.address.startswith("http://127.0.0.1:")
True
>>> server.close()

A handler raises `RefusedError` or `momab.MomabError` to say no in one sentence.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler, StaticFileHandler, stream_request_body

from momab.errors import MomabError

ADDRESS = "127.0.0.1"
_SAFE = ("GET", "HEAD")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_WELCOME = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>momab</title>'
    '<link rel="icon" href="data:,">'
    '<meta http-equiv="refresh" content="0; url=/"><p><a href="/">Go on</a>'
)


class RefusedError(MomabError):
    """A request that is not answered: a status of HTTP and one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        """Say no."""
        super().__init__(sentence)
        self.status = status


class _Guarded(RequestHandler):
    """What every request has to pass before anything is done for it."""

    limit: ClassVar[int] = 64 * 1024
    """The largest body that is taken, in bytes."""

    @property
    def server(self) -> Loopback:
        """The server that this request came to."""
        found: Loopback = self.settings["server"]
        return found

    def set_default_headers(self) -> None:
        """Forbid other sites to frame, sniff, keep or embed an answer."""
        self.clear_header("Server")
        for name, value in _HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Let our own requests pass, before their bodies are read."""
        self._check_place()
        if self.request.method in _SAFE and self._brings_token():
            self.set_cookie(
                self.server.cookie, self.server.token, httponly=True, samesite="Strict", path="/"
            )
            self.finish(_WELCOME)  # our own page asks next, so that the cookie comes with it
            return
        self._check_sender()
        length = self.request.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > self.limit:
            raise RefusedError(413, f"at most {_size(self.limit)} are taken here.")

    def _check_place(self) -> None:
        if self.request.headers.get("Host", "") not in self.server.hosts:
            raise RefusedError(403, "this server answers to its own address only.")
        origin = self.request.headers.get("Origin")
        ours = {f"http://{host}" for host in self.server.hosts}
        if origin not in ours and (origin is not None or self.request.method not in _SAFE):
            raise RefusedError(403, "a request from another site is not answered.")

    def _brings_token(self) -> bool:
        brought = self.get_query_argument("token", "")
        return hmac.compare_digest(brought.encode(), self.server.token.encode())

    def _check_sender(self) -> None:
        if self.request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            raise RefusedError(403, "a request from another site is not answered.")
        shown = self.get_cookie(self.server.cookie) or ""
        if not hmac.compare_digest(shown.encode(), self.server.token.encode()):
            raise RefusedError(
                403, "this needs the token: open the address that the terminal shows, whole."
            )

    def log_exception(self, *_: object) -> None:
        """Say what went wrong on the terminal, unless it was the request."""
        error = sys.exc_info()[1]
        if not isinstance(error, MomabError):
            super().log_exception(*_)  # type: ignore[arg-type]

    def write_error(self, status_code: int, **about: Any) -> None:
        """Answer with one sentence."""
        error = about.get("exc_info", (None, None))[1]
        sentence = "there is nothing here." if status_code == 404 else "that did not work."
        if isinstance(error, MomabError):
            sentence = str(error)
            self.set_status(getattr(error, "status", 400))
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(sentence)


@stream_request_body
class Handler(_Guarded):
    """Answers the requests of one route: override ``get``, ``post``, ``delete`` as coroutines."""

    def initialize(self, **given: Any) -> None:
        """Take what the route was given as attributes."""
        self._body = bytearray()
        for name, value in given.items():
            setattr(self, name, value)

    def data_received(self, chunk: bytes) -> None:
        """Keep a piece of the body, up to the limit."""
        self._body += chunk
        if len(self._body) > self.limit:
            raise RefusedError(413, f"at most {_size(self.limit)} are taken here.")

    @property
    def body(self) -> bytes:
        """The whole body of the request."""
        return bytes(self._body)

    def json_body(self) -> dict[str, Any]:
        """The body as a JSON object."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise RefusedError(400, "the request is not a JSON object.")
        return found

    def send_json(self, answer: object) -> None:
        """Answer with JSON."""
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.write(json.dumps(answer))

    def send_text(self, text: str, kind: str = "text/plain") -> None:
        """Answer with a text."""
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        self.write(text)

    def send_download(self, path: Path, name: str, kind: str) -> None:
        """Answer with a file to be kept under a name of letters, digits, dots and dashes."""
        self.set_header("Content-Type", kind)
        self.set_header("Content-Disposition", f'attachment; filename="{name}"')
        self.write(path.read_bytes())


class Files(_Guarded, StaticFileHandler):
    """Answers with the files of a folder, and of no other."""

    async def get(self, path: str, include_body: bool = True) -> None:
        """Send a file."""
        if "\0" in path:
            raise RefusedError(404, "there is nothing here.")
        await super().get(path, include_body)

    def compute_etag(self) -> str | None:
        """A mark of the file's version; an answer before there is a file has none."""
        return super().compute_etag() if hasattr(self, "absolute_path") else None

    def set_extra_headers(self, path: str) -> None:
        """Let the browser ask again, and take its own copy if nothing has changed."""
        self.set_header("Cache-Control", "no-cache")


class _Nothing(Handler):
    async def get(self, *_: str) -> None:
        raise RefusedError(404, "there is nothing here.")

    post = put = delete = get


Route = tuple[str, type[RequestHandler]] | tuple[str, type[RequestHandler], dict[str, Any]]


class Loopback:
    """A server on 127.0.0.1 that answers requests with its token."""

    def __init__(self, routes: Sequence[Route], port: int = 0) -> None:
        """Take a port (a free one unless told), so that the address is known; nothing runs yet."""
        self._socket = _listening(port)
        self.port: int = self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(32)
        self.cookie = f"momab-{self.port}"  # browsers do not tell ports apart
        self.hosts = (f"{ADDRESS}:{self.port}", f"localhost:{self.port}")
        self.address = f"http://{ADDRESS}:{self.port}/"
        self._application = Application(
            [*routes, ("/.*", _Nothing)], server=self, log_function=lambda handler: None
        )
        self._largest = max([_limit(route) for route in routes], default=Handler.limit)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    @property
    def entrance(self) -> str:
        """The address to open first, with the token."""
        return f"{self.address}?token={self.token}"

    def run(self, ready: Callable[[], object] = lambda: None) -> None:
        """Answer until `stop`, or Ctrl-C."""
        asyncio.run(self._serve(ready))

    async def _serve(self, ready: Callable[[], object]) -> None:
        self._loop, self._ending = asyncio.get_running_loop(), asyncio.Event()
        server = HTTPServer(
            self._application, max_body_size=self._largest, max_header_size=32 * 1024
        )
        server.add_socket(self._socket)
        ready()
        try:
            await self._ending.wait()
        finally:
            server.stop()
            await server.close_all_connections()

    def start(self) -> None:
        """Answer in a thread of its own, until `stop`."""
        ready = threading.Event()
        self._thread = threading.Thread(target=self.run, args=(ready.set,), daemon=True)
        self._thread.start()
        ready.wait(10)

    def stop(self) -> None:
        """Stop answering."""
        if self._loop is not None and self._ending is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ending.set)
        if self._thread is not None:
            self._thread.join(10)
        self.close()

    def close(self) -> None:
        """Give the port back."""
        self._socket.close()


def _listening(port: int) -> socket.socket:
    """A socket that listens on a port of loopback."""
    taken = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let two programs share the port
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.setblocking(False)
        taken.bind((ADDRESS, port))
        taken.listen(128)
    except (OSError, OverflowError) as error:
        taken.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise MomabError(f"port {port} cannot be used: {reason}.") from None
    return taken


def _limit(route: Route) -> int:
    found: int = getattr(route[1], "limit", Handler.limit)
    return found


def _size(count: int) -> str:
    """A number of bytes in words."""
    return f"{count // 2**20} MB" if count >= 2**20 else f"{count // 2**10} kB"
