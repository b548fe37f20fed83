"""The smallest eigenpair of a symmetric operator: one question, several engines.

Every engine answers `smallest(V, tol, guess)` with a unit vector u and its Rayleigh quotient theta,
where theta - lambda_min(V) <= tol is sought. Rayleigh quotients lie above lambda_min: an answer is
an estimate, and never a proof (see `proofs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from inspect import signature
from math import sqrt
from typing import Protocol

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from condal.linalg.lanczos import Recurrence
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric

NOISE = 3.0
SEVERAL_DENSE_BELOW = 150  # where LAPACK gives several eigenpairs sooner than Lanczos
MAX_SEVERAL_STEPS = 1000
FIRST_LOOK = 200  # steps that are cheap beside what an eigenvalue that was missed costs
TINY = float(np.finfo(np.float64).tiny)
MAX_SEVERAL_BYTES = 128 * 2**20
_EIGSH_TAKES_RNG = "rng" in signature(eigsh).parameters  # it restarts at random; SciPy 1.17 on


@dataclass(frozen=True, eq=False)
class Eigenpair:
    """V u ~ value u, |u| = 1; `residual` estimates |V u - value u|, `error` value - lambda_min."""

    value: float
    vector: Array
    residual: float
    error: float


class Engine(Protocol):
    """A way to compute the smallest eigenpair."""

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        """The smallest eigenpair, its value to within tol."""


@dataclass(frozen=True)
class Dense:
    """LAPACK, for small n: the answer to rounding, at the cost of n^3."""

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        """The smallest eigenpair, to rounding."""
        values, vectors = eigh(
            _finite(V), subset_by_index=[0, 0], overwrite_a=True, check_finite=False
        )
        return Eigenpair(float(values[0]), vectors[:, 0], 0.0, 0.0)


@dataclass(frozen=True)
class Arpack:
    """SciPy's `eigsh`: implicitly restarted Lanczos."""

    max_restarts: int = 300

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        """The smallest eigenpair; ARPACK's own relative tolerance is set from tol.

        ARPACK is given V - 2 scale I: relative to an eigenvalue of 0 nothing converges, and SciPy's
        `eigsh` then returns another eigenvalue.
        """
        if V.n <= 2:
            return Dense().smallest(V)
        start = _start_vector(V.n) if guess is None else _with_noise(guess)
        scale = float(np.linalg.norm(V @ start) / np.linalg.norm(start))
        if not np.isfinite(scale):
            raise FloatingPointError("a product with the gradient gave NaN or infinity")
        if scale == 0.0:
            return Lanczos().smallest(V, tol, guess)

        def shifted(v: Array) -> Array:
            return V @ v - 2 * scale * v

        operator = LinearOperator(V.shape, matvec=shifted, dtype=np.float64)
        relative = min(max(tol, 0.0) / (3 * scale), 0.5)
        seeded = {"rng": np.random.default_rng(V.n)} if _EIGSH_TAKES_RNG else {}
        try:
            _, vectors = eigsh(
                operator,
                k=1,
                which="SA",
                v0=start,
                tol=relative,
                maxiter=self.max_restarts,
                **seeded,
            )
            vector = vectors[:, 0]
        except ArpackNoConvergence as stop:
            if len(stop.eigenvalues) == 0:
                return Lanczos().smallest(V, tol, guess)
            vector = stop.eigenvectors[:, 0]
        except ArpackError:  # a start vector that spans an invariant subspace, for one
            return Lanczos().smallest(V, tol, guess)
        image = V @ vector
        value = float(vector @ image)
        residual = float(np.linalg.norm(image - value * vector))
        return Eigenpair(value, vector, residual, residual)


@dataclass(frozen=True)
class Lanczos:
    """The three-term recurrence, its basis kept while it fits, else two passes; warm starts.

    Memory stays below `max_bytes` for the basis.
    """

    max_steps: int = 2000
    max_bytes: int = 256 * 2**20

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        """The smallest Ritz pair of a Krylov space, grown until its value is within tol."""
        start = _start_vector(V.n) if guess is None else _with_noise(guess)
        start = start / np.linalg.norm(start)
        fits = max(2, self.max_bytes // (8 * V.n))
        run = Recurrence(V, start, keep=fits)
        test, before = 6, np.inf
        while True:
            run.grow_to(min(test, self.max_steps))
            ritz = run.smallest(tol)
            # A small residual alone may belong to another eigenvalue: the value must rest, too.
            rests = run.ended or 3 * (before - ritz.value) <= max(tol, ritz.rounding)
            if (ritz.converged and rests) or run.steps >= self.max_steps:
                break
            before = ritz.value
            if run.steps >= V.n:  # n steps would do without rounding: not worth going on
                return Dense().smallest(V)
            test = int(np.ceil(test * 1.25))
        vector = run.combine(ritz.coefficients)
        return Eigenpair(ritz.value, vector / np.linalg.norm(vector), ritz.residual, ritz.error)


@dataclass(frozen=True)
class Automatic:
    """Dense for n below `dense_below`, Lanczos from there on (measured: benchmarks/oracle.py).

    A V that has a dense part is assembled already: Dense is the faster up to `full_below`.
    """

    dense_below: int = 48
    full_below: int = 128

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        """By the engine that fits n."""
        below = max(self.dense_below, self.full_below) if V.has_dense else self.dense_below
        engine: Engine = Dense() if V.n < below else Lanczos()
        return engine.smallest(V, tol, guess)


def _finite(V: Symmetric) -> Array:
    full = V.to_dense()
    if not np.isfinite(full).all():
        raise FloatingPointError("a product with the gradient gave NaN or infinity")
    return full


def lowest(
    V: Symmetric, count: int, tol: float, *, beside: Array | None = None
) -> tuple[Array, Array]:
    """The `count` smallest Ritz pairs of V, the first value within tol, or fewer of them.

    A Lanczos run without reorthogonalisation may repeat vectors, and lose their lengths: those that
    are new are made orthonormal, and their values are Rayleigh quotients again. Where the basis
    of the whole run does not fit, they are the vectors of the part that does. The columns of
    `beside` span what is known already: the start is orthogonal to them, so that a cluster of
    eigenvalues that they belong to does not stand in the way.
    """
    if V.n <= SEVERAL_DENSE_BELOW:
        last = min(count, V.n) - 1
        values, vectors = eigh(_finite(V), subset_by_index=[0, last], check_finite=False)
        return values, vectors
    start = _start_vector(V.n)
    if beside is not None and beside.shape[1] < V.n:
        start = start - beside @ np.linalg.lstsq(beside.T @ beside, beside.T @ start, rcond=None)[0]
    keep = max(2, min(MAX_SEVERAL_STEPS, MAX_SEVERAL_BYTES // (8 * V.n)))
    V, order = V.reordered()
    start = start if order is None else start[order]
    run = Recurrence(V, start / np.linalg.norm(start), keep=keep)
    test, before = 20, np.inf
    while True:
        run.grow_to(test)
        ritz = run.smallest(tol)
        rests = run.ended or 3 * (before - ritz.value) <= max(tol, ritz.rounding)
        # Values rest on a cluster for long: to see past it takes some sqrt(spread / tol) steps,
        # where n is so large that the spectrum has no gaps.
        far = max(FIRST_LOOK, 2 * sqrt(V.n))
        seen = run.ended or run.steps >= min(3 * sqrt(run.spread / max(tol, TINY)), far)
        if (ritz.converged and rests and seen) or run.steps >= min(MAX_SEVERAL_STEPS, V.n):
            break
        before, test = ritz.value, min(int(np.ceil(1.3 * test)), MAX_SEVERAL_STEPS)
    found = run.kept_vectors(count)
    lengths = np.linalg.norm(found, axis=0)
    found = found[:, lengths > 0.0] / lengths[lengths > 0.0]
    if found.shape[1] == 0:
        found = start[:, None] / np.linalg.norm(start)
    vectors, upper = np.linalg.qr(found)
    fresh = np.abs(np.diagonal(upper)) > 0.1
    vectors = vectors[:, fresh]
    values, turned = eigh(vectors.T @ (V @ vectors), check_finite=False)
    values[0] = min(values[0], ritz.value)  # the vectors may be of the first part of the run alone
    vectors = vectors @ turned
    if order is not None:
        vectors[order] = vectors.copy()
    return values, vectors


@lru_cache(maxsize=4)
def _start_vector(n: int) -> Array:
    start = np.random.default_rng(n).standard_normal(n)
    start.flags.writeable = False
    return start


def _with_noise(guess: Array) -> Array:
    """The guess and as much noise, its seed taken from the guess: the same each time it is asked.

    Atoms of consecutive iterations are different eigenvectors: a pure guess would find its own
    again and call it converged.
    """
    size = float(np.linalg.norm(guess))
    if not np.isfinite(size) or size == 0.0:
        return _start_vector(guess.size)
    noise = np.random.default_rng(guess[:8].view(np.uint64)).standard_normal(guess.size)
    return np.asarray(guess / size + NOISE / np.sqrt(guess.size) * noise)
