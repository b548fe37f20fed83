"""Fixed patterns of entries: every place has a slot, and repeated places add up."""

from __future__ import annotations

import numpy as np
import pytest

from condal.maps.entries import Pattern, summed_places

rng = np.random.default_rng(3)


@pytest.mark.parametrize("repeated", [False, True])
def test_data_are_the_sums_of_the_places(repeated):
    places = rng.integers(0, 35, 60) if repeated else rng.permutation(35)[:20]
    rows, cols, y = places // 7, places % 7, rng.standard_normal(places.size)
    blank, sums = summed_places((5, 7), rows, cols)
    blank.data = sums @ y
    full = np.zeros((5, 7))
    np.add.at(full, (rows, cols), y)
    np.testing.assert_allclose(blank.toarray(), full)
    assert blank.has_canonical_format
    assert np.all(np.diff(sums.indptr) >= 1)


@pytest.mark.parametrize(
    ("rows", "cols", "terms"), [([0, 1], [2, 2], 1), ([0, 0, 1], [0, 1, 0], 2), ([], [], 0)]
)
def test_a_symmetric_pattern_splits_each_number(rows, cols, terms):
    rows, cols = np.array(rows, dtype=np.intp), np.array(cols, dtype=np.intp)
    y, full = rng.standard_normal(rows.size), np.zeros((3, 3))
    np.add.at(full, (rows, cols), y)
    pattern = Pattern.of(3, rows, cols)
    np.testing.assert_allclose(pattern.fill(y).toarray(), 0.5 * (full + full.T))
    assert pattern.terms == terms
