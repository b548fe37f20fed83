"""A conic program in Clarabel's form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from condal.problems.conic import Block, Program


@dataclass(frozen=True, eq=False)
class ClarabelForm:
    """min <c, u>, Au + s = b, s in the cones, where x = Tu.

    `norms` are the lengths that the rows of the program had, `size` that of its objective, which
    is `sense` times this one.
    """

    c: np.ndarray
    A: sp.csc_matrix
    b: np.ndarray
    cones: list[Any]
    T: np.ndarray
    norms: np.ndarray
    size: float
    sense: float

    def solve(self, *, accuracy: float, seconds: float = np.inf) -> Any:
        """Solve the program with Clarabel."""
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.time_limit = False, seconds
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
        n = self.c.size
        P = sp.csc_matrix((n, n))
        return clarabel.DefaultSolver(P, self.c, self.A, self.b, self.cones, settings).solve()


def for_clarabel(program: Program) -> ClarabelForm:
    """Return the program with rows and objective scaled to norm 1."""
    T = block_diag(*(_entries(block) for block in program.blocks))
    sense = -1.0 if program.maximise else 1.0
    A, c = program.A.toarray() @ T, sense * program.c.toarray().ravel() @ T
    norms, size = np.linalg.norm(A, axis=1), float(np.linalg.norm(c)) or 1.0
    norms[norms == 0] = 1.0
    m, n = A.shape
    return ClarabelForm(
        c / size,
        sp.csc_matrix(np.vstack([A / norms[:, None], -np.eye(n)])),
        np.concatenate([program.b / norms, np.zeros(n)]),
        [*([clarabel.ZeroConeT(m)] if m else []), *map(_cone, program.blocks)],
        T,
        norms,
        size,
        sense,
    )


def _cone(block: Block) -> Any:
    kinds = {
        "psd": clarabel.PSDTriangleConeT,
        "orthant": clarabel.NonnegativeConeT,
        "second-order": clarabel.SecondOrderConeT,
    }
    return kinds[block.kind](block.n)


def _entries(block: Block) -> np.ndarray:
    """Return the entries of a block from Clarabel's variables."""
    return _triangle(block.n) if block.kind == "psd" else np.eye(block.n)


def _triangle(n: int) -> np.ndarray:
    """Return n x n matrices from their upper triangles, column by column, with sqrt(2) x_ij."""
    columns = []
    for j in range(n):
        for i in range(j + 1):
            unit = np.zeros((n, n))
            unit[i, j] = unit[j, i] = 1.0 if i == j else np.sqrt(0.5)
            columns.append(unit.ravel())
    return np.array(columns).T
