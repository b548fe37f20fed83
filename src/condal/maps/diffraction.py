"""Coded diffraction patterns: the Fourier transforms of an image seen through masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
from scipy.sparse.linalg import LinearOperator

from condal.errors import ProblemError
from condal.lifting import require_finite_parts
from condal.points import Array, plain_array


class CodedDiffraction(LinearOperator):  # type: ignore[misc]
    """u -> (F(d_1 u), F(d_2 u), ...): F the unitary 2-D Fourier transform, d_l masks of an h x w
    image u, flattened in C order.

    `masks` is an array of shape (L, h, w), or (h, w) for one. Quadratics(CodedDiffraction(masks))
    is the map of the intensities: L patterns of h x w numbers.
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
        """The norm of each row: that of its mask, shared by the h w numbers of a pattern."""
        L, h, w = self.masks.shape
        norms = np.linalg.norm(self.masks.reshape(L, -1), axis=1)
        return np.repeat(norms / np.sqrt(h * w), h * w)

    def _matvec(self, v: Any) -> Any:
        return self._matmat(np.asarray(v).reshape(-1, 1))[:, 0]

    def _rmatvec(self, v: Any) -> Any:
        return self._rmatmat(np.asarray(v).reshape(-1, 1))[:, 0]

    def _matmat(self, U: Any) -> Any:
        L, h, w = self.masks.shape
        out = np.empty((U.shape[1], L, h, w), dtype=np.complex128)
        for column, image in zip(U.T, out, strict=True):
            np.multiply(self.masks, column.reshape(h, w), out=image)
        out = scipy.fft.fft2(out, norm="ortho", overwrite_x=True)
        return out.reshape(U.shape[1], -1).T

    def _rmatmat(self, V: Any) -> Any:
        L, h, w = self.masks.shape
        patterns = np.array(V.T, dtype=np.complex128, order="C").reshape(-1, L, h, w)  # a copy
        images = scipy.fft.ifft2(patterns, norm="ortho", overwrite_x=True)
        images *= self.masks.conj()
        return images.sum(axis=1).reshape(V.shape[1], -1).T
