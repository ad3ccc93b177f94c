"""Spotify Tracks: 114 genres are the arms, six features of a track the objectives.

A pull draws one track of the genre with replacement, a whole row.  Objectives: popularity / 100,
danceability, energy, (loudness + 60) / 60 with loudness clipped to [-60, 0], acousticness,
valence, all clipped to [0, 1].  A track that a genre lists twice counts once.  Arms are sorted by
(number of tracks, name), both descending; the tracks of an arm by track_id, so that the order of
the file does not matter.

Licence: ODbL 1.0 on one mirror, "bsd" on another.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from momab.errors import MomabError
from momab.model.instances import Instance, from_rows
from momab.study.datasets.content import readable_file, text_table
from momab.study.datasets.registry import Dataset, register_dataset

if TYPE_CHECKING:
    import pandas as pd

OBJECTIVES = ("popularity", "danceability", "energy", "loudness", "acousticness", "valence")
ROWS = 114_000


def read_tracks(path: Path, verify: bool) -> Instance:
    """Read the table of tracks; with ``verify`` it must have :data:`ROWS` of them."""
    frame = text_table(path, ["track_genre", "track_id", *OBJECTIVES])
    if verify and len(frame) != ROWS:
        raise MomabError(f"{path.name} must have {ROWS:,} tracks; it has {len(frame):,}.")
    with readable_file(path):
        return spotify_instance(frame)


def spotify_instance(frame: pd.DataFrame) -> Instance:
    """Build the genre instance from the table of tracks, as the module describes it."""
    tracks = frame.drop_duplicates(["track_genre", "track_id"])
    tracks = tracks.sort_values(["track_genre", "track_id"], kind="stable")
    columns = {name: tracks[name].to_numpy().astype(np.float64) for name in OBJECTIVES}
    columns["popularity"] = columns["popularity"] / 100.0
    columns["loudness"] = (columns["loudness"].clip(-60.0, 0.0) + 60.0) / 60.0
    rewards = np.column_stack(list(columns.values())).clip(0.0, 1.0)
    genres = tracks["track_genre"].to_numpy().astype(str)
    names, starts, counts = np.unique(genres, return_index=True, return_counts=True)
    order = sorted(range(len(names)), key=lambda g: (counts[g], names[g]), reverse=True)
    tables = {str(names[g]): rewards[starts[g] : starts[g] + counts[g]] for g in order}
    return from_rows(tables, objective_names=OBJECTIVES, name="Spotify")


register_dataset(
    Dataset(
        name="spotify",
        title="Spotify Tracks",
        address="https://huggingface.co/datasets/maharshipandya/spotify-tracks-dataset/resolve/main/dataset.csv",
        file="dataset.csv",
        sha256=None,
        names=("spotify_tracks.csv", "spotify_tracks.csv.gz", "dataset.csv"),
        content="977fc95db76999bd20cbc9d59080d0e72f6e75f8445184ae97301b48584f2218",
        read=read_tracks,
    )
)
