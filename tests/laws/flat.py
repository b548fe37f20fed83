"""The domains of vectors that the laws are tried on, most of them known by all their vertices."""

from collections.abc import Iterator
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.domains import (
    Birkhoff,
    Box,
    CutCone,
    CutOrthant,
    FlowPolytope,
    GroupL1Ball,
    Hull,
    KSparse,
    L2Ball,
    LinfBall,
    Permutahedron,
    Polytope,
    Simplices,
)
from laws.domain_case import DomainCase
from laws.spaces import Vectors


def hull_case(name: str, X: Any, vertices: Any, attained: bool = True) -> DomainCase:
    """A domain that is the hull of these vertices."""
    V = np.unique(np.asarray(vertices, dtype=float), axis=0)

    def members(rng: np.random.Generator) -> list[Any]:
        inside = rng.dirichlet(np.full(len(V), 0.3), size=4) @ V
        return [*V, *inside, V.mean(axis=0)]

    return DomainCase(
        name,
        X,
        Vectors(V.shape[1]),
        members,
        lambda v: float(np.min(V @ np.asarray(v))),
        attained=attained,
        rules=lambda x: _in_hull(V, x),
    )


def _in_hull(V: Any, x: Any) -> list[Any]:
    import cvxpy as cp

    w = cp.Variable(len(V), nonneg=True)
    return [x == V.T @ w, cp.sum(w) == 1]


def l2_case(n: int, radius: float, centre: Any = None) -> DomainCase:
    c = np.zeros(n) if centre is None else np.asarray(centre, dtype=float)

    def members(rng: np.random.Generator) -> list[Any]:
        ways = rng.standard_normal((4, n))
        ways = np.vstack([ways / np.linalg.norm(ways, axis=1)[:, None], np.eye(n)[:1]])
        if c.any():
            ways[0] = c / np.linalg.norm(c)
        return [c.copy(), *(c + radius * ways), *(c - radius * ways), c + 0.3 * radius * ways[1]]

    return DomainCase(
        f"L2Ball({n}, {radius:g}{', centre' * (centre is not None)})",
        L2Ball(n, radius, centre=centre),
        Vectors(n),
        members,
        lambda v: float(c @ v - radius * np.sqrt(np.sum(np.square(v)))),
    )


def group_case(groups: list[int], radius: float) -> DomainCase:
    n = len(groups)
    places = [np.flatnonzero(np.asarray(groups) == g) for g in set(groups)]

    def members(rng: np.random.Generator) -> list[Any]:
        found: list[Any] = [np.zeros(n)]
        for place in places:
            x = np.zeros(n)
            u = rng.standard_normal(place.size)
            x[place] = radius * u / np.linalg.norm(u)
            found += [x, -x]
        weights = rng.dirichlet(np.ones(len(found)), size=3)
        return [*found, *(weights @ np.array(found))]

    def minimum(v: Any) -> float:
        return -radius * max(float(np.sqrt(np.sum(np.square(v[place])))) for place in places)

    return DomainCase(
        f"GroupL1Ball({groups}, {radius:g})",
        GroupL1Ball(groups, radius),
        Vectors(n),
        members,
        minimum,
    )


def box_case(low: list[float], high: list[float]) -> DomainCase:
    return hull_case(
        f"Box({low}, {high})", Box(low, high), list(product(*zip(low, high, strict=True)))
    )


def ksparse_case(n: int, k: int, radius: float) -> DomainCase:
    vertices = []
    for places in combinations(range(n), k):
        for signs in product([-radius, radius], repeat=k):
            vertices.append(np.zeros(n))
            vertices[-1][list(places)] = signs
    return hull_case(f"KSparse({n}, {k}, {radius:g})", KSparse(n, k, radius), vertices)


def simplices_case(sizes: list[int]) -> DomainCase:
    corners = product(*(np.eye(size) for size in sizes))
    return hull_case(f"Simplices({sizes})", Simplices(sizes), [np.concatenate(x) for x in corners])


def cut_orthant_case(n: int, height: float) -> DomainCase:
    return hull_case(
        f"CutOrthant({n}, {height:g})",
        CutOrthant(n, height),
        np.vstack([np.zeros(n), height * np.eye(n)]),
    )


def cut_cone_case(n: int, height: float) -> DomainCase:
    def members(rng: np.random.Generator) -> list[Any]:
        ways = rng.standard_normal((4, n - 1))
        ways /= np.linalg.norm(ways, axis=1)[:, None] if n > 1 else 1.0
        ways = np.vstack([ways, -ways[:1]])
        rim = height * np.hstack([np.ones((5, 1)), ways])
        return [*rim, *(rng.random((5, 1)) * rim), rim.mean(axis=0), np.zeros(n)]

    return DomainCase(
        f"CutCone({n}, {height:g})",
        CutCone(n, height),
        Vectors(n),
        members,
        lambda v: height * min(0.0, float(v[0] - np.sqrt(np.sum(np.square(v[1:]))))),
    )


def birkhoff_case(side: int) -> DomainCase:
    vertices = [np.eye(side)[list(order)].ravel() for order in permutations(range(side))]
    return hull_case(f"Birkhoff({side})", Birkhoff(side), vertices)


def permutahedron_case(vector: list[float]) -> DomainCase:
    vertices = list(permutations(vector))
    return hull_case(f"Permutahedron({vector})", Permutahedron(vector), vertices)


def flow_case(
    name: str, edges: list[tuple[int, int]], source: int, sink: int, attained: bool = True
) -> DomainCase:
    paths: list[Any] = []

    def follow(vertex: int, used: list[int]) -> None:
        if vertex == sink:
            paths.append(np.isin(np.arange(len(edges)), used).astype(float))
        for i, (tail, head) in enumerate(edges):
            if tail == vertex:
                follow(head, [*used, i])

    follow(source, [])
    tails, heads = zip(*edges, strict=True)
    X = FlowPolytope(tails, heads, source=source, sink=sink)
    return hull_case(f"FlowPolytope, {name}", X, paths, attained)


def grid_edges(rows: int, columns: int) -> list[tuple[int, int]]:
    """The edges to the right and down."""
    number = np.arange(rows * columns).reshape(rows, columns)
    right = zip(number[:, :-1].ravel(), number[:, 1:].ravel(), strict=True)
    down = zip(number[:-1].ravel(), number[1:].ravel(), strict=True)
    return [(int(a), int(b)) for a, b in [*right, *down]]


def _polytopes() -> Iterator[DomainCase]:
    eye = np.eye(3)
    yield hull_case("Polytope, one point", Polytope(low=[2.0], high=[2.0]), [[2.0]])
    yield hull_case(
        "Polytope, a box", Polytope(low=-1.0, high=[1.0, 3.0]), list(product([-1, 1], [-1, 3]))
    )
    yield hull_case(
        "Polytope, a simplex",
        Polytope(E=np.ones((1, 3)), e=[2.0], low=0.0),
        2 * eye,
        attained=False,
    )
    corner = Polytope(sp.csr_array(np.ones((1, 3))), [1.0], low=0.0, high=1.0)
    yield hull_case("Polytope, sparse", corner, [np.zeros(3), *eye], attained=False)
    signs = np.array(list(product([-1.0, 1.0], repeat=3)))
    octahedron = Polytope(signs, np.full(8, 0.5))
    yield hull_case("Polytope, no bounds", octahedron, [*(0.5 * eye), *(-0.5 * eye)], False)
    wedge = Polytope([[1.0, 1.0], [-1.0, 2.0]], [4.0, 2.0], high=[np.inf, np.inf], low=[0.0, -1.0])
    yield hull_case("Polytope, some bounds", wedge, [[0, -1], [5, -1], [2, 2], [0, 1]], False)


def _flows() -> Iterator[DomainCase]:
    yield flow_case("one edge", [(0, 1)], 0, 1)
    yield flow_case("one path", [(2, 0), (0, 1), (1, 3)], 2, 3)
    yield flow_case("a diamond", [(0, 1), (0, 2), (1, 3), (2, 3)], 0, 3)
    yield flow_case("a bridge and edges side by side", [(0, 1), (1, 2), (1, 2), (2, 3)], 0, 3)
    loose = [(4, 0), (0, 1), (0, 2), (1, 3), (2, 3), (2, 5), (0, 3)]
    yield flow_case("edges that lead nowhere", loose, 0, 3)
    yield flow_case("a grid", grid_edges(3, 3), 0, 8)
    shared = [(0, 1), (1, 2), (1, 2), (2, 3), (3, 4), (0, 4)]
    yield flow_case("a short way round", shared, 0, 4, attained=False)


FLAT = [
    l2_case(1, 2.0),
    l2_case(4, 0.5),
    l2_case(3, 2.0, [1.0, -4.0, 0.5]),
    box_case([-1.0, 0.0, 2.0], [1.0, 0.0, 5.0]),
    box_case([-3.0], [-1.0]),
    hull_case("LinfBall(1, 2)", LinfBall(1, 2.0), [[-2.0], [2.0]]),
    hull_case("LinfBall(3, 0.5)", LinfBall(3, 0.5), list(product([-0.5, 0.5], repeat=3))),
    group_case([0, 1, 0, 2, 1], 2.0),
    group_case([5, 5, 5], 0.5),
    group_case([0], 1.0),
    ksparse_case(1, 1, 3.0),
    ksparse_case(5, 2, 0.5),
    ksparse_case(4, 4, 2.0),
    birkhoff_case(1),
    birkhoff_case(2),
    birkhoff_case(4),
    permutahedron_case([3.0]),
    permutahedron_case([2.0, 2.0, 2.0]),
    permutahedron_case([1.0, -1.0, 4.0, 4.0, 0.0]),
    hull_case("Hull, one vertex", Hull([[1.0, -2.0, 0.5]]), [[1.0, -2.0, 0.5]]),
    hull_case("Hull, a segment", Hull([[1.0, 2.0], [3.0, -1.0]]), [[1, 2], [3, -1]]),
    hull_case(
        "Hull, with a vertex twice and one inside",
        Hull([[0, 0, 1], [0, 0, 1], [4, 0, 1], [0, 3, 1], [1, 1, 1], [1, 1, 3]]),
        [[0, 0, 1], [4, 0, 1], [0, 3, 1], [1, 1, 3]],
    ),
    cut_orthant_case(1, 2.0),
    cut_orthant_case(4, 0.5),
    cut_cone_case(1, 2.0),
    cut_cone_case(2, 0.5),
    cut_cone_case(4, 3.0),
    simplices_case([1]),
    simplices_case([2, 1, 3]),
    *_polytopes(),
    *_flows(),
]
