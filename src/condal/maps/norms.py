"""Operator norms."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from condal.errors import ProblemError
from condal.linalg.guarded import named_operator
from condal.linalg.lanczos import Recurrence
from condal.linalg.symmetric import Symmetric

LANCZOS_STEPS = 60
FAILURE = 1e-6
FULL = 0.05  # of the entries of a sparse matrix: a dense product with it takes less time


def operator_norm(a: Any, name: str = "op") -> float:
    """The largest singular value: LAPACK for a small matrix, Lanczos and its margin else
    and for a LinearOperator.

    Kuczynski and Wozniakowski (1992): k steps from a random start find lambda_max of a'a up to a
    part (log(1.648 sqrt(n) / FAILURE) / (2k - 1))^2 of it, 2 to 3 percent here, but for FAILURE.
    Errors call a LinearOperator by its name.
    """
    if min(a.shape) == 0:
        return 0.0
    known = not isinstance(a, LinearOperator)
    if known and min(a.shape) <= 400 and max(a.shape) <= 20_000:
        if sp.issparse(a) and a.nnz > FULL * a.shape[0] * a.shape[1]:
            a = a.toarray()
        largest = float(abs(a).max())
        unit = 1.0 if largest == 0 or 1e-100 < largest < 1e100 else _power_of_two(largest)
        a = a if unit == 1 else a / unit  # so that double precision holds the squares
        gram = a @ a.T if a.shape[0] <= a.shape[1] else a.T @ a
        dense = gram.toarray() if sp.issparse(gram) else np.asarray(gram)
        return unit * float(np.sqrt(max(np.linalg.eigvalsh(dense)[-1], 0.0)))
    side = max(a.shape)
    A: Any = aslinearoperator(a) if known else named_operator(a, name)
    unit = _size(A, name)
    if unit == 0:
        return 0.0
    A = A * (1 / unit)  # as above
    gram = Symmetric(side, operators=(A.T @ A if a.shape[1] == side else A @ A.T,))
    start = np.random.default_rng(0).standard_normal(side)
    run = Recurrence(gram, start / np.linalg.norm(start), keep=2)
    run.grow_to(LANCZOS_STEPS)
    largest = float(run.values()[-1])
    if largest <= 0:
        _refuse_adjoint(name)
    logarithm = float(np.log(1.648 * np.sqrt(side) / FAILURE))
    missed = 0.0 if run.ended else (logarithm / (2 * run.steps - 1)) ** 2
    return unit * float(np.sqrt(largest / (1 - missed)))


def _size(A: LinearOperator, name: str) -> float:
    """A power of 2, about as large as a product with a random vector; 0 for A = 0."""
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
