"""Spotify Tracks: the real table, and its rules on made-up ones."""

import numpy as np
import pandas as pd
import pytest

from momab.errors import MomabError
from momab.study import datasets
from momab.study.datasets import spotify
from tests.realdata import load_or_skip
from tests.study.datasets.made_up import expect, names, tracks


def test_spotify_is_the_instance_of_the_notes(shared):
    whole = load_or_skip(shared, "spotify")
    assert (whole.K, whole.d) == (114, 6)
    assert whole.objective_names == spotify.OBJECTIVES
    assert len(whole.source.table) == 113_550
    counts = np.diff(whole.source.offsets)
    assert list(zip(counts, whole.arm_names)) == sorted(zip(counts, whole.arm_names))[::-1]


@pytest.fixture(scope="module")
def table(shared):
    """The real table as text, without the columns that are not used."""
    path = datasets.find("spotify", shared / "data")
    if path is None:
        pytest.skip("skipped: needs the spotify data in the shared folder")
    columns = ["track_genre", "track_id", *spotify.OBJECTIVES]
    return pd.read_csv(path, dtype=str, keep_default_na=False, usecols=columns)


def test_spotify_does_not_depend_on_the_order_of_the_file(table, tmp_path):
    shuffled = table.sample(frac=1.0, random_state=3).assign(artists="somebody")
    shuffled.to_csv(tmp_path / "dataset.csv")  # with an index column, as the public file has
    whole = datasets.load("spotify", tmp_path)
    assert datasets.checksum(whole) == datasets.REGISTRY["spotify"].content


def test_one_changed_reward_is_noticed(table, tmp_path):
    frame = table.copy()
    frame.loc[77, "energy"] = "0.123"
    frame.to_csv(tmp_path / "dataset.csv", index=False)
    with pytest.raises(MomabError, match="checksum of these differs"):
        datasets.load("spotify", tmp_path)
    assert datasets.load("spotify", tmp_path, verify=False).K == 114
    frame[1:].to_csv(tmp_path / "dataset.csv", index=False)
    with pytest.raises(MomabError, match=r"must have 114,000 tracks; it has 113,999"):
        datasets.load("spotify", tmp_path)


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
    instance = spotify.spotify_instance(frame)
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


def test_a_table_without_its_columns_is_one_sentence(tmp_path):
    (tmp_path / "spotify_tracks.csv").write_text("track_genre,track_id\na,1\n")
    with pytest.raises(MomabError, match="has no column popularity, danceability"):
        datasets.load("spotify", tmp_path)


def test_a_cell_that_is_no_number_is_one_sentence(tmp_path):
    frame = tracks().astype(str)
    frame.loc[3, "energy"] = "loud"
    frame.to_csv(tmp_path / "dataset.csv", index=False)
    with pytest.raises(MomabError, match=r"dataset.csv cannot be read: .*loud"):
        datasets.load("spotify", tmp_path, verify=False)


def test_spotify_is_verified_by_its_content(server, tmp_path, monkeypatch):
    monkeypatch.setattr(spotify, "ROWS", 44)
    good = datasets.checksum(spotify.spotify_instance(tracks().astype(str)))
    expect(monkeypatch, "spotify", content=good)
    folder = tmp_path / "data"
    server.content = tracks(seed=9).to_csv(index=False).encode()
    with pytest.raises(MomabError, match="checksum of these differs"):
        datasets.get("spotify", folder, server.address)
    assert names(folder) == []
    server.content = tracks().sample(frac=1.0, random_state=1).to_csv().encode()
    assert datasets.get("spotify", folder, server.address) == folder / "spotify_tracks.csv"
    assert names(folder) == ["spotify_tracks.csv"]
    assert datasets.load("spotify", folder).arm_names == ("g0", "g2", "g1")
