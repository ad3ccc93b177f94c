"""Made-up data of the real shape, only smaller, and a server that delivers them."""

import dataclasses
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd

from momab.study import datasets
from tests.waiting import PATIENCE


def made_up_samples(arms=5, cohorts=3, seed=1):
    rng = np.random.default_rng(seed)
    return [[rng.random(rng.integers(2, 6)) for _ in range(cohorts)] for _ in range(arms)]


def objects(items, shape=None):
    array = np.empty(shape or len(items), dtype=object)
    array[...] = np.nan
    for index, item in zip(np.ndindex(array.shape), items):
        array[index] = item
    return array


def authors_file(path, layout="nested", extra=None):
    samples = made_up_samples()
    values = {
        "nested": lambda: objects([objects(arm) for arm in samples]),
        "matrix": lambda: objects([cell for arm in samples for cell in arm], (5, 3)),
        "lists": lambda: objects([[list(map(float, cell)) for cell in arm] for arm in samples]),
    }[layout]()
    np.savez(
        path,
        mu=np.array([[cell.mean() for cell in arm] for arm in samples]),
        objective_values=values,
        arm_ids=np.array([str(i) for i in range(5)]),
        objective_names=np.array(["a", "b", "c"]),
        **(extra or {}),
    )
    return path


def tracks(rows=40, genres=3, seed=2):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "track_id": [f"t{i:04d}" for i in range(rows)],
            "track_genre": [f"g{i % genres}" for i in range(rows)],
            "popularity": rng.integers(0, 101, rows),
            "danceability": rng.random(rows).round(3),
            "energy": rng.random(rows).round(3),
            "loudness": rng.uniform(-65, 3, rows).round(3),
            "acousticness": rng.random(rows).round(6),
            "valence": rng.random(rows).round(3),
            "artists": "somebody",
        }
    )
    return pd.concat([frame, frame.iloc[:4]], ignore_index=True)


class Payload:
    """Writes a file when it is unpickled."""

    def __init__(self, path, function):
        self.path = path
        self.function = function

    def __reduce__(self):
        return self.function, (str(self.path),)


def expect(monkeypatch, dataset, **changes):
    """Let the register expect a made-up file."""
    changed = dataclasses.replace(datasets.REGISTRY[dataset], **changes)
    monkeypatch.setitem(datasets.REGISTRY, dataset, changed)


class Server(ThreadingHTTPServer):
    """Serves `content`; `cut` breaks answers off, `ranges` says whether it continues files."""

    daemon_threads = True
    content: bytes = b""
    status = 200
    cut: int | None = None
    ranges = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []
        self.address = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        server, asked = self.server, self.headers.get("Range")
        server.asked.append(asked)
        if server.status != 200:
            self.send_error(server.status)
            return
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and server.ranges else 0
        size = len(server.content)
        if asked and server.ranges and start >= size:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        self.send_header("Content-Length", str(size - start))
        self.end_headers()
        self.wfile.write(server.content[start : server.cut])

    def log_message(self, *_):
        pass


@contextmanager
def serving():
    """A running server that has ended when the block ends."""
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def names(folder):
    """The files of a folder."""
    return sorted(path.name for path in folder.iterdir())
