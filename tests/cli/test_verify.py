"""`momab verify`: what is recorded is what is there, and whoever changes it is told."""

import json
import shutil
from pathlib import Path

import pytest

from momab._util import manifest
from tests import tiny
from tests.command import run
from tests.conftest import ROOT


@pytest.fixture
def copy(tmp_path, monkeypatch) -> Path:
    """A copy of what the manifest is about, in a checkout of its own."""
    for name in ("momab/data", "proofs", "book/live"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "_toc.yml").write_text("")
    monkeypatch.setattr(manifest, "PACKAGE", tmp_path / "momab")
    monkeypatch.setattr(manifest, "MANIFEST", tmp_path / "momab/data/manifest.json")
    monkeypatch.setattr(manifest.verify_package, "__defaults__", (tmp_path / "momab",))
    monkeypatch.setattr(manifest.package_digests, "__defaults__", (tmp_path / "momab",))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def states(capsys) -> dict[str, str]:
    return {row["file"]: row["state"] for row in json.loads(capsys.readouterr().out)}


def test_the_committed_manifest_is_of_this_tree():
    """If you meant to change a result: `momab verify --record`."""
    wrong = [one for one in manifest.verify_package() if one.state != manifest.SAME]
    assert wrong == []
    listed = manifest.read_manifest(manifest.MANIFEST)
    for name in ("results/limit.csv", "results/provenance.json", "paper/table1_real.csv"):
        assert f"momab/data/{name}" in listed
    assert set(manifest.COMMITTED) <= set(listed)


def test_every_kind_of_change_is_named(copy, monkeypatch, capsys):
    assert run(monkeypatch, "verify") == 0
    assert "files are as recorded" in capsys.readouterr().out
    results = copy / "momab/data/results"
    prices = (results / "prices.csv").read_text()
    (results / "prices.csv").write_text(prices.replace("1", "2", 1))
    (results / "risk.csv").unlink()
    (results / "extra.csv").write_text("a\n1\n")
    with (copy / "book/live/engine.wasm").open("ab") as file:
        file.write(b"\0")
    source = next((copy / "proofs").glob("*.v"))
    source.write_text(source.read_text() + "\n(* more *)\n")
    assert run(monkeypatch, "verify", "--json") == 1
    found = {name: state for name, state in states(capsys).items() if state != manifest.SAME}
    assert found == {
        "momab/data/results/prices.csv": manifest.DIFFERS,
        "momab/data/results/risk.csv": manifest.MISSING,
        "momab/data/results/extra.csv": manifest.UNKNOWN,
        "book/live/engine.wasm": manifest.DIFFERS,
        "the proofs that proofs/checked.json is about": manifest.DIFFERS,
    }
    assert run(monkeypatch, "verify") == 1
    assert "recorded: momab/data/results/risk.csv missing\n" in capsys.readouterr().out


def test_recording_settles_what_was_meant(copy, monkeypatch, capsys):
    (copy / "momab/data/results/extra.csv").write_text("a\n1\n")
    assert run(monkeypatch, "verify", "--record") == 0
    assert "recorded: momab/data/manifest.json" in capsys.readouterr().out
    assert run(monkeypatch, "verify") == 0


def test_a_wheel_has_no_artefacts_of_a_checkout(copy):
    for name in ("_toc.yml", "book/live/engine.wasm", "proofs/checked.json"):
        (copy / name).unlink()
    found = manifest.verify_package()
    assert {one.state for one in found} == {manifest.SAME}
    assert not {one.file for one in found} & set(manifest.COMMITTED)


def test_a_site_is_what_its_build_wrote(copy, monkeypatch, capsys, tmp_path_factory):
    site = copy / "tiny/_build/html"
    shutil.copytree(tiny.published(tmp_path_factory) / "_build/html", site)
    assert run(monkeypatch, "verify", "--site", site) == 0
    (site / "index.html").write_text("another page")
    (site / "other.html").unlink()
    capsys.readouterr()
    assert run(monkeypatch, "verify", "--site", site) == 1
    said = capsys.readouterr().out
    assert "tiny/_build/html: index.html differs\n" in said
    assert "tiny/_build/html: other.html missing\n" in said


def test_a_built_site_of_the_checkout_is_looked_at(copy, monkeypatch, capsys):
    (copy / "_build/html").mkdir(parents=True)
    (copy / "_build/html/index.html").write_text("a page")
    assert run(monkeypatch, "verify") == 0, "a site of an older build has no manifest"
    assert "_build" not in capsys.readouterr().out
    manifest.write_manifest(copy / "_build/html/manifest.json", {"index.html": "0" * 64})
    assert run(monkeypatch, "verify") == 1
    assert "_build/html: index.html differs" in capsys.readouterr().out


def test_a_damaged_manifest_is_one_sentence(copy, monkeypatch, capsys):
    for text in ("", "[]", "{}", '{"sha256": 3}'):
        (copy / "momab/data/manifest.json").write_text(text)
        assert run(monkeypatch, "verify") == 2
        assert "is no manifest of ours" in capsys.readouterr().err
    assert run(monkeypatch, "verify", "--site", "nowhere") == 2
