"""The documents keep their promises."""

import re
import subprocess

from momab.engine import policies
from tests.conftest import ROOT


def blocks(document, language):
    text = (ROOT / document).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def test_the_worked_example_of_a_policy_runs(capsys):
    example, starter = blocks("CONTRIBUTING.md", "python")
    assert "momab.check(" in starter
    names = {"__name__": "example"}
    try:
        exec(compile(example, "CONTRIBUTING.md", "exec"), names)
        summary = names["results"].summary().set_index("policy")
        assert summary.index.tolist() == ["Epsilon-greedy", "Width-guided"]
        assert summary["runs"].tolist() == [5, 5]
        # a fifth of the pulls is uniform over six arms
        least = names["results"].pulls.query("policy == 'Epsilon-greedy'")["pulls"].min()
        assert least > 0.5 * 2000 * 0.2 / 6
    finally:
        policies.SELECTIONS.pop(names["EpsilonGreedy"], None)
    assert "Epsilon-greedy" in capsys.readouterr().out


def test_the_readme_example_runs():
    (example,) = blocks("README.md", "python")
    short = example.replace("horizon=10**6, runs=20", "horizon=1000, runs=2")
    assert short != example
    names = {"__name__": "example"}
    exec(compile(short, "README.md", "exec"), names)
    assert len(names["results"].runs) == 4


def test_no_data_set_is_committed():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    for name in listed.stdout.split():
        assert "kuairec_cohort" not in name
        assert "spotify_tracks" not in name
