"""Engines that compute the smallest eigenpair of a symmetric operator."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature

import numpy as np
from scipy.linalg import eigh

from condal.linalg.eigen import finite_dense, start_vector
from condal.linalg.lanczos import Eigenpair, Recurrence
from condal.linalg.limits import MAX_BASIS_BYTES, MAX_BASIS_STEPS
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric

START_NOISE = 3.0  # norm of the noise that is added to a guess of norm 1


@dataclass(frozen=True)
class Dense:
    """LAPACK, for small n: exact to rounding, at a cost of n^3."""

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        values, vectors = eigh(
            finite_dense(V), subset_by_index=[0, 0], overwrite_a=True, check_finite=False
        )
        return Eigenpair(float(values[0]), vectors[:, 0], 0.0, 0.0)


@dataclass(frozen=True)
class Arpack:
    """SciPy's `eigsh`, the implicitly restarted Lanczos method.

    Parameters
    ----------
    max_restarts : int, default 300
        The most restarts.
    """

    max_restarts: int = 300

    def smallest(self, V: Symmetric, tol: float = 0.0, guess: Array | None = None) -> Eigenpair:
        from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

        if V.n <= 2:
            return Dense().smallest(V)
        start = start_vector(V.n) if guess is None else _with_noise(guess)
        scale = float(np.linalg.norm(V @ start) / np.linalg.norm(start))
        if not np.isfinite(scale):
            raise FloatingPointError("a product with the gradient gave NaN or infinity")
        if scale == 0.0:
            return Lanczos().smallest(V, tol, guess)

        # ARPACK's tolerance is relative: nothing converges to an eigenvalue of 0, and SciPy then
        # returns another one. With V - 2 scale I the wanted eigenvalue is not near 0.
        def shifted(v: Array) -> Array:
            return V @ v - 2 * scale * v

        operator = LinearOperator(V.shape, matvec=shifted, dtype=np.float64)
        relative = min(max(tol, 0.0) / (3 * scale), 0.5)
        restarts_at_random = "rng" in signature(eigsh).parameters  # from SciPy 1.17 on
        seeded = {"rng": np.random.default_rng(V.n)} if restarts_at_random else {}
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
        except ArpackError:  # such as a start vector that spans an invariant subspace
            return Lanczos().smallest(V, tol, guess)
        image = V @ vector
        value = float(vector @ image)
        residual = float(np.linalg.norm(image - value * vector))
        return Eigenpair(value, vector, residual, residual)


@dataclass(frozen=True)
class Lanczos:
    """The three-term Lanczos recurrence, with warm starts.

    The space grows until its smallest Ritz value is within tol. A basis that does not fit into
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
        test, before = 6, np.inf
        while True:
            run.grow_to(min(test, self.max_steps))
            ritz = run.smallest(tol)
            # A small residual alone may belong to another eigenvalue: the value must settle, too.
            settled = run.ended or 3 * (before - ritz.value) <= max(tol, ritz.rounding)
            if (ritz.converged and settled) or run.steps >= self.max_steps:
                break
            before = ritz.value
            if run.steps >= V.n:  # exact arithmetic would have finished: LAPACK is cheaper now
                return Dense().smallest(V)
            test = int(np.ceil(test * 1.25))
        vector = run.combine(ritz.coefficients)
        return Eigenpair(ritz.value, vector / np.linalg.norm(vector), ritz.residual, ritz.error)


def _with_noise(guess: Array) -> Array:
    """The unit guess plus noise whose seed is taken from the guess, so results repeat.

    Atoms of consecutive iterations are different eigenvectors: a run from the guess alone would
    return to it and call it converged.
    """
    size = float(np.linalg.norm(guess))
    if not np.isfinite(size) or size == 0.0:
        return start_vector(guess.size)
    noise = np.random.default_rng(guess[:8].view(np.uint64)).standard_normal(guess.size)
    return np.asarray(guess / size + START_NOISE / np.sqrt(guess.size) * noise)
