"""The nonsmooth functions g that the laws of proximable functions are tried on."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from condal.nonsmooth import (
    L1,
    L2,
    AbsoluteLoss,
    EpsilonInsensitive,
    GroupL1,
    Hinge,
    Linf,
    MaxEigenvalue,
    Maximum,
    Quantile,
    total_variation,
)
from condal.sets import NonNegative, Separable
from laws.case import GROUPS, SIGNS, b
from laws.proximable import ProximableCase


def _case(name: str, made: Any, **arrays: Any) -> ProximableCase:
    """A function that is made already, or that is made of arrays."""
    case = ProximableCase(name, made if arrays else lambda: made, **arrays)
    size = case.h.size
    return replace(case, member=lambda rng: 5 * rng.standard_normal(size))


def _functions() -> Iterator[ProximableCase]:
    rng = np.random.default_rng(6)
    c = 3 * rng.standard_normal(5)
    signs = np.array([1.0, -1.0, -1.0, 1.0])
    yield _case("L1", L1(0.7, 4))
    yield _case("L1, weighted", L1, numbers={"t": b})
    yield _case("L1, sized", L1(0.3).sized(2))
    yield _case("L2", L2(0.7, 4))
    yield _case("L2, sized", L2().sized(1))
    yield _case("Linf", Linf(2.0, 5))
    yield _case("Linf, sized", Linf(0.1).sized(1))
    yield _case("GroupL1", GroupL1([0, 1, 1, 0, 2, 1], 0.4))
    yield _case("GroupL1, weighted", GroupL1, numbers={"t": b[:2]}, labels={"groups": GROUPS})
    yield _case("Hinge", Hinge(signs, 0.5))
    yield _case("Hinge, weighted", Hinge, numbers={"t": b}, labels={"labels": SIGNS})
    yield _case("Hinge, without labels", Hinge(t=2.0).sized(3))
    yield _case("EpsilonInsensitive", EpsilonInsensitive(c, 0.5, 2.0))
    both = {"c": b, "epsilon": b, "t": b}
    yield _case("EpsilonInsensitive, weighted", EpsilonInsensitive, numbers=both)
    yield _case("Maximum", Maximum(2.0, 5))
    yield _case("Maximum, sized", Maximum().sized(1))
    yield _case("Quantile", Quantile(c, 0.9))
    weighted = {"c": b, "t": b}
    yield _case("Quantile, weighted", lambda c, t: Quantile(c, 0.3, t), numbers=weighted)
    yield _case("MaxEigenvalue", MaxEigenvalue(3, 0.5))
    yield _case("MaxEigenvalue, n = 1", MaxEigenvalue(1))
    yield _case("AbsoluteLoss", AbsoluteLoss(c, 0.5))
    yield _case("AbsoluteLoss, weighted", AbsoluteLoss, numbers={"c": b, "t": b})
    yield _case("total variation", total_variation((2, 3), 0.3))
    yield _case("total variation, not isotropic", total_variation((2, 3), 0.3, isotropic=False))
    mixed = Separable(L1(0.7, 2), Maximum(0.5, 3), Hinge([1.0, -1.0]))
    yield _case("Separable of functions", mixed)
    yield ProximableCase.of(
        "Separable of a set and a function",
        Separable(NonNegative(2), L2(0.3, 3)),
        member=lambda rng: np.concatenate([rng.random(2), rng.standard_normal(3)]),
    )


FUNCTIONS = list(_functions())
