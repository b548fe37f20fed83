"""The smallest eigenpairs of a symmetric operator: one by an engine, or several at once.

A Rayleigh quotient lies above lambda_min: an answer is an estimate, never a proof. Proofs are in
`eigenvalue_bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, sqrt
from typing import Protocol

import numpy as np
from scipy.linalg import eigh

from condal.linalg.lanczos import (
    MAX_BASIS_BYTES,
    MAX_BASIS_STEPS,
    MAX_LOWEST_DENSE_SIDE,
    Eigenpair,
    Recurrence,
)
from condal.linalg.lanczos_bounds import Run
from condal.linalg.points import Array
from condal.linalg.rounding import TINY
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import agreed

MAX_LOWEST_STEPS = 1000
MAX_LOWEST_BYTES = 128 * 2**20
MIN_LOWEST_STEPS = 200  # cheap compared with the cost of a missed eigenvalue
TEST_GROWTH = 1.3  # of the steps, between two looks at Ritz values
START_NOISE = 10.0  # norm of the noise that is added to a guess of norm 1
FIRST_TEST = 6  # steps of the oracle before the first look at its Ritz value
LOOK = 0.01  # of tol: the accuracy of a Ritz value that is only looked at
EXACT_GROWTH = 1.25  # of its steps, between two looks, where tol is as small as that
# The component of a random start along the eigenvector, times its mean: it is less in 31% of runs,
# which may then miss tol by a little.
LEAST_START = 0.4
APART = 1e-6  # of the spread: eigenvalues nearer to each other are told apart by residuals alone


class Engine(Protocol):
    """A way to compute the smallest eigenpair of a symmetric operator."""

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        r"""Compute the smallest eigenpair.

        Parameters
        ----------
        V : Symmetric
            The operator.
        tol : float, default 0.0
            The wanted accuracy, :math:`\theta - \lambda_{\min}(V)` at most.
        guess : ndarray, optional
            A vector near the eigenvector, for a warm start.

        Returns
        -------
        Eigenpair
            The pair; its value is an estimate from above.

        Raises
        ------
        FloatingPointError
            If a product with V has NaN or infinity in it.
        """


@dataclass(frozen=True)
class Automatic:
    """`Dense` for small n, `Lanczos` otherwise (measured by condal_lab.benchmarks.oracle).

    Parameters
    ----------
    dense_below : int, default 48
        `Dense` is used for n below this.
    full_below : int, default 128
        `Dense` is used for n below this if V has a dense term, which is assembled already.
    """

    dense_below: int = 48
    full_below: int = 128

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        below = max(self.dense_below, self.full_below) if V.has_dense else self.dense_below
        engine: Engine = Dense() if V.n < below else Lanczos()
        return engine.smallest(V, tol, guess)


def finite_dense(V: Symmetric) -> Array:
    """Return V as an array; FloatingPointError if it holds NaN or infinity."""
    full = V.to_dense()
    if not np.isfinite(full).all():
        raise FloatingPointError("a product with the gradient gave NaN or infinity")
    return full


def lowest(
    V: Symmetric,
    count: int,
    tol: float,
    *,
    beside: Array | None = None,
    start: Array | None = None,
) -> tuple[Array, Array]:
    """Compute the `count` smallest Ritz pairs of V, or fewer.

    A Lanczos run without reorthogonalisation may repeat vectors. Those that are new are made
    orthonormal, and their values become Rayleigh quotients again. If the basis of the whole run
    does not fit into memory, the vectors come from the steps that do.

    Parameters
    ----------
    V : Symmetric
        The operator.
    count : int
        The number of pairs.
    tol : float
        The accuracy of the first value.
    beside : ndarray of shape (n, r), optional
        Columns that span what is known already. The start vector is orthogonal to them, so a
        cluster of eigenvalues that they belong to does not stand in the way.
    start : ndarray, optional
        A random vector to start from, where the rows of V are on many ranks.

    Returns
    -------
    values : ndarray
        The Ritz values in ascending order.
    vectors : ndarray
        Orthonormal Ritz vectors, as columns.
    """
    if V.n <= MAX_LOWEST_DENSE_SIDE and start is None:
        last = min(count, V.n) - 1
        values, vectors = eigh(finite_dense(V), subset_by_index=[0, last], check_finite=False)
        return values, vectors
    if V.matrix_free and not V.operators:  # the terms without entries are Schur complements
        from condal.linalg.schur_bounds import lowest_of_schur

        lowest_pairs = lowest_of_schur(V, count)
        if lowest_pairs is not None:
            return lowest_pairs
    start = start_vector(V.n) if start is None else start
    if beside is not None and beside.shape[1] < V.n:
        start = start - beside @ np.linalg.lstsq(beside.T @ beside, beside.T @ start, rcond=None)[0]
    keep = max(2, min(MAX_LOWEST_STEPS, MAX_LOWEST_BYTES // (8 * V.n)))
    V, order = V.reordered()
    start = start if order is None else start[order]
    run = Recurrence(V, start / np.linalg.norm(start), keep=keep)
    test, before, most = 20, np.inf, min(MAX_LOWEST_STEPS, V.n)
    # The values settle on a cluster for long: to see past it takes some sqrt(spread / tol) steps,
    # where n is so large that the spectrum has no gaps.
    far = min(max(MIN_LOWEST_STEPS, 2 * sqrt(V.n)), most)
    while True:
        run.grow_to(test, hurried=True)
        least = min(3 * sqrt(run.spread / max(tol, TINY)), far)
        if TEST_GROWTH * run.steps < least and not run.ended:  # nor is the next test enough
            test = ceil(least / TEST_GROWTH)
            continue
        ritz = run.smallest(tol)
        settled = ritz.converged and 3 * (before - ritz.value) <= max(tol, ritz.rounding)
        if run.ended or run.steps >= most or (settled and run.steps >= least):
            break
        before, test = ritz.value, min(ceil(TEST_GROWTH * test), MAX_LOWEST_STEPS)
    ritz_vectors = run.kept_vectors(count)
    norms = np.linalg.norm(ritz_vectors, axis=0)
    ritz_vectors = ritz_vectors[:, norms > 0.0] / norms[norms > 0.0]
    if ritz_vectors.shape[1] == 0:
        ritz_vectors = start[:, None] / np.linalg.norm(start)
    vectors, upper = np.linalg.qr(ritz_vectors)
    vectors = vectors[:, np.abs(np.diagonal(upper)) > 0.1]  # the others repeat earlier ones
    values, turned = agreed(tuple(np.linalg.eigh(vectors.T @ (V @ vectors))))
    values[0] = min(values[0], ritz.value)  # the vectors may come from the first steps only
    vectors = vectors @ turned
    if order is not None:
        vectors[order] = vectors.copy()
    return values, vectors


@lru_cache(maxsize=4)
def start_vector(n: int) -> Array:
    """Return the vector that runs of side n start from without a guess."""
    start = np.random.default_rng(n).standard_normal(n)
    start.flags.writeable = False
    return start


@dataclass(frozen=True)
class Dense:
    """LAPACK, for small n: exact to rounding, at a cost of n^3."""

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        values, vectors = eigh(
            finite_dense(V), subset_by_index=[0, 0], overwrite_a=True, check_finite=False
        )
        return Eigenpair(float(values[0]), vectors[:, 0], 0.0, 0.0)


@dataclass(frozen=True)
class Lanczos:
    """The three-term Lanczos recurrence, with warm starts.

    The space grows until its smallest Ritz value is within tol, by the bound of `lanczos_bounds`
    for a start that is no farther than most from the eigenvector. A basis that does not fit into
    `max_bytes` is computed a second time.

    Parameters
    ----------
    max_steps : int, default 2000
        The most steps.
    max_bytes : int, default 256 MiB
        The memory of the basis.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.eigen import Lanczos
    >>> from condal.operators import Symmetric
    >>> pair = Lanczos().smallest(Symmetric(100, diagonal=np.arange(100.0)), tol=1e-9)
    >>> abs(pair.value) < 1e-9
    True
    """

    max_steps: int = MAX_BASIS_STEPS
    max_bytes: int = MAX_BASIS_BYTES

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        start = start_vector(V.n) if guess is None else _with_noise(guess)
        start = start / np.linalg.norm(start)
        run = Recurrence(V, start, keep=max(2, self.max_bytes // (8 * V.n)))
        bound = Run(run, 0.0, LEAST_START / sqrt(V.n))
        test, before = FIRST_TEST, np.inf
        while True:
            run.grow_to(min(test, self.max_steps), hurried=True)
            if run.ended or run.steps >= self.max_steps:
                break
            value, apart = run.least(LOOK * tol), APART * run.spread
            lost = sum(bound.loss(value - max(tol, apart)))
            if lost <= 1 and (tol >= apart or run.settled(before, tol)):
                break
            if run.steps >= V.n:  # exact arithmetic would have finished: LAPACK is cheaper now
                return Dense().smallest(V)
            growth = bound.growth(lost) if tol >= apart else EXACT_GROWTH
            before, test = value, ceil(growth * test)
        ritz = run.smallest(tol)
        vector = run.combine(ritz.coefficients)
        return Eigenpair(ritz.value, vector / np.linalg.norm(vector), ritz.residual, ritz.error)


def _with_noise(guess: Array) -> Array:
    """The unit guess plus noise whose seed is taken from the guess, so results repeat.

    Atoms of consecutive iterations are different eigenvectors: a run from near the guess would
    return to it, and find others late.
    """
    size = float(np.linalg.norm(guess))
    if not np.isfinite(size) or size == 0.0:
        return start_vector(guess.size)
    noise = np.random.default_rng(guess[:8].view(np.uint64)).standard_normal(guess.size)
    return np.asarray(guess / size + START_NOISE / np.sqrt(guess.size) * noise)
