"""The one progress bar, and the one shield against Ctrl-C."""

import signal
import threading

import pytest

from momab._util.progress import progress, tasks, uninterrupted


def test_a_bar_shows_how_many_of_how_many_and_the_time_left(capsys):
    with progress(5, "simulating", "runs", done=2, quiet=False) as bar:
        bar.advance(2)
        bar.advance()
    said = capsys.readouterr()
    assert said.out == ""
    for word in ("simulating", "5/5", "runs, elapsed", "left"):
        assert word in said.err


def test_bytes_are_shown_as_bytes(capsys):
    with progress(2_000_000, "table.csv", "bytes", quiet=False) as bar:
        bar.advance(1_000_000)
    assert "1.0/2.0 MB" in capsys.readouterr().err


def test_nothing_is_shown_where_there_is_no_terminal(capsys):
    with progress(3, "simulating") as bar:
        bar.advance()
    with progress(None, "simulating", quiet=True) as bar:
        bar.update(1)
        bar.finish()
    with tasks(["one"]) as lines:
        lines["one"].update(1, 2)
    assert capsys.readouterr() == ("", "")


def test_several_lines_have_their_own_counts(capsys):
    with tasks(["one", "two"], quiet=False) as lines:
        lines["one"].update(1, 4)
        lines["two"].update(3, 7)
        lines["one"].finish()
    shown = capsys.readouterr().err
    assert "one" in shown
    assert "4/4" in shown
    assert "3/7" in shown


def test_an_interruption_waits_for_the_end_of_the_block():
    done = []
    before = signal.getsignal(signal.SIGINT)

    def work():
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [True]
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_need_no_shield():
    entered = []

    def work():
        with uninterrupted():
            entered.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert entered == [True]
