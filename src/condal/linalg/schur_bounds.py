"""The smallest eigenvalues of a Schur complement V: estimates, and a proved bound.

A factorisation of K that completes would prove a bound on V, less its rounding. That is relative to
the entries of K and to how far the eliminated variables reach, and may exceed what is asked for by
far: V of a solved problem has a null space. The proof here needs no accurate factors.

1. The signs of the pivots of K, shifted by alpha in the rows of V, count the eigenvalues of V below
   alpha (Haynsworth 1968). With alpha amid the gap above the null space, rounding is negligible.
2. Let V have at most j eigenvalues below alpha, N have j columns, and S and R be the parts of V N
   in the range of N and beside it. If all eigenvalues of S are below alpha - |R|, V is at least
   beta = alpha - |R| beside N: a vector that contradicts this would give V, with N, one more small
   eigenvalue. So lambda_min(V) >= s - |R|^2 / (beta - s), s = lambda_min(S) (Lehmann 1949).
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

from condal.linalg.points import Array
from condal.linalg.rounding import UNIT_ROUNDOFF, Proof
from condal.linalg.schur import Augmented
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import check_cancelled

PAIRS = 10  # eigenpairs, of which the null space is expected to be a part
MAX_PAIRS = 80
CLEAR_GAP = 30.0  # ratio of distances from the smallest value: less may be inside the null space
SPARE = 2  # columns of a Krylov space beyond the wanted pairs
KRYLOV_STEPS = 5
MAX_DENSE_SIDE = 150  # up to here LAPACK computes all eigenpairs faster
FIRST_SHIFT = 1e-9  # of |P|: the first shift that may make K positive definite
SHRINK_SHARE = 0.1  # of alpha: what shrinking D may take from V
REFINEMENTS = 2
LEVELS = 6  # that are tried
SHRINK_TRIALS = 2
MAX_SHRINK = 0.5
FACTORED = "sparse LDL' factorisation of the augmented matrix"
COUNTED = "sparse LDL' factorisation and the inertia of the augmented matrix"


def lowest_of_schur(V: Symmetric, count: int) -> tuple[Array, Array] | None:
    """Return at most `count` of the smallest Ritz pairs of V from a block Krylov space of its
    shifted inverse; None if no shift makes K positive definite."""
    form = Augmented.of(V)
    return None if form is None else _lowest(form, count)


def _lowest(form: Augmented, count: int) -> tuple[Array, Array] | None:
    n, norm = form.V.n, _largest_row_sum(form.P)
    if n <= MAX_DENSE_SIDE:
        values, vectors = eigh(form.V.to_dense(), check_finite=False)
        return values[:count], vectors[:, :count]
    factors = form.positive_factors(FIRST_SHIFT * norm, 2 * norm)
    if factors is None:
        return None
    inverse, width = form.inverse(factors), min(count + SPARE, n // 2)
    block = np.random.default_rng(n).standard_normal((n, width))
    spaces: list[Array] = []
    for _ in range(min(KRYLOV_STEPS, n // width)):
        block = np.linalg.qr(inverse(block))[0]
        spaces.append(block)
    basis = np.linalg.qr(np.hstack(spaces))[0]
    projected = basis.T @ (form.V @ basis)
    values, turned = eigh(0.5 * (projected + projected.T), check_finite=False)
    return values[:count], basis @ turned[:, :count]


def schur_bound(V: Symmetric, *, slack: float, enough: float) -> Proof:
    """Prove l <= lambda_min(V), with lambda_min - l below `slack` where rounding allows it.

    Where V has an eigenvalue below `enough`, the proof carries vectors that show it.
    """
    form, count = Augmented.of(V), PAIRS
    lowest = None if form is None else _lowest(form, count)
    if form is None or lowest is None or not form.least > 0:
        return Proof(-inf, "no proof")
    while _largest_gap(lowest[0], slack)[1] < CLEAR_GAP and count < min(MAX_PAIRS, V.n):
        count *= 2
        lowest = _lowest(form, count) or lowest
    values, vectors = lowest
    cluster = _largest_gap(values, slack)[0]
    gap = values[cluster - 1 : cluster + 1]
    level = inf if cluster == V.n else _separating_level(form, cluster, gap)
    bound = -inf if level is None else _lehmann_bound(form, vectors[:, :cluster], level)
    how = COUNTED
    if bound == -inf:
        level, how = _definite_level(form, float(values[0]), slack), FACTORED
        bound = -inf if level is None else level
    low = values < enough
    refuting = vectors[:, low] if low.any() and enough < inf else None
    return Proof(bound, how if bound > -inf else "no proof", refuting=refuting)


def _largest_gap(values: Array, slack: float) -> tuple[int, float]:
    """The number of the smallest values that the largest relative gap separates from the rest, and
    the ratio of the distances from the smallest value on both sides of it."""
    if values.size == 1:
        return 1, inf
    distances = values - values[0] + slack
    ratios = distances[1:] / distances[:-1]
    return int(np.argmax(ratios)) + 1, float(ratios.max())


def _separating_level(form: Augmented, cluster: int, gap: Array) -> float | None:
    """Return a level in the gap below which V is proved to have at most `cluster` eigenvalues."""
    low, high = float(gap[0]), float(gap[1])
    alpha = 0.5 * (low + high)
    for _ in range(LEVELS):
        level = _proved_level(form, alpha, cluster)
        if level is not None:
            return level
        alpha = low + 0.3 * (alpha - low)
    return None


def _definite_level(form: Augmented, estimate: float, slack: float) -> float | None:
    """Return a level below which V is proved to have no eigenvalue: further and further below an
    estimate of the smallest."""
    step = max(slack, UNIT_ROUNDOFF * _largest_row_sum(form.P))
    for _ in range(LEVELS):
        level = _proved_level(form, estimate - step, 0)
        if level is not None:
            return level
        step *= 30.0
    return None


def _proved_level(form: Augmented, alpha: float, cluster: int) -> float | None:
    """Return alpha less rounding, if V has at most `cluster` eigenvalues below it; else None.

    K is factorised with (1 - a) D in place of D, where a D >= error I takes up the rounding in the
    eliminated rows: the factors are then of a matrix that is not above K, shifted by the level. As
    much as a B'D^-1 B is lost of V.
    """
    size = _largest_row_sum(form.P)
    sizes = size + abs(alpha) + (form.unit**2 * _largest_row_sum(form.D) if form.k else 0.0)
    shrink = SHRINK_SHARE * abs(alpha) / size if form.k else 0.0
    for _ in range(SHRINK_TRIALS):
        check_cancelled()
        factors = form.factors(shrink=shrink, shift=-alpha)
        if factors is None or not np.sum(~(factors.pivots >= 0)) <= cluster:
            return None
        error = factors.error() + form.assembly_error + 4 * UNIT_ROUNDOFF * sizes
        needed = 1.01 * error / (form.unit**2 * form.least) if form.k else 0.0
        if 1.0 - (1.0 - shrink) >= needed:  # what is left of the share after rounding
            return float(alpha - error)
        shrink = 1.5 * needed
        if not shrink < MAX_SHRINK:
            return None
    return None


def _lehmann_bound(form: Augmented, N: Array, alpha: float) -> float:
    """The bound of step 2; -inf if its condition does not hold.

    A first bound holds with the norm of B'D^-1 B <= |B|^2 / lambda_min(D). It shows that this norm
    is at most |P| less the bound, which is closer, and gives a closer bound.
    """
    products = _products(form, N)
    off = float(np.linalg.norm(N.T @ N - np.eye(N.shape[1])))
    off += 4 * (len(N) + 4) * UNIT_ROUNDOFF * N.shape[1]
    if not off < 0.1:
        return -inf
    eigenvalues = np.linalg.eigvalsh(products.S)
    error = products.S_error + 64 * N.shape[1] * UNIT_ROUNDOFF * float(np.abs(eigenvalues).max())
    low, high = float(eigenvalues[0]) - error, float(eigenvalues[-1]) + error
    s = low / (1 - off) if low < 0 else low / (1 + off)
    high = high / (1 - off) if high > 0 else high / (1 + off)
    bound, size, norm = -inf, _largest_row_sum(form.P), products.eliminated_norm
    for _ in range(2):
        R = 1.01 * (products.beside + sqrt(norm) * products.unsolved) / sqrt(1 - off)
        beta = alpha - R
        if not (high < beta and s < beta):
            break
        bound = s - R * R / (beta - s)
        norm = min(norm, size - bound)
    return bound


class _Products(NamedTuple):
    """N'V N, and what is needed of V N, with bounds on errors as spectral norms.

    The part of V N beside N is at most `beside` + sqrt(c) `unsolved`, for c = |B'D^-1 B|, which is
    at most `eliminated_norm`.
    """

    S: Array
    S_error: float
    beside: float
    unsolved: float
    eliminated_norm: float


def _products(form: Augmented, N: Array) -> _Products:
    """Compute V N and N'V N in extended precision, where the machine has it.

    With t near -D^-1 B N and the residual r = D t + B N, V N = B't + P N - B'D^-1 r exactly, and
    N'V N = N'(B't + P N) + t'r - r'D^-1 r. The last terms are at most sqrt(|B'D^-1 B| / l) |r| and
    |r|^2 / l, for l <= lambda_min(D).
    """
    wide, B = np.longdouble, form.eliminated.B.astype(np.longdouble)
    unit = float(np.finfo(wide).eps)
    P, D = form.P.astype(wide), form.eliminated.D.astype(wide) / wide(form.weight)
    x, right = N.astype(wide), np.asarray(B @ N.astype(wide))
    t = np.zeros(right.shape, dtype=wide)
    for _ in range(REFINEMENTS + 1 if form.k else 0):
        t -= form.solve((np.asarray(D @ t) + right).astype(np.float64))
    r, VN = np.asarray(D @ t) + right, np.asarray(P @ x) + np.asarray(B.T @ t)
    r_sizes = np.asarray(abs(D) @ np.abs(t)) + np.asarray(abs(B) @ np.abs(x))
    sizes = np.asarray(abs(P) @ np.abs(x)) + np.asarray(abs(B).T @ np.abs(t))
    longest = _longest_row(D) + _longest_row(B) + _longest_row(P) + _longest_row(B.T)

    each = 1.01 * (longest + 8) * unit  # of the sizes: the error of an entry of r or V N
    S = x.T @ VN + t.T @ r
    summed = np.abs(x).T @ np.abs(VN) + np.abs(t).T @ np.abs(r)
    S_error = each * _norm(np.abs(x).T @ sizes + np.abs(t).T @ r_sizes)
    S_error += 1.01 * (len(N) + form.k + 8) * unit * _norm(summed)
    symmetric = (0.5 * (S + S.T)).astype(np.float64)
    S_error += 1.01 * _norm(S - symmetric)
    beside = 1.01 * _norm(VN - x @ symmetric.astype(wide)) + each * _norm(sizes)
    beside += 1.01 * (N.shape[1] + 2) * unit * _norm(np.abs(x) @ np.abs(symmetric))
    lost = 1.01 * form.assembly_error * float(np.linalg.norm(N)) ** 2
    unsolved = eliminated_norm = 0.0
    if form.k:
        unsolved = (1.01 * _norm(r) + each * _norm(r_sizes)) / sqrt(form.least)
        eliminated_norm = _largest_row_sum(B) * _largest_row_sum(B.T) / form.least
    S_error += 1.01 * unsolved**2
    return _Products(symmetric, S_error + lost, beside + lost, unsolved, eliminated_norm)


def _norm(a: Array) -> float:
    return float(np.linalg.norm(a.astype(np.float64)))


def _largest_row_sum(a: Any) -> float:
    """The largest absolute row sum, rounded up."""
    sums = np.asarray(abs(a).sum(axis=1)).ravel()
    return float(sums.max(initial=0.0)) * (1 + 1e-9)


def _longest_row(a: Any) -> int:
    return int(np.diff(a.tocsr().indptr).max(initial=0))
