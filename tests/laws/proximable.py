"""The laws of all proximable functions h, sets and nonsmooth functions alike.

A law takes a case and raises if the case breaks it. `LAWS` is all of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from condal.errors import ProblemError
from condal.linalg.blocked import BLOCK_LENGTH
from laws.case import Case

INF = np.inf
TIMES = 20


@dataclass(frozen=True, eq=False)
class ProximableCase(Case):
    """A set or a function, and random points of dom h, found by other means."""

    member: Callable[[np.random.Generator], np.ndarray] = None  # type: ignore[assignment]


def vectors(case: ProximableCase, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Random vectors of many sizes, with some coordinates at 0 and at a member; then members."""
    for _ in range(TIMES):
        z = rng.standard_normal(case.h.size) * 10.0 ** rng.uniform(-3, 4)
        z = np.where(rng.random(z.size) < 0.2, 0.0, z)
        yield np.where(rng.random(z.size) < 0.2, case.member(rng), z)
    yield from (case.member(rng), np.zeros(case.h.size))


def tolerance(*arrays: np.ndarray) -> float:
    """Of products of these."""
    return 1e-12 * (1.0 + sum(float(a @ a) for a in arrays))


def rounding(z: np.ndarray) -> float:
    """Of sums of the entries of z."""
    return 1e-12 * (1.0 + float(np.abs(z).max(initial=0.0)))


def step(rng: np.random.Generator) -> float:
    return float(np.exp(2 * rng.standard_normal()))


def prox_minimises(case: ProximableCase) -> None:
    """h(p) + |p - z|^2 / (2t) is least at p = prox(z, t), a point of dom h."""
    rng, h = np.random.default_rng(1), case.h
    for z in vectors(case, rng):
        t = step(rng)
        p = h.prox(z, t)
        assert p.shape == z.shape
        assert h.distance(p) <= 1e-13 * (1 + np.linalg.norm(z) + np.linalg.norm(p))
        near = p + 1e-3 * rng.standard_normal(z.size)
        for q in (case.member(rng), h.prox(near, t), h.prox(z, 0.5 * t)):
            least = h.value(p) + float((p - z) @ (p - z)) / (2 * t)
            other = h.value(q) + float((q - z) @ (q - z)) / (2 * t)
            assert least <= other + tolerance(z, p, q) / min(t, 1.0)


def prox_is_firmly_nonexpansive(case: ProximableCase) -> None:
    rng, h = np.random.default_rng(2), case.h
    for a, b in pairwise(vectors(case, rng)):
        t = step(rng)
        d = h.prox(a, t) - h.prox(b, t)
        assert float(d @ d) <= float(d @ (a - b)) + tolerance(a, b)


def domain_is_where_the_distance_is_0(case: ProximableCase) -> None:
    """`normal_residual` leads there, and is normal to it."""
    rng, h = np.random.default_rng(3), case.h
    for z in vectors(case, rng):
        member = case.member(rng)
        small = 1e-13 * (1 + np.linalg.norm(member))
        assert h.distance(member) <= small
        assert np.linalg.norm(h.normal_residual(member)) <= small
        assert np.isfinite(h.value(z))
        out = h.normal_residual(z)
        assert np.linalg.norm(out) == pytest.approx(h.distance(z), rel=1e-9, abs=1e-9)
        assert h.distance(z - out) <= 1e-11 * (1 + np.linalg.norm(z))
        assert float(out @ (member - (z - out))) <= tolerance(z, member)


def support_is_the_supremum_over_the_domain(case: ProximableCase) -> None:
    """support(d) >= <d, z> for all z in dom h, and no larger than what far points of it reach; it
    is finite at what `normal_residual` gives."""
    rng, h = np.random.default_rng(13), case.h
    assert h.support(np.zeros(h.size)) == h.support_error(np.zeros(h.size)) == 0.0
    for v in vectors(case, rng):
        out = h.normal_residual(v)
        assert np.isfinite(h.support(out))
        assert 0.0 <= h.support_error(out) <= 1e-11 * (1 + np.linalg.norm(out))
        for d in (v, out):
            found = h.support(d)
            for z in (case.member(rng), v - out):
                assert float(d @ z) <= found + tolerance(d, z)
            if np.isfinite(found):
                assert abs(found) <= h.support_abs_sum(d) * (1 + 1e-12)
                assert h.support(2.0 * d) == pytest.approx(2.0 * found, rel=1e-12)
            few, many = (float(d @ (z - h.normal_residual(z))) for z in (1e3 * d, 1e6 * d))
            if np.isfinite(found):
                assert found == pytest.approx(many, rel=1e-5, abs=2e-4 * (1 + float(d @ d)))
            else:
                assert many > few


def conjugate_is_the_supremum(case: ProximableCase) -> None:
    """h*(y) >= <y, z> - h(z) for all z, and no larger than what far points reach.

    The largest of <y, z> - h(z) - |z|^2 / (2T) is at prox(T y, T): h*(y) but for |z|^2 / (2T).
    """
    rng, h = np.random.default_rng(4), case.h
    for v in vectors(case, rng):
        y = h.dual_point(v)
        found = h.conjugate(y)
        for z in (case.member(rng), h.prox(10 * y, 1.0), h.prox(v, 3.0)):
            assert float(y @ z) - h.value(z) <= found + tolerance(y, z)
        T = 1e6
        far = h.prox(T * y, T)
        reached = float(y @ far) - h.value(far)
        assert found == pytest.approx(reached, rel=1e-5, abs=2e-4 * (1 + float(y @ y)))


def conjugate_is_infinite_off_its_domain(case: ProximableCase) -> None:
    rng, h = np.random.default_rng(5), case.h
    for y in vectors(case, rng):
        missed = float(np.linalg.norm(h.dual_point(y) - y))
        if missed == 0.0:
            assert np.isfinite(h.conjugate(y))
        elif missed > 1e-6 * (1 + np.linalg.norm(y)):  # <y, z> - h(z) is unbounded
            assert h.conjugate(y) == INF
            places = [h.prox(T * y, T) for T in (1e3, 1e6)]
            few, many = (float(y @ z) - h.value(z) for z in places)
            assert many > few + 100 * missed**2


def dual_point_is_the_nearest(case: ProximableCase) -> None:
    """Of those where h* is finite; it is one, exactly or but for a tiny `dual_error`."""
    rng, h = np.random.default_rng(6), case.h
    for y in vectors(case, rng):
        d = h.dual_point(y)
        assert np.isfinite(h.conjugate(d))
        assert 0.0 <= h.dual_error(d) <= 1e-11 * (1 + np.linalg.norm(d))
        np.testing.assert_array_equal(h.dual_point(d), d)
        other = h.dual_point(y + rng.standard_normal(y.size))
        assert np.linalg.norm(y - d) <= np.linalg.norm(y - other) * (1 + 1e-12)
        assert float((y - d) @ (other - d)) <= tolerance(y, other)


def moreau(case: ProximableCase) -> None:
    """w = (z - prox_{th}(z))/t is prox_{h*/t}(z/t): with p, Fenchel and Young's equality."""
    rng, h = np.random.default_rng(7), case.h
    for z in vectors(case, rng):
        t = step(rng)
        p, w = h.prox(z, t), h.multiplier(z, 1 / t)
        slack = tolerance(z, p, w)
        np.testing.assert_allclose(
            p + t * w, z, rtol=1e-12, atol=1e-12 * (1 + abs(z).max(initial=0))
        )
        assert h.value(p) + h.conjugate(w) == pytest.approx(float(p @ w), abs=slack)
        y = h.dual_point(w + rng.standard_normal(w.size))
        left = h.conjugate(w) + 0.5 * t * float((w - z / t) @ (w - z / t))
        right = h.conjugate(y) + 0.5 * t * float((y - z / t) @ (y - z / t))
        assert left <= right + (slack + tolerance(y)) * max(t, 1 / t)


def multipliers_obey_their_law(h: Any, z: np.ndarray) -> None:
    """They are lam (z - prox(z, 1/lam)) but for rounding, and points of dom h* in spite of it."""
    for lam in (1e-8, 0.1, 3.0, 1e8):
        w, p = h.multiplier(z, lam), h.prox(z, 1 / lam)
        size = np.abs(z).max(initial=0.0) + np.abs(p).max(initial=0.0)
        np.testing.assert_allclose(w, lam * (z - p), rtol=1e-12, atol=2e-14 * lam * size)
        assert np.isfinite(h.conjugate(w))
        np.testing.assert_array_equal(h.dual_point(w), w)
        at = z.copy()
        assert h.multiplier(at, lam, out=at) is at
        np.testing.assert_array_equal(at, w)


def multipliers(case: ProximableCase) -> None:
    for z in vectors(case, np.random.default_rng(8)):
        multipliers_obey_their_law(case.h, z)


def pieces_obey_their_law(h: Any, rng: np.random.Generator) -> None:
    """They follow each other, none is long, and all that is known of h is known from them."""
    z, y = 3.0 * rng.standard_normal((2, h.size))
    places = [here for here, _ in h.pieces]
    assert [i for here in places for i in range(h.size)[here]] == list(range(h.size))
    for here, part in h.pieces:
        assert part.size == here.stop - here.start
        assert part.size <= BLOCK_LENGTH or not part.separable
    inside = h.dual_point(y)
    for name, args, at in [
        ("prox", (0.7,), z),
        ("multiplier", (2.5,), z),
        ("dual_point", (), y),
    ]:
        joined = [getattr(part, name)(at[here], *args) for here, part in h.pieces]
        whole = getattr(h, name)(at, *args)
        np.testing.assert_array_equal(np.concatenate([*joined, np.zeros(0)]), whole)
    out = h.normal_residual(z)
    for name, at in [
        ("value", z),
        ("conjugate", inside),
        ("conjugate_abs_sum", inside),
        ("support", out),
        ("support_abs_sum", out),
    ]:
        total = sum(getattr(part, name)(at[here]) for here, part in h.pieces)
        assert total == pytest.approx(getattr(h, name)(at), rel=1e-9, abs=1e-12)
    for name, at in [("distance", z), ("dual_error", inside), ("support_error", out)]:
        parts = [getattr(part, name)(at[here]) for here, part in h.pieces]
        assert np.linalg.norm(parts) == pytest.approx(getattr(h, name)(at), rel=1e-12, abs=1e-25)


def pieces(case: ProximableCase) -> None:
    pieces_obey_their_law(case.h, np.random.default_rng(9))


def scaled_is_c_h_of_z_over_rows(case: ProximableCase) -> None:
    rng, h = np.random.default_rng(10), case.h
    for z in vectors(case, rng):
        c = step(rng)
        rows = np.exp(rng.standard_normal(z.size)) if h.separable else np.full(z.size, step(rng))
        scaled = h.scaled(rows, c)
        assert scaled.size == h.size
        assert scaled.separable == h.separable
        member = rows * case.member(rng)
        assert scaled.distance(member) <= 1e-13 * (1 + np.linalg.norm(member))
        assert scaled.value(member) == pytest.approx(c * h.value(member / rows), rel=1e-9)
        # (c h(. / rows))*(y) = sup <y, z> - c h(z / rows) = c h*(rows y / c)
        y = scaled.dual_point(z)
        there = h.dual_point(rows * y / c)
        np.testing.assert_allclose(there, rows * y / c, rtol=1e-12, atol=1e-11)
        assert scaled.conjugate(y) == pytest.approx(c * h.conjugate(there), rel=1e-9, abs=1e-9)
        out = scaled.normal_residual(z)  # the domain of h(. / rows) is rows * dom h
        assert scaled.support(out) == pytest.approx(h.support(rows * out), rel=1e-9, abs=1e-9)
        t = step(rng)
        p = scaled.prox(z, t)
        if np.all(rows == rows[:1]):  # |rows r - z|^2 / 2t = |r - z/rows|^2 / (2 t / rows^2)
            there = rows * h.prox(z / rows, c * t / float(rows[:1].sum() or 1.0) ** 2)
            np.testing.assert_allclose(
                p, there, rtol=1e-11, atol=1e-11 * (1 + abs(z).max(initial=0))
            )
        q = rows * case.member(rng)
        least = scaled.value(p) + float((p - z) @ (p - z)) / (2 * t)
        other = scaled.value(q) + float((q - z) @ (q - z)) / (2 * t)
        assert least <= other + tolerance(z, p, q) / min(t, 1.0)


def only_a_separable_one_takes_a_factor_a_row(case: ProximableCase) -> None:
    h, rows = case.h, np.linspace(1.0, 2.0, case.h.size)
    if h.separable or h.size < 2:
        assert h.scaled(rows, 1.0).size == h.size
        return
    with pytest.raises(ProblemError, match=r"takes one factor for all .*; got "):
        h.scaled(rows, 1.0)


def the_lipschitz_constant_is_one(case: ProximableCase) -> None:
    """|h(z) - h(q)| <= lipschitz |z - q|, and no number much smaller will do; inf for a set."""
    rng, h = np.random.default_rng(11), case.h
    if h.lipschitz == INF:
        return
    duals = [0.0]
    for z, q in pairwise(vectors(case, rng)):
        change = abs(h.value(z) - h.value(q))
        assert change <= h.lipschitz * np.linalg.norm(z - q) * (1 + 1e-12)
        duals.append(float(np.linalg.norm(h.dual_point(1e9 * np.sign(z)))))
    assert 0.5 * h.lipschitz <= max(duals) <= h.lipschitz * (1 + 1e-12)


def arguments_are_left_alone(case: ProximableCase) -> None:
    rng, h = np.random.default_rng(12), case.h
    z, rows = rng.standard_normal(h.size), np.ones(h.size)
    z.flags.writeable = rows.flags.writeable = False
    before = h.conjugate(h.dual_point(z))
    assert h.scaled(rows, 1.0).distance(z) == pytest.approx(h.distance(z))
    for result in (h.prox(z, 0.3), h.multiplier(z, 2.0), h.normal_residual(z)):
        assert result.shape == z.shape
    assert h.conjugate(h.dual_point(z)) == before


LAWS = [
    prox_minimises,
    prox_is_firmly_nonexpansive,
    domain_is_where_the_distance_is_0,
    support_is_the_supremum_over_the_domain,
    conjugate_is_the_supremum,
    conjugate_is_infinite_off_its_domain,
    dual_point_is_the_nearest,
    moreau,
    multipliers,
    pieces,
    scaled_is_c_h_of_z_over_rows,
    only_a_separable_one_takes_a_factor_a_row,
    the_lipschitz_constant_is_one,
    arguments_are_left_alone,
]
