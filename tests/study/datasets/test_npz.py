"""Cohort files: the authors' layouts, the plain one, and hostile files."""

import io
import os
import pickle
import zipfile

import numpy as np
import pytest

from momab.errors import MomabError
from momab.study import datasets
from tests.study.datasets.made_up import Payload, authors_file, made_up_samples, objects


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
        datasets.load("kuairec", tmp_path)
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
