"""The run store: what it keeps, and what it refuses."""

import signal
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from momab import MomabError
from momab.study.store import LOCK, MANIFEST, Store, missing_runs

MADE_BY = {"momab": "1", "source": "abc"}


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=6),
    st.integers(1, 50),
    st.integers(1, 9),
)
def test_missing_runs_are_those_no_piece_covers(pieces, runs, size):
    done = sorted((range(a, a + n) for a, n in pieces), key=lambda r: (r.start, r.stop))
    found = list(missing_runs(runs, done, size))
    covered = {r for piece in done for r in piece}
    assert [r for piece in found for r in piece] == sorted(set(range(runs)) - covered)
    assert all(1 <= len(piece) <= size for piece in found)


def test_what_is_saved_can_be_loaded(tmp_path):
    store = Store(tmp_path / "a" / "store", MADE_BY)
    store.begin("task", {"policy": "x"})
    columns = {"x": np.arange(3.0), "y": np.array([True, False, True])}
    store.save("task", range(4, 7), columns)
    again = Store(tmp_path / "a" / "store", MADE_BY)
    assert again.finished("task") == [range(4, 7)]
    loaded = again.load("task", range(4, 7))
    assert all(np.array_equal(loaded[key], columns[key]) for key in columns)


def test_leftovers_of_a_killed_process_do_not_count(tmp_path):
    store = Store(tmp_path, MADE_BY)
    store.begin("task", {})
    (tmp_path / "task" / ".runs-0.npz.0123.partial").write_bytes(b"half a piece")
    assert store.finished("task") == []
    store.begin("task", {})
    assert not list((tmp_path / "task").glob(".*.partial"))


def test_what_another_process_is_writing_is_not_swept_away(tmp_path):
    """Sweeping waits for the lock that a writer holds."""
    store = Store(tmp_path, MADE_BY)
    store.begin("task", {})
    partial = tmp_path / "task" / ".runs-0.npz.0123.partial"
    with ThreadPoolExecutor(1) as pool:
        with FileLock(tmp_path / LOCK):
            partial.write_bytes(b"half a piece")
            sweep = pool.submit(store.begin, "task", {})
            assert wait([sweep], timeout=0.3).not_done
            assert partial.exists()
        sweep.result(timeout=300)
    assert not partial.exists()


def test_two_processes_may_begin_a_store_at_once(tmp_path):
    """The second one sees the lock, or the manifest under its temporary name."""
    (tmp_path / LOCK).write_text("")
    (tmp_path / f".{MANIFEST}.0123.partial").write_text("{")
    Store(tmp_path, MADE_BY)
    assert (tmp_path / MANIFEST).exists()


def test_a_foreign_folder_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(MomabError, match="is not a run store: it holds other files"):
        Store(tmp_path, MADE_BY)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("content", ["not json", '{"format": 99}', "[]"])
def test_a_strange_manifest_is_refused(tmp_path, content):
    (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(MomabError, match="is not a run store that this version"):
        Store(tmp_path, MADE_BY)
    assert (tmp_path / MANIFEST).read_text() == content


def test_a_store_of_another_version_is_refused(tmp_path):
    Store(tmp_path, MADE_BY)
    before = (tmp_path / MANIFEST).read_text()
    with pytest.raises(MomabError, match=r"another version of momab \(source abc, here xyz\)"):
        Store(tmp_path, {**MADE_BY, "source": "xyz"})
    assert (tmp_path / MANIFEST).read_text() == before


def test_an_unwritable_place_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(MomabError, match="cannot be written: Not a directory"):
        Store(tmp_path / "file" / "store", MADE_BY)


def test_a_read_only_folder_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(MomabError, match="cannot be written: Permission denied"):
        Store(tmp_path, MADE_BY)


def test_an_interruption_waits_until_the_piece_is_written(tmp_path, monkeypatch):
    store = Store(tmp_path, MADE_BY)
    store.begin("task", {})
    write = np.savez_compressed

    def pressed(file, **columns):
        signal.raise_signal(signal.SIGINT)
        write(file, **columns)

    monkeypatch.setattr(np, "savez_compressed", pressed)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        store.save("task", range(3), {"x": np.arange(3.0)})
    assert signal.getsignal(signal.SIGINT) is before
    assert store.finished("task") == [range(3)]
    assert store.load("task", range(3))["x"].tolist() == [0, 1, 2]


def test_pieces_can_be_written_from_any_thread(tmp_path):
    store = Store(tmp_path, MADE_BY)
    store.begin("task", {})
    with ThreadPoolExecutor(1) as pool:
        pool.submit(store.save, "task", range(3), {"x": np.arange(3.0)}).result()
    assert store.finished("task") == [range(3)]


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04half"])
def test_an_empty_piece_is_as_damaged_as_garbage(tmp_path, content):
    store = Store(tmp_path, MADE_BY)
    store.begin("task", {})
    path = tmp_path / "task" / "runs-00000000-00000003.npz"
    path.write_bytes(content)
    with pytest.raises(MomabError) as error:
        store.load("task", range(4))
    assert str(error.value) == (
        f"{path} is damaged; delete that file and run the same command again."
    )
