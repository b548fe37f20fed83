"""Factorisations of V - tau I: what they cost, and the bounds that positive pivots prove.

A completed Cholesky factorisation, dense or sparse, proves that lambda_min(V) > tau less a bound on
the rounding of the factorisation. A negative pivot of a sparse one shows a direction.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf

from condal.linalg.lanczos import Recurrence
from condal.linalg.lanczos_bounds import MAX_PROOF_STEPS, steps_for
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import TINY, UNDERFLOW, UNIT_ROUNDOFF, Proof, gamma
from condal.linalg.symbolic import MAX_ENTRIES, elimination, envelope
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import DENSE_SPEED, spend

MAX_FACTOR_BYTES = 2**29  # of a factorisation in a proof,
MAX_FACTOR_FLOPS = 1e10  # of SuperLU: a few seconds
SURE_BYTES, SURE_FLOPS = 2**33, 1e12  # the same, where no other proof will do: some minutes
MAX_DIRECTIONS = 4  # that start from the negative pivots of one factorisation
INVERSE_STEPS = 2  # of the Krylov space that improves them
MIN_SPARSE_SIDE = 1000  # below, a dense proof costs less than planning another one
MAX_OPERATOR_SIDE = 3000  # of an operator that is multiplied out
MAX_SAVINGS = 100.0  # of minimum degree: flops of the envelope over those of the factor,
SPARSE_DEGREE = 6.0  # up to this average degree
LIKELY_SAVINGS = 10.0  # the same, as a rule
MAX_DENSE_SAVINGS = 4.0  # flops of the envelope over dense ones: 8 means a full envelope
BYTES_PER_ENTRY = 96  # of L: both factors, as SuperLU and as SciPy store them
MIN_FILLED_FLOPS = 5e7  # of a sparse factorisation: below, it costs little more than its ordering
MAX_LANCZOS_WORK = 0.6  # of a factorisation: what Lanczos steps may take before it
STEP_FLOPS = 2.0  # of an entry in a step, where the vectors stay in the cache
LIKELY_ROOM = 20.0  # times the slack: what a proof may lose against a bound that is enough
SPREAD_STEPS = 12  # that estimate the spread of the spectrum
STEPS_MARGIN = 1.1  # times the likely steps: what they may turn out to be


class Budget(NamedTuple):
    """What a factorisation may take, in bytes and sparse flops. One of at most `preferred` flops is
    taken though Lanczos steps would cost less."""

    bytes: int = MAX_FACTOR_BYTES
    flops: float = MAX_FACTOR_FLOPS
    preferred: float = 0.0


USUAL, SURE = Budget(), Budget(SURE_BYTES, SURE_FLOPS, inf)
_budget: ContextVar[Budget] = ContextVar("_budget", default=USUAL)
budget = _budget.get


@contextmanager
def spending(allowed: Budget) -> Iterator[None]:
    """Let the factorisations in the context take so much."""
    token = _budget.set(allowed)
    try:
        yield
    finally:
        _budget.reset(token)


def dense_factor_bytes(n: int) -> int:
    """Return the bytes of a dense factorisation: the n x n matrix and its factor."""
    return 16 * n * n


def dense_cholesky(V: Symmetric, tau: float) -> Proof | None:
    """Prove tau less rounding, if the dense Cholesky factorisation of V - tau I completes.

    Rump (2006): if Cholesky completes on S then lambda_min(S) >= -g/(1 - g) tr S, g = gamma_{n+1},
    less what underflows.
    """
    V = V.explicit()
    shifted = V.to_dense()
    shift_error = UNIT_ROUNDOFF * (np.abs(np.diagonal(shifted)).max() + abs(tau))
    shifted[np.diag_indices(V.n)] -= tau
    trace = float(np.trace(shifted))
    spend(V.n**3 / 3 / DENSE_SPEED)
    # The transpose of a symmetric C-ordered array is Fortran-ordered: LAPACK makes no copy.
    factor, failed = dpotrf(shifted.T, lower=0, clean=0, overwrite_a=1)
    if failed or not np.all(np.diagonal(factor) > 0):  # LAPACK does not refuse nan
        return None
    rounding = gamma(V.n + 1) / (1 - gamma(V.n + 1)) * trace + UNDERFLOW * V.n**3
    return Proof(tau - rounding - shift_error - V.assembly_error(), "dense Cholesky factorisation")


def sparse_factorisation(V: Symmetric, tau: float) -> Proof | None:
    """Prove tau less rounding, if a sparse LDL' factorisation of V - tau I has positive pivots."""
    factors = SparseFactors.of(V, tau)
    return None if factors is None else factors.proof()


@dataclass(frozen=True, eq=False)
class SparseFactors:
    """V - tau I = P' L U P by SuperLU without pivoting; U = D L' but for rounding."""

    V: Symmetric
    tau: float
    order: Indices
    L: Any
    U: Any
    solve: Any
    shift_error: float

    @classmethod
    def of(cls, V: Symmetric, tau: float) -> SparseFactors | None:
        """Factorise in the minimum degree order; None if a pivot is exactly 0."""
        from scipy.sparse.linalg import splu

        matrix = V.to_sparse()
        order, _, flops = elimination(matrix)
        spend(flops)
        shifted = sp.csc_matrix(matrix - tau * sp.eye(V.n, format="csc"))
        shift_error = 2 * UNIT_ROUNDOFF * (np.abs(shifted.diagonal()).max() + abs(tau))
        try:
            factors = splu(
                sp.csc_matrix(shifted[order][:, order]),
                permc_spec="NATURAL",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True, "Equil": False},
            )
        except (RuntimeError, MemoryError):  # exactly singular, or larger than planned
            return None
        if not all(np.array_equal(p, np.arange(V.n)) for p in (factors.perm_r, factors.perm_c)):
            return None
        return cls(V, tau, order, factors.L, factors.U, factors.solve, shift_error)

    @property
    def entries(self) -> int:
        """The stored numbers of L."""
        return int(self.L.nnz)

    @property
    def pivots(self) -> Array:
        """The diagonal D of U."""
        return np.asarray(self.U.diagonal())

    def proof(self) -> Proof | None:
        """Prove tau less rounding, if all pivots are positive: L D L' is then positive definite."""
        pivots = self.pivots
        if not np.all((pivots > 0) & (pivots < np.inf)):
            return None
        return Proof(float(self.tau - self.error()), "sparse LDL' factorisation")

    def error(self) -> float:
        """Bound |V - tau I - L D L'|_2 for D = diag U.

        S + E = L U with |E| <= gamma_t |L||U| in any order of summation, row by row with t the
        entries of that row of L (Higham 2002, theorem 9.3), so |S - L D L'|_2 <= |E|_2 +
        | L (U - D L') |_2. Row and column sums of the computed factors bound both norms. Nothing is
        assumed about U except its entries.
        """
        pivots = self.pivots
        absolute = _absolute(self.L)
        rows = sp.csr_array(self.L)
        roundings = UNIT_ROUNDOFF * (np.diff(rows.indptr) + 4.0)  # two more for D L' below
        scaled = absolute.copy()
        scaled.data *= (roundings / (1 - roundings))[absolute.indices]
        backward = _product_norm(scaled, _absolute(self.U))
        rows.data *= pivots[rows.indices]  # L D, whose transpose stands in columns as U does
        asymmetry = _absolute(self.U - rows.T)
        error = backward + _product_norm(absolute, asymmetry) + UNDERFLOW * self.entries * self.V.n
        # The sums that bound the error are rounded themselves: a few percent covers that.
        return 1.05 * error + self.shift_error + self.V.assembly_error()

    def below(self) -> tuple[Array, Array] | None:
        """Return Ritz values of V below tau, ascending, and their orthonormal vectors.

        Each negative pivot d_j has a direction v = L'^-1 e_j with v'(LDL')v = d_j. It solves
        L U v = d_j L e_j, so rounding in later pivots may spoil it; the Ritz values show that. Few
        eigenvalues of (V - tau I)^-1 are negative, so its Krylov space soon holds their vectors.
        None if no value is below tau.
        """
        negative = np.flatnonzero(self.pivots < 0)[:MAX_DIRECTIONS]
        block = self.L[:, negative].toarray()
        spaces = []
        for _ in range(1 + INVERSE_STEPS):
            block = self.solve(block)
            block = block[:, np.isfinite(block).all(axis=0)]
            if block.shape[1] == 0:
                return None
            block = np.linalg.qr(block)[0]
            spaces.append(block)
        basis = np.empty((self.V.n, sum(space.shape[1] for space in spaces)))
        basis[self.order] = np.hstack(spaces)
        basis = np.linalg.qr(basis)[0]
        values, turned = np.linalg.eigh(basis.T @ (self.V @ basis))
        low = values < self.tau
        return (values[low], basis @ turned[:, low]) if low.any() else None


def _absolute(a: Any) -> Any:
    """|a| with the indices of a, unsorted as they may be."""
    return sp.csc_array((np.abs(a.data), a.indices, a.indptr), a.shape)


def _product_norm(a: Any, b: Any) -> float:
    """sqrt(|ab|_1 |ab|_inf) >= |ab|_2 for non-negative a and b, without forming ab."""
    ones = np.ones(a.shape[0])
    return float(np.sqrt((a @ (b @ ones)).max() * (b.T @ (a.T @ ones)).max()))


@dataclass(frozen=True)
class Plan:
    """The kind of a proof, and its sparse flops."""

    kind: str
    flops: float


def plan_factorisation(V: Symmetric) -> Plan:
    """Return the cheapest affordable proof: a dense or sparse factorisation, or Lanczos."""
    plans, multiplied_out = [], not V.operators or V.n <= MAX_OPERATOR_SIDE
    if dense_factor_bytes(V.n) <= budget().bytes and multiplied_out:
        plans.append(Plan("dense", V.n**3 / 3 / DENSE_SPEED))
    if V.factorable and V.n > MIN_SPARSE_SIDE:
        sparse = _sparse_plan(V.to_sparse(), min((plan.flops for plan in plans), default=inf))
        plans += [] if sparse is None else [sparse]
    plans = [plan for plan in plans if plan.flops <= budget().flops]
    return min(plans, key=lambda plan: plan.flops, default=Plan("probabilistic", 0.0))


def _sparse_plan(pattern: Any, dense: float) -> Plan | None:
    """Return the plan of a sparse factorisation by its exact cost, unless it is hopeless.

    Minimum degree takes a minute for a random graph of 10^5 vertices. The envelope of an order that
    is found at once tells where that is in vain: the factor takes less, by a factor that falls with
    the degree (measured on random, planar and geometric graphs of 10^3 to 10^5 vertices).
    """
    n = pattern.shape[0]
    width = envelope(pattern)
    flops = float(width @ width)
    if flops > min(_savings(pattern.nnz / n) * budget().flops, MAX_DENSE_SAVINGS * dense):
        return None
    cost = elimination(pattern)
    fits = BYTES_PER_ENTRY * cost.entries <= min(budget().bytes, BYTES_PER_ENTRY * MAX_ENTRIES)
    return Plan("sparse", cost.flops) if fits else None


class Likely(NamedTuple):
    """The flops of the cheapest factorisation, estimated before anything is ordered, inf if none is
    affordable, and whether it ends in dense rows."""

    flops: float
    fills: bool


def likely_factorisation(V: Symmetric) -> Likely:
    """Estimate the cheapest factorisation by the envelope."""
    flops, fills = inf, False
    if dense_factor_bytes(V.n) <= budget().bytes and not V.operators:
        flops = V.n**3 / 3 / DENSE_SPEED
    if V.factorable and V.n > MIN_SPARSE_SIDE:
        pattern = V.to_sparse()
        width = envelope(pattern)
        sparse = float(width @ width) / LIKELY_SAVINGS
        fills = sparse >= MIN_FILLED_FLOPS
        if fills:
            savings = DENSE_SPEED * _savings(pattern.nnz / V.n)
            sparse *= LIKELY_SAVINGS / min(MAX_SAVINGS, savings)
        flops = min(flops, sparse)
    return Likely(flops if flops <= budget().flops else inf, fills)


def _savings(degree: float) -> float:
    """Return the flops of the envelope over those of a factor in minimum degree order, at most."""
    return MAX_SAVINGS / max(1.0, degree / SPARSE_DEGREE) ** 3


def likely_steps(V: Symmetric, slack: float, failure: float) -> int:
    """Return how many Lanczos steps prove a bound that may lose LIKELY_ROOM times the slack.

    The proof of a gap mostly has room to lose far more than its slack. The spread of the spectrum
    is estimated from another start than that of the proof, on which the number does not depend.
    """
    start = np.random.default_rng(V.n).standard_normal(V.n)
    run = Recurrence(V, start / np.linalg.norm(start), keep=0)
    run.grow_to(SPREAD_STEPS)
    least, most = run.ends()
    return steps_for(V.n, LIKELY_ROOM * slack / max(most - least, TINY), failure)


def few_steps(V: Symmetric, likely: int, flops: float) -> int:
    """Return how many Lanczos steps to try before a factorisation; 0 if that is likely in vain.

    They take at most a part of the work of the factorisation.
    """
    steps = int(MAX_LANCZOS_WORK * flops / (STEP_FLOPS * (V.entries + 4 * V.n)))
    steps = min(steps, MAX_PROOF_STEPS)
    return steps if STEPS_MARGIN * likely <= steps else 0
