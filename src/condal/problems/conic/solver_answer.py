"""The point and the dual that a solver gave for a conic program, and what is measured of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank
from condal.linalg.rounding import stable_norm
from condal.problems.conic.program import MAX_ENTRY, Program
from condal.runtime.arguments import finite_array


@dataclass(frozen=True, eq=False)
class SolverAnswer:
    """A program, and the point and dual that a solver gave, checked for their sizes."""

    program: Program
    X: Any
    y: Any

    def __post_init__(self) -> None:
        blocks = self.program.blocks
        if self.X is not None and len(self.X) != len(blocks):
            raise ProblemError(f"X must have {len(blocks)} blocks; got {len(self.X)}")
        if self.X is not None:
            X = tuple(_checked(x, f"block {j} of X") for j, x in enumerate(self.X))
            for j, (block, x) in enumerate(zip(blocks, X, strict=True)):
                wanted = (block.n, block.n) if block.kind == "psd" else (block.n,)
                if x.shape != wanted:
                    raise ProblemError(f"block {j} of X must have shape {wanted}; got {x.shape}")
            object.__setattr__(self, "X", X)
        if self.y is not None:
            y = finite_array(self.y, "y", ndim=1)
            if y.size != self.program.b.size:
                raise ProblemError(f"y must have size {self.program.b.size}; got {y.size}")
            largest = float(np.abs(y).max(initial=0.0))
            if largest > MAX_ENTRY:
                raise ProblemError(
                    f"y has numbers of up to {largest:.3g}, beyond what double precision holds the "
                    "squares of: scale the rows"
                )
            object.__setattr__(self, "y", y)

    @cached_property
    def places(self) -> Any:
        """The places of x that the data use."""
        return np.unique(np.concatenate([self.program.A.indices, self.program.c.indices]))

    @cached_property
    def vector(self) -> Array:
        """X as one vector."""
        pieces = [np.asarray(x, dtype=np.float64) for x in self.X]
        return np.concatenate([(0.5 * (x + x.T) if x.ndim == 2 else x).ravel() for x in pieces])

    def outside(self) -> Iterator[float]:
        """Yield the norm of the part of each block outside its cone."""
        for block, x in zip(self.program.blocks, self.X, strict=True):
            if isinstance(x, LowRank):
                parts = x.weights * np.einsum("ij,ij->j", x.U, x.U)
                yield float(-np.minimum(parts, 0.0).sum())
            elif block.kind == "psd":
                values = np.linalg.eigvalsh(0.5 * (np.asarray(x) + np.asarray(x).T))
                yield stable_norm(np.minimum(values, 0.0))
            elif block.kind == "orthant":
                yield stable_norm(np.minimum(np.asarray(x, dtype=np.float64), 0.0))
            else:
                yield max(stable_norm(np.asarray(x)[1:]) - float(x[0]), 0.0)


def _checked(x: Any, name: str) -> Any:
    """Return a block of X of finite real numbers."""
    if not isinstance(x, LowRank):
        return finite_array(x, name)
    U = finite_array(x.U, f"the factor of {name}", ndim=2)
    weights = finite_array(x.weights, f"the vector of weights of {name}", ndim=1)
    if weights.size != U.shape[1]:
        raise ProblemError(
            f"{name} must have a weight for each of its {U.shape[1]} columns; got {weights.size}"
        )
    return LowRank(U, weights)


def as_blocks(program: Program, x: Array) -> tuple[Any, ...]:
    """Return one long vector as blocks: matrices for psd blocks."""
    pieces = (x[program.place(j)] for j in range(len(program.blocks)))
    return tuple(
        piece.reshape(block.n, block.n) if block.kind == "psd" else piece
        for block, piece in zip(program.blocks, pieces, strict=True)
    )
