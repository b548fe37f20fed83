"""Every family of problems, each generated from a seed."""

from collections.abc import Callable

import numpy as np

from condal import eigen
from laws.domains import DOMAINS
from truth import flats, polyhedra
from truth.applications import MATRICES
from truth.case import Case
from truth.models import MODELS
from truth.regions import Joined, Nuclear, Region, Spectral
from truth.templates import random_case

LARGER = 0.03  # of all sides
ITERATIVE = (
    eigen.Lanczos(),
    eigen.Lanczos(max_bytes=1),
    eigen.Automatic(dense_below=0, full_below=0),
)


def _side(rng, most: int = 6) -> int:
    """Up to `most`, and sometimes more."""
    return int(rng.integers(1, (3 * most if rng.random() < LARGER else most) + 1))


def _size(rng) -> float:
    return float(rng.choice([0.5, 1.0, 1.0, 4.0]))


def _spectral(hermitian: bool = False) -> Callable[..., Region]:
    most = 4 if hermitian else 6

    def made(rng) -> Region:
        n, engine = _side(rng, most), None
        if rng.random() < 0.2:  # as for large matrices
            engine = ITERATIVE[int(rng.integers(len(ITERATIVE)))]
            n = n if hermitian else int(rng.integers(1, 13))
        return Spectral(n, _size(rng), bool(rng.integers(2)), hermitian, engine)

    return made


def _box(rng) -> Region:
    n = _side(rng)
    low = rng.integers(-4, 1, n).astype(float)
    return flats.Box(low, low + rng.integers(0, 4, n))


def _ball(rng) -> Region:
    n = _side(rng)
    return flats.L2Ball(n, _size(rng), rng.integers(-2, 3, n) * float(rng.integers(2)))


def _ksparse(rng) -> Region:
    n = _side(rng)
    return flats.KSparse(n, int(rng.integers(1, n + 1)), _size(rng))


def _linf(rng) -> Region:
    n, radius = _side(rng), _size(rng)
    return flats.Box(np.full(n, -radius), np.full(n, radius), ball=True)


def _joined(rng) -> Region:
    names = rng.choice([name for name in REGIONS if name != "product"], int(rng.integers(1, 4)))
    return Joined(*(REGIONS[str(name)](rng) for name in names))


REGIONS: dict[str, Callable[..., Region]] = {
    "spectrahedron": _spectral(),
    "hermitian": _spectral(True),
    "nuclear": lambda rng: Nuclear(_side(rng, 4), _side(rng, 4), _size(rng)),
    "simplex": lambda rng: flats.Simplex(_side(rng), _size(rng)),
    "cut-orthant": lambda rng: flats.Simplex(_side(rng), _size(rng), cut=True),
    "simplices": lambda rng: flats.Simplices(rng.integers(1, 4, _side(rng, 3)).tolist()),
    "l1": lambda rng: flats.L1Ball(_side(rng), _size(rng)),
    "l2": _ball,
    "linf": _linf,
    "box": _box,
    "ksparse": _ksparse,
    "groups": lambda rng: flats.Groups(rng.integers(0, 3, _side(rng)), _size(rng)),
    "cut-cone": lambda rng: flats.Cone(_side(rng), _size(rng)),
    "birkhoff": lambda rng: polyhedra.Birkhoff(_side(rng, 3)),
    "permutahedron": lambda rng: polyhedra.Permutahedron(
        rng.integers(-3, 4, _side(rng, 5)).astype(float)
    ),
    "flow": polyhedra.random_flow,
    "polytope": polyhedra.random_polytope,
    "hull": lambda rng: polyhedra.Hull(
        rng.integers(-3, 4, (_side(rng, 6), _side(rng, 4))).astype(float)
    ),
    "product": _joined,
}


def listed_regions(regions: dict[str, Callable[..., Region]]) -> dict[str, Callable[..., Region]]:
    """The regions of the laws, by the name of their class, where no other makes such a domain."""
    made = {type(region(np.random.default_rng(0)).made(1.0)) for region in regions.values()}
    found: dict[str, list[Region]] = {}
    for case in DOMAINS:
        if type(case.X) not in made:
            found.setdefault(type(case.X).__name__, []).append(case.region)
    return {name: _one_of(listed) for name, listed in found.items()}


def _one_of(regions: list[Region]) -> Callable[..., Region]:
    return lambda rng: regions[int(rng.integers(len(regions)))]


REGIONS |= listed_regions(REGIONS)


def _of_region(name: str) -> Callable[[int], Case]:
    def made(seed: int) -> Case:
        rng = np.random.default_rng([seed, *name.encode()])
        return random_case(name, REGIONS[name](rng), rng)

    return made


FAMILIES: dict[str, Callable[[int], Case]] = {
    **{name: _of_region(name) for name in REGIONS},
    **MATRICES,
    **MODELS,
}
