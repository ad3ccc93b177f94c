"""Downloads from a local server: whole or not there, verified, resumed."""

import hashlib
import os
import socket

import numpy as np
import pytest

from momab.errors import MomabError
from momab.study import datasets
from momab.study.datasets import download
from tests.study.datasets.made_up import Payload, authors_file, expect, names, objects


def test_get_downloads_verifies_and_converts(kuairec_server, tmp_path):
    folder = tmp_path / "data"
    path = datasets.get("kuairec", folder, kuairec_server.address)
    assert names(folder) == ["kuairec_cohorts.npz"]
    np.load(path, allow_pickle=False).close()
    assert datasets.load("kuairec", folder).K == 5
    datasets.get("kuairec", folder, kuairec_server.address)
    assert len(kuairec_server.asked) == 1  # a good file is not fetched again
    path.write_bytes(b"broken")
    datasets.get("kuairec", folder, kuairec_server.address)
    assert len(kuairec_server.asked) == 2
    assert datasets.load("kuairec", folder).K == 5


def test_get_uses_the_variables(kuairec_server, tmp_path, monkeypatch):
    monkeypatch.setenv("MOMAB_MIRROR", kuairec_server.address + "/")
    assert datasets.get("kuairec") == tmp_path / "cache" / "momab" / "kuairec_cohorts.npz"
    monkeypatch.setenv("MOMAB_DATA", str(tmp_path / "mine"))
    assert datasets.get("kuairec") == tmp_path / "mine" / "kuairec_cohorts.npz"


def test_wrong_checksum_leaves_nothing(kuairec_server, tmp_path):
    kuairec_server.content += b"x"
    with pytest.raises(MomabError, match="does not have the expected checksum"):
        datasets.get("kuairec", tmp_path / "data", kuairec_server.address)
    assert names(tmp_path / "data") == []


def test_a_broken_download_is_continued(kuairec_server, tmp_path):
    folder, size = tmp_path / "data", len(kuairec_server.content)
    part = folder / "kuairec_cohort_instance_d26.npz.unverified.part"
    asked = [None]
    for cut in (100, 20_000, size - 10):
        kuairec_server.cut = cut
        with pytest.raises(MomabError, match=r"broke off after [\d,]+ bytes; the same command"):
            datasets.get("kuairec", folder, kuairec_server.address)
        assert names(folder) == [part.name]
        kept = part.stat().st_size
        assert cut - 8192 < kept <= cut
        assert part.read_bytes() == kuairec_server.content[:kept]
        asked.append(f"bytes={kept}-" if kept else None)
    kuairec_server.cut = None
    datasets.get("kuairec", folder, kuairec_server.address)
    assert kuairec_server.asked == asked
    assert names(folder) == ["kuairec_cohorts.npz"]


@pytest.mark.parametrize("kept", ["all", "too much", "something else"])
@pytest.mark.parametrize("ranges", [True, False])
def test_whatever_part_is_there_the_end_is_good(kuairec_server, tmp_path, kept, ranges):
    kuairec_server.ranges = ranges
    whole = kuairec_server.content
    part = {"all": whole, "too much": whole + b"x", "something else": b"x" * 100}[kept]
    url, sha256 = kuairec_server.address, hashlib.sha256(whole).hexdigest()
    (tmp_path / "file.part").write_bytes(part)
    if kept == "something else" and ranges:  # joined to it, the rest cannot have the checksum
        with pytest.raises(MomabError, match="expected checksum"):
            download.download(url, tmp_path, "file", sha256)
    assert download.download(url, tmp_path, "file", sha256).read_bytes() == whole
    assert not (tmp_path / "file.part").exists()


@pytest.mark.parametrize("status", [404, 500])
def test_a_refusal_is_one_sentence(kuairec_server, tmp_path, status):
    kuairec_server.status = status
    with pytest.raises(MomabError, match=f"the server answers {status} for http://127.0.0.1"):
        datasets.get("kuairec", tmp_path / "data", kuairec_server.address)
    assert names(tmp_path / "data") == []


def test_no_network_is_one_sentence(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(MomabError, match="cannot be reached; check the connection"):
        datasets.get("spotify", tmp_path / "data", address)
    assert names(tmp_path / "data") == []


def test_a_malicious_download_does_not_run(server, tmp_path, monkeypatch):
    marker, bad = tmp_path / "it ran", tmp_path / "bad.npz"
    authors_file(bad, extra=None)
    with np.load(bad, allow_pickle=True) as data:
        parts = dict(data) | {"objective_values": objects([Payload(marker, os.mkdir)] * 5)}
    np.savez(bad, **parts)
    server.content = bad.read_bytes()
    expect(monkeypatch, "kuairec", sha256=hashlib.sha256(server.content).hexdigest())
    with pytest.raises(MomabError, match="only NumPy arrays are admitted"):
        datasets.get("kuairec", tmp_path / "data", server.address)
    assert names(tmp_path / "data") == []
    assert not marker.exists()


def test_places_that_cannot_be_written(kuairec_server, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(MomabError, match="cannot be written"):
        datasets.get("kuairec", tmp_path / "file" / "data", kuairec_server.address)
    instance = datasets.read_cohorts(tmp_path / "authors.npz")
    with pytest.raises(MomabError, match="cannot be written"):
        datasets.write_cohorts(instance, tmp_path / "file" / "plain.npz")


def test_mirror_must_be_an_address():
    with pytest.raises(MomabError, match="http:// or https://"):
        datasets.get("spotify", mirror="/some/folder")
    assert datasets.address("spotify").startswith("https://huggingface.co/")


def test_the_progress_bar_reports_bytes(server, tmp_path, capsys):
    server.content = bytes(200_000)
    download.download(server.address, tmp_path, "file", visible=True)
    assert "200.0/200.0 kB" in capsys.readouterr().err
