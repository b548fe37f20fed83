"""The spectrum of x: eigenvalues or singular values of each block, through small matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.linalg.points import Array, LowRank, Outer

LARGEST = 3000  # the side of a dense matrix whose eigenvalues are worth the wait
NEGLIGIBLE = 1e-6  # of the largest: a value that the rank does not count


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Values in falling order, and what they are: of a block of so many rows and columns."""

    values: Array
    what: str
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        """How many are above NEGLIGIBLE times the largest."""
        return int(np.count_nonzero(self.values > NEGLIGIBLE * self.values.max(initial=0.0)))


def spectra(x: Any) -> list[Spectrum]:
    """One for each block of a point; none for a point that has none, or would take too long."""
    if isinstance(x, tuple):
        return [found for part in x for found in spectra(part)]
    if isinstance(x, LowRank):
        return [Spectrum(_of_factor(x), "eigenvalues", x.shape)]
    if isinstance(x, Outer):
        return [Spectrum(x.singular_values(), "singular values", x.shape)]
    array = np.asarray(x) if x is not None else np.zeros(0, dtype=object)
    if array.dtype.kind not in "fc" or not array.size or not np.isfinite(array).all():
        return []
    if array.ndim == 1:
        return [Spectrum(-np.sort(-np.abs(array)), "sizes of the entries", array.shape)]
    if array.ndim != 2 or min(array.shape) > LARGEST:
        return []
    even = 1e-9 * float(np.abs(array).max())
    if array.shape[0] == array.shape[1] and np.allclose(array, array.conj().T, rtol=0, atol=even):
        return [Spectrum(np.linalg.eigvalsh(array)[::-1], "eigenvalues", array.shape)]
    return [Spectrum(np.linalg.svd(array, compute_uv=False), "singular values", array.shape)]


def _of_factor(x: LowRank) -> Array:
    """Those of U diag(w) U* that may differ from 0: of R diag(w) R*, with U = Q R, r x r."""
    if not x.weights.size:
        return np.zeros(0)
    R: Any = np.linalg.qr(x.U, mode="r")
    values = np.linalg.eigvalsh((R * x.weights) @ R.conj().T)
    return np.asarray(values[::-1])
