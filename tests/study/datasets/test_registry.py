"""The register: one test for all data sets, searching, and a new data set."""

import gzip
import re
import runpy

import pytest

from momab.errors import MomabError
from momab.study import datasets
from tests.command import run
from tests.realdata import load_or_skip
from tests.study.datasets.made_up import tracks

TOY = """
from momab.study.datasets.registry import Dataset, register_dataset
from momab.model.instances import from_rows


def read_toy(path, verify):
    return from_rows({"a": [[0.5]], "b": [[float(path.read_text())]]}, name="Toy")


register_dataset(
    Dataset(
        name="toy",
        title="Toy",
        address="https://example.org/toy.txt",
        file="toy.txt",
        sha256=None,
        names=("toy.txt",),
        content="0" * 64,
        read=read_toy,
    )
)
"""


@pytest.mark.parametrize("name", datasets.REGISTRY)
class TestEveryDataSet:
    """What holds for whatever is registered, so that a new data set is tested by itself."""

    def test_the_entry_is_complete(self, name):
        entry = datasets.named(name)
        assert entry.name == name == name.lower()
        assert entry.title
        assert entry.names
        assert len(set(entry.names)) == len(entry.names)
        assert entry.address.startswith("https://")
        assert datasets.address(name) == entry.address
        mirrored = datasets.address(name, "http://127.0.0.1:9/folder/")
        assert mirrored == f"http://127.0.0.1:9/folder/{entry.file}"
        for digest in (entry.content, entry.sha256):
            assert digest is None or re.fullmatch("[0-9a-f]{64}", digest)
        assert entry.content

    def test_an_absent_file_says_how_to_get_it(self, name, tmp_path, monkeypatch, capsys):
        assert datasets.find(name, tmp_path) is None
        with pytest.raises(MomabError, match=rf"`momab data get {name} --data-dir .*`"):
            datasets.load(name, tmp_path)
        assert run(monkeypatch, "data", "where", "--data-dir", tmp_path) == 0
        said = capsys.readouterr().out
        assert f"{name}: not found; `momab data get {name}` fetches it" in said
        assert datasets.named(name).address in said

    @pytest.mark.parametrize("verify", [True, False])
    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half a file", b"\x80\x81 not text"])
    def test_a_broken_file_is_one_sentence(self, name, tmp_path, content, verify):
        for file in datasets.named(name).names:
            path = tmp_path / file
            path.write_bytes(content)
            with pytest.raises(MomabError) as caught:
                datasets.load(name, tmp_path, verify=verify)
            assert file in str(caught.value)
            assert "\n" not in str(caught.value)
            path.unlink()

    def test_the_real_content_is_the_recorded_one(self, name, shared, tmp_path):
        whole = load_or_skip(shared, name)
        entry = datasets.named(name)
        assert datasets.checksum(whole) == entry.content
        assert (whole.means >= 0).all()
        assert (whole.means <= 1).all()
        if entry.write is not None:
            entry.write(whole, tmp_path / entry.names[0])
            assert datasets.checksum(datasets.load(name, tmp_path)) == entry.content


def test_a_registered_data_set_is_served_like_the_others(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(datasets.registry, "REGISTRY", dict(datasets.REGISTRY))
    monkeypatch.setattr(datasets, "REGISTRY", datasets.registry.REGISTRY)
    (tmp_path / "toy.py").write_text(TOY)
    runpy.run_path(str(tmp_path / "toy.py"))
    assert list(datasets.REGISTRY) == ["kuairec", "spotify", "toy"]
    (tmp_path / "toy.txt").write_text("0.25")
    assert datasets.load("toy", tmp_path, verify=False).means.tolist() == [[0.5], [0.25]]
    with pytest.raises(MomabError, match=r"not the Toy table .* 2 arms with 2 rewards"):
        datasets.load("toy", tmp_path)
    assert run(monkeypatch, "data", "where", "--data-dir", tmp_path) == 0
    assert f"toy: {tmp_path / 'toy.txt'}" in capsys.readouterr().out
    with pytest.raises(MomabError, match="kuairec and spotify and toy; there is no 'x'"):
        datasets.load("x")
    with pytest.raises(MomabError, match="there is a data set 'toy' already"):
        datasets.register_dataset(datasets.named("toy"))


def test_search_order(monkeypatch, tmp_path):
    by_variable, cache = tmp_path / "variable", tmp_path / "cache" / "momab"
    monkeypatch.setenv("MOMAB_DATA", str(by_variable))
    assert datasets.folders()[:2] == [by_variable, cache]
    assert datasets.folders()[-1].parts[-2:] == ("shared", "data")
    for folder in (cache, by_variable):
        folder.mkdir(parents=True)
        (folder / "kuairec_cohorts.npz").touch()
        assert datasets.find("kuairec") == folder / "kuairec_cohorts.npz"
    assert datasets.find("kuairec", tmp_path) is None  # an explicit folder is the only one


def test_a_truncated_archive_is_one_sentence(tmp_path):
    whole = gzip.compress(tracks().to_csv(index=False).encode())
    (tmp_path / "spotify_tracks.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(MomabError, match="cannot be read"):
        datasets.load("spotify", tmp_path)


def test_data_commands(kuairec_server, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "data"
    options = ["--data-dir", folder, "--mirror", kuairec_server.address]
    assert run(monkeypatch, "data", "get", "kuairec", *options) == 0
    assert "kuairec_cohorts.npz" in capsys.readouterr().out
    assert run(monkeypatch, "data", "where", "--data-dir", folder) == 0
    said = capsys.readouterr().out
    assert f"kuairec: {folder / 'kuairec_cohorts.npz'}" in said
    assert "spotify: not found; `momab data get spotify` fetches it" in said
    kuairec_server.status = 404
    assert run(monkeypatch, "data", "get", "spotify", *options) == 2
    assert capsys.readouterr().err.startswith("momab: the server answers 404")
