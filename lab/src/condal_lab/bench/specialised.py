"""Methods for one application, in NumPy: soft-impute, Wirtinger flow, and two of state tomography.

They are written to be hard to beat. Soft-impute (Mazumder, Hastie and Tibshirani 2010) is an
accelerated proximal gradient method whose singular vectors are warm-started from the previous step
and the previous penalty. The others have an exact line search where the papers use a step-size
schedule, condal's fast transforms for Pauli bases, and a proved gap as the stopping rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

from condal.nonsmooth.levels import onto_simplex
from condal.problems.completed import Effects

POWER = 50  # power iterations of the spectral start (Candes, Li and Soltanolkotabi 2015)
STEPS = 2_000
CHECKED = 10  # steps of R rho R between two proofs


def wirtinger_flow(a: Any, b: Any, truth: Any, *, error: float = 1e-2, seed: int = 0) -> Any:
    """Find u with |(a u)_i|^2 near b_i by steepest descent on ||a u|^2 - b|^2, spectral start.

    It stops as soon as it is within `error` of the truth, which real users do not know.
    """
    rng = np.random.default_rng(seed)
    n = a.shape[1]
    u = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    for _ in range(POWER):
        u = a.rmatvec(b * a.matvec(u / np.linalg.norm(u)))
    image = a.matvec(u)
    scale = np.sqrt(b.sum() / np.vdot(image, image).real)
    u, image = scale * u, scale * image
    for _ in range(STEPS):
        if _apart(u, truth) <= error:
            break
        missed = np.abs(image) ** 2 - b
        d = -a.rmatvec(missed * image)
        along = a.matvec(d)
        # |image + t along|^2 - b = missed + 2 t cross + t^2 square: a quartic in t.
        cross, square = (image.conj() * along).real, np.abs(along) ** 2
        slope = [
            4 * (square @ square),
            12 * (cross @ square),
            4 * (missed @ square) + 8 * (cross @ cross),
            4 * (missed @ cross),
        ]
        roots = np.roots(slope)
        t = float(min(roots[np.abs(roots.imag) < 1e-9 * np.abs(roots)].real, key=abs))
        u, image = u + t * d, image + t * along
    return u


def _apart(u: Any, truth: Any) -> float:
    product = np.vdot(truth, u)
    return float(np.linalg.norm(u - truth * product / abs(product)) / np.linalg.norm(truth))


def projected_least_squares(inverted: Any) -> Any:
    """Return the nearest density matrix to a Hermitian matrix (Guta, Kahn, Kueng, Tropp 2020)."""
    values, vectors = np.linalg.eigh(inverted)
    return (vectors * onto_simplex(values, 1.0)) @ vectors.conj().T


def r_rho_r(
    eps: float, probabilities: Any, adjoint: Any, counts: Any, background: float, d: int
) -> Any:
    """Maximise the likelihood by rho <- R rho R / tr (Lvovsky 2004), from the mixed state.

    R is the sum of k_i / p_i times the effects. tr R sigma - tr R rho bounds what any state sigma
    gains over rho in the likelihood: it stops when the largest such gain is eps of half the
    deviance, as condal does.
    """
    rho = np.eye(d, dtype=complex) / d
    some, shots = counts > 0, counts.sum()
    saturated = float(counts[some] @ np.log(counts[some]))
    settings = counts.size // d
    for k in range(STEPS):
        rates = (probabilities(rho) + background) * (shots / settings)
        R = adjoint(counts / np.maximum(rates, 1e-300)) * (shots / settings)
        if k % CHECKED == 0:
            deviance = saturated - float(counts[some] @ np.log(rates[some])) + rates.sum() - shots
            gain = float(np.linalg.eigvalsh(R)[-1] - np.vdot(R, rho).real)
            if gain <= eps * deviance:
                break
        rho = R @ rho @ R
        rho = 0.5 * (rho + rho.conj().T) / np.trace(rho).real
    return rho


PENALTIES = 12
SMALLEST = 0.05  # relative to the smallest penalty for which the fit is 0
SPARE = 6  # singular vectors beyond the rank of the fit
FITTED = 1e-4  # smallest relative decrease per step; less does not change predictions
WORSE = 2  # consecutive penalties that predict worse than the best


@dataclass(frozen=True, eq=False)
class Factors:
    """U diag(s) V', and its values at the known entries."""

    U: Any
    s: Any
    V: Any
    known: Any


class SoftImpute:
    """minimise |P(x) - v|^2 / 2 + lam |x|_*, with P the known entries (Mazumder et al. 2010)."""

    def __init__(self, shape: tuple[int, int], i: Any, j: Any, v: Any) -> None:
        order = np.lexsort((j, i))
        self.shape, self.i, self.j, self.v = shape, i[order], j[order], v[order]
        self.rest = sp.csr_array((self.v.copy(), (self.i, self.j)), shape=shape)
        assert self.rest.nnz == self.v.size, "an entry is given twice"
        self.basis = svds(self.rest, k=SPARE, random_state=0)[2].T

    def largest(self) -> float:
        """Return the smallest penalty for which the fit is 0."""
        return float(svds(self.rest, k=1, return_singular_vectors=False)[0])

    def zero(self) -> Factors:
        m, n = self.shape
        return Factors(np.zeros((m, 0)), np.zeros(0), np.zeros((n, 0)), np.zeros(self.v.size))

    def fit(self, lam: float, start: Factors) -> Factors:
        """Run accelerated proximal gradient; reset the momentum when the objective rises."""
        rng = np.random.default_rng(0)
        x = old = Factors(start.U, start.s, start.V, self._entries(start))
        value, t, slow = self._value(x, lam), 1.0, 0
        for _ in range(500):
            longer = 0.5 + np.sqrt(0.25 + t * t)
            beta = (t - 1) / longer
            L = np.hstack([(1 + beta) * x.U * x.s, -beta * old.U * old.s])
            R = np.hstack([x.V, old.V])
            self.rest.data[:] = self.v - (1 + beta) * x.known + beta * old.known
            candidate = self._shrunk(L, R, lam, rng)
            new = self._value(candidate, lam)
            if new > value and beta > 0:
                old, t = x, 1.0
                continue
            x, old, t = candidate, x, longer
            slow = slow + 1 if value - new <= FITTED * new else 0
            if slow >= 2:
                break
            value = new
        return x

    def _shrunk(self, L: Any, R: Any, lam: float, rng: Any) -> Factors:
        """Soft-threshold L R' + rest by lam, with two products from the last singular vectors."""
        B = self.basis
        Q = np.linalg.qr(L @ (R.T @ B) + self.rest @ B)[0]
        P, s, Wt = np.linalg.svd((R @ (L.T @ Q) + self.rest.T @ Q).T, full_matrices=False)
        keep = s > lam
        # The next step starts from these vectors and some random ones.
        n, rank = self.shape[1], np.count_nonzero(keep)
        more = rng.standard_normal((n, SPARE)) / np.sqrt(n)
        self.basis = np.hstack([Wt[: rank + SPARE].T, more])
        shrunk = Factors((Q @ P)[:, keep], s[keep] - lam, Wt[keep].T, None)
        return Factors(shrunk.U, shrunk.s, shrunk.V, self._entries(shrunk))

    def _entries(self, x: Factors) -> Any:
        return entries(x, self.i, self.j)

    def _value(self, x: Factors, lam: float) -> float:
        return 0.5 * float(np.sum((x.known - self.v) ** 2)) + lam * float(x.s.sum())


def entries(x: Factors, i: Any, j: Any) -> Any:
    """Return the entries of U diag(s) V' at (i_k, j_k)."""
    return (x.U * x.s @ x.V.T)[i, j]


def soft_impute(shape: tuple[int, int], train: Any, test: Any, *, seed: int = 0) -> Any:
    """Predict at `test` with the penalty that best predicts a held-out tenth.

    As in condal, row and column effects are removed first, and a random tenth is held out.
    """
    i, j, v = train
    back = np.random.default_rng(seed).random(v.size) < 0.1
    tried = Effects.of(shape, i[~back], j[~back], v[~back], "means")
    left = v - tried.entries(i, j)
    training = SoftImpute(shape, i[~back], j[~back], left[~back])
    top = training.largest()
    grid = np.geomspace(top, SMALLEST * top, PENALTIES + 1)[1:]
    x = best = training.zero()
    chosen, least, worse = top, float(np.mean(left[back] ** 2)), 0
    for lam in grid:
        x = training.fit(lam, x)
        missed = float(np.mean((entries(x, i[back], j[back]) - left[back]) ** 2))
        if missed < least:
            best, chosen, least, worse = x, lam, missed, 0
        else:
            worse += 1
        if worse >= WORSE:
            break
    effects = Effects.of(shape, i, j, v, "means")
    x = SoftImpute(shape, i, j, v - effects.entries(i, j)).fit(chosen, best)
    return effects.entries(*test) + entries(x, *test)
