"""Small problems of the usual shapes, with known optima."""

import numpy as np
from scipy.linalg import block_diag

import condal
from condal import Equal, Linear, Matrix, Problem, Simplex, Spectrahedron


def sdp(C, A=None, K=None, *, trace=1.0, at_most=False, maximise=False) -> Problem:
    X = Spectrahedron(len(C), trace=trace, at_most=at_most)
    return Problem.of(Linear(C), X, A, K, maximise=maximise)


def agreeing(c, X, times: int = 1) -> Problem:
    """min <c, x> over the simplex and X as two blocks, with x_1 - x_2 = 0 repeated."""
    n = len(c)
    both = condal.Across(
        Matrix(np.vstack([np.eye(n)] * times)), Matrix(-np.vstack([np.eye(n)] * times))
    )
    return Problem.of(
        Linear((np.asarray(c), np.zeros(n))),
        condal.Product(Simplex(n), X),
        both,
        Equal(np.zeros(times * n)),
    )


def cut(W) -> Problem:
    return condal.problems.max_cut(np.asarray(W, dtype=float)).problem


def cycle(n: int) -> np.ndarray:
    W = np.roll(np.eye(n), 1, axis=1)
    return W + W.T


def cycle_value(n: int) -> float:
    """The optimum of the relaxation on an odd cycle: n (1 + cos(pi / n)) / 2."""
    return n * (1 + np.cos(np.pi / n)) / 2


def blocks(*parts) -> np.ndarray:
    return block_diag(*parts)
