"""The `momab` command in this process."""

import pytest

from momab.cli.app import main


def run(monkeypatch, *arguments):
    """Run the command; return its exit code."""
    monkeypatch.setattr("sys.argv", ["momab", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code
