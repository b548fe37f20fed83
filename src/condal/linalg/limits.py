"""Limits on the memory and the work of eigenvalue computations, which memory estimates share."""

from __future__ import annotations

MAX_BASIS_BYTES = 256 * 2**20  # of a Lanczos basis
MAX_BASIS_STEPS = 2000
MAX_LOWEST_DENSE_SIDE = 150  # up to here LAPACK computes several eigenpairs faster than Lanczos
MAX_FACTOR_BYTES = 2**29  # of a factorisation in a proof
MAX_FACTOR_FLOPS = 1e10  # of SuperLU: a few seconds


def basis_bytes(n: int) -> int:
    """Return the most bytes that a Lanczos basis of vectors of length n takes."""
    return min(MAX_BASIS_BYTES, 8 * n * min(n, MAX_BASIS_STEPS))


def dense_factor_bytes(n: int) -> int:
    """Return the bytes of a dense factorisation: the n x n matrix and its factor."""
    return 16 * n * n
