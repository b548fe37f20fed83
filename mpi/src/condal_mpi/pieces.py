"""The domain, the sets and the linear objective of a problem over {x psd : tr x = trace}, and the
sketch of x.

The ranks hold points and images together; each rank has its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from math import inf
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError, svd

from condal.domains.spectral import Spectrahedron
from condal.linalg.eigen import lowest
from condal.linalg.eigenvalue_bounds import by_lanczos
from condal.linalg.gradients import Gradient
from condal.linalg.lanczos_bounds import from_random_starts
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.reductions import DiagonalScaling
from condal.linalg.rounding import Proof
from condal.linalg.symmetric import Symmetric
from condal.linalg.terms import PIECE, Term
from condal.maps.matrices import Cost
from condal.sets.boxes import Box, Equal
from condal.smooth.objectives import Linear
from condal.storage.sketch import Sketch
from condal.types import Provable
from condal_mpi.oracle import Slepc
from condal_mpi.sharded_array import ShardedArray, normals
from condal_mpi.team import Team


@dataclass(frozen=True)
class DistributedSpectrahedron(Spectrahedron):
    """The `Spectrahedron` with SLEPc's oracle."""

    team: Any = None

    @classmethod
    def of(
        cls, n: int, trace: float, team: Team, *, at_most: bool = False
    ) -> DistributedSpectrahedron:
        """Return the domain with an oracle for n rows of that team."""
        return cls(n, trace, at_most, Slepc(n, team=team), team)

    def bound(
        self,
        v: Gradient,
        *,
        slack: float,
        failure: float,
        seed: int,
        enough: float = inf,
        diagonal: Array | None = None,
    ) -> Proof:
        """Return a proved bound on <v, x>, for the x of this diagonal or, if None, for all x."""
        assert isinstance(v, Symmetric)
        scaling = None if diagonal is None else DiagonalScaling.of(v, diagonal)
        total = self.trace if scaling is None else 1.0

        def prove(V: Symmetric, **options: Any) -> Proof:
            V, order = V.reordered()
            numbers = count()

            def draw() -> Any:
                q: Any = normals(self.team, self.n, seed=[seed, self.n, next(numbers)])
                return q if order is None else q[order]

            return from_random_starts(V, draw, failure=failure, **options)

        enough = min(enough, 0.0) if self.at_most and enough < inf else enough
        proof = by_lanczos(v, scaling, prove, slack=slack / total, enough=enough / total)
        value = min(proof.value, 0.0) if self.at_most and scaling is None else proof.value
        return replace(proof, value=total * value)

    def lowest(
        self, v: Gradient, count: int, tol: float, *, beside: Array | None = None
    ) -> tuple[Array, Array]:
        assert isinstance(v, Symmetric)
        tol = self.team.agreed(tol)
        return lowest(v, count, tol, beside=beside, start=self.normals(self.n))

    def normals(self, seed: int, columns: int | None = None) -> Any:
        """Return standard normal numbers for each row of x, whatever the number of ranks."""
        return normals(self.team, self.n, seed=[seed], columns=columns)

    def release(self) -> None:
        """Free the vectors of the oracle, on all ranks at once."""
        if isinstance(self.engine, Slepc):
            self.engine.release()

    def distance(self, x: Point) -> float:
        """Return the distance of the weights, scaled by the squared lengths of the columns of U."""
        assert isinstance(x, LowRank)
        parts = x.weights * np.einsum("ij,ij->j", x.U, x.U)
        negative = -float(np.minimum(parts, 0.0).sum())
        excess = float(np.maximum(parts, 0.0).sum()) - self.trace
        return negative + (max(excess, 0.0) if self.at_most else abs(excess))


@dataclass(frozen=True, eq=False)
class OnesTerm(Term):
    """c 1 1', n x n; `ones` are those of this rank."""

    order = 2
    low_rank = True
    c: float
    ones: Any
    n: int

    @property
    def team(self) -> Team:
        """The ranks."""
        team: Team = self.ones.team
        return team

    @property
    def norm(self) -> float:
        """|c| n."""
        return abs(self.c) * self.n

    def add_product(self, out: Array | None, v: Array) -> Array:
        sums = self.c * v.sum(axis=0)
        image: Array = self.ones * sums if v.ndim == 1 else self.ones[:, None] * sums
        return image if out is None else np.add(out, image, out=out)

    def rank_one(self) -> tuple[float, Array]:
        """Return c and the vector of ones."""
        return self.c, self.ones

    def add_dense(self, out: Array | None) -> Array:
        raise TypeError("the rows of this matrix are on many ranks: no array holds it")

    def scaled(self, c: float) -> OnesTerm:
        return replace(self, c=c * self.c)

    def diagonal(self) -> Array:
        diagonal: Array = self.c * self.ones
        return diagonal

    def absolute_product(self, v: Array) -> Array:
        return replace(self, c=abs(self.c)).add_product(None, v)

    def summands(self) -> int:
        return 2 * PIECE + self.team.size  # NumPy's sums of one rank are pairwise


class DistributedEqual(Equal):
    """K = {b}, where each rank holds its entries of b. It is one piece, which all ranks sum."""

    def __init__(self, b: ShardedArray) -> None:
        array: Any = b
        self.b = self.fixed = array

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        return [(slice(0, self.size), self)]

    def scaled(self, rows: Any, c: float) -> DistributedEqual:
        return DistributedEqual(rows * self.b)


class DistributedBox(Box):
    """K = {z : low <= z <= high}, where each rank holds its bounds; one piece, as above."""

    def __init__(self, low: ShardedArray, high: ShardedArray) -> None:
        bounds: Any = low, high
        self.low, self.high = bounds

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        return [(slice(0, self.size), self)]

    def scaled(self, rows: Any, c: float) -> DistributedBox:
        return DistributedBox(rows * self.low, rows * self.high)


class DistributedCost(Cost):
    """Mx = <C, x>, where C is one term that all ranks hold together."""

    @property
    def _term(self) -> Any:
        (term,) = self.C.terms
        return term

    @cached_property
    def norm(self) -> float:
        return float(self._term.norm)

    def as_matrix(self) -> None:
        """Return None: no rank could hold it."""

    def __call__(self, x: Point) -> Any:
        return self._term.team.agreed(super().__call__(x))  # the sum of the first rank

    def scaled(self, rows: Any) -> DistributedCost:
        return DistributedCost(self.C.scaled(float(rows[0])))


class DistributedLinear(Linear):
    """f(x) = <C, x>."""

    @cached_property
    def M(self) -> DistributedCost:
        return DistributedCost(self.C)

    def scaled(self, c: float) -> DistributedLinear:
        return DistributedLinear(self.C.scaled(c))


class DistributedSketch(Sketch):
    """S = x Omega, n x R: the `Sketch` with the rows of S and Omega distributed over ranks.

    Omega depends only on the seed, not on the number of ranks. For small matrices, which all ranks
    have, the factors of the first rank count: other processors may round differently, and take a
    nearly indefinite matrix for an indefinite one.

    Parameters
    ----------
    n : int
        The number of rows.
    R : int
        The rank of the sketch.
    team : Team
        The ranks.
    seed : int
        The seed of Omega.
    """

    checkpoint_fields: ClassVar[tuple[str, ...]] = (*Sketch.checkpoint_fields, "team")

    def __init__(self, n: int, R: int, *, team: Team, seed: int = 0) -> None:
        self.team = team
        super().__init__(n, R, seed=seed)

    def _nothing(self) -> Any:
        begin, end = self.team.range(self.n)
        return ShardedArray(np.zeros((end - begin, self.R)), self.team)

    def _random(self) -> Any:
        return normals(self.team, self.n, seed=self._seed, columns=self.R)

    def _unit(self) -> Any:
        begin, end = self.team.range(self.n)
        return ShardedArray(np.eye(end - begin, self.R, k=begin), self.team)

    def _root(self, core: Array) -> Array:
        root: Array | None = None
        with suppress(LinAlgError):
            root = super()._root(core)
        root = self.team.agreed(root)
        if root is None:
            raise LinAlgError("the core of the sketch is not definite")
        return root

    def _solved(self, S: Any, L: Array) -> Any:
        return ShardedArray(super()._solved(S.local, L), self.team)

    def _decomposed(self, B: Any) -> tuple[Any, Array]:
        columns, top = np.linalg.qr(B)
        turned, sigma, _ = self.team.agreed(svd(top, full_matrices=False))
        return columns @ turned, sigma
