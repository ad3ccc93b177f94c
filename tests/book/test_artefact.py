"""The table of the artefact: its commands are commands, its digests hold."""

import shlex

import pytest
import typer

from momab import study
from momab._util.files import file_digest
from momab.book.sphinx.artefact import (
    Artefact,
    ArtefactRow,
    _two_digits,
    artefact_table,
    read_artefact,
)
from momab.cli.app import app
from momab.errors import MomabError
from momab.ledger.claims import claims_of
from tests.conftest import PROJECT, ROOT

ARTEFACT = read_artefact(ROOT)
ENTRIES = {entry.id: entry for entry in claims_of(ROOT)}


def read(command: str) -> typer.Context:
    """What the command line makes of a command, which is not run."""
    program, name, *words = shlex.split(command)
    assert program == "momab"
    commands = typer.main.get_command(app).commands
    return commands[name].make_context(name, words)


@pytest.mark.parametrize("row", ARTEFACT.rows, ids=lambda row: row.command)
def test_a_command_is_one_and_recomputes_the_files_of_its_row(row):
    assert bool(row.files) != bool(row.says), "a digest, or what the command says"
    if row.command.startswith("python -m momab.study."):
        name = row.command.split()[2].rpartition(".")[2]
        assert '__name__ == "__main__"' in (ROOT / f"momab/study/{name}.py").read_text()
        assert row.files == (f"momab/data/results/{name}.csv",)
        return
    context = read(row.command)
    if context.info_name == "reproduce":
        assert context.params["check"]
        parts = study.wanted_parts(context.params["target"])
        assert {f"momab/data/results/{part}.csv" for part in parts} == set(row.files)
        needs = any(study.PARTS[part].needs_data for part in parts)
        assert row.data == needs
    elif context.info_name == "run":
        assert context.params["notebook"] in PROJECT.notebook_pages


@pytest.mark.parametrize("row", ARTEFACT.rows, ids=lambda row: row.command)
def test_every_row_has_its_minutes_measured_or_estimated_from_a_part(row):
    assert (row.minutes is None) == bool(row.samples)
    for sample in row.samples:
        program, *words = shlex.split(sample.command)
        if program == "python":
            assert (ROOT / words[0]).is_file()
            continue
        part, whole = read(sample.command).params, read(row.command).params
        assert set(part["target"]) <= set(whole["target"])
        assert sample.times == whole["risk_runs"] / part["risk_runs"]
    line = artefact_table(Artefact(machine="m", rows=(row,)), ENTRIES).splitlines()[2]
    assert ("| about " in line) == bool(row.samples)


def test_a_wrong_command_would_be_noticed():
    with pytest.raises(Exception, match="--chek"):
        read("momab reproduce table1 --chek")


def test_every_table_and_figure_and_every_recorded_file_has_its_row():
    claims = {name for row in ARTEFACT.rows for name in row.claims}
    assert {e.id for e in ENTRIES.values() if e.kind in ("table", "figure")} <= claims
    files = {name for row in ARTEFACT.rows for name in row.files}
    recorded = {f"momab/data/results/{path.name}" for path in study.RESULTS.iterdir()}
    assert recorded - files == {"momab/data/results/provenance.json"}


@pytest.mark.parametrize("fault", [{"claims": ("lemma-99",)}, {"files": ("nowhere.csv",)}])
def test_what_is_not_there_is_said(fault):
    row = ArtefactRow(**{"claims": (), "command": "momab tools proofs", "says": "", **fault})
    with pytest.raises(MomabError, match=r"lemma-99|nowhere\.csv"):
        artefact_table(Artefact(machine="m", rows=(row,)), ENTRIES)


def test_the_page_shows_the_digests(parsed):
    table = parsed.page("artefact").main.select_one("table")
    rows = table.select("tbody tr")
    assert len(rows) == len(ARTEFACT.rows)
    for row, cells in zip(ARTEFACT.rows, rows, strict=True):
        said = cells.get_text()
        assert row.command in said
        for name in row.files:
            assert file_digest(ROOT / name)[:12] in said


@pytest.mark.parametrize(
    ("minutes", "said"), [(229.0, "230"), (1234.0, "1,200"), (7.65, "7.7"), (0.213, "0.21")]
)
def test_minutes_are_said_with_two_digits(minutes, said):
    assert _two_digits(minutes) == said
