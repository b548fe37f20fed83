"""Coded diffraction patterns: the Fourier transforms of masked images."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from condal.errors import ProblemError
from condal.linalg.lifting import require_finite_parts
from condal.linalg.points import Array
from condal.runtime.arguments import plain_array


class CodedDiffraction(LinearOperator):
    r"""The operator :math:`u \mapsto (F(d_1 u), F(d_2 u), \ldots)` of masked Fourier transforms.

    F is the unitary 2-D Fourier transform and u an h x w image, flattened in C order.
    ``Quadratics(CodedDiffraction(masks))`` is the map of the intensities: L patterns of h x w
    numbers.

    Parameters
    ----------
    masks : array_like of shape (L, h, w) or (h, w)
        The masks :math:`d_l`, real or complex.
    """

    def __init__(self, masks: Any) -> None:
        given = plain_array(masks, "masks", "an array of shape (L, h, w)")
        stack = given[None] if given.ndim == 2 else given
        if stack.ndim != 3 or 0 in stack.shape:
            raise ProblemError(
                f"masks must have the shape (L, h, w), at least 1 x 1 x 1; got {given.shape}"
            )
        require_finite_parts(stack, "masks")
        self.masks = stack.astype(np.complex128)
        L, h, w = stack.shape
        super().__init__(np.complex128, (L * h * w, h * w))

    @property
    def lengths(self) -> Array:
        """The norm of each row: |d_l| / sqrt(h w)."""
        L, h, w = self.masks.shape
        norms = np.linalg.norm(self.masks.reshape(L, -1), axis=1)
        return np.repeat(norms / np.sqrt(h * w), h * w)

    @cached_property
    def frame(self) -> Array:
        """The diagonal of a*a, a diagonal matrix as F is unitary: sum_l |d_l|^2."""
        total = np.zeros(self.masks.shape[1:])
        for mask in self.masks:
            total += mask.real**2 + mask.imag**2
        return total.ravel()

    def intensities(self, u: Any) -> Array:
        """Return |a u|^2, mask by mask."""
        out = np.empty(self.masks.shape)
        for squares, pattern in zip(out, self._patterns(u), strict=True):
            np.multiply(pattern.real, pattern.real, out=squares)
            squares += pattern.imag**2
        return out.ravel()

    def weighted(self, w: Array, u: Any) -> Any:
        """Return a* Diag(w) a u, mask by mask: all patterns take L times the memory of u."""
        import scipy.fft

        total = np.zeros(self.masks.shape[1:], dtype=np.complex128)
        weights = w.reshape(self.masks.shape)
        for mask, weight, pattern in zip(self.masks, weights, self._patterns(u), strict=True):
            pattern *= weight
            image = scipy.fft.ifft2(pattern, norm="ortho", overwrite_x=True)
            image *= mask.conj()
            total += image
        return total.ravel()

    def _patterns(self, u: Any) -> Iterator[Any]:
        import scipy.fft

        image = np.asarray(u).reshape(self.masks.shape[1:])
        for mask in self.masks:
            yield scipy.fft.fft2(mask * image, norm="ortho", overwrite_x=True)

    def _matvec(self, v: Any) -> Any:
        return self._matmat(np.asarray(v).reshape(-1, 1))[:, 0]

    def _rmatvec(self, v: Any) -> Any:
        return self._rmatmat(np.asarray(v).reshape(-1, 1))[:, 0]

    def _matmat(self, U: Any) -> Any:
        import scipy.fft

        L, h, w = self.masks.shape
        out = np.empty((U.shape[1], L, h, w), dtype=np.complex128)
        for column, image in zip(U.T, out, strict=True):
            np.multiply(self.masks, column.reshape(h, w), out=image)
        out = scipy.fft.fft2(out, norm="ortho", overwrite_x=True)
        return out.reshape(U.shape[1], -1).T

    def _rmatmat(self, V: Any) -> Any:
        import scipy.fft

        L, h, w = self.masks.shape
        patterns = np.array(V.T, dtype=np.complex128, order="C").reshape(-1, L, h, w)  # a copy
        images = scipy.fft.ifft2(patterns, norm="ortho", overwrite_x=True)
        images *= self.masks.conj()
        return images.sum(axis=1).reshape(V.shape[1], -1).T
