"""The choice of a storage, for one block or several, and whether a given one fits."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from condal.domains.wrapped import Wrapped
from condal.errors import ProblemError
from condal.linalg.points import Point
from condal.storage.sketch import Sketch, Spectrum, reconstructed, together
from condal.storage.whole import Atoms, Dense, Factor, Factored
from condal.types import Domain, Keeps, Spectral, Storage, matrix_sides

DEFAULT_MAX_BYTES = 2**30
MAX_POINT_FLOPS = 1e9  # of the reconstruction of a point from a sketch
LEAST_RANK = 10  # of a sketch, if memory allows: fewer columns lose more than they save


class Blocks:
    """Store each block of a point of a Product in its own storage.

    Parameters
    ----------
    *parts : Storage
        The storages, in the order of the blocks.
    """

    checkpoint_fields: ClassVar[tuple[str, ...]] = ("parts",)

    def __init__(self, *parts: Storage) -> None:
        self.parts = parts

    def move(self, s: Point, eta: float) -> None:
        assert isinstance(s, tuple)
        for part, block in zip(self.parts, s, strict=True):
            part.move(block, eta)

    def load(self, x: Point) -> None:
        assert isinstance(x, tuple)
        for part, block in zip(self.parts, x, strict=True):
            part.load(block)

    def point(self) -> Point:
        return tuple(part.point() for part in self.parts)

    def bytes(self, X: Domain) -> int:
        """At most what the storages of the blocks take together."""
        pairs = zip(getattr(X, "parts", ()), self.parts, strict=True)
        return sum(storage_bytes(block, part) for block, part in pairs)

    def reconstructed(self) -> tuple[Point, Spectrum | None]:
        """Return the tuple of the points, and what is known of the sketched blocks."""
        points, spectra = zip(*(reconstructed(part) for part in self.parts), strict=True)
        return points, together([spectrum for spectrum in spectra if spectrum])


def automatic(
    X: Domain,
    p: int,
    *,
    keeps: Keeps = "x",
    seed: int = 0,
    max_bytes: int | None = None,
) -> Storage:
    r"""Choose a storage for points of X.

    Vectors are stored as Dense. Matrices are stored as Factored if 2n columns fit into memory, else
    as a Sketch. The rank of a sketch is the smallest of three numbers: the Barvinok-Pataki bound
    :math:`\sqrt{2p}` on the rank of some solution; the rank at which a point is reconstructed in
    about a second, but at least 10; and what `max_bytes` allows, including the reconstruction.

    Parameters
    ----------
    X : Domain
        The domain.
    p : int
        The number of rows of A and M.
    keeps : {"x", "factor", "atoms", "atoms by block", "sketch"}
        What the method needs of x.
    seed : int
        The seed of a sketch.
    max_bytes : int or None
        The memory limit; None for 1 GiB.

    Returns
    -------
    Storage
        An empty storage.
    """
    max_bytes = DEFAULT_MAX_BYTES if max_bytes is None else max_bytes
    if keeps == "factor":
        return Factor()
    if keeps in ("atoms", "atoms by block"):
        return Atoms(by_block=keeps == "atoms by block")
    from condal.domains.product import Product

    if isinstance(X, Product):
        share = max_bytes // len(X.parts)
        return Blocks(
            *(automatic(part, p, keeps=keeps, seed=seed, max_bytes=share) for part in X.parts)
        )
    if not isinstance(X, Spectral):
        return Dense()
    if keeps == "x" and Factored.bytes_for(X.n) <= max_bytes:
        return Factored(X.n)
    sufficient = int(np.ceil(np.sqrt(2 * p))) + 1
    quick = max(LEAST_RANK, int(np.sqrt(MAX_POINT_FLOPS / (8 * X.n))))
    affordable = max_bytes // Sketch.bytes_for(X.n, 1)
    return Sketch(X.n, max(1, min(sufficient, quick, affordable)), seed=seed)


def require_fit(storage: Storage, X: Domain) -> None:
    """Raise ProblemError if the storage cannot hold points of X.

    Parameters
    ----------
    storage : Storage
        The storage.
    X : Domain
        The domain.

    Raises
    ------
    ProblemError
        If the storage is for another kind or size of points.
    """
    if isinstance(storage, Factor):
        return  # of any point
    from condal.domains.lifted import Hermitian, NuclearBall
    from condal.domains.product import Product

    while isinstance(X, Wrapped) and not isinstance(X, Spectral):
        X = X.X
    n = None  # the side of a symmetric matrix
    if isinstance(storage, Factored | Sketch):
        n = storage.n
    if isinstance(X, Product):
        fits = n is None and not isinstance(storage, Dense)
        wanted = "Blocks(...), one storage per block, or Atoms()"
    elif isinstance(X, Spectral):
        fits = n is None or n == X.n
        example = f"Factored({X.n})"
        if isinstance(storage, Sketch):
            example = f"Sketch({X.n}, {storage.R})"
        lift = ", twice that of x, which is complex" if isinstance(X, Hermitian) else ""
        lift = f" = {X.rows} + {X.cols}" if isinstance(X, NuclearBall) else lift
        wanted = f"one for n = {X.n}{lift}, such as {example}"
    else:
        fits = n is None
        wanted = "Dense() or Atoms()"
    if not fits:
        raise ProblemError(
            f"storage {type(storage).__name__} does not fit the domain {type(X).__name__}: pass "
            f"{wanted}, or leave it out"
        )


def storage_bytes(X: Domain, storage: Storage | None) -> int:
    """Return the most bytes that a storage takes for points of X.

    Without a storage, or one that does not say, it is the least that any storage takes.
    """
    own = getattr(storage, "bytes", None)
    if own is not None:
        return int(own(X))
    return sum(Sketch.bytes_for(n, 1) for n in matrix_sides(X))
