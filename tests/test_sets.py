"""Sets K: projection, support function, their identities, and scaling by its definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from condal import sets
from condal.errors import ProblemError
from condal.sets import Box, Equal, NonNegative, NonPositive, Separable
from laws import (
    INF,
    SETS,
    long_set,
    multipliers_obey_their_law,
    pieces_obey_their_law,
    public_classes,
)

cases = pytest.mark.parametrize("case", SETS, ids=[case.name for case in SETS])
TIMES = 30


def vectors(case, rng):
    """Random z and y of many sizes, with some coordinates at 0 and at a member."""
    for _ in range(TIMES):
        z = rng.standard_normal(case.h.size) * 10.0 ** rng.uniform(-3, 4)
        z = np.where(rng.random(z.size) < 0.2, 0.0, z)
        yield np.where(rng.random(z.size) < 0.2, case.member(rng), z)


def tolerance(*arrays_):
    return 1e-12 * (1.0 + sum(float(np.abs(a).max(initial=0.0)) ** 2 for a in arrays_))


def test_every_public_set_is_listed():
    assert public_classes(sets, "prox") == {type(case.h) for case in SETS}


@cases
def test_members_are_fixed_points(case):
    rng = np.random.default_rng(0)
    for _ in range(TIMES):
        z = case.member(rng)
        np.testing.assert_array_equal(case.h.prox(z, 1.0), z)
        assert case.h.distance(z) == 0.0
        assert case.h.value(z) == 0.0


@cases
def test_prox_is_the_nearest_member(case):
    rng = np.random.default_rng(1)
    for z in vectors(case, rng):
        t = float(np.exp(rng.standard_normal()))
        p = case.h.prox(z, t)
        assert p.shape == z.shape
        np.testing.assert_array_equal(case.h.prox(p, t), p)
        assert case.h.distance(z) == pytest.approx(float(np.linalg.norm(z - p)), rel=1e-14)
        q = case.member(rng)
        assert float((z - p) @ (q - p)) <= tolerance(z, p, q)


@cases
def test_prox_is_firmly_nonexpansive(case):
    rng = np.random.default_rng(2)
    points = list(vectors(case, rng))
    for a, b in pairwise(points):
        d = case.h.prox(a, 1.0) - case.h.prox(b, 1.0)
        assert float(d @ d) <= float(d @ (a - b)) + tolerance(a, b)


@cases
def test_conjugate_is_the_support_function(case):
    rng = np.random.default_rng(3)
    for y in vectors(case, rng):
        for _ in range(3):  # h*(y) >= <y, z> for all members z
            z = case.member(rng)
            assert float(y @ z) <= case.h.conjugate(y) + tolerance(y, z)
        inside = case.h.dual_point(y)
        far = case.h.prox(1e9 * inside, 1.0)  # a member that attains it
        np.testing.assert_allclose(
            case.h.conjugate(inside), float(inside @ far), rtol=1e-12, atol=1e-9
        )


@cases
def test_conjugate_is_infinite_exactly_off_its_domain(case):
    rng = np.random.default_rng(4)
    for y in vectors(case, rng):
        inside = bool(np.array_equal(case.h.dual_point(y), y))
        assert np.isfinite(case.h.conjugate(y)) == inside
        if not inside:  # <y, .> is unbounded on K
            values = [float(y @ case.h.prox(t * y, 1.0)) for t in (1e3, 1e6)]
            assert values[1] > values[0] + 1e-6


@cases
def test_moreau_identity(case):
    """w = (z - prox_{th}(z))/t is prox_{h*/t}(z/t), and attains Fenchel and Young's equality."""
    rng = np.random.default_rng(5)
    for z in vectors(case, rng):
        t = float(np.exp(rng.standard_normal()))
        p = case.h.prox(z, t)
        w = (z - p) / t
        slack = tolerance(z, p, w)
        assert case.h.value(p) + case.h.conjugate(w) == pytest.approx(float(p @ w), abs=slack)
        y = case.h.dual_point(w + rng.standard_normal(w.size))
        left = case.h.conjugate(w) + 0.5 * t * float((w - z / t) @ (w - z / t))
        right = case.h.conjugate(y) + 0.5 * t * float((y - z / t) @ (y - z / t))
        assert left <= right + slack + tolerance(y)


@cases
def test_multipliers_are_what_the_projection_leaves_and_stay_where_the_conjugate_is_finite(case):
    rng = np.random.default_rng(6)
    for z in vectors(case, rng):
        multipliers_obey_their_law(case.h, z)


@pytest.mark.parametrize("h", [*(case.h for case in SETS), long_set()], ids=lambda h: str(h.size))
def test_a_set_is_the_sum_of_its_pieces(h):
    pieces_obey_their_law(h, np.random.default_rng(11))


@cases
def test_dual_point_is_the_nearest_of_finite_conjugate(case):
    rng = np.random.default_rng(7)
    for y in vectors(case, rng):
        d = case.h.dual_point(y)
        assert np.isfinite(case.h.conjugate(d))
        np.testing.assert_array_equal(case.h.dual_point(d), d)
        other = case.h.dual_point(y + rng.standard_normal(y.size))
        assert np.linalg.norm(y - d) <= np.linalg.norm(y - other) * (1 + 1e-14)
        assert float((y - d) @ (other - d)) <= tolerance(y, other)


@cases
def test_scaled_is_c_h_of_z_over_rows(case):
    rng = np.random.default_rng(8)
    for z in vectors(case, rng):
        rows, c = np.exp(rng.standard_normal(z.size)), float(np.exp(rng.standard_normal()))
        h, scaled = case.h, case.h.scaled(rows, c)
        assert scaled.size == h.size
        assert scaled.separable == h.separable
        member = rows * case.member(rng)
        assert scaled.distance(member) <= 1e-14 * (1 + np.abs(member).max(initial=0.0))
        assert scaled.value(member) == 0.0
        # h*(y) = sup <y, z> - c h(z / rows) = c h*(rows y / c)
        y = h.dual_point(z)
        np.testing.assert_allclose(
            scaled.conjugate(y), c * h.conjugate(rows * y / c), rtol=1e-12, atol=1e-12
        )
        d = scaled.dual_point(z)
        assert np.isfinite(h.conjugate(rows * d / c))
        # A separable h is a sum over coordinates: each is projected in its own unit.
        np.testing.assert_allclose(
            scaled.prox(z, 1.0), rows * h.prox(z / rows, 1.0), rtol=1e-12, atol=1e-12
        )


@cases
def test_arguments_are_left_alone(case):
    rng = np.random.default_rng(9)
    z = rng.standard_normal(case.h.size)
    z.flags.writeable = False
    rows = np.ones(z.size)
    rows.flags.writeable = False
    before = case.h.conjugate(case.h.dual_point(z))
    assert case.h.scaled(rows, 2.0).distance(z) == pytest.approx(case.h.distance(z))
    assert case.h.conjugate(case.h.dual_point(z)) == before


def test_separable_is_the_sum_of_its_parts():
    rng = np.random.default_rng(10)
    parts = [Equal([1.0, 2.0]), NonNegative(3), Box([-1.0], [INF]), NonPositive(0)]
    h = Separable(*parts)
    z = 5 * rng.standard_normal(6)
    pieces = [z[:2], z[2:5], z[5:6], z[6:]]
    np.testing.assert_array_equal(
        h.prox(z, 1.0), np.concatenate([p.prox(q, 1.0) for p, q in zip(parts, pieces, strict=True)])
    )
    squares = [p.distance(q) ** 2 for p, q in zip(parts, pieces, strict=True)]
    assert h.distance(z) == pytest.approx(np.sqrt(sum(squares)))
    assert h.conjugate(-np.ones(6)) == pytest.approx(-3.0 + 1.0)
    assert h.size == 6
    assert h.separable


def test_separable_is_as_separable_as_its_parts():
    class Whole(NonNegative):
        separable = False

    assert not Separable(Equal([1.0]), Whole(2)).separable


BOUND = st.floats(-1e3, 1e3) | st.just(INF) | st.just(-INF)


@given(
    st.lists(st.tuples(BOUND, BOUND), min_size=1, max_size=5).map(
        lambda pairs: [(lo, hi) for lo, hi in map(sorted, pairs) if lo < INF and hi > -INF]
    ),
    st.data(),
)
def test_boxes_project_coordinate_by_coordinate(bounds, data):
    box = Box([lo for lo, _ in bounds], [hi for _, hi in bounds])
    z = data.draw(arrays(np.float64, len(bounds), elements=st.floats(-1e6, 1e6)))
    p = box.prox(z, 1.0)
    for value, image, (lo, hi) in zip(z, p, bounds, strict=True):
        assert lo <= image <= hi
        assert image == value or (image == lo > value) or (image == hi < value)
    w = z - p
    assert np.isfinite(box.conjugate(w))
    assert box.conjugate(w) == pytest.approx(float(w @ p), rel=1e-9, abs=1e-6)


def test_the_callers_bounds_are_copied():
    b, low, high = np.zeros(2), np.zeros(2), np.ones(2)
    equal, box = Equal(b), Box(low, high)
    b[:], low[:], high[:] = 5.0, 5.0, 6.0
    assert equal.distance(np.zeros(2)) == 0.0
    assert box.distance(np.zeros(2)) == 0.0


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Equal([1.0, np.nan]),
            "b has the value nan at index 1; every entry must be a finite",
        ),
        (lambda: Equal([np.inf]), "b has the value inf at index 0"),
        (lambda: Equal(1.0), r"b must have 1 dimension; got shape \(\)"),
        (lambda: Equal([[1.0]]), r"b must have 1 dimension; got shape \(1, 1\)"),
        (lambda: Equal([1j]), "b is complex"),
        (lambda: Box([0.0], [np.nan]), "high has the value nan at index 0"),
        (lambda: Box([np.nan], [0.0]), "low has the value nan at index 0"),
        (lambda: Box([0.0, INF], [1.0, INF]), "low has the value inf at index 1"),
        (lambda: Box([-INF], [-INF]), "high has the value -inf at index 0"),
        (lambda: Box([0.0], [1.0, 2.0]), "low has length 1, high has 2"),
        (lambda: Box([0, 3], [1, 2]), r"the box is empty: low\[1\] = 3 is above high\[1\] = 2"),
        (lambda: Box([[0.0]], [[1.0]]), r"low must have 1 dimension; got shape \(1, 1\)"),
        (lambda: NonNegative(-1), "size must be a whole number, at least 0; got -1"),
        (lambda: NonPositive(2.5), "size must be a whole number, at least 0; got 2.5"),
    ],
)
def test_wrong_input_is_refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()
