"""A result is proved by its x and y, or refuted: whatever its numbers say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import condal
from condal.certificates.certificate import Certificate, rounded_text
from condal.errors import ProblemError
from condal.io.results import load, save, verify
from condal.linalg import eigenvalue_bounds
from condal.linalg.factorisations import Plan
from condal.linalg.points import LowRank, Outer
from condal.problem import JudgesItself
from condal.result import Status
from known import PLANTED, random_graph, torus


def hermitian():
    rng = np.random.default_rng(3)
    a = rng.standard_normal((20, 4)) + 1j * rng.standard_normal((20, 4))
    return condal.problems.phase_retrieval(np.abs(a @ rng.standard_normal(4)) ** 2, a)


def rectangular():
    rng = np.random.default_rng(4)
    i, j = np.divmod(np.arange(0, 48, 2), 6)
    return condal.problems.matrix_completion(i, j, rng.standard_normal(24), radius=5.0)


def robust():
    rng = np.random.default_rng(4)
    i, j = np.divmod(np.arange(0, 48, 2), 6)
    values = rng.standard_normal(24)
    return condal.problems.matrix_completion(i, j, values, radius=5.0, loss="absolute")


def blocks():
    rng = np.random.default_rng(5)
    C = rng.standard_normal((4, 4))
    X = condal.Product(condal.Spectrahedron(4), condal.Simplex(3))
    return condal.Problem.of(
        f=condal.Linear((C + C.T, rng.standard_normal(3))),
        X=X,
        A=condal.Across(condal.Diagonal(4), condal.Matrix(np.ones((4, 3)) / 4)),
        K=condal.Equal(np.full(4, 0.5)),
    )


MODELS = {
    **PLANTED,
    "max-cut": lambda: condal.problems.max_cut(torus(6, 6)),
    "k-means": lambda: condal.problems.k_means(np.random.default_rng(0).random((12, 2)), 3),
    "hermitian": hermitian,
    "rectangular": rectangular,
    "robust": robust,
    "blocks": blocks,
}


def kept(name):
    made = MODELS[name]()
    model = getattr(made, "problem", made) if name in PLANTED else made
    return model, condal.solve(model, tol=1e-3, max_iters=20_000)


@pytest.fixture(scope="module", params=MODELS)
def solved(request):
    return kept(request.param)


@pytest.fixture(scope="module")
def cut():
    return kept("max-cut")


def claiming(result, **numbers):
    """The result with other numbers in its certificate."""
    return replace(result, certificate=replace(result.certificate, **numbers))


def refuted(model, result, *names, **options):
    verdict = verify(model, result, **options)
    assert not verdict.proved
    assert {claim.name for claim in verdict.unproved} >= set(names)
    return "; ".join(claim.text for claim in verdict.unproved)


def test_what_is_true_is_proved(solved, tmp_path):
    model, result = solved
    assert result.status is Status.SOLVED
    verdict = verify(model, load(save(result, tmp_path / "run")).result)
    assert verdict.proved, verdict
    assert verdict.unproved == ()
    assert "solved" in [claim.name for claim in verdict.claims]
    assert repr(verdict).startswith("proved, without assumptions: every claim is true\n  point ")
    assert verdict.certificate is not None
    # a looser tolerance is proved as well, a far tighter one is not
    assert verify(model, result, tol=1e-2).proved
    assert "is not within tol 1e-15" in refuted(model, result, "tol 1e-15", tol=1e-15)
    # and what is claimed is true, whatever else is asked for
    assert [claim.name for claim in verify(model, result, tol=1e-15).unproved] == ["tol 1e-15"]


def test_a_better_bound_than_y_proves_is_refuted(solved):
    model, result = solved
    sense = condal.problem.problem_of(model).sense
    best = condal.certify(model, result.x, result.y).bound
    assert sense * (best - result.bound) >= -1e-9
    for size in (1e-6 * max(1.0, abs(best)), 1.0 + abs(best)):
        text = refuted(model, claiming(result, bound=best + sense * size), "bound")
        assert "is claimed, y proves no more than" in text
        assert "off by" in text
    assert "is claimed" in refuted(model, claiming(result, bound=np.nan), "bound")


def test_other_numbers_are_refuted(solved):
    model, result = solved
    unit = max(1.0, abs(result.objective))
    for change in (1e-4 * unit, -1e-4 * unit, np.inf, np.nan):
        text = refuted(model, claiming(result, objective=result.objective + change), "objective")
        assert "off by" in text
    for value in (result.infeasibility + 1e-4, -1.0, np.nan, np.inf):
        refuted(model, claiming(result, infeasibility=value), "infeasibility")
    for value in (result.price + 1e-4, -1.0, np.inf):
        refuted(model, claiming(result, price=value), "price")
    refuted(model, claiming(result, distance_to_X=-1.0), "point")


def test_another_point_is_refuted(solved):
    model, result = solved
    for x in altered(result.x):
        assert not verify(model, replace(result, x=x)).proved


def altered(x):
    """The point, with a part of it changed by a hundredth."""
    if isinstance(x, tuple):
        for i, part in enumerate(x):
            yield from ((*x[:i], other, *x[i + 1 :]) for other in altered(part))
    elif isinstance(x, LowRank):
        yield LowRank(x.U, 1.01 * x.weights)
        yield LowRank(x.U, x.weights - 0.01 * np.abs(x.weights).max())
        yield LowRank(x.U[:-1], x.weights)
        yield LowRank(np.full_like(x.U, np.nan), x.weights)
    elif isinstance(x, Outer):
        yield Outer(x.V, x.weights, x.U)
        yield Outer(x.U * 1.2, x.weights, x.V)
    else:
        yield 1.01 * x
        yield x[:-1]
        yield np.where(np.arange(x.size).reshape(x.shape) == 0, np.nan, x)
        yield x + 0.01 * np.eye(*x.shape) if x.ndim == 2 else x + 0.01
    yield None
    yield ()
    yield np.zeros((1, 1))
    yield np.full((2, 2), 1j)


def test_another_dual_is_refuted(solved):
    model, result = solved
    for y in (result.y[:-1], np.append(result.y, 0.0), np.full_like(result.y, np.nan)):
        if y.size != result.y.size or y.size:
            assert "must be" in refuted(model, replace(result, y=y), "point")
    if result.y.size:
        rng = np.random.default_rng(0)
        y = result.y + (1.0 + np.abs(result.y).max()) * rng.standard_normal(result.y.size)
        refuted(model, replace(result, y=y), "bound")


def test_a_result_of_another_problem(cut):
    result = cut[1]
    other = condal.problems.max_cut(torus(6, 6, seed=1))
    refuted(other, result, "objective")
    assert "not of this problem" in refuted(condal.problems.max_cut(torus(5, 6)), result, "point")


def test_an_asymmetric_matrix_is_no_point(cut):
    """A triangle that is psd, and another with the objective of somebody's choice."""
    model, result = cut
    x = np.asarray(result.x).copy()
    x[0, 1:] -= 10.0
    assert "x must be symmetric" in refuted(model, replace(result, x=x), "point")


def test_solved_is_a_claim(cut):
    model, _ = cut
    stopped = condal.solve(model, condal.CGAL(), max_iters=30)
    assert stopped.status is Status.MAX_ITERS
    assert verify(model, stopped).proved  # it does not claim to be solved
    text = refuted(model, replace(stopped, status=Status.SOLVED), "solved")
    assert "is not within tol 0.001" in text
    assert "gap" in refuted(model, stopped, "tol 0.001", tol=1e-3)
    assert verify(model, stopped, tol=10.0).proved
    with pytest.raises(ProblemError, match="does not say to what tolerance it is solved: give tol"):
        verify(model, replace(stopped, status=Status.SOLVED, tol=None))
    with pytest.raises(ProblemError, match="tol must be a positive number"):
        verify(model, stopped, tol=0.0)


def test_a_worse_bound_is_true_but_solves_nothing(cut):
    model, result = cut
    worse = claiming(result, bound=result.bound + 1.0)  # a maximisation
    worse = claiming(worse, dimacs={})
    assert verify(model, replace(worse, status=Status.STALLED)).proved
    refuted(model, worse, "solved")


def test_errors_of_the_dimacs_challenge_are_claims(cut):
    model, result = cut
    assert set(result.certificate.dimacs) == {"e1", "e2", "e3", "e4", "e5", "e6"}
    for name, error in result.certificate.dimacs.items():
        other = {**result.certificate.dimacs, name: error - 1e-3}
        text = refuted(model, claiming(result, dimacs=other), "DIMACS errors")
        assert f"{name} is claimed to be" in text
    refuted(model, claiming(result, dimacs={"e7": 0.0}), "DIMACS errors")


def infeasible():
    """x_0 + x_1 + x_2 = 1 over the simplex, and 2 is asked for."""
    return condal.Problem.of(
        f=condal.Linear(np.arange(3.0)),
        X=condal.Simplex(3),
        A=condal.Matrix(np.ones((1, 3))),
        K=condal.Equal([2.0]),
    )


def test_infeasibility_is_proved_again(tmp_path):
    problem = infeasible()
    result = condal.solve(problem)
    assert result.status is Status.INFEASIBLE
    loaded = load(save(result, tmp_path / "run")).result
    np.testing.assert_array_equal(loaded.separator, result.separator)
    verdict = verify(problem, loaded)
    assert verdict.proved, verdict
    assert verdict.claims[0].name == "infeasible"
    assert verdict.claims[0].text.startswith("proved: A(X) is 1 from K or further")
    for change, text in (
        ({"separator": None}, "there is no separator"),
        ({"infeasible": None}, "there is no separator"),
        ({"separator": -result.separator}, "the separator proves nothing"),
        ({"separator": np.ones(2)}, "the separator is not of this problem"),
        ({"separator": np.array([np.nan])}, "the separator is not of this problem"),
        ({"infeasible": replace(result.infeasible, value=1.1)}, "not by the 1.1 that is claimed"),
    ):
        assert text in refuted(problem, replace(loaded, **change), "infeasible")


def test_what_is_feasible_is_not_proved_infeasible(cut):
    model, result = cut
    proof = condal.types.Proof(1e-3, "so they say")
    for d in (result.y, -result.y, np.ones_like(result.y)):
        other = replace(result, status=Status.INFEASIBLE, separator=d, infeasible=proof)
        assert "proves nothing" in refuted(model, other, "infeasible")


def test_nothing_is_proved_where_there_is_no_point(cut):
    model, result = cut
    empty = Certificate(np.nan, np.inf, np.inf, "nothing was computed")
    none = replace(result, x=None, status=Status.INTERRUPTED, certificate=empty)
    assert "there is none: the solve ended too early" in refuted(model, none, "point")
    refuted(model, replace(none, certificate=result.certificate), "point")
    problem = infeasible()
    apart = condal.solve(problem)
    assert verify(problem, replace(apart, x=None, certificate=empty)).proved
    refuted(problem, replace(apart, x=None), "point")


def test_how_surely_it_is_infeasible_is_a_claim(monkeypatch):
    """diag x = 1 and <C, x> = 1e4, which is too much, by a proof that draws random numbers."""
    monkeypatch.setattr(eigenvalue_bounds, "_plan", lambda V: Plan("probabilistic", 0.0))
    n, C = 300, random_graph(300, 6)
    apart = condal.Problem.of(
        f=condal.Linear(C),
        X=condal.Spectrahedron(n, trace=float(n)),
        A=condal.Stack(condal.Diagonal(n), condal.Inner([C])),
        K=condal.Equal(np.append(np.ones(n), 1e4)),
    )
    result = condal.solve(apart)
    assert result.status is Status.INFEASIBLE
    assert result.infeasible.failure == 1e-6
    found = verify(apart, result).claims[0]
    assert found.holds
    assert "wrong with probability at most" in found.text
    surer = replace(result, infeasible=replace(result.infeasible, failure=0.0))
    assert "less surely" in refuted(apart, surer, "infeasible")


class Whole(JudgesItself):
    """A model whose bound is no better than a level, whatever its problem's is."""

    def __init__(self, model, level):
        self.problem, self.level = model.problem, level

    def certified(self, certificate, y):
        return replace(certificate, bound=max(certificate.bound, self.level))


def test_a_model_says_what_is_proved_of_the_whole(cut):
    model, result = cut
    assert verify(Whole(model, result.bound), result).proved
    text = refuted(Whole(model, result.bound + 1.0), result, "bound")
    assert f"y proves no more than {rounded_text(result.bound + 1, up=True)}, off by 1" in text


def test_a_probabilistic_proof_is_made_anew(monkeypatch):
    monkeypatch.setattr(eigenvalue_bounds, "_plan", lambda V: Plan("probabilistic", 0.0))
    model = condal.problems.max_cut(random_graph(300, 6))
    result = condal.solve(model, tol=1e-2)
    assert result.certificate.failure == 1e-6
    verdict = verify(model, result)
    assert verdict.proved, verdict
    assert verdict.certificate.failure <= 1e-6
    assert "Lanczos" in verdict.certificate.how
    for failure in (0.0, -1.0, np.nan):
        text = refuted(model, claiming(result, failure=failure), "bound")
        assert "wrong with probability" in text
    assert verify(model, claiming(result, failure=1e-9)).proved
    better = result.bound - 0.9 * (result.bound - result.objective)
    refuted(model, claiming(result, bound=better), "bound")
    seeds = [verify(model, result, seed=7).certificate for _ in range(2)]
    assert seeds[0] == seeds[1]
