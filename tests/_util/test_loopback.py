"""The secured server: who gets an answer, and who does not."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from momab._util.loopback import Files, Handler, Loopback, RefusedError
from momab.errors import MomabError
from tests.asking import ask

CALLS: list[str] = []


class Echo(Handler):
    async def get(self, word: str) -> None:
        CALLS.append(word)
        self.send_json({"word": word})

    async def post(self, word: str) -> None:
        CALLS.append(word)
        self.send_json({"got": len(self.body)})


class Wide(Echo):
    limit = 2**20


class Bad(Handler):
    async def get(self, kind: str) -> None:
        if kind == "refused":
            raise RefusedError(409, "not now.")
        if kind == "input":
            raise MomabError("seed must be a whole number.")
        self.json_body()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.txt").write_text("a")
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path / "site"


@pytest.fixture
def server(folder: Path) -> Iterator[Loopback]:
    CALLS.clear()
    routes = [(r"/echo/(\w+)", Echo), (r"/wide/(\w+)", Wide), (r"/bad/(\w+)", Bad)]
    server = Loopback([*routes, (r"/(.*)", Files, {"path": str(folder)})])
    server.start()
    yield server
    server.stop()


def test_whoever_has_the_token_is_answered(server: Loopback) -> None:
    assert ask(server, "GET", "/echo/hello").json == {"word": "hello"}
    assert ask(server, "POST", "/echo/hello", b"abc").json == {"got": 3}
    assert ask(server, "GET", "/echo/hello", Host=f"localhost:{server.port}").status == 200
    assert ask(server, "GET", "/a.txt").text == "a"


def test_the_address_brings_the_token_once(server: Loopback) -> None:
    path = server.entrance.removeprefix(server.address.rstrip("/"))
    answer = ask(server, "GET", path, known=False)
    assert answer.status == 200
    cookie = answer.headers["Set-Cookie"]
    assert f"{server.cookie}={server.token}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "no-store" in answer.headers["Cache-Control"]
    # from a terminal in another tab: cross-site, and still the way in
    assert ask(server, "GET", path, known=False, Sec_Fetch_Site="cross-site").status == 200


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("GET", {"Cookie": None}),
        ("GET", {"Cookie": "momab=wrong"}),
        ("GET", {"Cookie": "{cookie}=wrong"}),
        ("GET", {"Cookie": "{cookie}="}),
        ("GET", {"Cookie": "{cookie}={token}x"}),
        ("POST", {"Cookie": None}),
        ("GET", {"Host": "evil.example"}),
        ("GET", {"Host": "evil.example:{port}"}),
        ("GET", {"Host": "127.0.0.1"}),
        ("GET", {"Host": "127.0.0.1:1"}),
        ("GET", {"Host": "127.0.0.1:{port}.evil.example"}),
        ("POST", {"Origin": "http://evil.example"}),
        ("POST", {"Origin": "http://127.0.0.1:1"}),
        ("POST", {"Origin": "https://127.0.0.1:{port}"}),
        ("POST", {"Origin": "null"}),
        ("POST", {"Origin": None}),
        ("GET", {"Origin": "http://evil.example"}),
        ("GET", {"Sec_Fetch_Site": "cross-site"}),
        ("GET", {"Sec_Fetch_Site": "same-site"}),
        ("POST", {"Sec_Fetch_Site": "same-site"}),
    ],
)
def test_nobody_else_is(server: Loopback, method: str, headers: dict[str, str | None]) -> None:
    about = {"cookie": server.cookie, "token": server.token, "port": server.port}
    told = {name: value and value.format(**about) for name, value in headers.items()}
    for path in ("/echo/word", "/a.txt"):
        if method == "GET" or path.startswith("/echo"):
            answer = ask(server, method, path, **told)
            assert answer.status == 403
            assert answer.text.endswith(".")
            assert answer.text.count("\n") == 0
            assert server.token not in answer.text
    assert CALLS == []


def test_a_wrong_token_in_the_address_opens_nothing(server: Loopback) -> None:
    answer = ask(server, "GET", "/echo/word?token=wrong", known=False)
    assert answer.status == 403
    assert answer.headers["Set-Cookie"] is None
    path = f"/echo/word?token={server.token}"
    assert ask(server, "GET", path, known=False, Host="evil.example").status == 403
    assert ask(server, "POST", path, known=False).status == 403
    assert CALLS == []


def test_bodies_are_bounded_by_their_handler(server: Loopback) -> None:
    assert ask(server, "POST", "/wide/word", b"x" * 2**20).json == {"got": 2**20}
    answer = ask(server, "POST", "/echo/word", b"x" * (64 * 1024 + 1))
    assert (answer.status, answer.text) == (413, "at most 64 kB are taken here.")
    assert CALLS == ["word"]


def test_a_body_without_a_length_is_bounded_too(server: Loopback) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=300) as connection:
        head = (
            f"POST /echo/word HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Origin: http://127.0.0.1:{server.port}\r\nCookie: {server.cookie}={server.token}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n"
        )
        connection.sendall(head.encode())
        try:
            for _ in range(64):
                connection.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            answer = connection.recv(1000)
        except ConnectionError:
            answer = b""
    assert b"200" not in answer.partition(b"\r\n")[0]
    assert CALLS == []


def test_a_stranger_cannot_make_it_read_a_body(server: Loopback) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=300) as connection:
        head = (
            f"POST /wide/word HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Content-Length: {2**20}\r\n\r\n"
        )
        connection.sendall(head.encode())  # and no body
        assert b" 403 " in connection.recv(1000).partition(b"\r\n")[0]


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/.//../secret.txt",
        "/a.txt/../../secret.txt",
        "/%00",
        "//etc/passwd",
        "/nothing",
    ],
)
def test_files_are_those_of_the_folder(server: Loopback, path: str) -> None:
    answer = ask(server, "GET", path)
    assert answer.status in (400, 403, 404)
    assert b"secret" not in answer.body


def test_a_handler_says_no_in_one_sentence(server: Loopback) -> None:
    assert (ask(server, "GET", "/bad/refused").status, ask(server, "GET", "/bad/refused").text) == (
        409,
        "not now.",
    )
    answer = ask(server, "GET", "/bad/input")
    assert (answer.status, answer.text) == (400, "seed must be a whole number.")
    assert ask(server, "GET", "/bad/json").text == "the request is not a JSON object."


def test_answers_may_not_be_framed_or_sniffed(server: Loopback) -> None:
    headers = ask(server, "GET", "/echo/word").headers
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Server"] is None


def test_it_listens_on_loopback_only(server: Loopback) -> None:
    psutil = pytest.importorskip("psutil")
    heard = {
        found.laddr.ip
        for found in psutil.Process().net_connections("inet")
        if found.status == psutil.CONN_LISTEN and found.laddr.port == server.port
    }
    assert heard == {"127.0.0.1"}


def test_every_start_has_its_own_token() -> None:
    servers = [Loopback([]) for _ in range(2)]
    assert servers[0].token != servers[1].token
    assert len(servers[0].token) >= 40
    for server in servers:
        server.close()


def test_a_port_that_is_taken_is_one_sentence() -> None:
    server = Loopback([])
    with pytest.raises(MomabError, match=rf"^port {server.port} cannot be used: .*\.$"):
        Loopback([], server.port)
    server.close()
