"""KuaiRec: the real file, and the instance built from the raw release."""

import numpy as np
import pandas as pd
import pytest

from momab.errors import MomabError
from momab.study import datasets
from momab.study.datasets import kuairec
from tests.command import run
from tests.realdata import load_or_skip


def test_kuairec_is_the_instance_of_the_notes(shared):
    whole = load_or_skip(shared, "kuairec")
    assert (whole.K, whole.d) == (300, 26)
    with np.load(datasets.find("kuairec", shared / "data"), allow_pickle=False) as data:
        np.testing.assert_array_equal(whole.source.values, data["values"])
        np.testing.assert_array_equal(whole.source.offsets, data["offsets"])
        np.testing.assert_allclose(whole.means, data["mean"], rtol=0, atol=1e-14)


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
    built = kuairec.kuairec_from_release(release, least_users=3, least_samples=3)
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
    few = kuairec.kuairec_from_release(release, cohorts=1, videos=2, least_users=2, least_samples=2)
    assert (few.K, few.d) == (2, 1)
    with pytest.raises(MomabError, match=r"no cohort of user_features.csv has 10 users"):
        kuairec.kuairec_from_release(release)
    with pytest.raises(MomabError, match="fewer than 2 videos"):
        kuairec.kuairec_from_release(release, least_users=3)
    with pytest.raises(MomabError, match=r"there is no big_matrix.csv in"):
        kuairec.kuairec_from_release(release, matrix="big_matrix.csv")
    with pytest.raises(MomabError, match="cap must be a number > 0"):
        kuairec.kuairec_from_release(release, cap=0)


def test_build_command(release, tmp_path, monkeypatch, capsys):
    build = kuairec.kuairec_from_release
    monkeypatch.setattr(
        kuairec,
        "kuairec_from_release",
        lambda folder: build(folder, least_users=3, least_samples=3),
    )
    assert run(monkeypatch, "data", "build", release, "-o", tmp_path / "mine.npz") == 0
    assert "3 videos x 2 cohorts, not the instance that the paper used" in capsys.readouterr().out
    assert datasets.read_cohorts(tmp_path / "mine.npz").K == 3
    assert run(monkeypatch, "data", "build", release, "-o", tmp_path / "mine.csv") == 2
