"""Hypothesis strategies for mean vectors."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


@st.composite
def mean_vectors(draw, max_arms=8, max_objectives=5):
    """Means in [0, 1]: continuous, or on a coarse grid so that ties are common."""
    K = draw(st.integers(2, max_arms))
    d = draw(st.integers(1, max_objectives))
    levels = draw(st.sampled_from([2, 3, 5, 11, None]))
    if levels is None:
        return draw(arrays(np.float64, (K, d), elements=st.floats(0, 1, width=32)))
    grid = draw(arrays(np.int64, (K, d), elements=st.integers(0, levels - 1)))
    # dyadic levels keep sums and differences exact, so invariances hold to the last bit
    return grid / 16.0
