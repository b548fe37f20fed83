"""Checked conversion of the symmetric and Hermitian matrices that users pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.lifting import is_complex, real_matrix, require_finite_parts
from condal.linalg.matrix_free import is_operator
from condal.linalg.sparse import require_sound, summed_rows
from condal.linalg.symmetric import Symmetric
from condal.runtime.arguments import finite_array

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator


def symmetric(C: Any, name: str = "C") -> Symmetric:
    """Return the Symmetric of a sparse matrix, an array or a LinearOperator, checked.

    A complex matrix must be Hermitian; the result is its real form, of twice its side.
    """
    if isinstance(C, Symmetric):
        return C
    if is_complex(C):
        return _hermitian(C if hasattr(C, "dtype") else np.asarray(C), name)
    if is_operator(C):
        _require_square(C.shape, name)
        _require_equal(*_asymmetry(C, name), name)
        return Symmetric(int(C.shape[0]), operators=(C,))
    if sp.issparse(C):
        _require_square(C.shape, name)
        require_sound(C, name)
        finite_array(C.tocoo(copy=False).data, f"{name} (its stored entries)")
        S = summed_rows(C)
        difference = _max_difference(S, S.T.tocsr())
        _require_equal(difference, float(abs(S).max()) if S.nnz else 0.0, name)
        if difference > 0:  # remove rounding: the proofs need exact symmetry
            S = sp.csr_array(0.5 * (S + S.T))
        return Symmetric(S.shape[0], sparse=(S,))
    dense = finite_array(C, name, ndim=2)
    _require_square(dense.shape, name)
    if dense.size:
        _require_equal(float(np.abs(dense - dense.T).max()), float(np.abs(dense).max()), name)
    return Symmetric(dense.shape[0], dense=0.5 * (dense + dense.T))


def _max_difference(S: Any, T: Any) -> float:
    """Return the largest |S - T|; for equal patterns T is overwritten with T - S."""
    if not (np.array_equal(S.indptr, T.indptr) and np.array_equal(S.indices, T.indices)):
        return float(abs(S - T).max())
    with np.errstate(over="ignore"):
        T.data -= S.data
    return float(max(T.data.max(initial=0.0), -T.data.min(initial=0.0)))


def _hermitian(C: Any, name: str) -> Symmetric:
    _require_square(C.shape, name)
    if is_operator(C):
        real = real_matrix(C)
        _require_equal(*_asymmetry(real, name), name, hermitian=True)
        return Symmetric(int(real.shape[0]), operators=(real,))
    if sp.issparse(C):
        require_sound(C, name)
    require_finite_parts(C, name)
    if sp.issparse(C):  # a copy: SciPy sorts the indices in place
        C = sp.csr_array(C, copy=True)
        C.sum_duplicates()
    difference = float(abs(C - C.conj().T).max())
    _require_equal(difference, float(abs(C).max()), name, hermitian=True)
    # Rounding is removed here: the real form of an exactly Hermitian C is exactly symmetric.
    return symmetric(real_matrix(C if difference == 0 else 0.5 * (C + C.conj().T)), name)


def _asymmetry(C: LinearOperator, name: str) -> tuple[float, float]:
    """Return |a'Cb - b'Ca| for random a and b, and the size to compare it with."""
    from condal.linalg.guarded_operators import named_operator

    a, b = np.random.default_rng(0).standard_normal((2, C.shape[0]))
    guarded = named_operator(C, name)
    left, right = float(a @ guarded.matvec(b)), float(b @ guarded.matvec(a))
    return abs(left - right), 1e4 * (abs(left) + abs(right))


def _require_square(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ProblemError(f"{name} must be a square matrix, at least 1 x 1; got shape {shape}")


def _require_equal(difference: float, size: float, name: str, *, hermitian: bool = False) -> None:
    if difference > 1e-12 * size:
        kind, mark = ("Hermitian", "*") if hermitian else ("symmetric", "'")
        raise ProblemError(
            f"{name} must be {kind}; the largest |{name} - {name}{mark}| is {difference:.3g}: "
            f"pass ({name} + {name}{mark}) / 2 if that is what you mean"
        )
