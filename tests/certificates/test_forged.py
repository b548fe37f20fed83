"""Forged claims: whatever a stranger's result says, only what x and y prove is called proved."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import condal
from condal.certificates.bound import adjoint_rounding, dual_rounding
from condal.certificates.certificate import Certificate
from condal.certificates.history import History
from condal.linalg import eigenvalue_bounds
from condal.linalg.points import dense
from condal.problem import JudgesItself, problem_of
from condal.result import Result, Status
from condal.saved import verify
from known import planted_sdp, planted_simplex, random_graph


def claimed(x, y, *, objective, bound, tol=1e-6, status=Status.SOLVED, **more):
    """Return a result as a stranger may write it."""
    return Result(
        x=x,
        y=y,
        status=status,
        certificate=Certificate(objective, bound, 0.0, "trust me", **more),
        history=History(),
        seconds=0.0,
        oracle_calls=0,
        matvecs=0,
        problem_name="a problem",
        tol=tol,
    )


def wide(*, trace=1e12, least=-1.0):
    """Return min x_11 + 2 x_22 over psd x with a trace of at most 1e12, and x_11 >= least: the
    optimum is that, or 0."""
    return condal.Problem.of(
        f=condal.Linear(np.diag([1.0, 2.0])),
        X=condal.Spectrahedron(2, trace=trace, at_most=True),
        A=condal.Diagonal(2),
        K=condal.Box(np.array([least, -1.0]), np.full(2, trace)),
    )


def refuted(verdict):
    return {claim.name for claim in verdict.unproved}


@pytest.mark.parametrize("outside", [0.09, 1e-3, 1e-4])
def test_the_proved_bound_is_tested_and_not_the_claimed_one(outside):
    problem = wide()
    x = np.diag([-outside, 0.0])  # 1e-13 of the trace, but worth more than tol
    forged = claimed(x, np.zeros(2), objective=-outside, bound=-outside, distance_to_X=outside)
    verdict = verify(problem, forged)
    assert not verdict.proved
    assert "solved" in refuted(verdict)


@pytest.mark.parametrize("outside", [0.9, 0.09])
def test_a_point_outside_a_large_domain_solves_nothing_at_any_door(outside):
    """A weak dual bounds the optimum 1 by the objective of a point outside."""
    problem, value = wide(least=1.0), 1.0 - outside
    x, y = np.diag([1.0, -outside / 2]), np.array([-value, 0.0])
    certificate = condal.certify(problem, x, y)
    assert certificate.gap < 0.01
    assert not certificate.within(0.01)
    start = claimed(x, y, objective=value, bound=value, tol=0.01, price=0.0, size_of_X=1e12)
    assert not verify(problem, start).proved
    result = condal.solve(problem, tol=0.01, warm_start=start)
    assert result.objective >= 0.99


@pytest.mark.parametrize("bound", [0.09, 1e-2, 1e-5, 1e-8])
def test_a_bound_beyond_the_optimum_is_never_proved(bound):
    point = {"x": np.zeros((2, 2)), "y": np.zeros(2), "objective": 0.0, "size_of_X": 1e12}
    assert refuted(verify(wide(), claimed(**point, bound=bound, tol=1.0))) == {"bound"}
    true = verify(wide(), claimed(**point, bound=-0.01, tol=1.0))
    assert true.proved, true


def test_a_bound_is_reported_as_proved_and_not_as_claimed():
    model = condal.problems.max_cut(random_graph(30, 4.0, seed=1))
    result = condal.solve(model, tol=1e-6)
    better = result.bound * (1 - 5e-10)  # less than what another machine's rounding may change
    verdict = verify(
        model, replace(result, certificate=replace(result.certificate, bound=better)), tol=1e-5
    )
    claim = next(claim for claim in verdict.claims if claim.name == "bound")
    assert verdict.certificate.bound >= result.objective
    shown, _, proof = claim.text.partition(", proved by ")
    assert proof
    assert float(shown) >= verdict.certificate.bound  # a maximisation, rounded up


def linear(*costs, sense=1.0):
    """Minimise <costs, x> over the simplex, or maximise -<costs, x>: the best cost is the least."""
    return condal.Problem.of(
        f=condal.Linear(sense * np.array(costs)),
        X=condal.Simplex(len(costs)),
        maximise=sense < 0,
    )


@pytest.mark.parametrize("sense", [1.0, -1.0])
@pytest.mark.parametrize("beyond", [1e-14, 9e-10])
def test_a_bound_beyond_the_optimum_is_not_called_true(sense, beyond):
    problem = linear(1.0, 2.0, 3.0, sense=sense)
    result = condal.solve(problem, tol=1e-6)
    assert verify(problem, result).headline == "proved, without assumptions: every claim is true"
    better = sense * (1.0 + beyond)
    verdict = verify(
        problem, replace(result, certificate=replace(result.certificate, bound=better))
    )
    proved = verdict.certificate.bound
    assert sense * proved <= 1.0
    text = f"every claim is true, with the bound {proved!r} in place of the claimed {better!r}"
    assert verdict.headline == f"proved, without assumptions: {text}"
    assert f"{proved!r} is proved in place of the claimed {better!r}, by closed form" in repr(
        verdict
    )


def test_a_bound_beyond_the_rounding_of_its_proof_is_refuted():
    problem = linear(1.0, 1e10, 1e10)
    x = np.array([1 - 1e-12, 1e-12, 0.0])
    result = condal.solve(problem, tol=1e-6)
    certificate = condal.certify(problem, x, result.y)
    forged = replace(certificate, bound=1.0 + 9e-4)
    assert refuted(verify(problem, replace(result, x=x, tol=0.02, certificate=forged))) == {"bound"}


HUGE = 1e170


def test_norms_of_tiny_duals_do_not_underflow():
    A, y = condal.Matrix(np.full((3, 2), HUGE)), np.full(3, 1.0 / HUGE)
    assert adjoint_rounding(A, y) == pytest.approx(adjoint_rounding(_of_size(1.0), np.ones(3)))
    assert dual_rounding(_of_size(1e-200), 1.0) == pytest.approx(1e-200 * np.sqrt(6), rel=1e-12)


def _of_size(size):
    return condal.Matrix(np.full((3, 2), size))


def tiny_duals():
    """Return a problem and a dual whose norm underflows: A'y rounds to (1, 1), where it is (0, 1).

    The optimum is 0, at x = (1, 0).
    """
    a = np.array([[HUGE, HUGE], [HUGE, 0.0], [-HUGE, 0.0]])
    problem = condal.Problem.of(
        f=condal.Linear([0.0, 1.0]),
        X=condal.Simplex(2),
        A=condal.Matrix(a),
        K=condal.Equal(a @ [1.0, 0.0]),
    )
    return problem, np.array([1.0, 2.0**54, -(2.0**54)]) / HUGE


def test_scales_that_solve_refuses_are_refused_by_every_verifier():
    problem, y = tiny_duals()
    x = np.array([1.0, 0.0])
    text = r"the size of row 1 of Ax is 1e\+170, beyond what double precision holds"
    with pytest.raises(condal.ProblemError, match=text):
        condal.solve(problem)
    with pytest.raises(condal.ProblemError, match=text):
        condal.certify(problem, x, y)
    with pytest.raises(condal.ProblemError, match=text):
        verify(problem, claimed(x, y, objective=0.0, bound=0.0))
    small = replace(problem, f=problem.f.scaled(1e-90), A=_of_size(1.0))
    for entrance in (
        lambda: condal.solve(small),
        lambda: condal.certify(small, x, y),
        lambda: verify(small, claimed(x, y, objective=0.0, bound=0.0)),
    ):
        with pytest.raises(condal.ProblemError, match="the objective's size over X is 1e-90"):
            entrance()


def seeds_of_proofs(monkeypatch):
    """Make all proofs probabilistic, and return the list of their seeds."""
    seeds, true = [], eigenvalue_bounds.probabilistic
    monkeypatch.setattr(eigenvalue_bounds, "_plan", lambda V: _probabilistic())

    def proved(V, **options):
        seeds.append(options["seed"])
        return true(V, **options)

    monkeypatch.setattr(eigenvalue_bounds, "probabilistic", proved)
    return seeds


def _probabilistic():
    return eigenvalue_bounds.Plan("probabilistic", 0.0)


@pytest.mark.usefixtures("system_entropy")
def test_the_start_of_a_proof_of_a_strangers_dual_comes_from_the_systems_entropy(monkeypatch):
    seeds = seeds_of_proofs(monkeypatch)
    model = condal.problems.max_cut(random_graph(40, 4.0, seed=3))
    y = np.full(40, 3.0)
    certificates = [condal.certify(model, np.eye(40), y, slack=1e-2) for _ in range(3)]
    assert len(set(seeds)) == 3
    assert all(seed > 1000 for seed in seeds)
    assert {certificate.failure for certificate in certificates} == {1e-6}
    again = [condal.certify(model, np.eye(40), y, slack=1e-2, seed=7).bound for _ in range(2)]
    assert again[0] == again[1]
    assert seeds[3:] == [7, 7]


def test_the_failure_probability_is_an_assumption_of_the_verdict(monkeypatch):
    seeds_of_proofs(monkeypatch)
    model = condal.problems.max_cut(random_graph(40, 4.0, seed=3))
    verdict = verify(model, condal.solve(model, tol=1e-2), seed=0)
    assert verdict.proved
    assert re.match(r"proved, wrong with probability at most (5e-07|1e-06): ", verdict.headline)
    monkeypatch.undo()
    verdict = verify(model, condal.solve(model, tol=1e-2), seed=0)
    assert verdict.headline.startswith("proved, without assumptions: ")
    assert repr(verdict).splitlines()[0] == verdict.headline


def test_what_is_trusted_is_an_assumption_of_the_verdict():
    problem = condal.Problem.of(
        f=condal.Function(lambda x: float(x @ x), lambda x: 2 * x, L=2.0, size=3),
        X=condal.Simplex(3),
    )
    verdict = verify(problem, condal.solve(problem, tol=1e-3))
    assert verdict.proved
    text = "proved, trusting the value and the gradient of f, and that it is convex: "
    assert verdict.headline.startswith(text)


def models():
    """Return models, each with the two ends of an interval that holds its optimum."""
    for model in (
        condal.problems.max_cut(random_graph(12, 4.0, seed=2)),
        planted_sdp(6, kind="box", seed=4, at_most=True).problem,
        planted_simplex(5, seed=1).problem,
    ):
        result = condal.solve(model, tol=1e-8)
        yield model, result, sorted([result.objective, result.bound])


def forge(rng, result):
    """Change some of x, y and what is claimed, by amounts of any size."""
    certificate, changes = result.certificate, {}
    for name in ("objective", "bound", "infeasibility", "distance_to_X"):
        if rng.random() < 0.4:
            changes[name] = getattr(certificate, name) + _amount(rng)
    changes["failure"] = float(rng.choice([0.0, 1e-6, 1.0]))
    x, y = result.x, result.y
    if rng.random() < 0.3:
        x = np.asarray(dense(x)) * (1 + _amount(rng))
    if rng.random() < 0.3:
        y = y + _amount(rng) * rng.standard_normal(y.size)
    return replace(
        result,
        x=x,
        y=y,
        certificate=replace(certificate, **changes),
        tol=float(rng.choice([1e-12, 1e-8, 1e-3])),
        status=[Status.SOLVED, Status.STALLED, Status.INFEASIBLE][int(rng.integers(3))],
    )


def _amount(rng):
    return float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-9.0, 2.0))


def test_what_is_proved_of_a_forged_result_is_true():
    rng, proved = np.random.default_rng(17), 0
    for model, result, (low, high) in models():
        problem = problem_of(model)
        room = 1e-8 * max(1.0, abs(high))
        for _ in range(60):
            forged = forge(rng, result)
            verdict = verify(model, forged)
            if not verdict.proved:
                continue
            proved += 1
            claim = forged.certificate
            assert claim.objective == pytest.approx(problem.objective(forged.x), abs=room)
            assert forged.status is not Status.INFEASIBLE
            if problem.maximise:
                assert claim.bound >= low - room
            else:
                assert claim.bound <= high + room
            if forged.status is Status.SOLVED:
                assert abs(claim.objective - low) <= forged.tol * max(1.0, abs(high)) + room
    assert proved > 5


def infeasible():
    """x_0 + x_1 + x_2 = 2 over the simplex."""
    return condal.Problem.of(
        f=condal.Linear(np.arange(3.0)),
        X=condal.Simplex(3),
        A=condal.Matrix(np.ones((1, 3))),
        K=condal.Equal([2.0]),
    )


class OfLevel(JudgesItself):
    """A model whose separators exclude only points better than some level."""

    def __init__(self, problem, assumed):
        self.problem, self.assumed = problem, assumed

    def separated_for(self, d):
        return self.assumed


@pytest.mark.parametrize(("assumed", "proved"), [("", True), ("for some", True), (None, False)])
def test_a_proof_of_infeasibility_states_what_it_assumes(assumed, proved):
    problem = infeasible()
    result = condal.solve(problem)
    assert result.status is Status.INFEASIBLE
    verdict = verify(OfLevel(problem, assumed), replace(result, x=None, certificate=NOTHING))
    assert verdict.proved is proved
    assert verdict.assumptions == ((assumed,) if assumed else ())


NOTHING = Certificate(np.nan, -np.inf, np.inf, "")


class InAnotherForm(JudgesItself):
    """A model whose own data prove another bound, or another status, than its problem."""

    def __init__(self, problem, *, bound=0.0, status=None):
        self.problem, self.worse, self.status = problem, bound, status

    def rechecked(self, result):
        certificate = replace(result.certificate, bound=result.bound - self.worse)
        return replace(result, certificate=certificate, status=self.status or result.status)


def test_a_bound_is_proved_on_the_models_own_data_too():
    known = planted_simplex(5, seed=1).problem
    result = condal.solve(known, tol=1e-6)
    assert verify(InAnotherForm(known), result).proved
    verdict = verify(InAnotherForm(known, bound=1e-3), result)
    assert refuted(verdict) == {"bound"}
    assert "the program's own data prove" in repr(verdict)


def test_infeasibility_is_proved_on_the_models_own_data_too():
    problem = infeasible()
    result = replace(condal.solve(problem), x=None, certificate=NOTHING)
    assert verify(InAnotherForm(problem), result).proved
    assert refuted(verify(InAnotherForm(problem, status=Status.STALLED), result)) == {"infeasible"}
