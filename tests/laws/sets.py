"""The sets K that the laws are tried on, and laws that all proximable functions share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from condal.passes import PIECE
from condal.sets import Box, Equal, NonNegative, NonPositive, Separable

INF = np.inf


@dataclass(frozen=True)
class SetCase:
    name: str
    h: Any
    member: Callable[[np.random.Generator], np.ndarray]


def _between(low: Any, high: Any) -> Callable[[np.random.Generator], np.ndarray]:
    """Random points of a box, found without its projection; infinite sides reach some way out."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    bottom = np.where(np.isfinite(low), low, np.minimum(high, 0) - 20)
    bottom = np.where(np.isfinite(bottom), bottom, -20.0)
    top = np.where(np.isfinite(high), high, np.maximum(bottom, 0) + 20)

    def member(rng: np.random.Generator) -> np.ndarray:
        share = rng.choice([0.0, 1.0, float(rng.random())], size=low.size)
        return np.clip(bottom + share * (top - bottom), bottom, top)

    return member


def _together(*cases: SetCase) -> SetCase:
    def member(rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([case.member(rng) for case in cases])

    name = "Separable of " + ", ".join(case.name for case in cases)
    return SetCase(name, Separable(*(case.h for case in cases)), member)


def _sets() -> Iterator[SetCase]:
    b = np.array([1.0, -2.0, 0.0, 1e3])
    equal = SetCase("Equal", Equal(b), lambda rng: b.copy())
    low, high = [-1.0, 0.0, -INF, 2.0, -INF, -3.0], [1.0, 0.0, 1.0, INF, INF, -1.0]
    box = SetCase("Box", Box(low, high), _between(low, high))
    positive = SetCase("NonNegative", NonNegative(3), _between([0.0] * 3, [INF] * 3))
    negative = SetCase("NonPositive", NonPositive(2), _between([-INF] * 2, [0.0] * 2))
    yield from (equal, box, positive, negative)
    yield SetCase("Box, finite", Box([-1, -5], [2, -1]), _between([-1, -5], [2, -1]))
    yield SetCase("Box, free", Box([-INF] * 2, [INF] * 2), _between([-INF] * 2, [INF] * 2))
    yield SetCase("Equal, nothing", Equal(np.zeros(0)), lambda rng: np.zeros(0))
    yield SetCase("Separable of nothing", Separable(), lambda rng: np.zeros(0))
    yield (both := _together(equal, box, positive, negative))
    yield _together(both, positive)


SETS = list(_sets())


def long_set() -> Separable:
    """One that does not fit a piece, nor do most of its parts."""
    rng = np.random.default_rng(4)
    low = rng.choice([-1.0, -INF], PIECE + 1)
    return Separable(
        NonNegative(2 * PIECE + 1),
        Equal(rng.standard_normal(PIECE + 7)),
        NonPositive(PIECE),
        Box(low, rng.choice([0.5, INF], low.size)),
    )


def multipliers_obey_their_law(h: Any, z: np.ndarray) -> None:
    """They are lam (z - prox(z, 1/lam)) but for rounding, and points of dom h* in spite of it."""
    for lam in (1e-8, 0.1, 3.0, 1e8):
        w, p = h.multiplier(z, lam), h.prox(z, 1 / lam)
        size = np.abs(z).max(initial=0.0) + np.abs(p).max(initial=0.0)
        np.testing.assert_allclose(w, lam * (z - p), rtol=1e-12, atol=1e-14 * lam * size)
        assert np.isfinite(h.conjugate(w))
        np.testing.assert_array_equal(h.dual_point(w), w)
        at = z.copy()
        assert h.multiplier(at, lam, out=at) is at
        np.testing.assert_array_equal(at, w)


def pieces_obey_their_law(h: Any, rng: np.random.Generator) -> None:
    """They follow each other, none is long, and all that is known of h is known from them."""
    z, y = 3.0 * rng.standard_normal((2, h.size))
    places = [here for here, _ in h.pieces]
    assert [i for here in places for i in range(h.size)[here]] == list(range(h.size))
    assert all(part.size == here.stop - here.start <= PIECE for here, part in h.pieces)
    inside = h.dual_point(y)
    for name, args, at in [
        ("prox", (0.7,), z),
        ("multiplier", (2.5,), z),
        ("dual_point", (), y),
    ]:
        joined = [getattr(part, name)(at[here], *args) for here, part in h.pieces]
        whole = getattr(h, name)(at, *args)
        np.testing.assert_array_equal(np.concatenate([*joined, np.zeros(0)]), whole)
    for name, at in [("value", z), ("conjugate", inside), ("conjugate_size", inside)]:
        total = sum(getattr(part, name)(at[here]) for here, part in h.pieces)
        assert total == pytest.approx(getattr(h, name)(at), rel=1e-9)
    distances = [part.distance(z[here]) for here, part in h.pieces]
    assert np.linalg.norm(distances) == pytest.approx(h.distance(z), rel=1e-12)
