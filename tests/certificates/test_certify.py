"""Certificates: on the right side of the optimum, always, whatever they are given."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import condal
from condal.certificates.bound import lower_bound
from condal.driver.scaling import normalise
from condal.linalg import eigenvalue_bounds as proofs
from condal.linalg.gradients import add
from condal.methods.rules import FractionOfGap, LineSearch
from condal.storage import Dense
from known import DATA, PLANTED, needs_data, planted_sdp, planted_simplex, random_graph, torus
from laws.domains import DOMAINS

EVERY = {"slack": 1e-6, "failure": 1e-6, "seed": 0}


@pytest.mark.parametrize("name", PLANTED)
def test_the_solution_certifies_itself(name):
    known = PLANTED[name]()
    certificate = condal.certify(known.problem, known.x, known.y)
    assert certificate.gap <= 1e-6
    assert certificate.bound <= known.optimum + 1e-12 * (1 + abs(known.optimum))
    assert certificate.infeasibility <= 1e-12
    assert certificate.certified
    assert "proved by" in str(certificate)


@pytest.mark.parametrize("bound", [4.52254248593737, -4.52254248593737, 1e-17 / 3, 2e200 / 3])
def test_a_bound_is_shown_with_all_its_digits(bound):
    """Whether a bound is from above or from below, its text is not on the other side."""
    certificate = condal.Certificate(0.0, np.float64(bound), 0.0, "a proof")
    solved = condal.solve(condal.problems.max_cut(np.ones((3, 3)) - np.eye(3)))
    result = replace(solved, certificate=certificate)
    shown = (str(certificate).split()[1], dict(result.rows())["bound"].split()[0])
    assert [float(text) for text in shown] == [bound, bound]
    assert f">{bound!r}<" in certificate._repr_html_()


@pytest.mark.parametrize("seed", range(40))
def test_any_dual_gives_a_bound_on_the_right_side(seed):
    rng = np.random.default_rng(seed)
    kind = ("equal", "box")[seed % 2]
    for known in (
        planted_sdp(4 + seed % 9, kind=kind, seed=seed, at_most=seed % 3 == 0),
        planted_simplex(4 + seed % 7, kind=kind, seed=seed),
    ):
        for scale in (0.0, 1e-3, 1.0, 1e6):
            y = known.y + scale * rng.standard_normal(known.y.size)
            bound, _ = lower_bound(known.problem, known.problem.f.M(known.x), y, **EVERY)
            assert bound <= known.optimum + 1e-12 * (1 + abs(known.optimum))


@pytest.mark.parametrize("fraction", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_along_runs_with_inexact_oracles(fraction, seed):
    n = 60
    model = condal.problems.max_cut(random_graph(n, 6.0, seed=seed))
    reference = condal.solve(model, tol=1e-3)  # the optimum lies between its two sides
    method = condal.CGAL(eta=LineSearch(), tol=FractionOfGap(fraction))
    problem, scaling = normalise(model.problem)
    storage = Dense()
    for state in islice(method.iterates(problem, storage), 0, 60, 7):
        for dual in (state.w, state.y):
            certificate = condal.certify(
                model, model.problem.repair(storage.point()), scaling.dual(dual)
            )
            assert certificate.bound >= reference.objective
            assert certificate.objective <= reference.bound


def test_every_proof_is_on_the_right_side_of_a_known_optimum(monkeypatch):
    known = planted_sdp(30, rank=3, seed=5)
    y = known.y + 1e-3
    bounds = {}
    for kind in ("dense", "probabilistic"):
        monkeypatch.setattr(proofs, "_plan", lambda V, kind=kind: proofs.Plan(kind, 0.0))
        certificate = condal.certify(known.problem, known.x, y, slack=1e-3)
        bounds[kind] = certificate.bound
        assert certificate.bound <= known.optimum
        assert (certificate.failure > 0) == (kind == "probabilistic")
    assert bounds["probabilistic"] == pytest.approx(bounds["dense"], abs=0.1)


def test_a_probabilistic_bound_says_so(monkeypatch):
    monkeypatch.setattr(proofs, "_plan", lambda V: proofs.Plan("probabilistic", 0.0))
    model = condal.problems.max_cut(random_graph(400, 4.0))
    result = condal.solve(model, tol=1e-2)
    assert result.status is condal.Status.SOLVED
    assert 0 < result.certificate.failure <= 1e-6
    assert "wrong with probability at most" in str(result.certificate)
    monkeypatch.undo()
    assert condal.solve(model, tol=1e-2).objective <= result.bound


def test_a_sparse_factorisation_proves_a_torus():
    model = condal.problems.max_cut(torus(40, 50))
    result = condal.solve(model, tol=2e-2)
    assert result.status is condal.Status.SOLVED
    assert result.certificate.how == "sparse LDL' factorisation"


KINDS = {type(case.X).__name__: case for case in DOMAINS}


@pytest.mark.parametrize("case", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("constrained", [False, True])
def test_what_is_shown_certifies_what_was_said(case, constrained):
    """certify(problem, result.x, result.y) is the certificate of the result, for x in any form."""
    rng = np.random.default_rng(8)
    C, a = (condal.Linear(case.space.gradient(rng)) for _ in range(2))
    least = np.mean([a.M(x)[0] for x in case.members(rng)])
    given = {"A": a.M, "K": condal.Box([least], [np.inf])} if constrained else {}
    problem = condal.Problem.of(C, case.X, **given)
    result = condal.solve(problem, tol=1e-5, max_iters=3000)
    assert result.status is condal.Status.SOLVED

    def dual(y):  # the bound of any y <= 0 where <a, x> >= least is asked for
        return case.minimum(add(C.M.adjoint(np.ones(1)), a.M.adjoint(np.array([y])))) - least * y

    optimum, unit = dual(0.0), problem.gap_unit(result.objective)
    if constrained:
        found = minimize_scalar(lambda y: -dual(y), bounds=(-100.0, 0.0), options={"xatol": 1e-9})
        optimum = max(optimum, -found.fun)
    for x in (result.x, arrays(result.x)):
        again = condal.certify(problem, x, result.y)
        assert again.objective == pytest.approx(result.objective, abs=1e-9 * unit)
        assert again.infeasibility == pytest.approx(result.infeasibility, abs=1e-9)
        assert again.bound == pytest.approx(result.bound, abs=1e-5 * unit)
        assert again.bound <= optimum + 1e-7 * unit
        assert again.distance_to_X <= 1e-6 * case.X.max_norm


def arrays(x):
    """A point as arrays, whatever it is kept as."""
    return tuple(map(arrays, x)) if isinstance(x, tuple) else np.asarray(x)


def test_dimacs_errors_are_reported_for_semidefinite_programs():
    known = PLANTED["sdp-equal"]()
    errors = condal.certify(known.problem, known.x, known.y).dimacs
    assert list(errors) == ["e1", "e2", "e3", "e4", "e5", "e6"]
    assert max(map(abs, errors.values())) <= 1e-6
    off = condal.certify(known.problem, 1.1 * known.x, known.y).dimacs
    assert off["e1"] > 1e-3
    assert off["e2"] > 1e-3


def test_a_wrong_point_is_not_flattered():
    known = PLANTED["sdp-equal"]()
    wrong = condal.certify(known.problem, np.eye(12) / 4, known.y)
    assert wrong.infeasibility == pytest.approx(known.problem.infeasibility(np.eye(12) / 4))
    assert wrong.infeasibility > 0.1


@needs_data
@pytest.mark.parametrize(
    ("name", "optimum"), [("G11", 629.164783), ("G14", 3191.566804), ("G32", 1567.639645)]
)
def test_bounds_of_real_instances_are_on_the_right_side(name, optimum):
    model = condal.problems.max_cut(condal.read_graph(DATA / "gset" / f"{name}.txt.xz"))
    result = condal.solve(model, tol=1e-2, max_seconds=30)
    assert result.objective <= optimum * (1 + 1e-8)
    assert result.bound >= optimum * (1 - 1e-8)


def test_huge_duals_do_not_round_into_a_false_bound():
    p, e = 20_000, 2.0**-20
    a = np.full(p, e)
    a[0] = a[-1] = 1.0
    y = np.full(p, -1 / e)
    y[0], y[-1] = 2.0**54, -(2.0**54)
    problem = condal.Problem.of(
        f=condal.Linear([0.0, 1.0]),
        X=condal.Simplex(2),
        A=condal.Matrix(np.c_[a, 2 * a]),
        K=condal.Equal(a),
    )
    assert condal.certify(problem, np.array([1.0, 0.0]), y).bound <= 0.0


def test_certificates_of_small_objectives_are_not_blunt():
    known = PLANTED["sdp-equal"]()
    small = condal.Problem.of(
        f=known.problem.f.scaled(1e-12), X=known.problem.X, A=known.problem.A, K=known.problem.h
    )
    bound = condal.certify(small, known.x, 1e-12 * known.y).bound
    assert bound == pytest.approx(1e-12 * known.optimum, rel=1e-5)


@pytest.mark.parametrize(
    ("y", "text"),
    [
        (np.zeros(3), r"y must be 12 finite numbers; got shape \(3,\)"),
        (np.full(12, np.nan), "y has the value nan"),
        ("duals", "y must be an array of real numbers"),
    ],
)
def test_bad_duals_are_refused(y, text):
    known = PLANTED["sdp-equal"]()
    with pytest.raises(condal.ProblemError, match=text):
        condal.certify(known.problem, known.x, y)


def noisy_phases():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((24, 6))
    b = (a @ np.ones(6)) ** 2 + 0.1 * rng.standard_normal(24)
    return condal.problems.phase_retrieval(np.maximum(b, 0.0), a)


def halves():
    return condal.problems.bisection(random_graph(8, 3.0))


@pytest.mark.parametrize(("make", "rounding"), [(noisy_phases, 0.0), (halves, 1e-10)])
def test_no_bound_is_below_what_the_signs_of_the_terms_say(make, rounding):
    problem, rng = make().problem, np.random.default_rng(1)
    result = condal.solve(problem, tol=1e-2)
    for y in (result.y, np.zeros(result.y.size), *rng.standard_normal((3, result.y.size))):
        certificate = condal.certify(problem, result.x, y)
        assert -rounding <= certificate.bound <= certificate.objective + 1e-9
    assert condal.solve(problem, "cgal", max_iters=1, tol=1e-3).bound >= -rounding
