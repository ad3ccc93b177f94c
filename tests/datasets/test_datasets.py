"""Data sets: searching, verifying, downloading from a local server, hostile files."""

import dataclasses
import gzip
import hashlib
import io
import os
import pickle
import socket
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from momab import datasets
from momab.cli.app import app
from momab.datasets import download
from momab.errors import MomabError
from tests.realdata import load_or_skip

# --- Made-up data of the real shape, only smaller --------------------------------------------


def made_up_samples(arms=5, cohorts=3, seed=1):
    rng = np.random.default_rng(seed)
    return [[rng.random(rng.integers(2, 6)) for _ in range(cohorts)] for _ in range(arms)]


def objects(items, shape=None):
    array = np.empty(shape or len(items), dtype=object)
    array[...] = np.nan
    for index, item in zip(np.ndindex(array.shape), items):
        array[index] = item
    return array


def authors_file(path, layout="nested", extra=None):
    samples = made_up_samples()
    values = {
        "nested": lambda: objects([objects(arm) for arm in samples]),
        "matrix": lambda: objects([cell for arm in samples for cell in arm], (5, 3)),
        "lists": lambda: objects([[list(map(float, cell)) for cell in arm] for arm in samples]),
    }[layout]()
    np.savez(
        path,
        mu=np.array([[cell.mean() for cell in arm] for arm in samples]),
        objective_values=values,
        arm_ids=np.array([str(i) for i in range(5)]),
        objective_names=np.array(["a", "b", "c"]),
        **(extra or {}),
    )
    return path


def tracks(rows=40, genres=3, seed=2):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "track_id": [f"t{i:04d}" for i in range(rows)],
            "track_genre": [f"g{i % genres}" for i in range(rows)],
            "popularity": rng.integers(0, 101, rows),
            "danceability": rng.random(rows).round(3),
            "energy": rng.random(rows).round(3),
            "loudness": rng.uniform(-65, 3, rows).round(3),
            "acousticness": rng.random(rows).round(6),
            "valence": rng.random(rows).round(3),
            "artists": "somebody",
        }
    )
    return pd.concat([frame, frame.iloc[:4]], ignore_index=True)


def expect(monkeypatch, dataset, **changes):
    """Let the table of sources expect a made-up file."""
    changed = dataclasses.replace(datasets.SOURCES[dataset], **changes)
    monkeypatch.setitem(datasets.SOURCES, dataset, changed)


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    """No test sees this machine's data or goes through a proxy, unless it says so."""
    for name in ("MOMAB_DATA", "MOMAB_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


# --- The real data ---------------------------------------------------------------------------


def test_spotify_is_the_instance_of_the_notes(shared):
    whole = load_or_skip(shared, "spotify")
    assert (whole.K, whole.d) == (114, 6)
    assert whole.objective_names == datasets.SPOTIFY_OBJECTIVES
    assert len(whole.source.table) == 113_550
    counts = np.diff(whole.source.offsets)
    assert list(zip(counts, whole.arm_names)) == sorted(zip(counts, whole.arm_names))[::-1]


def test_kuairec_is_the_instance_of_the_notes(shared):
    whole = load_or_skip(shared, "kuairec")
    assert (whole.K, whole.d) == (300, 26)
    with np.load(datasets.find("kuairec", shared / "data"), allow_pickle=False) as data:
        np.testing.assert_array_equal(whole.source.values, data["values"])
        np.testing.assert_array_equal(whole.source.offsets, data["offsets"])
        np.testing.assert_allclose(whole.means, data["mean"], rtol=0, atol=1e-14)


def test_spotify_does_not_depend_on_the_order_of_the_file(shared, tmp_path):
    load_or_skip(shared, "spotify")
    frame = pd.read_csv(datasets.find("spotify", shared / "data"), dtype=str)
    shuffled = frame.sample(frac=1.0, random_state=3).assign(artists="somebody")
    shuffled.to_csv(tmp_path / "dataset.csv")  # with an index column, as the public file has
    whole = datasets.spotify(tmp_path)
    assert datasets.checksum(whole) == datasets.SOURCES["spotify"].content


def test_one_changed_reward_is_noticed(shared, tmp_path):
    load_or_skip(shared, "spotify")
    frame = pd.read_csv(datasets.find("spotify", shared / "data"), dtype=str)
    frame.loc[77, "energy"] = "0.123"
    frame.to_csv(tmp_path / "dataset.csv", index=False)
    with pytest.raises(MomabError, match="checksum of these differs"):
        datasets.spotify(tmp_path)
    assert datasets.spotify(tmp_path, verify=False).K == 114
    frame[1:].to_csv(tmp_path / "dataset.csv", index=False)
    with pytest.raises(MomabError, match=r"must have 114,000 tracks; it has 113,999"):
        datasets.spotify(tmp_path)


# --- Searching -------------------------------------------------------------------------------


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


def test_missing_data_say_how_to_get_them(tmp_path):
    with pytest.raises(MomabError, match=r"`momab data get spotify --data-dir .*`"):
        datasets.spotify(tmp_path)
    with pytest.raises(MomabError, match=r"`momab data get kuairec --data-dir .*`"):
        datasets.kuairec(tmp_path)
    with pytest.raises(MomabError, match="spotify and kuairec"):
        datasets.load("movielens")


# --- Spotify's rules on a made-up table ------------------------------------------------------


def test_spotify_rewards_by_hand():
    frame = pd.DataFrame(
        {
            "track_genre": ["b", "a", "a", "b", "b", "a"],
            "track_id": ["2", "1", "3", "1", "2", "5"],
            "popularity": [50, 100, 0, 20, 99, 0],
            "danceability": [0.1, 0.2, 0.3, 0.4, 0.9, 0.0],
            "energy": [0.5] * 6,
            "loudness": [-30.0, 4.0, -70.0, -60.0, 0.0, -6.0],
            "acousticness": [0.5] * 6,
            "valence": [1.5, 0.5, -0.1, 0.5, 0.5, 0.5],
        }
    ).astype(str)
    instance = datasets.spotify_instance(frame)
    assert instance.arm_names == ("a", "b")  # three tracks before two
    np.testing.assert_array_equal(instance.source.offsets, [0, 3, 5])
    np.testing.assert_allclose(
        instance.source.table,
        [
            [1.0, 0.2, 0.5, 1.0, 0.5, 0.5],
            [0.0, 0.3, 0.5, 0.0, 0.5, 0.0],
            [0.0, 0.0, 0.5, 0.9, 0.5, 0.5],
            [0.2, 0.4, 0.5, 0.0, 0.5, 0.5],
            [0.5, 0.1, 0.5, 0.5, 0.5, 1.0],  # the first of the two tracks "2" of genre b
        ],
        atol=1e-15,
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be read"),
        (b"track_genre,track_id\na,1\n", "has no column popularity, danceability"),
        (b"\x80\x81 not text", "spotify_tracks.csv"),
    ],
)
def test_a_broken_table_is_one_sentence(tmp_path, content, message):
    (tmp_path / "spotify_tracks.csv").write_bytes(content)
    with pytest.raises(MomabError, match=message) as caught:
        datasets.spotify(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_cell_that_is_no_number_is_one_sentence(tmp_path):
    frame = tracks().astype(str)
    frame.loc[3, "energy"] = "loud"
    frame.to_csv(tmp_path / "dataset.csv", index=False)
    with pytest.raises(MomabError, match=r"dataset.csv cannot be read: .*loud"):
        datasets.spotify(tmp_path, verify=False)


def test_a_truncated_archive_is_one_sentence(tmp_path):
    whole = gzip.compress(tracks().to_csv(index=False).encode())
    (tmp_path / "spotify_tracks.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(MomabError, match="cannot be read"):
        datasets.spotify(tmp_path)
    (tmp_path / "kuairec_cohorts.npz").write_bytes(b"PK\x03\x04 half a file")
    with pytest.raises(MomabError, match="cannot be read"):
        datasets.kuairec(tmp_path)


# --- The authors' file, and hostile ones -----------------------------------------------------


@pytest.mark.parametrize("layout", ["nested", "matrix", "lists"])
def test_authors_layouts_become_plain(tmp_path, layout):
    read = datasets.read_cohorts(authors_file(tmp_path / "authors.npz", layout))
    flat = [cell for arm in made_up_samples() for cell in arm]
    np.testing.assert_array_equal(read.source.values, np.concatenate(flat))
    datasets.write_cohorts(read, tmp_path / "plain.npz")
    with np.load(tmp_path / "plain.npz", allow_pickle=False) as data:
        assert set(data) == {"values", "offsets", "mean", "arm_ids", "objective_names"}
    again = datasets.read_cohorts(tmp_path / "plain.npz")
    assert datasets.checksum(again) == datasets.checksum(read)
    assert (again.arm_names, again.objective_names) == (read.arm_names, read.objective_names)


def test_arrays_pickled_by_numpy_1_are_admitted(tmp_path):
    path = authors_file(tmp_path / "authors.npz")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    data = io.BytesIO(members["objective_values.npy"])
    np.lib.format.read_magic(data)
    np.lib.format.read_array_header_1_0(data)
    header = members["objective_values.npy"][: data.tell()]
    array = pickle.loads(data.read())
    spelled = pickle.dumps(array, protocol=3).replace(b"numpy._core.multi", b"numpy.core.multi")
    assert b"numpy.core.multiarray" in spelled
    assert b"numpy._core" not in spelled
    expected = datasets.checksum(datasets.read_cohorts(path))
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, header + spelled if "values" in name else content)
    assert datasets.checksum(datasets.read_cohorts(path)) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objective_values": objects([objects([1.0])] * 5)}, "must hold 3 lists"),
        ({"objective_values": objects([None] * 5)}, "must hold 3 lists"),
        ({"objective_values": objects([1.0] * 4)}, "each of 5 arms"),
        ({"objective_values": objects([["x", "y", "z"]] * 5)}, "real numbers"),
        ({"objective_values": objects([[[0.5], [7.0], [0.5]]] * 5)}, r"must lie in \[0, 1\]"),
    ],
)
def test_unknown_contents_are_one_sentence(tmp_path, change, message):
    with np.load(authors_file(tmp_path / "a.npz"), allow_pickle=True) as data:
        parts = dict(data) | change
    np.savez(tmp_path / "b.npz", **parts)
    with pytest.raises(MomabError, match=message):
        datasets.read_cohorts(tmp_path / "b.npz")


def test_unknown_layout_is_one_sentence(tmp_path):
    np.savez(tmp_path / "b.npz", rewards=np.zeros(3))
    with pytest.raises(MomabError, match="no known layout of cohorts: it holds rewards"):
        datasets.read_cohorts(tmp_path / "b.npz")
    np.savez(
        tmp_path / "c.npz",
        values=np.zeros(3),
        offsets=np.array([0, 1, 2]),
        arm_ids=np.array(["1", "2"]),
        objective_names=np.array(["a"]),
    )
    with pytest.raises(MomabError, match="the offsets do not fit"):
        datasets.read_cohorts(tmp_path / "c.npz")


class Payload:
    """Writes a file when it is unpickled."""

    def __init__(self, path, function):
        self.path = path
        self.function = function

    def __reduce__(self):
        return self.function, (str(self.path),)


@pytest.mark.parametrize("key", ["objective_values", "arm_ids"])
def test_a_malicious_pickle_does_not_run(tmp_path, key):
    marker, bad = tmp_path / "it ran", tmp_path / "kuairec_cohort_instance_d26.npz"
    np.savez(
        bad,
        **{
            "objective_values": objects([objects([np.ones(2)] * 2)] * 2),
            "arm_ids": np.array(["1", "2"]),
            "objective_names": np.array(["a", "b"]),
            key: objects([Payload(marker, os.mkdir)] * 2),
        },
    )
    with pytest.raises(MomabError, match=r"asks Python to load posix.mkdir|nt.mkdir"):
        datasets.kuairec(tmp_path)
    assert not marker.exists()
    with np.load(bad, allow_pickle=True) as data:
        assert len(data[key]) == 2
    assert marker.exists()  # the payload is real: it runs when the file is read carelessly


@pytest.mark.parametrize(
    "pickled",
    [
        pickle.dumps(np.load),
        pickle.dumps(np.frombuffer),
        pickle.dumps(np.float64(1.0)),
        b"cbuiltins\neval\n(V1+1\ntR.",
        b"cnumpy\nndarray.__class__\n.",
        b"not a pickle",
        b"",
    ],
)
def test_only_array_reconstruction_is_admitted(tmp_path, pickled):
    path = authors_file(tmp_path / "authors.npz")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|O", "fortran_order": False, "shape": (5,)}
    )
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            bad = header.getvalue() + pickled
            archive.writestr(name, bad if name == "objective_values.npy" else content)
    with pytest.raises(MomabError) as caught:
        datasets.read_cohorts(path)
    assert "\n" not in str(caught.value)


# --- Downloads from a local server ------------------------------------------------------------


class Server(ThreadingHTTPServer):
    """Serves `content`; `cut` breaks answers off, `ranges` says whether it continues files."""

    daemon_threads = True
    content: bytes = b""
    status = 200
    cut: int | None = None
    ranges = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []
        self.address = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        server, asked = self.server, self.headers.get("Range")
        server.asked.append(asked)
        if server.status != 200:
            self.send_error(server.status)
            return
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and server.ranges else 0
        size = len(server.content)
        if asked and server.ranges and start >= size:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        self.send_header("Content-Length", str(size - start))
        self.end_headers()
        self.wfile.write(server.content[start : server.cut])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join(timeout=10)
        assert not thread.is_alive()


@pytest.fixture
def kuairec_server(server, tmp_path, monkeypatch):
    """A mirror with a small file of the authors' kind."""
    path = authors_file(tmp_path / "authors.npz", extra={"padding": np.arange(10_000)})
    server.content = path.read_bytes()
    expect(
        monkeypatch,
        "kuairec",
        sha256=hashlib.sha256(server.content).hexdigest(),
        content=datasets.checksum(datasets.read_cohorts(path)),
    )
    return server


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_get_downloads_verifies_and_converts(kuairec_server, tmp_path):
    folder = tmp_path / "data"
    path = datasets.get("kuairec", folder, kuairec_server.address)
    assert names(folder) == ["kuairec_cohorts.npz"]
    np.load(path, allow_pickle=False).close()
    assert datasets.kuairec(folder).K == 5
    datasets.get("kuairec", folder, kuairec_server.address)
    assert len(kuairec_server.asked) == 1  # a good file is not fetched again
    path.write_bytes(b"broken")
    datasets.get("kuairec", folder, kuairec_server.address)
    assert len(kuairec_server.asked) == 2
    assert datasets.kuairec(folder).K == 5


def test_get_uses_the_variables(kuairec_server, tmp_path, monkeypatch):
    monkeypatch.setenv("MOMAB_MIRROR", kuairec_server.address + "/")
    assert datasets.get("kuairec") == tmp_path / "cache" / "momab" / "kuairec_cohorts.npz"
    monkeypatch.setenv("MOMAB_DATA", str(tmp_path / "mine"))
    assert datasets.get("kuairec") == tmp_path / "mine" / "kuairec_cohorts.npz"


def test_spotify_is_verified_by_its_content(server, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "SPOTIFY_ROWS", 44)
    good = datasets.checksum(datasets.spotify_instance(tracks().astype(str)))
    expect(monkeypatch, "spotify", content=good)
    folder = tmp_path / "data"
    server.content = tracks(seed=9).to_csv(index=False).encode()
    with pytest.raises(MomabError, match="checksum of these differs"):
        datasets.get("spotify", folder, server.address)
    assert names(folder) == []
    server.content = tracks().sample(frac=1.0, random_state=1).to_csv().encode()
    assert datasets.get("spotify", folder, server.address) == folder / "spotify_tracks.csv"
    assert names(folder) == ["spotify_tracks.csv"]
    assert datasets.spotify(folder).arm_names == ("g0", "g2", "g1")


def test_wrong_checksum_leaves_nothing(kuairec_server, tmp_path):
    kuairec_server.content += b"x"
    with pytest.raises(MomabError, match="does not have the expected checksum"):
        datasets.get("kuairec", tmp_path / "data", kuairec_server.address)
    assert names(tmp_path / "data") == []


def test_a_broken_download_is_continued(kuairec_server, tmp_path):
    folder, size = tmp_path / "data", len(kuairec_server.content)
    part = folder / "kuairec_cohort_instance_d26.npz.unverified.part"
    asked = [None]
    for cut in (100, 20_000, size - 10):
        kuairec_server.cut = cut
        with pytest.raises(MomabError, match=r"broke off after [\d,]+ bytes; the same command"):
            datasets.get("kuairec", folder, kuairec_server.address)
        assert names(folder) == [part.name]
        kept = part.stat().st_size
        assert cut - 8192 < kept <= cut
        assert part.read_bytes() == kuairec_server.content[:kept]
        asked.append(f"bytes={kept}-" if kept else None)
    kuairec_server.cut = None
    datasets.get("kuairec", folder, kuairec_server.address)
    assert kuairec_server.asked == asked
    assert names(folder) == ["kuairec_cohorts.npz"]


@pytest.mark.parametrize("kept", ["all", "too much", "something else"])
@pytest.mark.parametrize("ranges", [True, False])
def test_whatever_part_is_there_the_end_is_good(kuairec_server, tmp_path, kept, ranges):
    kuairec_server.ranges = ranges
    whole = kuairec_server.content
    part = {"all": whole, "too much": whole + b"x", "something else": b"x" * 100}[kept]
    url, sha256 = kuairec_server.address, hashlib.sha256(whole).hexdigest()
    (tmp_path / "file.part").write_bytes(part)
    if kept == "something else" and ranges:  # joined to it, the rest cannot have the checksum
        with pytest.raises(MomabError, match="expected checksum"):
            download.download(url, tmp_path, "file", sha256)
    assert download.download(url, tmp_path, "file", sha256).read_bytes() == whole
    assert not (tmp_path / "file.part").exists()


@pytest.mark.parametrize("status", [404, 500])
def test_a_refusal_is_one_sentence(kuairec_server, tmp_path, status):
    kuairec_server.status = status
    with pytest.raises(MomabError, match=f"the server answers {status} for http://127.0.0.1"):
        datasets.get("kuairec", tmp_path / "data", kuairec_server.address)
    assert names(tmp_path / "data") == []


def test_no_network_is_one_sentence(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(MomabError, match="cannot be reached; check the connection"):
        datasets.get("spotify", tmp_path / "data", address)
    assert names(tmp_path / "data") == []


def test_a_malicious_download_does_not_run(server, tmp_path, monkeypatch):
    marker, bad = tmp_path / "it ran", tmp_path / "bad.npz"
    authors_file(bad, extra=None)
    with np.load(bad, allow_pickle=True) as data:
        parts = dict(data) | {"objective_values": objects([Payload(marker, os.mkdir)] * 5)}
    np.savez(bad, **parts)
    server.content = bad.read_bytes()
    expect(monkeypatch, "kuairec", sha256=hashlib.sha256(server.content).hexdigest())
    with pytest.raises(MomabError, match="only NumPy arrays are admitted"):
        datasets.get("kuairec", tmp_path / "data", server.address)
    assert names(tmp_path / "data") == []
    assert not marker.exists()


def test_places_that_cannot_be_written(kuairec_server, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(MomabError, match="cannot be written"):
        datasets.get("kuairec", tmp_path / "file" / "data", kuairec_server.address)
    instance = datasets.read_cohorts(tmp_path / "authors.npz")
    with pytest.raises(MomabError, match="cannot be written"):
        datasets.write_cohorts(instance, tmp_path / "file" / "plain.npz")


def test_mirror_must_be_an_address():
    with pytest.raises(MomabError, match="http:// or https://"):
        datasets.get("spotify", mirror="/some/folder")
    assert datasets.address("spotify").startswith("https://huggingface.co/")


def test_the_progress_bar_reports_bytes(server, tmp_path, capsys):
    server.content = bytes(200_000)
    download.download(server.address, tmp_path, "file", progress=True)
    assert "200.0/200.0 kB" in capsys.readouterr().err


# --- From the raw release ---------------------------------------------------------------------


@pytest.fixture
def release(tmp_path):
    """Six users in two cohorts that count and one that is too small; four videos."""
    folder = tmp_path / "release" / "KuaiRec 2.0" / "data"
    folder.mkdir(parents=True)
    users = pd.DataFrame(
        {
            "user_id": [1, 2, 3, 4, 5, 6, 7, 8, 9],
            "user_active_degree": ["full_active"] * 3
            + ["high active"] * 3
            + ["UNKNOWN"]
            + [""] * 2,
            "follow_user_num_range": ["(0,10]"] * 9,
            "register_days_range": ["31-60"] * 9,
        }
    )
    users.to_csv(folder / "user_features.csv", index=False)
    ratios = {10: 1.0, 20: 2.0, 30: 7.5, 40: 0.5}
    rows = [
        {"user_id": user, "video_id": video, "watch_ratio": ratio + user / 100}
        for video, ratio in ratios.items()
        for user in (6, 1, 2, 3, 4, 5, 7)
        if (video, user) not in {(40, 1), (40, 2), (40, 3)}
    ]
    frame = pd.DataFrame(rows).astype({"watch_ratio": object})
    frame.loc[0, "watch_ratio"] = "inf"
    frame.to_csv(folder / "small_matrix.csv", index=False)
    return tmp_path / "release"


def test_release_to_instance_by_hand(release):
    built = datasets.kuairec_from_release(release, least_users=3, least_samples=3)
    high, full = (
        f"user_active_degree={degree}|follow_user_num_range=(0,10]|register_days_range=31-60"
        for degree in ("high_active", "full_active")
    )
    assert built.objective_names == (high, full)  # equal sizes: by name, descending
    assert built.arm_names == ("30", "20", "10")  # 40 lacks samples; by sum of means
    lists = np.split(built.source.values, built.source.offsets[1:-1])
    np.testing.assert_allclose(lists[0], [1.0, 1.0, 1.0])  # 7.5 is above the cap
    np.testing.assert_allclose(lists[2], [2.06 / 5, 2.04 / 5, 2.05 / 5])  # the file's order
    np.testing.assert_allclose(lists[4], [0.0, 1.04 / 5, 1.05 / 5])  # not finite: 0


def test_release_limits(release):
    few = datasets.kuairec_from_release(
        release, cohorts=1, videos=2, least_users=2, least_samples=2
    )
    assert (few.K, few.d) == (2, 1)
    with pytest.raises(MomabError, match=r"no cohort of user_features.csv has 10 users"):
        datasets.kuairec_from_release(release)
    with pytest.raises(MomabError, match="fewer than 2 videos"):
        datasets.kuairec_from_release(release, least_users=3)
    with pytest.raises(MomabError, match=r"there is no big_matrix.csv in"):
        datasets.kuairec_from_release(release, matrix="big_matrix.csv")
    with pytest.raises(MomabError, match="cap must be a number > 0"):
        datasets.kuairec_from_release(release, cap=0)


# --- Commands -----------------------------------------------------------------------------------


def run(monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["momab", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        app.main()
    return ended.value.code


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


def test_build_command(release, tmp_path, monkeypatch, capsys):
    build = datasets.kuairec_from_release
    monkeypatch.setattr(
        datasets,
        "kuairec_from_release",
        lambda folder, matrix: build(folder, matrix, least_users=3, least_samples=3),
    )
    assert run(monkeypatch, "data", "build", release, "-o", tmp_path / "mine.npz") == 0
    assert "3 videos x 2 cohorts, not the instance that the paper used" in capsys.readouterr().out
    assert datasets.read_cohorts(tmp_path / "mine.npz").K == 3
    assert run(monkeypatch, "data", "build", release, "-o", tmp_path / "mine.csv") == 2
