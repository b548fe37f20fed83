"""The ledger keeps the best of what was proved, in pairs that belong together."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from condal import Equal, Linear, Matrix, Problem, Simplex
from condal.certificates.certificate import Certificate
from condal.certificates.ledger import CertifiedPoint, ProofLedger

SENSES = pytest.mark.parametrize("sense", [1, -1])


def problem_of(sense=1):
    """min -x_0, or max x_0, over the simplex with x_0 = 0.5: y = 1 proves the optimum."""
    return Problem.of(
        f=Linear(np.array([-sense, 0.0, 0.0])),
        X=Simplex(3),
        A=Matrix(sp.csr_array(np.array([[1.0, 0, 0]]))),
        K=Equal(np.array([0.5])),
        maximise=sense < 0,
    )


@SENSES
@pytest.mark.parametrize("price", [np.nan, np.inf])
def test_of_points_of_unknown_error_one_with_a_bound_is_better(sense, price):
    ledger, x = ProofLedger(problem_of(sense), 1e-6, 0), np.array([0.5, 0.5, 0])

    def point(bound):
        certificate = Certificate(-0.5 * sense, bound, 0.0, "a test", price=price)
        return CertifiedPoint(x, np.ones(1), certificate)

    bounded, unbounded = point(-0.6 * sense), point(-sense * np.inf)
    assert ledger.better_of(bounded, unbounded) is bounded
    assert ledger.better_of(unbounded, bounded) is bounded
    later = point(-0.6 * sense)
    assert ledger.better_of(bounded, later) is later
