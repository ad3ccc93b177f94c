"""Tables that people have: dialects, encodings, missing values, less is better."""

import numpy as np
import pandas as pd
import pytest

from momab import MomabError
from momab.model import tables


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "genre": ["b", "a", "b", "a"],
            "score": [0.5, 0.25, 1.0, 0.75],
            "loud": [-60.0, -30.0, 0.0, -15.0],
            "text": list("wxyz"),
        }
    )


def test_from_frame_groups_scales_and_names(frame):
    instance = tables.from_frame(frame, "genre", ["score", "loud"], scale={"loud": (-60, 0)})
    assert instance.arm_names == ("a", "b")
    assert instance.objective_names == ("score", "loud")
    assert instance.means.tolist() == [[0.5, 0.625], [0.75, 0.5]]


def test_from_csv_reads_what_from_frame_builds(frame, tmp_path):
    path = tmp_path / "music.csv.gz"
    frame.to_csv(path, index=False)
    instance = tables.from_csv(path, "genre", ["score"])
    assert instance.name == "music.csv"
    assert instance.digest == tables.from_frame(frame, "genre", ["score"]).digest


def test_bad_tables_get_one_sentence(frame, tmp_path):
    def refused(match, *args, **kwargs):
        with pytest.raises(MomabError, match=match) as error:
            tables.from_frame(*args, **kwargs)
        assert "\n" not in str(error.value)

    refused("no column 'tempo'; its columns are: genre, score", frame, "genre", ["tempo"])
    refused("no column 'arm'", frame, "arm", ["score"])
    refused("no columns 'arm', 'tempo'; its", frame, "arm", ["tempo"])
    refused("objectives names 'score' twice", frame, "genre", ["score", "score"])
    refused("'genre' names the arms", frame, "genre", ["genre"])
    refused(r"\[0, 1\], but it ranges over \[-60, 0\]", frame, "genre", ["loud"])
    refused(
        "column 'text' must hold numbers; in rows 1, 2, 3 and 1 more it does not",
        frame,
        "genre",
        ["text"],
    )
    refused("at least one column", frame, "genre", [])
    refused("two different finite numbers", frame, "genre", ["loud"], scale={"loud": (0, 0)})
    refused("not one of the objectives", frame, "genre", ["score"], scale={"loud": (0, 1)})
    refused("no rows", frame[:0], "genre", ["score"])
    refused("at least 2 arms; 1 were", frame[frame["genre"] == "a"], "genre", ["score"])
    gap = frame.assign(score=[0.5, np.nan, 0.5, 0.5])
    refused("column 'score' has no value in row 2; fill", gap, "genre", ["score"])
    unknown = frame.assign(genre=["a", None, "b", "b"])
    refused("column 'genre' has no value in row 2", unknown, "genre", ["score"])
    with pytest.raises(MomabError, match=r"cannot read .*nothing.csv as a CSV table: No such file"):
        tables.from_csv(tmp_path / "nothing.csv", "genre", ["score"])
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(MomabError, match=r"cannot read .*empty.csv as a CSV table"):
        tables.from_csv(tmp_path / "empty.csv", "genre", ["score"])


ROWS = "arm{d} wait {d}rating\n a{d}500{d}0.5\na {d}1500{d}1\nb{d}0{d}0\nb{d}2000{d}0.25\n"
MEANS = [[0.5, 0.75], [0.5, 0.125]]


@pytest.mark.parametrize("delimiter", tables.DELIMITERS)
def test_the_delimiter_is_found_and_names_are_stripped(tmp_path, delimiter):
    path = tmp_path / "waits.csv"
    path.write_text(ROWS.format(d=tables.DELIMITERS[delimiter]))
    for named in (None, delimiter, tables.DELIMITERS[delimiter]):
        got = tables.from_csv(path, "arm", ["wait", "rating"], {"wait": (0, 2000)}, delimiter=named)
        assert got.arm_names == ("a", "b")
        assert got.means.tolist() == MEANS


def test_a_delimiter_is_one_character(tmp_path):
    path = tmp_path / "waits.csv"
    path.write_text(ROWS.format(d=","))
    with pytest.raises(MomabError, match="one character or one of comma, semicolon"):
        tables.from_csv(path, "arm", ["rating"], delimiter="::")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_tells_the_encoding(tmp_path, encoding):
    path = tmp_path / "cafés.csv"
    path.write_text("café,score\nÖl,0.5\n水,1\n", encoding=encoding)
    assert tables.from_csv(path, "café", ["score"]).arm_names == ("Öl", "水")


def test_another_encoding_is_named(tmp_path):
    path = tmp_path / "old.csv"
    path.write_text("café,score\nÖl,0.5\nWein,1\n", encoding="cp1252")
    with pytest.raises(MomabError, match="cannot be read as utf-8; name its encoding"):
        tables.from_csv(path, "café", ["score"])
    assert tables.from_csv(path, "café", ["score"], encoding="cp1252").arm_names == ("Wein", "Öl")
    with pytest.raises(MomabError, match="there is no encoding 'klingon'"):
        tables.from_csv(path, "café", ["score"], encoding="klingon")


def test_decimal_commas_are_read_where_no_other_reading_is_possible(tmp_path):
    path = tmp_path / "continental.csv"
    path.write_text("arm;score\na;0,25\na;1\nb;0,5\n")
    assert tables.from_csv(path, "arm", ["score"]).means.tolist() == [[0.625], [0.5]]
    path.write_text("arm;score\na;0,25\na;1.0.0\nb;0,5\n")
    with pytest.raises(MomabError, match="must hold numbers; in rows 1, 2, 3 it does not"):
        tables.from_csv(path, "arm", ["score"])


def test_less_is_better_in_two_ways(frame):
    falling = tables.from_frame(frame, "genre", ["loud"], {"loud": (0, -60)})
    named = tables.from_frame(frame, "genre", ["loud"], {"loud": (-60, 0)}, minimize=["loud"])
    rising = tables.from_frame(frame, "genre", ["loud"], {"loud": (-60, 0)})
    assert falling.means.tolist() == named.means.tolist() == (1 - rising.means).tolist()
    plain = tables.from_frame(frame, "genre", ["score"], minimize=["score"])
    assert plain.means.tolist() == [[0.5], [0.25]]
    with pytest.raises(MomabError, match="falls from 0 to -60 already; say it once"):
        tables.from_frame(frame, "genre", ["loud"], {"loud": (0, -60)}, minimize=["loud"])
    with pytest.raises(MomabError, match="minimize names 'text'"):
        tables.from_frame(frame, "genre", ["loud"], minimize=["text"])


def test_rows_with_missing_values_are_named_or_left_out(frame):
    gaps = frame.assign(score=[0.5, np.nan, 1.0, 0.75], genre=["b", "a", " ", "a"])
    with pytest.raises(MomabError, match="column 'genre' has no value in row 3"):
        tables.from_frame(gaps, "genre", ["score"])
    left = tables.from_frame(gaps, "genre", ["score"], missing="drop")
    assert left.means.tolist() == [[0.75], [0.5]]
    with pytest.raises(MomabError, match="must be one of error, drop"):
        tables.from_frame(gaps, "genre", ["score"], missing="guess")
    with pytest.raises(MomabError, match="every row of the table has a missing value"):
        tables.from_frame(gaps.assign(score=np.nan), "genre", ["score"], missing="drop")


@pytest.mark.parametrize("kind", ["parquet", "xlsx"])
def test_other_files_hold_the_same_table(frame, tmp_path, kind):
    path = tmp_path / f"music.{kind}"
    frame.to_parquet(path) if kind == "parquet" else frame.to_excel(path, index=False)
    got = tables.from_csv(path, "genre", ["score"])
    assert got.digest == tables.from_frame(frame, "genre", ["score"]).digest
    path.write_bytes(b"neither")
    with pytest.raises(MomabError, match=f"cannot read .* as a {kind} table") as error:
        tables.from_csv(path, "genre", ["score"])
    assert "\n" not in str(error.value)


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame([["a", 0.1, 0.2], ["b", 0.3, 0.4]], columns=["arm", "x", " x"])
    with pytest.raises(MomabError, match="two columns 'x'"):
        tables.from_frame(frame, "arm", ["x"])
