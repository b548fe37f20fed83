"""The domains X that the laws are tried on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from condal import eigen
from condal.domains import L1Ball, Product, Simplex, Spectrahedron
from condal.operators import Symmetric
from condal.points import LowRank, dense
from laws.spaces import Matrices, Tuples, Vectors, random_lowrank


@dataclass(frozen=True)
class DomainCase:
    name: str
    X: Any
    space: Any
    members: Callable[[np.random.Generator], list[Any]]  # among them points as far apart as can be
    minimum: Callable[[Any], float]  # min over X of <v, .>, by other means
    exact: bool = True  # whether the oracle is exact at tol = 0


def simplex_case(n: int, radius: float) -> DomainCase:
    def members(rng: np.random.Generator) -> list[Any]:
        return [*(radius * np.eye(n)), *(radius * rng.dirichlet(np.ones(n), size=4))]

    return DomainCase(
        f"Simplex({n}, {radius:g})",
        Simplex(n, radius),
        Vectors(n),
        members,
        lambda v: radius * float(np.min(v)),
    )


def l1_case(n: int, radius: float) -> DomainCase:
    def members(rng: np.random.Generator) -> list[Any]:
        inside = rng.dirichlet(np.ones(n), size=4) * rng.choice([-1, 1], size=(4, n))
        corners = radius * np.eye(n)
        return [*corners, *-corners, *(radius * rng.random((4, 1)) * inside), np.zeros(n)]

    return DomainCase(
        f"L1Ball({n}, {radius:g})",
        L1Ball(n, radius),
        Vectors(n),
        members,
        lambda v: -radius * float(np.max(np.abs(v))),
    )


def spectral_case(
    n: int, trace: float, at_most: bool = False, engine: Any = None, exact: bool = True
) -> DomainCase:
    def members(rng: np.random.Generator) -> list[Any]:
        found: list[Any] = [trace * np.outer(e, e) for e in np.eye(n)]
        for rank in (1, 2, n):
            x = random_lowrank(n, rank, rng)
            found.append(LowRank(x.U, x.weights * (trace / x.trace)))
        u = np.linalg.qr(rng.standard_normal((n, n)))[0]
        found += [LowRank(u[:, [i]], np.array([trace])) for i in (0, n - 1)]
        if at_most:
            found += [np.zeros((n, n)), LowRank(u[:, [0]], np.zeros(1)), 0.3 * dense(found[0])]
        return found

    def minimum(v: Symmetric) -> float:
        smallest = float(np.linalg.eigvalsh(v.to_dense())[0])
        return trace * (min(smallest, 0.0) if at_most else smallest)

    X = (
        Spectrahedron(n, trace, at_most)
        if engine is None
        else Spectrahedron(n, trace, at_most, engine)
    )
    name = f"Spectrahedron({n}, {trace:g}{', at_most' * at_most}{f', {engine}' if engine else ''})"
    return DomainCase(name, X, Matrices(n), members, minimum, exact)


def product_case(*cases: DomainCase) -> DomainCase:
    def members(rng: np.random.Generator) -> list[Any]:
        choices = [case.members(rng) for case in cases]
        return [tuple(c[i % len(c)] for c in choices) for i in range(max(map(len, choices)))]

    return DomainCase(
        "Product of " + ", ".join(case.name for case in cases),
        Product(*(case.X for case in cases)),
        Tuples(tuple(case.space for case in cases)),
        members,
        lambda v: sum(case.minimum(w) for case, w in zip(cases, v, strict=True)),
        all(case.exact for case in cases),
    )


DOMAINS = [
    simplex_case(1, 2.0),
    simplex_case(2, 1.0),
    simplex_case(6, 0.5),
    l1_case(1, 2.0),
    l1_case(5, 3.0),
    spectral_case(1, 2.0),
    spectral_case(1, 2.0, at_most=True),
    spectral_case(2, 1.0),
    spectral_case(2, 3.0, at_most=True),
    spectral_case(7, 5.0),
    spectral_case(7, 0.1, at_most=True),
    spectral_case(60, 60.0, engine=eigen.Lanczos()),
    spectral_case(60, 2.0, engine=eigen.Arpack()),
    spectral_case(60, 1.0, at_most=True),
    product_case(simplex_case(3, 1.0), spectral_case(4, 2.0)),
    product_case(l1_case(2, 1.0), product_case(simplex_case(2, 1.0), l1_case(1, 1.0))),
]
