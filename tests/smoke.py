"""A minute with an installed condal and its extra `all`: each door answers one small problem.

`make smoke` runs it in an environment that holds the wheel and nothing else.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import cvxpy as cp
import numpy as np

import condal
from condal.cvxpy import CONDAL
from condal.sklearn import MatrixCompletionImputer, SDPGraphClustering, SDPKMeans, SDPSparsePCA

PENTAGON = "5 5\n1 2\n2 3\n3 4\n4 5\n5 1\n"


def library() -> None:
    W = np.roll(np.eye(5), 1, axis=1)
    model = condal.problems.max_cut(W + W.T)
    result = condal.solve(model, tol=1e-6)
    assert result.status is condal.Status.SOLVED
    assert model.round(result).weight == 4 <= result.bound < 4.5226


def command(folder: Path) -> None:
    graph, saved, page = (folder / name for name in ("graph.txt", "run", "page.html"))
    graph.write_text(PENTAGON, encoding="utf-8")
    for words in (
        ["--version"],
        ["demo"],
        ["solve", graph, "--as", "max-cut", "--save", saved],
        ["certify", graph, saved],
        ["report", saved, "-o", page],
    ):
        subprocess.run([Path(sys.executable).with_name("condal"), *words], check=True)
    assert page.stat().st_size > 0


def modelling() -> None:
    X = cp.Variable((3, 3), PSD=True)
    problem = cp.Problem(cp.Maximize(cp.sum(X)), [cp.diag(X) == 1])
    problem.solve(solver=CONDAL(tol=1e-6))
    assert problem.status == "optimal"
    assert abs(problem.value - 9) < 1e-4


def estimators() -> None:
    X = np.random.default_rng(0).standard_normal((30, 4))
    X[:15] += 9.0
    for kind in (SDPKMeans, SDPGraphClustering):
        assert set(kind(2, random_state=0).fit(X).labels_[[0, -1]]) == {0, 1}
    assert not np.isnan(MatrixCompletionImputer().fit_transform(np.where(X > 9, np.nan, X))).any()
    assert SDPSparsePCA().fit(X).transform(X).shape == (30, 1)


if __name__ == "__main__":
    library()
    with tempfile.TemporaryDirectory() as folder:
        command(Path(folder))
    modelling()
    estimators()
    print(f"condal {condal.__version__} works with Python {sys.version.split()[0]}")
