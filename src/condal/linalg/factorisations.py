"""Factorisations of V - tau I: positive pivots prove a bound.

A completed Cholesky factorisation, dense or sparse, proves that lambda_min(V) > tau less a bound on
the rounding of the factorisation.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf

from condal.linalg.norms import UNIT_ROUNDOFF, gamma
from condal.linalg.proof import Proof
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import DENSE_SPEED, spend


def dense_cholesky(V: Symmetric, tau: float) -> Proof | None:
    """Prove tau less rounding, if the dense Cholesky factorisation of V - tau I completes.

    Rump (2006): if Cholesky completes on S then lambda_min(S) >= -g/(1 - g) tr S, g = gamma_{n+1}.
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
    rounding = gamma(V.n + 1) / (1 - gamma(V.n + 1)) * trace
    return Proof(tau - rounding - shift_error - V.assembly_error(), "dense Cholesky factorisation")


def sparse_factorisation(V: Symmetric, tau: float) -> Proof | None:
    """Prove tau less rounding, if a sparse LDL' factorisation of V - tau I has positive pivots."""
    from condal.linalg.sparse_factors import SparseFactors

    factors = SparseFactors.of(V, tau)
    return None if factors is None else factors.proof()
