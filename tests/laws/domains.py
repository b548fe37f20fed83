"""The domains X that the laws are tried on."""

from typing import Any

import numpy as np

from condal import eigen
from condal.domains import Hermitian, L1Ball, NuclearBall, Product, Simplex, Spectrahedron
from condal.linalg.lifting import real_point, square_point
from condal.linalg.points import LowRank, dense
from condal.linalg.symmetric import Symmetric
from laws.domain_case import DomainCase
from laws.flat import FLAT
from laws.spaces import Hermitians, Matrices, Rectangles, Tuples, Vectors, random_lowrank


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


def hermitian_case(n: int, trace: float, at_most: bool = False) -> DomainCase:
    def members(rng: np.random.Generator) -> list[Any]:
        u = np.linalg.qr(rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n)))[0]
        found = [LowRank(u[:, [i]], np.array([trace])) for i in (0, n - 1)]
        found.append(LowRank(u, trace * rng.dirichlet(np.ones(n))))
        real = [real_point(x, n) for x in [*found, np.asarray(found[-1])]]
        flat = trace / (2 * n) * np.eye(2 * n)  # i u is another real vector, with the same u u*
        corners = [trace * np.outer(e, e) for e in np.eye(2 * n)]
        return [*real, flat, *corners, *([np.zeros((2 * n, 2 * n))] if at_most else [])]

    def minimum(v: Symmetric) -> float:
        smallest = float(np.linalg.eigvalsh(hermitian_of(v))[0])
        return trace * (min(smallest, 0.0) if at_most else smallest)

    name = f"Hermitian({n}, {trace:g}{', at_most' * at_most})"
    return DomainCase(name, Hermitian(n, trace, at_most), Hermitians(n), members, minimum)


def hermitian_of(v: Symmetric) -> np.ndarray:
    """The complex matrix whose real form v is."""
    full = v.to_dense()
    return full[::2, ::2] + 1j * full[1::2, ::2]


def nuclear_case(m: int, n: int, radius: float) -> DomainCase:
    def members(rng: np.random.Generator) -> list[Any]:
        U = np.linalg.qr(rng.standard_normal((m, min(m, n))))[0]
        V = np.linalg.qr(rng.standard_normal((n, min(m, n))))[0]
        found = [radius * np.outer(U[:, i], V[:, i]) for i in (0, -1)]
        found += [-found[0], 0.3 * found[-1], np.zeros((m, n))]
        found.append((U * (radius * rng.dirichlet(np.ones(U.shape[1])))) @ V.T)
        return [square_point(x, m, n) for x in found]

    def minimum(v: Symmetric) -> float:
        C = 2 * v.to_dense()[:m, m:]
        return -radius * float(np.linalg.svd(C, compute_uv=False)[0])

    name = f"NuclearBall({m}, {n}, {radius:g})"
    return DomainCase(name, NuclearBall(m, n, radius), Rectangles(m, n), members, minimum)


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
    *FLAT,
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
    hermitian_case(1, 2.0),
    hermitian_case(3, 2.0),
    hermitian_case(3, 0.5, at_most=True),
    hermitian_case(40, 40.0),
    nuclear_case(1, 1, 2.0),
    nuclear_case(4, 3, 0.5),
    nuclear_case(2, 6, 3.0),
    nuclear_case(50, 30, 1.0),
    product_case(simplex_case(3, 1.0), spectral_case(4, 2.0)),
    product_case(hermitian_case(2, 1.0), nuclear_case(2, 3, 1.0), spectral_case(3, 2.0)),
    product_case(l1_case(2, 1.0), product_case(simplex_case(2, 1.0), l1_case(1, 1.0))),
]
