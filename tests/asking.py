"""Requests to a local server of ours, good ones and bad ones."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any

from momab._util.loopback import Loopback


@dataclass(frozen=True)
class Door:
    """What one has to know of a server in another process."""

    port: int
    token: str

    @property
    def cookie(self) -> str:
        return f"momab-{self.port}"

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def entrance(self) -> str:
        return f"{self.address}?token={self.token}"


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    server: Loopback | Door,
    method: str,
    path: str,
    body: Any = None,
    *,
    known: bool = True,
    **headers: str | None,
) -> Answer:
    """One request, as our own page would make it; headers replace what it sends, None drops one."""
    host = f"127.0.0.1:{server.port}"
    sent: dict[str, str | None] = {"Host": host}
    if known:
        sent["Cookie"] = f"{server.cookie}={server.token}"
    if method not in ("GET", "HEAD"):
        sent["Origin"] = f"http://{host}"
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection(host, timeout=300)
    if isinstance(body, dict):
        body = json.dumps(body)
    given = {name: value for name, value in sent.items() if value is not None}
    connection.request(method, path, body, given)
    answer = connection.getresponse()
    found = Answer(answer.status, answer.headers, answer.read())
    connection.close()
    return found
