"""Small solves of every kind, and all of them that must be the same each time, as a digest.

`python tests/repeated.py NAME ...` prints the digests of some, as JSON, from a process of its own.
"""

import json
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from hashlib import sha256
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

import builders
import condal
import laws.domains
from condal import eigen, problems, storage
from condal.problem import Problem
from condal.problems.conic import conic_model
from condal.runtime import arguments
from conic_programs import cone_program, level_program, several_blocks, slack_program
from known import planted_sdp, random_graph, torus
from method_cases import CASES
from spaces import Vectors

MEASURED = {"seconds", "cpu_seconds", "oracle_cpu_seconds"}  # by the clock


def digest(value: Any) -> str:
    """Return a digest of every bit of a result or an answer, except for measured times."""
    seen = sha256()
    for piece in _bits(value):
        seen.update(piece + b";")
    return seen.hexdigest()


def _bits(value: Any) -> Iterable[bytes]:
    if isinstance(value, condal.History):
        for name in value.columns:
            if name not in MEASURED:
                yield from _bits((name, value[name]))
    elif isinstance(value, Problem):
        return  # what was given
    elif is_dataclass(value):
        for field in fields(value):
            if field.name not in MEASURED:
                yield from _bits((field.name, getattr(value, field.name)))
    elif isinstance(value, dict):
        yield from _bits(tuple(value.items()))
    elif isinstance(value, tuple | list):
        yield f"{len(value)}".encode()
        for part in value:
            yield from _bits(part)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype.str} {value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif sp.issparse(value):
        yield from _bits((value.toarray(),))
    elif isinstance(value, float | np.floating):
        yield float(value).hex().encode()
    elif isinstance(value, Enum):
        yield value.name.encode()
    elif value is None or isinstance(value, str | int | np.integer | bool | np.bool_):
        yield repr(value).encode()
    else:
        raise TypeError(f"no bits of {type(value)}")


def _rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def _completion() -> Any:
    x = 3 + np.multiply.outer(_rng(1).standard_normal(8), _rng(2).standard_normal(6))
    i, j = np.nonzero(_rng(3).random(x.shape) < 0.8)
    return problems.matrix_completion(i, j, x[i, j])


def _symmetric(n: int, seed: int = 0) -> Any:
    A = _rng(seed).random((n, n))
    return A + A.T


MODELS: dict[str, Callable[[], Any]] = {
    **{name: model for name, model in builders.MODELS.items() if " " not in name},
    "k_means": lambda: problems.k_means(_rng().standard_normal((12, 2)), 3),
    "matrix_completion": _completion,
    "max_cut": lambda: problems.max_cut(torus(5, 8)),
    "max_k_cut": lambda: problems.max_k_cut(random_graph(14, 4.0), 3),
    "theta": lambda: problems.theta(random_graph(14, 4.0)),
}


def _kept(kept: Any, problem: Problem | None = None) -> Any:
    """Solve by 200 steps of CGAL with the given storage."""
    chosen = planted_sdp(24).problem if problem is None else problem
    return condal.solve(chosen, condal.CGAL(), storage=kept, tol=1e-9, max_iters=200)


def _two_blocks() -> Problem:
    C = _symmetric(6)
    X = condal.Product(condal.Spectrahedron(6), condal.Simplex(4))
    return Problem.of(f=condal.Linear((C, np.arange(4.0))), X=X)


STORAGES: dict[str, Callable[[], Any]] = {
    "Dense": lambda: _kept(storage.Dense()),
    "Factored": lambda: _kept(storage.Factored(24)),
    "Sketch": lambda: _kept(storage.Sketch(24, 4, seed=3)),
    "Atoms": lambda: _kept(storage.Atoms()),
    "Factor": lambda: condal.solve(
        planted_sdp().problem, CASES["lowrank"].method, storage=storage.Factor(), max_iters=20
    ),
    "Blocks": lambda: _kept(storage.Blocks(storage.Factored(6), storage.Dense()), _two_blocks()),
}


def _by_engine(engine: eigen.Engine) -> Any:
    """n = 60, large enough to use Lanczos."""
    problem = problems.max_cut(torus(6, 10)).problem
    X = condal.Spectrahedron(60, trace=60.0, engine=engine)
    return condal.solve(replace(problem, X=X), condal.CGAL(), tol=1e-9, max_iters=60)


ENGINES = {kind.__name__: kind for kind in (eigen.Dense, eigen.Lanczos, eigen.Automatic)}


def _over(X: Any, **more: Any) -> Any:
    """min |x - c|^2 over X."""
    f = condal.LeastSquares(np.eye(X.n), _rng(5).standard_normal(X.n))
    return condal.solve(Problem.of(f=f, X=X, **more), tol=1e-6, max_iters=200)


DOMAINS = {
    type(case.X).__name__: lambda X=case.X: _over(X)
    for case in reversed(laws.domains.DOMAINS)
    if isinstance(case.space, Vectors)
}


def _infeasible() -> Any:
    """diag x = 1 with trace 3."""
    problem = planted_sdp(6).problem
    X = condal.Spectrahedron(6, trace=3.0)
    return condal.solve(
        replace(problem, X=X, A=condal.Diagonal(6), h=condal.Equal(np.ones(6)), checked=False)
    )


def _modelled() -> Any:
    """The plug-in of CVXPY."""
    import cvxpy as cp

    from condal.cvxpy import CONDAL

    x = cp.Variable((4, 4), PSD=True)
    z = cp.Variable(3)
    C = _symmetric(4) - 1.0
    objective = cp.trace(C @ x) + cp.norm1(z) + cp.sum_squares(z - 1)
    problem = cp.Problem(cp.Minimize(objective), [cp.trace(x) == 2, x[0, 1] >= 0.1, z[0] <= 0.2])
    problem.solve(solver=CONDAL(tol=1e-4))
    duals = [constraint.dual_value for constraint in problem.constraints]
    return problem.status, problem.value, x.value, z.value, [np.asarray(d) for d in duals]


def _estimated() -> Any:
    from condal.sklearn import (
        MatrixCompletionImputer,
        SDPGraphClustering,
        SDPKMeans,
        SDPSparsePCA,
    )

    X = _rng().standard_normal((15, 2))
    means = SDPKMeans(3, random_state=0).fit(X)
    graph = SDPGraphClustering(3, random_state=0).fit(X)
    imputer = MatrixCompletionImputer(random_state=0).fit(np.where(X > 1, np.nan, X))
    pca = SDPSparsePCA().fit(X)
    return (
        (means.labels_, means.cluster_centers_, means.inertia_, means.lower_bound_, means.result_),
        (graph.labels_, graph.value_, graph.upper_bound_, graph.result_),
        (imputer.components_, imputer.radius_, imputer.lower_bound_, imputer.result_),
        (pca.components_, pca.value_, pca.upper_bound_, pca.results_),
    )


def by_method(name: str, problem: Problem) -> Any:
    """Solve by the method of a case."""
    return condal.solve(problem, CASES[name].method, tol=1e-6, max_iters=30)


def answered(model: Any) -> Any:
    """Return the result of a model and its interpretation."""
    result = condal.solve(model, max_iters=300)
    return result, model.round(result) if hasattr(model, "round") else None


SOLVES: dict[str, Callable[[], Any]] = {
    **{
        f"method {name}": lambda name=name: by_method(name, CASES[name].known().problem)
        for name in CASES
    },
    **{f"storage {name}": make for name, make in STORAGES.items()},
    **{f"engine {name}": lambda kind=kind: _by_engine(kind()) for name, kind in ENGINES.items()},
    **{f"domain {name}": make for name, make in DOMAINS.items()},
    **{f"model {name}": lambda make=make: answered(make()) for name, make in MODELS.items()},
    **{
        f"conic {make.__name__}": lambda make=make: conic_model(make()[0]).solve()
        for make in (cone_program, level_program, several_blocks, slack_program)
    },
    "infeasible": _infeasible,
    "warm start": lambda: condal.solve(
        planted_sdp().problem, warm_start=condal.solve(planted_sdp().problem, tol=1e-2)
    ),
}
for module, work in (("cvxpy", _modelled), ("sklearn", _estimated)):
    with suppress(ImportError):  # not installed, or too old
        import_module(f"condal.{module}")
        SOLVES[module] = work


def digests(names: Iterable[str]) -> dict[str, str]:
    """Return the digest of the solves of these names, in that order."""
    return {name: digest(SOLVES[name]()) for name in names}


@cache
def in_turn() -> dict[str, str]:
    """Return the digests of all solves, computed once in the first thread that asks."""
    return digests(SOLVES)


if __name__ == "__main__":
    arguments.urandom = bytes  # as in tests/conftest.py
    print(json.dumps(digests(sys.argv[1:] or SOLVES)))
