"""Parameters: how they are stated, checked, overridden and swept."""

from pathlib import Path
from types import SimpleNamespace

import pytest

import momab
from momab._util import parameters as in_notebooks
from momab.book.parameters import (
    Interval,
    Settings,
    parameter_summary,
    parse_cell,
    profile_names,
    read_assignments,
    read_profile,
    resolve,
    rewrite_cell,
    sweep,
)
from momab.book.project import Project
from momab.errors import MomabError

CELL = """\
horizon: int = 100_000  # rounds per run [10, 10_000_000]
radius: float = 2.0  # coefficient of the radius (0, 10]
family: str = "crowd"  # which instance {crowd, duplicated}
quick: bool = True  # whether to hurry
deltas: list[float] = [0.12, 0.02]  # gaps to compare (0, 0.5]
"""


@pytest.fixture
def parameters():
    return parse_cell(CELL, "notebooks/x.md")


@pytest.fixture(scope="module")
def notebooks():
    """The notebooks of the book, read once."""
    project = Project.find(Path(__file__).parent)
    return {name: project.notebook(name) for name in project.names}


def test_a_cell_states_type_default_range_and_meaning(parameters):
    horizon, radius, family, quick, deltas = parameters.values()
    assert (horizon.kind, horizon.default, horizon.meaning) == ("int", 100_000, "rounds per run")
    assert horizon.allowed == "a whole number in [10, 10,000,000]"
    assert radius.interval == Interval(0, 10, low_open=True)
    assert family.choices == ("crowd", "duplicated")
    assert quick.default is True
    assert deltas.default == [0.12, 0.02]


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("horizon", "1e5", 100_000),
        ("horizon", "50_000", 50_000),
        ("horizon", 1e6, 1_000_000),
        ("radius", "10", 10.0),
        ("family", "duplicated", "duplicated"),
        ("quick", "no", False),
        ("quick", True, True),
        ("deltas", "[0.1,0.2]", [0.1, 0.2]),
        ("deltas", [0.5], [0.5]),
    ],
)
def test_values_of_the_right_kind_are_taken(parameters, name, raw, value):
    checked = parameters[name].check(raw)
    assert checked == value
    assert type(checked) is type(value)


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("horizon", "9", "a whole number in [10, 10,000,000]; it is 9"),
        ("horizon", "1.5e1.5", "a whole number"),
        ("horizon", "10.5", "a whole number"),
        ("horizon", True, "a whole number"),
        ("horizon", "nan", "a whole number"),
        ("horizon", "9" * 400, "9999… (400 characters)"),
        ("horizon", "9" * 5000, "9999… (5000 characters)"),
        ("radius", "9" * 400, "a number in (0, 10]"),
        ("radius", "0", "a number in (0, 10]; it is 0"),
        ("radius", "inf", "a number in (0, 10]"),
        ("family", "crowds", "one of crowd, duplicated; it is crowds"),
        ("quick", "maybe", "true or false"),
        ("deltas", "0.1", "a list of numbers"),
        ("deltas", "[0.1, 0.9]", "(0, 0.5]"),
        ("deltas", "[]", "a list of numbers"),
        ("deltas", "[0.1", "a list of numbers"),
    ],
)
def test_other_values_are_refused_in_one_sentence(parameters, name, raw, said):
    with pytest.raises(MomabError) as error:
        parameters[name].check(raw)
    assert said in str(error.value)
    assert str(error.value).startswith(f"{name} must be ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("horizon = 5  # rounds [1, 9]", "may only hold imports and lines such as"),
        ("print(1)", "may only hold imports and lines such as"),
        ("horizon: int = 5  # rounds", "states no range"),
        ("horizon: int = 50  # rounds [1, 9]", "the default of horizon must be"),
        ("horizon: dict = {}  # rounds", "has the type dict"),
        ("horizon: int =", "is not Python"),
    ],
)
def test_a_badly_stated_cell_is_refused(cell, said):
    with pytest.raises(MomabError, match=r"notebooks/x\.md") as error:
        parse_cell(cell, "notebooks/x.md")
    assert said in str(error.value)


def test_rewriting_changes_values_and_nothing_else(parameters):
    new = rewrite_cell(CELL, {"horizon": 50, "deltas": [0.1], "quick": True})
    assert new.splitlines()[0] == "horizon: int = 50  # rounds per run [10, 10_000_000]"
    assert new.splitlines()[4] == "deltas: list[float] = [0.1]  # gaps to compare (0, 0.5]"
    assert new.splitlines()[1:4] == CELL.splitlines()[1:4]
    assert parse_cell(new, "x")["deltas"].default == [0.1]


def test_layers_override_each_other(parameters):
    books = {"a": parameters, "b": {"horizon": parameters["horizon"]}}
    profile = Settings({"horizon": 1000}, {"b": {"horizon": "2e3"}})
    values = resolve(books, [profile, read_assignments(["a.radius=3", "horizon=5000"])])
    assert values["a"]["horizon"] == values["b"]["horizon"] == 5000
    assert values["a"]["radius"] == 3.0
    assert resolve(books, [profile])["b"]["horizon"] == 2000


def test_a_range_error_names_the_notebook(parameters):
    for assignment in ("a.horizon=9", "horizon=9"):
        with pytest.raises(MomabError, match=r"^a: horizon must be a whole number in \[10, "):
            resolve({"a": parameters}, [read_assignments([assignment])])


def test_a_value_for_the_whole_book_is_brought_into_every_range():
    line = "horizon: int = 50  # rounds "
    books = {
        "short": parse_cell(line + "[10, 100]", "x"),
        "long": parse_cell(line + "[50, 1_000_000]", "x"),
        "open": parse_cell("horizon: float = 5  # rounds (0, 100)", "x"),
        "other": parse_cell("family: str = 'crowd'  # which {crowd, duplicated}", "x"),
    }
    told: list[str] = []
    values = resolve(books, [read_assignments(["horizon=1e5"])], told.append)
    assert [values[book].get("horizon") for book in books] == [100, 100_000, 5.0, None]
    assert told == [
        "short: horizon=100 instead of 1e5; allowed is a whole number in [10, 100].",
        "open: horizon=1e5 is left out; allowed is a number in (0, 100).",
    ]
    assert resolve(books, [read_assignments(["horizon=20"])])["long"]["horizon"] == 50
    for nowhere in ("horizon=-1", "horizon=2e6", "horizon=many"):
        with pytest.raises(MomabError, match="horizon must be"):
            resolve(books, [read_assignments([nowhere])])
    with pytest.raises(MomabError, match=r"^short: horizon must be"):
        resolve(books, [read_assignments(["short.horizon=1e5"])])


def test_profiles_and_every_horizon_that_one_notebook_allows_suit_the_book(notebooks):
    books = {name: notebook.parameters for name, notebook in notebooks.items()}
    for horizon in ("50", "1e5", "1e6"):
        told: list[str] = []
        values = resolve(books, [read_assignments([f"horizon={horizon}"])], told.append)
        assert told
        for book, parameters in books.items():
            for name, value in values[book].items():
                assert parameters[name].check(value) == value
    profiles = Project.find(Path(__file__).parent).profiles
    assert profile_names(profiles)[:2] == ["quick", "paper"]
    for name in profile_names(profiles):
        assert set(resolve(books, [read_profile(name, profiles)])) == set(books)


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("seeds=1", "'seeds'; known parameters: deltas, family, horizon, quick, radius."),
        ("a.seeds=1", "known parameters: horizon, radius"),
        ("c.horizon=100", "no notebook 'c'; there are a."),
    ],
)
def test_unknown_names_are_refused(parameters, assignment, said):
    with pytest.raises(MomabError) as error:
        resolve({"a": parameters}, [read_assignments([assignment])])
    assert said in str(error.value)


@pytest.mark.parametrize("text", ["horizon", "=5", "horizon=", ".seed=3", "a.=3", ".=3"])
def test_half_an_assignment_is_refused(text):
    with pytest.raises(MomabError, match="name=value"):
        read_assignments([text])


def test_sweeps_are_products_and_lists_stay_whole():
    swept = sweep(read_assignments(["horizon=1e4,1e5", "a.deltas=[0.1,0.2]", "seed=1,2,3"]))
    assert len(swept) == 6
    assert swept[0].everywhere == {"horizon": "1e4", "seed": "1"}
    assert swept[-1].per_notebook == {"a": {"deltas": "[0.1,0.2]"}}
    with pytest.raises(MomabError, match="at most 200"):
        sweep(read_assignments([f"seed={','.join(map(str, range(201)))}"]))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a: [", "not readable YAML"),
        ("- 1", "may only hold the keys"),
        ("parameter: {a: 1}", "may only hold the keys"),
        ("notebooks: {a: 1}", "may only hold the keys"),
    ],
)
def test_unreadable_profiles_are_refused(tmp_path, content, said):
    path = tmp_path / "mine.yml"
    path.write_text(content)
    with pytest.raises(MomabError) as error:
        read_profile(str(path), tmp_path / "profiles")
    assert said in str(error.value)


def test_a_profile_is_found_by_name_or_path(tmp_path):
    (tmp_path / "quick.yml").write_text("description: nothing")
    (tmp_path / "mine.yaml").write_text("parameters: {seed: 7}")
    assert read_profile("quick", tmp_path) == Settings({}, {})
    assert read_profile(str(tmp_path / "mine.yaml"), tmp_path).everywhere == {"seed": 7}
    with pytest.raises(MomabError, match="must be one of quick, or the path of a YAML file"):
        read_profile("fast", tmp_path)


def test_the_summary_joins_notebooks_with_the_same_parameter(parameters):
    rows = parameter_summary({"a": parameters, "b": {"horizon": parameters["horizon"]}})
    row = next(row for row in rows if row[0] == "horizon")
    assert row[1:3] == ("int", "100000")
    assert row[-1] == "a, b"


# ---- in a notebook -------------------------------------------------------------------------------


def test_a_notebook_checks_its_own_parameters(monkeypatch):
    names = {"horizon": 1e5, "radius": 1, "family": "crowd", "quick": True, "deltas": [0.1]}
    shell = SimpleNamespace(user_ns={"In": ["", "import momab", CELL, "horizon = 1e5"], **names})
    monkeypatch.setattr(in_notebooks, "_shell", lambda: shell)
    momab.parameters.check()
    assert shell.user_ns["horizon"] == 100_000
    assert type(shell.user_ns["horizon"]) is int
    shell.user_ns["horizon"] = 5
    with pytest.raises(MomabError, match=r"horizon must be a whole number in .* it is 5\."):
        momab.parameters.check()
    shell.user_ns["In"] = [CELL.replace("100_000", "5")]  # typed into the cell itself
    with pytest.raises(MomabError, match="horizon must be"):
        momab.parameters.check()
    monkeypatch.setattr(in_notebooks, "_shell", lambda: None)
    momab.parameters.check()  # outside of a notebook there is nothing to check
