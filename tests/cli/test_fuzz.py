"""Whatever is typed behind `momab`, the answer is a result or a sentence, never a traceback."""

import random
from pathlib import Path

import pytest

from momab.cli.app import main
from momab.errors import MomabError

ROOT = Path(__file__).resolve().parents[2]
ODD = (
    *("", " ", "0", "-1", "1", "2", "7.5", "1e3", "1e400", "nan", "inf", "-inf", "9" * 400),
    *("9" * 5000, "0x10", "1_000", "½", "٣", "true", "null", "None", "[]", "{}", "[1,", "a,b"),
    *("=", "=1", ".seed=3", "seed=", "seed=3", "seed.=3", "..=1", "model.seed=1", "model.arms=9"),
    *("arms=3,4", "arms=" + "9" * 400, "seed=1e5", "horizon=1e9", "horizon=[1,2]", "nowhere.x=1"),
    *(
        ":",
        "::",
        "synthetic",
        "synthetic:",
        "synthetic:delta=0.1,m=2,K=6",
        "zero-gap",
        "random:K=3",
    ),
    *("random:K=3,d=2,seed=1", "random:K=-3,d=2,seed=1", "random:K=1e9,d=1e9,seed=1"),
    *("duplicated:delta=0.1,K=3,d=2", "duplicated:delta=9,K=3,d=2", "synthetic:delta=nan,m=1"),
    *("width-guided", "width-guided:c=0.1", "width-guided:c=-1", "pareto-ucb1:q=x", "kl-ucb"),
    *("pareto-imed", "python", "auto", "numba", "gpu", "/dev/null", "/dev/null/x"),
    *("\x00", "\x1b[31m", "$(reboot)", "`x`", "<script>", "ü☃.csv", "%s%n", "a" * 300, "--", "-"),
    *("model", "own-data", "spotify", "kuairec", "table2", "figure1", "all", "quick", "student"),
)
OPTIONS = {
    "simulate": "-T -n --seed --checkpoints --policy --workers --store -o --engine --csv --arm "
    "--objectives --json",
    "study": "--arm --objectives --scale --minimize --unit --missing --delimiter --encoding -T -n "
    "--seed -o",
    "run": "-p --profile -o --workers --compare",
    "book": "-p --profile --edition --workers -o",
    "params": "--json",
    "policies": "--json",
    "tools bench": "-o --json",
    "reproduce": "-T -n --seed --risk-runs -o --data-dir --policy --workers",
    "tools audit": "--event --rounding --json",
    "course handout": "-o",
    "course grade": "-o --seconds --memory --workers",
    "tools pdf": "-o --answers",
    "tools proofs": "",
    "data get": "--data-dir --mirror",
    "data where": "--data-dir --json",
    "data build": "-o",
}
IN_THE_BOOK = {"run", "book", "params", "course", "tools"}
ALONE = {"--json", "--answers", "--compare"}


def drawn(rng: random.Random, files: list[str]) -> list[str]:
    """One command line: a command, some of its options and words, odd values for all of them."""
    command = rng.choice(list(OPTIONS))
    words = [rng.choice([*ODD, *files]) for _ in range(rng.choice((0, 1, 1, 2)))]
    for option in rng.sample(OPTIONS[command].split(), k=min(3, len(OPTIONS[command].split()))):
        if rng.random() < 0.7:
            words += [option] if option in ALONE else [option, rng.choice([*ODD, *files])]
    if command == "simulate":  # what is allowed is played, so it must be short
        words += ["-T", rng.choice(("40", "1e2")), "-n", rng.choice(("1", "2"))]
        words += ["--workers", "1", "--checkpoints", "3"]
    if command == "study":
        words += ["-T", rng.choice(("40", "1e2")), "-n", "2"]
    if command == "reproduce":
        words += ["--data-dir", "/nowhere", "-T", rng.choice(("0", "x", "-5", "1e99"))]
    return [*command.split(), *words]


@pytest.fixture
def light(monkeypatch, tmp_path):
    """Everything before the work is done, the long work is not."""

    def refuse(*_: object, **__: object) -> None:
        raise MomabError("this would take long.")

    monkeypatch.setattr("momab.book.single_page.execute", refuse)
    monkeypatch.setattr("momab.book.report.execute_here", refuse)
    monkeypatch.setattr("momab.book.execute.execute", refuse)
    monkeypatch.setattr("momab.book.pdf.print_book", refuse)
    monkeypatch.setattr("momab.book.proofs.check_proofs", refuse)
    monkeypatch.setattr("momab.study.datasets.registry.download", refuse)
    monkeypatch.setattr("momab.cli.bench.measure", refuse)
    monkeypatch.setattr("momab.course.handout.write_handouts", refuse)
    monkeypatch.setenv("MOMAB_DATA", str(tmp_path / "no-data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no-cache"))
    (tmp_path / "good.csv").write_text("arm,a,b\nx,0.1,0.9\ny,0.8,0.3\n")
    (tmp_path / "bad.csv").write_bytes(b"\xff\xfe\x00arm;a\n\n\n,,,\n")
    (tmp_path / "empty.npz").write_bytes(b"")
    return [str(path) for path in sorted(tmp_path.iterdir())]


def fuzz(calls: int, seed: int, files: list[str], monkeypatch, capsys) -> None:
    rng = random.Random(seed)
    for _ in range(calls):
        arguments = drawn(rng, files)
        monkeypatch.chdir(ROOT if arguments[0] in IN_THE_BOOK else Path(files[0]).parent)
        monkeypatch.setattr("sys.argv", ["momab", *arguments])
        shown = [word[:60] for word in arguments]
        try:
            main()
            code: object = 0
        except SystemExit as ended:
            code = ended.code or 0
        except BaseException as error:
            raise AssertionError(f"{shown} raised {type(error).__name__}: {error}") from error
        said = capsys.readouterr().err
        assert code in (0, 1, 2), shown
        assert "Traceback" not in said, shown
        if said.startswith("momab: ") and "numba is not installed" not in said:
            assert len(said.strip().splitlines()) == 1, (shown, said)


def left_behind() -> set[str]:
    """What lies in the project, without what other tests' processes write there meanwhile."""
    others = (".coverage", ".hypothesis", ".pytest_cache")
    return {path.name for path in ROOT.iterdir() if not path.name.startswith(others)}


@pytest.mark.parametrize("calls", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_odd_calls_are_answered(light, monkeypatch, capsys, calls):
    before = left_behind()
    fuzz(calls, calls, light, monkeypatch, capsys)
    assert left_behind() == before
