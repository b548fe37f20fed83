"""The domains X that the laws are tried on, each known by other means, too: its `Region`."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal import eigen
from condal.domains import (
    Box,
    FlowPolytope,
    GroupL1Ball,
    Hull,
    L2Ball,
    Permutahedron,
    Polytope,
    Simplices,
)
from condal.linalg.points import LowRank
from laws.case import GROUPS, POINTS, Case, b
from truth import flats, polyhedra
from truth.polyhedra import Corners
from truth.regions import Joined, Nuclear, Region, Spectral

TRIES = 5  # directions in which vertices are sought,
STEPS = 5  # and steps from there to vertices that are farther apart, or from 0


@dataclass(frozen=True, eq=False)
class DomainCase(Case):
    """A domain and its region; `attained` says whether its max_norm and diameter are attained."""

    region: Region = None  # type: ignore[assignment]
    attained: bool = True

    def minimum(self, v: Any) -> float:
        """Return min over X of <v, .>."""
        return self.region.least(self.region.space.row(v))

    def members(self, rng: np.random.Generator) -> list[Any]:
        """Return points of X, among them some as far apart as can be."""
        region = self.region
        corners = list(getattr(region, "vertices", ()))
        for v in region.space.rows(rng, TRIES, False):
            x, y = region.vertex(v), region.vertex(-v)
            for _ in range(STEPS):
                x, y = region.vertex(y - x), region.vertex(x - y)
            z = x
            for _ in range(STEPS):
                z = region.vertex(-z)
            corners += [x, y, z]
        shares = rng.dirichlet(np.full(len(corners), 0.3), size=3)
        inside = [*(shares @ np.array(corners)), np.mean(corners, axis=0)]
        points = [region.space.point(z) for z in [*corners, *inside]]
        return [*points, *map(_in_other_form, points[-4:]), *region.others()]


def of_region(region: Region, attained: bool = True, make: Any = None, **arrays: Any) -> DomainCase:
    """The domain of a region, which `make` makes of arrays."""
    made = region.made(1.0)
    name = repr(region) if make is None else type(made).__name__
    make = make or (lambda: made)
    return DomainCase(name, make, space=region.space, region=region, attained=attained, **arrays)


def _in_other_form(x: Any) -> Any:
    """Return x with arrays as factors and factors as arrays."""
    if isinstance(x, tuple):
        return tuple(map(_in_other_form, x))
    if isinstance(x, LowRank) or x.ndim == 1:
        return np.asarray(x)
    values, vectors = np.linalg.eigh(x)
    return LowRank(vectors, np.maximum(values, 0.0))


def _flow(
    edges: list[tuple[int, int]], source: int, sink: int, attained: bool = True
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
    return of_region(Corners(FlowPolytope(tails, heads, source=source, sink=sink), paths), attained)


def grid_edges(rows: int, columns: int) -> list[tuple[int, int]]:
    """The edges to the right and down."""
    number = np.arange(rows * columns).reshape(rows, columns)
    right = zip(number[:, :-1].ravel(), number[:, 1:].ravel(), strict=True)
    down = zip(number[:-1].ravel(), number[1:].ravel(), strict=True)
    return [(int(a), int(b)) for a, b in [*right, *down]]


def _polytopes() -> Iterator[DomainCase]:
    eye = np.eye(3)
    yield of_region(Corners(Polytope(low=[2.0], high=[2.0]), [[2.0]]))
    box = Polytope(low=-1.0, high=[1.0, 3.0])
    yield of_region(Corners(box, list(product([-1, 1], [-1, 3]))))
    simplex = Polytope(E=np.ones((1, 3)), e=[2.0], low=0.0)
    yield of_region(Corners(simplex, 2 * eye), attained=False)
    corner = Polytope(sp.csr_array(np.ones((1, 3))), [1.0], low=0.0, high=1.0)
    yield of_region(Corners(corner, [np.zeros(3), *eye]), attained=False)
    signs = np.array(list(product([-1.0, 1.0], repeat=3)))
    octahedron = Polytope(signs, np.full(8, 0.5))
    yield of_region(Corners(octahedron, [*(0.5 * eye), *(-0.5 * eye)]), attained=False)
    wedge = Polytope([[1.0, 1.0], [-1.0, 2.0]], [4.0, 2.0], high=[np.inf, np.inf], low=[0.0, -1.0])
    yield of_region(Corners(wedge, [[0, -1], [5, -1], [2, 2], [0, 1]]), attained=False)


def _flows() -> Iterator[DomainCase]:
    yield _flow([(0, 1)], 0, 1)
    yield _flow([(2, 0), (0, 1), (1, 3)], 2, 3)  # one path
    yield _flow([(0, 1), (0, 2), (1, 3), (2, 3)], 0, 3)
    yield _flow([(0, 1), (1, 2), (1, 2), (2, 3)], 0, 3)  # edges side by side
    loose = [(4, 0), (0, 1), (0, 2), (1, 3), (2, 3), (2, 5), (0, 3)]
    yield _flow(loose, 0, 3)  # edges that lead nowhere
    yield _flow(grid_edges(3, 3), 0, 8)
    short = [(0, 1), (1, 2), (1, 2), (2, 3), (3, 4), (0, 4)]
    yield _flow(short, 0, 4, attained=False)


def _hull(*vertices: list[float]) -> Region:
    return polyhedra.Hull(np.array(vertices, dtype=float))


HERMITIAN_2 = Spectral(2, 1.0, False, hermitian=True)
REGIONS = [
    flats.L2Ball(1, 2.0, np.zeros(1)),
    flats.L2Ball(4, 0.5, np.zeros(4)),
    flats.Box(np.array([-1.0, 0.0, 2.0]), np.array([1.0, 0.0, 5.0])),
    flats.Box(np.array([-3.0]), np.array([-1.0])),
    flats.Box(np.array([-2.0]), np.array([2.0]), ball=True),
    flats.Box(np.full(3, -0.5), np.full(3, 0.5), ball=True),
    flats.Groups(np.array([5, 5, 5]), 0.5),
    flats.Groups(np.array([0]), 1.0),
    flats.KSparse(1, 1, 3.0),
    flats.KSparse(5, 2, 0.5),
    flats.KSparse(4, 4, 2.0),
    flats.Simplex(1, 2.0, cut=True),
    flats.Simplex(4, 0.5, cut=True),
    flats.Cone(1, 2.0),
    flats.Cone(2, 0.5),
    flats.Cone(4, 3.0),
    flats.Simplices([1]),
    flats.Simplex(1, 2.0),
    flats.Simplex(2, 1.0),
    flats.Simplex(6, 0.5),
    flats.L1Ball(1, 2.0),
    flats.L1Ball(5, 3.0),
    polyhedra.Birkhoff(1),
    polyhedra.Birkhoff(2),
    polyhedra.Birkhoff(4),
    polyhedra.Permutahedron(np.array([3.0])),
    polyhedra.Permutahedron(np.array([2.0, 2.0, 2.0])),
    polyhedra.Permutahedron(np.array([1.0, -1.0, 4.0, 4.0, 0.0])),
    _hull([1.0, -2.0, 0.5]),
    _hull([1.0, 2.0], [3.0, -1.0]),
    # One vertex twice, and one inside.
    _hull([0, 0, 1], [0, 0, 1], [4, 0, 1], [0, 3, 1], [1, 1, 1], [1, 1, 3]),
    Spectral(1, 2.0, False),
    Spectral(1, 2.0, True),
    Spectral(2, 1.0, False),
    Spectral(2, 3.0, True),
    Spectral(7, 5.0, False),
    Spectral(7, 0.1, True),
    Spectral(60, 60.0, False, engine=eigen.Lanczos()),
    Spectral(60, 1.0, True),
    Spectral(1, 2.0, False, hermitian=True),
    Spectral(3, 2.0, False, hermitian=True),
    Spectral(3, 0.5, True, hermitian=True),
    Spectral(40, 40.0, False, hermitian=True),
    Nuclear(1, 1, 2.0),
    Nuclear(4, 3, 0.5),
    Nuclear(2, 6, 3.0),
    Nuclear(50, 30, 1.0),
    Joined(flats.Simplex(3, 1.0), Spectral(4, 2.0, False)),
    Joined(HERMITIAN_2, Nuclear(2, 3, 1.0), Spectral(3, 2.0, False)),
    Joined(flats.L1Ball(2, 1.0), Joined(flats.Simplex(2, 1.0), flats.L1Ball(1, 1.0))),
]


def _of_arrays() -> Iterator[DomainCase]:
    yield of_region(flats.Groups(GROUPS, 1.0), make=GroupL1Ball, labels={"groups": GROUPS})
    yield of_region(flats.Box(-b, b), make=Box, numbers={"low": -b, "high": b})
    ball = flats.L2Ball(6, 2.0, b)
    yield of_region(ball, make=lambda centre: L2Ball(6, 2.0, centre=centre), numbers={"centre": b})
    yield of_region(polyhedra.Hull(POINTS), make=Hull, numbers={"vertices": POINTS})
    yield of_region(polyhedra.Permutahedron(b), make=Permutahedron, numbers={"vector": b})
    sizes = {"sizes": np.array([2, 3])}
    yield of_region(flats.Simplices([2, 3]), make=Simplices, places=sizes)
    rows = {"G": np.ones((1, 3)), "h": np.array([2.0]), "E": np.eye(1, 3), "e": np.array([0.5])}
    more = {"numbers": rows, "bounds": {"low": np.zeros(3), "high": np.ones(3)}}
    corners = [[0.5, *rest] for rest in ((0, 0), (1, 0), (1, 0.5), (0.5, 1), (0, 1))]
    known = Corners(Polytope(**rows, **more["bounds"]), corners)
    yield of_region(known, False, Polytope, sparse=("G", "E"), **more)
    ends = {"tails": np.array([0, 0, 1]), "heads": np.array([1, 2, 2])}
    known = Corners(FlowPolytope(**ends, source=0, sink=2), [[1, 0, 1], [0, 1, 0]])
    yield of_region(known, False, lambda **k: FlowPolytope(**k, source=0, sink=2), places=ends)


DOMAINS = [*_of_arrays(), *map(of_region, REGIONS), *_polytopes(), *_flows()]
