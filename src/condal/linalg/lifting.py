"""Matrices that users pass as real symmetric operators: checked, and lifted to larger ones.

**Hermitian.** A complex number is stored as two adjacent real numbers: u in C^n is a real vector of
length 2n, and a complex p x n matrix is a real 2p x 2n matrix with the block [[Re, -Im], [Im, Re]]
for each entry. For H Hermitian and its real form H', u* H u = u' H' u. So <H, x> over Hermitian x
psd equals <H', x'> over real x' psd of side 2n: each u u* is a u u' of the same trace, and each x'
is a sum of these. Traces, eigenvalues, bounds and the rank of factors are the same.

**Rectangular.** {x : sum of singular values <= tau}, m x n, is the set of upper right blocks of
{x' psd : tr x' <= 2 tau} of side m + n, and <C, x> = <C', x'> with C' = [[0, C/2], [C'/2, 0]].

Everything computed and proved for real symmetric matrices therefore holds for these domains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Outer, Point
from condal.linalg.sparse import is_operator, require_sound, summed_rows
from condal.linalg.symmetric import Symmetric
from condal.runtime.arguments import finite_array, plain_array, refuse_complex

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

_ONE, _I = np.eye(2), np.array([[0.0, -1.0], [1.0, 0.0]])
_ONE.flags.writeable = _I.flags.writeable = False


def is_complex(a: Any) -> bool:
    """Whether a holds complex numbers."""
    if not hasattr(a, "dtype"):
        try:
            a = np.asarray(a)
        except ValueError:  # rows of different lengths: refused later, with a better message
            return False
    return a.dtype is not None and np.issubdtype(a.dtype, np.complexfloating)


def require_finite_parts(a: Any, name: str) -> None:
    """Raise ProblemError unless the real and imaginary parts of a, dense or sparse, are finite."""
    stored = a.tocoo().data if sp.issparse(a) else a
    finite_array(stored.real, f"the real part of {name}")
    finite_array(stored.imag, f"the imaginary part of {name}")


def real_vectors(U: Any) -> Array:
    """Return the columns of U in C^(n x r) as real columns of length 2n."""
    return np.stack([U.real, U.imag], axis=1).reshape(2 * U.shape[0], *U.shape[1:])


def complex_vectors(U: Array) -> Any:
    """Return the real columns of U of length 2n as complex columns of length n."""
    parts = U.reshape(U.shape[0] // 2, 2, *U.shape[1:])
    return parts[:, 0] + 1j * parts[:, 1]


def real_matrix(a: Any) -> Any:
    """Return the real form of a complex matrix: an array, a CSR array or a LinearOperator."""
    if is_operator(a):
        return _real_operator(a)
    if sp.issparse(a):
        a = sp.csr_array(a)
        return sp.csr_array(sp.kron(a.real, _ONE, "coo") + sp.kron(a.imag, _I, "coo"))
    return np.kron(a.real, _ONE) + np.kron(a.imag, _I)


def _real_operator(a: LinearOperator) -> LinearOperator:
    from scipy.sparse.linalg import LinearOperator

    def on_reals(product: Callable[[Any], Any]) -> Callable[[Array], Array]:
        return lambda v: real_vectors(np.asarray(product(complex_vectors(v))))

    matvec, rmatvec = on_reals(a.matvec), on_reals(a.rmatvec)
    real = LinearOperator(
        (2 * a.shape[0], 2 * a.shape[1]),
        matvec=lambda v: matvec(np.ravel(v)),
        rmatvec=lambda v: rmatvec(np.ravel(v)),
        matmat=on_reals(a.matmat),
        rmatmat=on_reals(a.rmatmat),
        dtype=np.float64,
    )
    real.of = a
    return real


def hermitian_point(x: Point) -> Any:
    """Return the Hermitian matrix of a real point: a LowRank with a complex U, or an array."""
    if isinstance(x, LowRank):
        return LowRank(complex_vectors(x.U), x.weights)
    full = np.asarray(x)
    real, imaginary = full[::2, ::2] + full[1::2, 1::2], full[1::2, ::2] - full[::2, 1::2]
    return real + 1j * imaginary


def real_point(x: Any, n: int) -> Point:
    """Return the real point of side 2n of a Hermitian n x n matrix; a real point unchanged."""
    real = not is_complex(x.U if isinstance(x, LowRank) else x)
    shape = np.shape(x)
    if shape == (2 * n, 2 * n) and real:
        return x if isinstance(x, LowRank) else finite_array(x, "x")
    if shape != (n, n):
        raise ProblemError(f"x must be {n} x {n}, as the domain is; got shape {shape}")
    if isinstance(x, LowRank):
        return LowRank(real_vectors(x.U + 0j), x.weights)
    full = np.asarray(x) + 0j
    apart = float(np.abs(full - full.conj().T).max())
    if not apart <= 1e-9 * float(np.abs(full).max()):
        raise ProblemError(
            f"x must be Hermitian; the largest |x - x*| is {apart:.3g}: pass (x + x*) / 2 if that "
            "is what you mean"
        )
    return 0.5 * np.asarray(real_matrix(full))  # of the same trace, and psd if x is


def rectangle(x: Point, m: int) -> Outer:
    """Return the upper right block of a point, with m rows."""
    if isinstance(x, LowRank):
        return Outer(x.U[:m], x.weights, x.U[m:])
    U, values, Vt = np.linalg.svd(np.asarray(x)[:m, m:], full_matrices=False)
    return Outer(U, values, Vt.T)


def square_point(x: Any, m: int, n: int) -> Point:
    """Return the psd point of side m + n of least trace with upper right block x, m x n."""
    shape = np.shape(x)
    if shape == (m + n, m + n):
        return x if isinstance(x, LowRank) else finite_array(x, "x")
    if shape != (m, n) or isinstance(x, LowRank):
        raise ProblemError(f"x must be {m} x {n}, as the domain is; got shape {shape}")
    if not isinstance(x, Outer):
        full = finite_array(x, "x")
        x = Outer(full, np.ones(n), np.eye(n)) if n <= m else Outer(np.eye(m), np.ones(m), full.T)
    left, upper = np.linalg.qr(x.U * x.weights)
    right, lower = np.linalg.qr(x.V)
    U, values, Vt = np.linalg.svd(upper @ lower.T)
    r = len(values)
    return LowRank(np.vstack([left @ U[:, :r], right @ Vt[:r].T]), values)


@np.errstate(under="ignore")  # whatever numpy.seterr says: an underflow is a rounding
def lifted(C: Any) -> Symmetric:
    r"""Return the symmetric form of a real m x n matrix C, for points x of NuclearBall(m, n).

    .. math:: \begin{bmatrix} 0 & C/2 \\ C^T/2 & 0 \end{bmatrix}

    Its inner product with a point is :math:`\langle C, x \rangle`. So ``Linear(lifted(C))`` is
    that function, and ``Inner([lifted(A_1), ...])`` the map of all
    :math:`\langle A_i, x \rangle`.

    Parameters
    ----------
    C : array_like, sparse matrix or LinearOperator of shape (m, n)
        The matrix.

    Returns
    -------
    Symmetric
        The operator of side m + n.
    """
    C = C if hasattr(C, "shape") else plain_array(C, "C", "a matrix, at least 1 x 1")
    shape = tuple(C.shape)
    if len(shape) != 2 or 0 in shape:
        raise ProblemError(f"C must be a matrix, at least 1 x 1; got shape {shape}")
    refuse_complex(getattr(C, "dtype", None), "C")
    m, n = shape
    if is_operator(C):
        return Symmetric(m + n, operators=(_lifted_operator(C),))
    if sp.issparse(C):
        require_sound(C, "C")
        C = sp.coo_array(C, dtype=np.float64)
        finite_array(C.data, "C (its stored entries)")
        rows, cols = np.append(C.row, m + C.col), np.append(m + C.col, C.row)
        both = sp.coo_array((np.tile(0.5 * C.data, 2), (rows, cols)), shape=(m + n, m + n))
        return Symmetric(m + n, sparse=(sp.csr_array(both),))
    full = np.zeros((m + n, m + n))
    full[:m, m:] = 0.5 * finite_array(C, "C", ndim=2)
    full[m:, :m] = full[:m, m:].T
    return Symmetric(m + n, dense=full)


def _lifted_operator(C: LinearOperator) -> LinearOperator:
    from scipy.sparse.linalg import LinearOperator

    m = C.shape[0]

    def image(v: Array) -> Array:
        v = np.ravel(v)
        return 0.5 * np.concatenate([C.matvec(v[m:]), C.rmatvec(v[:m])])

    def images(V: Array) -> Array:
        return 0.5 * np.concatenate([C.matmat(V[m:]), C.rmatmat(V[:m])])

    side = sum(C.shape)
    return LinearOperator(
        (side, side), matvec=image, matmat=images, rmatvec=image, rmatmat=images, dtype=np.float64
    )


def symmetric(C: Any, name: str = "C") -> Symmetric:
    """Return the Symmetric of a sparse matrix, an array or a LinearOperator, checked.

    A complex matrix must be Hermitian; the result is its real form, of twice its side.
    """
    if isinstance(C, Symmetric):
        return C
    if is_complex(C):
        return _hermitian(C if hasattr(C, "dtype") else np.asarray(C), name)
    if is_operator(C):
        require_square(C.shape, name)
        _require_equal(*_asymmetry(C, name), name)
        return Symmetric(int(C.shape[0]), operators=(C,))
    if sp.issparse(C):
        require_square(C.shape, name)
        require_sound(C, name)
        finite_array(C.tocoo(copy=False).data, f"{name} (its stored entries)")
        S = summed_rows(C)
        difference = _max_difference(S, S.T.tocsr())
        _require_equal(difference, float(abs(S).max()) if S.nnz else 0.0, name)
        if difference > 0:  # remove rounding: the proofs need exact symmetry
            S = sp.csr_array(0.5 * (S + S.T))
        return Symmetric(S.shape[0], sparse=(S,))
    dense = finite_array(C, name, ndim=2)
    require_square(dense.shape, name)
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
    require_square(C.shape, name)
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


def require_square(shape: tuple[int, ...], name: str) -> None:
    """Raise ProblemError unless this is the shape of a square matrix with entries."""
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ProblemError(f"{name} must be a square matrix, at least 1 x 1; got shape {shape}")


def _require_equal(difference: float, size: float, name: str, *, hermitian: bool = False) -> None:
    if difference > 1e-12 * size:
        kind, mark = ("Hermitian", "*") if hermitian else ("symmetric", "'")
        raise ProblemError(
            f"{name} must be {kind}; the largest |{name} - {name}{mark}| is {difference:.3g}: "
            f"pass ({name} + {name}{mark}) / 2 if that is what you mean"
        )
