"""Newton's method on a surface on bad input: a proved verdict or an end with a bracket."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal import Status
from condal.methods import LowRankNewton

N = 12


def unit(i: int, j: int) -> sp.csr_array:
    """The matrix of the entries (i, j) and (j, i)."""
    G = np.zeros((N, N))
    G[i, j] = G[j, i] = 1.0
    return sp.csr_array(G)


def triangle() -> sp.csr_array:
    """The Laplacian of a triangle: psd of rank 2."""
    P = np.zeros((N, N))
    P[:3, :3] = 3 * np.eye(3) - 1.0
    return sp.csr_array(P)


ENDED = (Status.SOLVED, Status.STALLED, Status.INACCURATE)
CASES = {
    "the same row twice": ([unit(0, 1), unit(0, 1)], [0.1, 0.1], (Status.SOLVED,)),
    "contradictory rows": ([unit(0, 1), unit(0, 1)], [0.1, 0.2], (Status.INFEASIBLE,)),
    "x_01 with x_00 = 0": ([unit(0, 0), unit(0, 1)], [0.0, 0.2], (Status.INFEASIBLE,)),
    "diagonal above the trace": ([unit(i, i) for i in range(N)], [0.2] * N, (Status.INFEASIBLE,)),
    "a psd row that is 0": ([triangle(), unit(3, 4)], [0.0, 0.1], ENDED),
    "one feasible point": ([unit(i, i) for i in range(N - 1)], [0.0] * (N - 1), ENDED),
    "diagonal x alone": (
        [unit(i, j) for i in range(N) for j in range(i)],
        [0.0] * (N * (N - 1) // 2),
        (Status.SOLVED,),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_has_a_verdict_or_a_bracket(name):
    rows, b, statuses = CASES[name]
    problem = condal.Problem.of(
        f=condal.Linear(np.diag(np.arange(N)) + np.ones((N, N))),
        X=condal.Spectrahedron(N, trace=1.0),
        A=condal.Inner(rows),
        K=condal.Equal(np.array(b)),
    )
    result = condal.solve(problem, LowRankNewton(), tol=1e-6, max_iters=400)
    assert result.status in statuses
    assert len(result.history) < 200
    if result.status is not Status.INFEASIBLE:
        assert result.infeasibility <= 1e-9
        assert result.bound <= result.objective + 1e-9
        assert result.gap <= 0.05
