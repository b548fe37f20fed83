"""Norms of matrices and linear operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.lanczos import Recurrence, missed_share
from condal.linalg.points import Array, total_rows
from condal.linalg.sparse import is_operator
from condal.linalg.symmetric import Symmetric

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

LANCZOS_STEPS = 60
FAILURE = 1e-6  # probability that Lanczos steps miss more than they are trusted for
MAX_EXACT_SIDES = 400, 20_000  # the shorter and the longer side of a matrix that LAPACK takes
MIN_DENSITY_AS_DENSE = 0.05  # of a sparse matrix: from here on a dense product is faster


def operator_norm(a: Any, name: str = "op") -> float:
    """Return an upper bound on the largest singular value of a; exact for a small matrix.

    A large matrix and a LinearOperator take Lanczos steps on a'a and a margin of 2 to 3 percent of
    its largest eigenvalue: the bound fails with a probability of FAILURE. Errors call a
    LinearOperator by its name.
    """
    if min(a.shape) == 0:
        return 0.0
    short, long = sorted(a.shape)
    if not is_operator(a) and short <= MAX_EXACT_SIDES[0] and long <= MAX_EXACT_SIDES[1]:
        return _exact_norm(a)
    return _lanczos_norm(a, name)


def _lanczos_norm(a: Any, name: str) -> float:
    from scipy.sparse.linalg import aslinearoperator

    from condal.linalg.guarded_operators import named_operator

    A: Any = named_operator(a, name) if is_operator(a) else aslinearoperator(a)
    long = max(a.shape)
    unit = _power_of_two_norm(A, name)
    if unit == 0:
        return 0.0
    A = A * (1 / unit)  # so that the squares are finite
    gram = Symmetric(long, operators=(A.T @ A if a.shape[1] == long else A @ A.T,))
    start = np.random.default_rng(0).standard_normal(long)
    bound = gram_norm(gram, start)
    if bound == 0:
        _refuse_adjoint(name)
    return unit * bound


def gram_norm(gram: Any, start: Array) -> float:
    """Return an upper bound on the root of the largest eigenvalue of a'a, from Lanczos steps.

    `gram` has products with vectors, and `start` is a vector of standard normal numbers; both may
    be distributed over ranks. The bound fails with a probability of FAILURE.
    """
    run = Recurrence(gram, start / np.linalg.norm(start), keep=2)
    run.grow_to(LANCZOS_STEPS)
    missed = 0.0 if run.ended else missed_share(total_rows(start), run.steps, FAILURE)
    return float(np.sqrt(max(run.ends()[1], 0.0) / (1 - missed)))


def _exact_norm(a: Any) -> float:
    if sp.issparse(a) and a.nnz > MIN_DENSITY_AS_DENSE * a.shape[0] * a.shape[1]:
        a = a.toarray()
    largest = float(abs(a).max())
    unit = 1.0 if largest == 0 or 1e-100 < largest < 1e100 else _power_of_two(largest)
    a = a if unit == 1 else a / unit  # so that the squares are finite
    gram = a @ a.T if a.shape[0] <= a.shape[1] else a.T @ a
    dense = gram.toarray() if sp.issparse(gram) else np.asarray(gram)
    return unit * float(np.sqrt(max(np.linalg.eigvalsh(dense)[-1], 0.0)))


def _power_of_two_norm(A: LinearOperator, name: str) -> float:
    """A power of 2 near the largest entry of a product with a random vector; 0 for A = 0."""
    rng = np.random.default_rng(1)
    image = A.matvec(rng.standard_normal(A.shape[1]))
    if not np.any(image):
        if np.any(A.rmatvec(rng.standard_normal(A.shape[0]))):
            _refuse_adjoint(name)
        return 0.0
    return _power_of_two(float(np.abs(image).max()))


def _power_of_two(number: float) -> float:
    return float(2.0 ** np.floor(np.log2(number)))


def _refuse_adjoint(name: str) -> NoReturn:
    raise ProblemError(
        f"the adjoint of the operator {name} is wrong: one of the two is 0, the other is not; see "
        "condal.check_adjoint"
    )
