"""The formal statements are about this algorithm: the engine's runs are runs of the relation."""

import inspect
import math
import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momab import pareto
from momab.book.gate import without_comments
from momab.book.proofs import sources
from momab.engine.policies.width_guided import WidthGuided
from momab.ledger.auditing.hand_made import edge_sequence, play_sequences, random_traces
from momab.ledger.auditing.trace import trace
from momab.model import instances
from tests.conftest import ROOT
from tests.ledger.auditing.test_claims import MEANS, PLANTED
from tests.planted import Planted
from tests.proofs import relation
from tests.proofs.replay import replay
from tests.proofs.surds import Scale, Surd

LEMMAS = {
    "lemma_9",
    "lemma_10",
    "lemma_10_deficit",
    "lemma_10_two",
    "charge_challenger_width",
    "lemma_11",
    "lemma_11_radius",
    "lemma_11_champion",
    "corollary_6",
    "sharper_bound",
    "sharper_bound: pulls",
    "deficit_bound",
    "deficit_bound: pulls",
    "half_of_theorem_4",
}
STEPS = {"warm", "explore", "certify", "stay"}


def squeezed(text):
    """Text without line breaks and indentation."""
    return re.sub(r"\s+", " ", text).strip()


def quotations():
    """The Coq texts that the transcription quotes."""
    for kind in (relation.Instance, relation.History):
        for name, member in inspect.getmembers(kind, inspect.isfunction):
            doc = member.__doc__ or ""
            for part in doc.split("\n\n"):
                if re.match(r"\s*(Definition|\||\()", part):
                    yield pytest.param(squeezed(part), id=f"{kind.__name__}.{name}")


@pytest.mark.parametrize("text", list(quotations()))
def test_what_is_transcribed_is_what_stands_in_the_sources(text):
    folder = ROOT / "proofs"
    stems = ("Pareto", "Model", "Algorithm", "Lemmas")
    paths = [path for path in sources(folder) if path.stem in stems]
    assert any(text in squeezed(without_comments(path.read_text())) for path in paths)


def test_the_transcription_quotes_every_definition_of_the_algorithm():
    text = (ROOT / "proofs" / "Algorithm.v").read_text()
    wanted = set(re.findall(r"^Definition (\w+)", text, re.MULTILINE))
    quoted = " ".join(param.values[0] for param in quotations())
    # `races` and `sampled` are quoted by their bodies, beta by the radius it is
    missing = {name for name in wanted if f"Definition {name} " not in quoted}
    assert missing == {"races", "sampled", "beta"}


@pytest.mark.parametrize(
    ("count", "horizon", "seed", "on_event", "explored"),
    [(24, 200, 5, 0, 1000), pytest.param(72, 500, 6, 20, 10_000, marks=pytest.mark.slow)],
)
def test_runs_of_the_engine_are_runs_of_the_relation(count, horizon, seed, on_event, explored):
    """On random instances, with ties, for four coefficients; and one beyond its certificate."""
    records = list(random_traces(count, horizon, [2.0, 0.5, 0.125, 0.05], seed, most=(5, 3)))
    whole = trace(instances.bernoulli(MEANS), WidthGuided(c=0.1), horizon, seed, beyond=True)
    found = [replay(record) for record in [*records, whole]]
    assert [wrong for one in found for wrong in one.wrong] == []
    total = sum((Counter(one.checked) for one in found), Counter())
    assert set(total) == STEPS | LEMMAS
    assert sum(one.event for one in found) > on_event
    assert total["explore"] > explored


def test_a_run_on_the_edge_of_the_event():
    """Chosen rewards that are no whole numbers: the means sit on the edges of their intervals."""
    means, T, c = [[0.8], [0.2], [0.2]], 500, 0.5
    rows = [edge_sequence(p[0], T, T, c, side) for p, side in zip(means, (-1, 1, 1))]
    found = replay(play_sequences(np.array(rows)[:, :, None], means, T, c))
    assert found.wrong == []
    assert found.event
    assert found.certified == 1


@pytest.mark.parametrize("bug", PLANTED)
def test_planted_bugs_leave_the_relation(bug):
    record = trace(instances.bernoulli(MEANS), Planted(bug, c=0.25), 800, 0, beyond=True)
    [(name, _)] = replay(record, until_wrong=True).wrong
    assert name in STEPS


def test_the_policy_without_a_bug_stays_in_the_relation():
    record = trace(instances.bernoulli(MEANS), Planted("none", c=0.25), 800, 0, beyond=True)
    assert replay(record).wrong == []


def test_the_geometry_is_that_of_the_library():
    rng = np.random.default_rng(3)
    for number in range(60):
        K, d = int(rng.integers(2, 7)), int(rng.integers(1, 5))
        mu = instances.random_means(K, d, number, (None, 5, 3)[number % 3])
        exact = relation.Instance(mu.tolist())
        geometry = pareto.geometry(mu)
        gaps = [float(exact.gap(a)) for a in range(K)]
        assert np.allclose(gaps, geometry.gaps, rtol=0, atol=1e-15)
        assert abs(float(exact.g_dagger()) - geometry.g_dagger) < 1e-15
        assert {a for a in range(K) if exact.pareto_optimal(a)} == set(geometry.front)


whole = st.integers(min_value=1, max_value=60)


@given(whole, whole, whole, whole, st.integers(-3, 3), st.integers(2, 10_000))
def test_signs_agree_with_floating_point_where_that_can_tell(p, q, r, s, x, T):
    number = Surd.radius(p) + Surd.radius(q) - Surd.radius(r) - Surd.radius(s)
    number += Surd.rational(Fraction(x, 7))
    rough = math.sqrt(2 * math.log(T)) * (p**-0.5 + q**-0.5 - r**-0.5 - s**-0.5) + x / 7
    sign = Scale(2, T).sign(number)
    if abs(rough) > 1e-9:
        assert sign == math.copysign(1, rough)


def test_equal_surds_are_equal_and_close_ones_are_not():
    scale = Scale(2, 1000)
    assert scale.sign(Surd.radius(2) - 2 * Surd.radius(8)) == 0  # 1/sqrt 2 = 2/sqrt 8
    tiny = Surd.rational(Fraction(1, 10**60))
    assert scale.sign(Surd.radius(2) - 2 * Surd.radius(8) + tiny) == 1
    value = Fraction(math.sqrt(2 * math.log(1000) / 3))  # no float is the radius itself
    assert scale.sign(Surd.radius(3) - Surd.rational(value)) != 0
