"""No test of this folder sees this machine's data, unless it says so."""

import hashlib

import numpy as np
import pytest

from momab.study import datasets
from tests.study.datasets.made_up import authors_file, expect, serving


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    """No test sees this machine's data or goes through a proxy, unless it says so."""
    for name in ("MOMAB_DATA", "MOMAB_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def server():
    """A server on this machine."""
    with serving() as running:
        yield running


@pytest.fixture
def kuairec_server(server, tmp_path, monkeypatch):
    """A mirror with a small file of the authors' kind."""
    path = authors_file(tmp_path / "authors.npz", extra={"padding": np.arange(10_000)})
    server.content = path.read_bytes()
    expect(
        monkeypatch,
        "kuairec",
        sha256=hashlib.sha256(server.content).hexdigest(),
        content=datasets.checksum(datasets.read_cohorts(path)),
    )
    return server
