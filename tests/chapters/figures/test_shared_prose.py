"""The sentences that several pages share."""

import json
from pathlib import Path

import pytest

from momab import study
from momab.chapters.figures import magics

IMPORT = '{% from "prose.md.j2" import provenance, recompute -%}'


def test_provenance_is_said(tmp_path, monkeypatch):
    made = {
        **{"momab": "1", "source": "abcdefghij", "python": "3", "numpy": "2"},
        **{"horizon": 1000, "runs": 2, "risk_runs": 77, "seed": 5},
    }
    (tmp_path / "provenance.json").write_text(json.dumps({"real": made, "risk": made}))
    monkeypatch.setattr(study.recorded, "RESULTS", tmp_path)
    names = {"made": study.recorded_provenance()}
    text = magics.one_line(magics.render(IMPORT + '{{ provenance([made["real"]]) }}', names))
    assert text == (
        "seed 5, horizon 1,000, 2 runs per subset or setting; momab 1 (source abcdefgh), "
        "Python 3, NumPy 2"
    )
    text = magics.render(IMPORT + '{{ provenance([made["risk"]], risk=true) }}', names)
    assert "77 where" in text
    other = {**made, "seed": 4}
    text = magics.render(IMPORT + "{{ provenance(made) }}", {"made": [made, other, made]})
    assert text.startswith("seed 4, 5,")


@pytest.mark.parametrize("absent", [["spotify", "kuairec"], ["kuairec"], []])
def test_absent_data_are_said_with_the_command(monkeypatch, absent):
    monkeypatch.setattr(
        "momab.study.datasets.find", lambda name, folder=None: None if name in absent else Path("x")
    )
    assert study.absent_data() == absent
    text = magics.render(IMPORT + "{{ recompute(absent) }}", {"absent": study.absent_data()})
    for name in ("spotify", "kuairec"):
        assert (f"`momab data get {name}`" in text) == (name in absent)
    assert ("` and `" in text) == (len(absent) == 2)
    assert ("at hand" in text) == (not absent)
    assert text.endswith(
        "`momab reproduce all --check` recomputes every recorded number and compares it."
    )
