"""Options that are refused: penalties, tolerances and limits."""

import numpy as np
import pytest

import condal
import condal_lab
from condal import ProblemError


def refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()


PENALTIES = {
    "CGAL lam0": condal.CGAL,
    "hcgm lam0": condal.hcgm,
    "fwal lam": lambda lam: condal.methods.fwal(lam, 1.0),
    "IAL lam": lambda lam: condal_lab.methods.IAL(lam, 0.1),
    "GDMM lam": condal_lab.methods.GDMM,
    "CGS lam": condal_lab.methods.CGS,
    "corrective lam0": condal.methods.corrective,
    "LowRankCGAL lam": lambda lam: condal.methods.LowRankCGAL(lam=lam),
}


TOO_LARGE = (1e-300, 1e-51, 1e51, 1e300)  # or too small


@pytest.mark.parametrize("lam0", [0.0, -1.0, np.nan, np.inf, "1", *TOO_LARGE])
@pytest.mark.parametrize("name", PENALTIES)
def test_a_penalty_that_is_not_positive_or_may_overflow_is_refused(name, lam0):
    limits = r", from 1e-50 to 1e\+50" if lam0 in TOO_LARGE else ""
    text = f"{name.split()[1]} must be a positive number{limits}.*; got"
    refused(lambda: PENALTIES[name](lam0), text)


@pytest.fixture(scope="module")
def model():
    return condal.problems.max_cut([[0, 1], [1, 0]])


@pytest.mark.parametrize("tol", [-1e-3, 0.0, np.nan, np.inf, "1e-3", None, True])
def test_a_tol_that_is_negative_or_nan_is_refused(model, tol):
    refused(lambda: condal.solve(model, tol=tol), "tol must be a positive number such as 1e-3; got")


@pytest.mark.parametrize("max_iters", [0, -1, 2.5, np.nan, "9", True])
def test_max_iters_of_0_is_refused(model, max_iters):
    refused(
        lambda: condal.solve(model, max_iters=max_iters),
        "max_iters must be a whole number, at least 1; got",
    )
