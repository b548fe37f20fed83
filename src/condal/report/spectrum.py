"""The spectrum of x: eigenvalues or singular values of each block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.linalg.points import Array, LowRank, Outer

MAX_DENSE_SIDE = 3000  # above it the eigenvalues of a dense matrix take too long
RANK_TOL = 1e-6  # relative to the largest value; the rank does not count smaller ones


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Values of a block in decreasing order, what they are, and the shape of the block."""

    values: Array
    what: str
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The number of values above RANK_TOL times the largest."""
        return int(np.count_nonzero(self.values > RANK_TOL * self.values.max(initial=0.0)))


def spectra(x: Any) -> list[Spectrum]:
    """Return one spectrum per block of a point; none for a block that would take too long."""
    if isinstance(x, tuple):
        return [spectrum for block in x for spectrum in spectra(block)]
    if isinstance(x, LowRank):
        return [Spectrum(_of_factor(x), "eigenvalues", x.shape)]
    if isinstance(x, Outer):
        return [Spectrum(x.singular_values(), "singular values", x.shape)]
    array = np.asarray(x) if x is not None else np.zeros(0, dtype=object)
    if array.dtype.kind not in "fc" or not array.size or not np.isfinite(array).all():
        return []
    if array.ndim == 1:
        return [Spectrum(-np.sort(-np.abs(array)), "absolute values of the entries", array.shape)]
    if array.ndim != 2 or min(array.shape) > MAX_DENSE_SIDE:
        return []
    asymmetry = 1e-9 * float(np.abs(array).max())
    if array.shape[0] == array.shape[1] and np.allclose(
        array, array.conj().T, rtol=0, atol=asymmetry
    ):
        return [Spectrum(np.linalg.eigvalsh(array)[::-1], "eigenvalues", array.shape)]
    return [Spectrum(np.linalg.svd(array, compute_uv=False), "singular values", array.shape)]


def _of_factor(x: LowRank) -> Array:
    """Return the r possibly nonzero eigenvalues of U diag(w) U*: those of R diag(w) R*, U = QR."""
    if not x.weights.size:
        return np.zeros(0)
    R: Any = np.linalg.qr(x.U, mode="r")
    values = np.linalg.eigvalsh((R * x.weights) @ R.conj().T)
    return np.asarray(values[::-1])
