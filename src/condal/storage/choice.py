"""Which storage to use, and whether one fits."""

from __future__ import annotations

import numpy as np

from condal.domains.lifted import Hermitian, NuclearBall
from condal.domains.product import Product
from condal.domains.wrapped import Wrapped
from condal.errors import ProblemError
from condal.storage.atoms import Atoms
from condal.storage.blocks import Blocks
from condal.storage.factored import Factored
from condal.storage.sketch import Sketch
from condal.storage.two_sided import TwoSidedSketch
from condal.storage.whole import Dense, Factor
from condal.types import Domain, Keeps, Spectral, Storage

DEFAULT_MAX_BYTES = 2**30
MAX_POINT_FLOPS = 1e9  # of the reconstruction of a sketch, which a look at a point takes
LEAST_RANK = 10  # of a sketch, where memory allows: fewer columns lose more than they save


def automatic(
    X: Domain,
    p: int,
    *,
    keeps: Keeps = "x",
    seed: int = 0,
    max_bytes: int | None = None,
) -> Storage:
    """Dense for vectors; for matrices Factored while 2n columns fit, else a Sketch, of two sides
    for those of a NuclearBall.

    A method that `keeps` the atoms, or only a sketch, gets that. The rank of the sketch is the
    Barvinok-Pataki bound sqrt(2 p) on that of some solution, p the number of rows of A and M; or
    what lets a point of it be made in about a second, 10 at least; or what `max_bytes` hold, with
    what its reconstruction takes; None for 1 GiB.
    """
    max_bytes = DEFAULT_MAX_BYTES if max_bytes is None else max_bytes
    if keeps in ("atoms", "atoms by block"):
        return Atoms(by_block=keeps == "atoms by block")
    if keeps == "factor":
        return Factor()
    if isinstance(X, Product):
        share = max_bytes // len(X.parts)
        return Blocks(
            *(automatic(part, p, keeps=keeps, seed=seed, max_bytes=share) for part in X.parts)
        )
    if not isinstance(X, Spectral):
        return Dense()
    if keeps == "x" and Factored.bytes_for(X.n) <= max_bytes:
        return Factored(X.n)
    enough = int(np.ceil(np.sqrt(2 * p))) + 1
    if isinstance(X, NuclearBall):
        most = max_bytes // TwoSidedSketch.bytes_for(X.n, 1)
        return TwoSidedSketch(X.rows, X.cols, max(1, min(enough, most)), seed=seed)
    quick = max(LEAST_RANK, int(np.sqrt(MAX_POINT_FLOPS / (8 * X.n))))
    return Sketch(X.n, max(1, min(enough, quick, max_bytes // Sketch.bytes_for(X.n, 1))), seed=seed)


def require_fit(storage: Storage, X: Domain) -> None:
    """Raise ProblemError if the storage cannot keep points of X."""
    while isinstance(X, Wrapped) and not isinstance(X, Spectral):
        X = X.X
    matrices = Factored | Sketch | TwoSidedSketch
    n = storage.n if isinstance(storage, matrices) else None  # the side of a symmetric matrix
    if isinstance(X, Product):
        fits = n is None and not isinstance(storage, Dense)
        wanted = "Blocks(...), a storage a block, or Atoms()"
    elif isinstance(X, Spectral):
        fits = n is None or n == X.n
        such = f"Sketch({X.n}, {storage.R})" if isinstance(storage, Sketch) else f"Factored({X.n})"
        real = ", twice that of x, which is complex" if isinstance(X, Hermitian) else ""
        wanted = f"one for n = {X.n}{real}, such as {such}"
        if isinstance(X, NuclearBall):
            wanted = f"one for {X.rows} x {X.cols}, such as TwoSidedSketch({X.rows}, {X.cols}, R)"
        if isinstance(storage, TwoSidedSketch):
            fits = isinstance(X, NuclearBall) and (X.rows, X.cols) == storage.shape
    else:
        fits = n is None
        wanted = "Dense() or Atoms()"
    if not fits:
        raise ProblemError(
            f"storage {type(storage).__name__} does not fit the domain {type(X).__name__}: pass "
            f"{wanted}, or leave it out"
        )
