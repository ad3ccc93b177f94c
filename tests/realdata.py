"""The real data sets for the tests, which skip where these are not at hand."""

import pytest

from momab.study import datasets


def load_or_skip(shared, dataset):
    """The large instance from the shared folder."""
    if datasets.find(dataset, shared / "data") is None:
        pytest.skip(f"skipped: needs the {dataset} data in the shared folder")
    return datasets.load(dataset, shared / "data")
