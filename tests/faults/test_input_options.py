"""Options that are refused: sizes, penalties, tolerances and limits."""

from __future__ import annotations

import numpy as np
import pytest

import condal
import condal_lab
from builders import C
from commands import PENTAGON, run
from condal import ProblemError

N = 3


def refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()


TRACES = {
    "Spectrahedron": lambda t: condal.Spectrahedron(N, trace=t),
    "Hermitian": lambda t: condal.Hermitian(N, trace=t),
    "NuclearBall": lambda t: condal.NuclearBall(N, N, radius=t),
    "Simplex": lambda t: condal.Simplex(N, t),
    "L1Ball": lambda t: condal.L1Ball(N, t),
    "L2Ball": lambda t: condal.L2Ball(N, t),
    "LinfBall": lambda t: condal.LinfBall(N, t),
    "KSparse": lambda t: condal.KSparse(N, 2, t),
    "GroupL1Ball": lambda t: condal.GroupL1Ball([0, 0, 1], t),
    "generalised_eigenvector": lambda t: condal.problems.generalised_eigenvector(C, np.eye(4), t),
    "trace_regression": lambda t: condal.problems.trace_regression(C, C, radius=t),
}


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.nan, np.inf, "1", None, 1j, True * np.nan])
@pytest.mark.parametrize("name", TRACES)
def test_alpha_that_is_not_positive_is_refused(name, alpha):
    refused(lambda: TRACES[name](alpha), "must be a positive number; got")


LAM0 = {
    "CGAL": condal.CGAL,
    "hcgm": condal.hcgm,
    "fwal": lambda lam: condal.methods.fwal(lam, 1.0),
    "IAL": lambda lam: condal_lab.methods.IAL(lam, 0.1),
    "GDMM": condal_lab.methods.GDMM,
    "corrective": condal.methods.corrective,
    "LowRankCGAL": lambda lam: condal.methods.LowRankCGAL(lam=lam),
}


TOO_LARGE = (1e-300, 1e-51, 1e51, 1e300)  # or too small


@pytest.mark.parametrize("lam0", [0.0, -1.0, np.nan, np.inf, "1", *TOO_LARGE])
@pytest.mark.parametrize("name", LAM0)
def test_lam0_that_is_not_positive_or_may_overflow_is_refused(name, lam0):
    limits = r", from 1e-50 to 1e\+50" if lam0 in TOO_LARGE else ""
    refused(lambda: LAM0[name](lam0), f"lam.* must be a positive number{limits}.*; got")


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


@pytest.mark.parametrize(
    "options", [("--tol", "nan"), ("--tol", "-1"), ("--max-iters", "0"), ("--max-seconds", "-1")]
)
def test_the_command_refuses_with_exit_code_2_and_leaves_no_file(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.txt").write_text(PENTAGON)
    result = run("solve", "graph.txt", "--as", "max-cut", *options, "--save", "result")
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert "must be" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["graph.txt"]
