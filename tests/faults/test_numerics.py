"""Numbers that challenge eigenvalue engines, dual steps and penalties: no false claim results."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from builders import BUILDERS, MODELS
from condal import Linear, LowRank, Problem, Spectrahedron, Status
from condal.linalg.blocked import axpy
from condal.methods import fwal
from condal.methods.rules import Const, Decr, Harmonic, LineSearch, Never
from condal.storage import Dense as Kept
from condal.storage import Factored, Sketch
from condal_lab.methods import IAL
from known import PLANTED
from laws.spectra import ENGINES
from locations import TESTS

N = 60
rng = np.random.default_rng(3)
Q = np.linalg.qr(rng.standard_normal((N, N)))[0]


def turned(values):
    full = (Q * values) @ Q.T
    return 0.5 * (full + full.T)


@pytest.mark.parametrize("engine", ENGINES, ids=repr)
def test_ghosts_and_clusters_are_solved_right(engine):
    values = np.concatenate([[-1.0, -1.0], np.linspace(0.0, 1.0, N - 5), [1e3, 2e3, 3e3]])
    X = Spectrahedron(N, trace=2.0, engine=engine)
    A = condal.Inner([np.outer(Q[:, 0], Q[:, 0]), np.outer(Q[:, 1], Q[:, 1])])
    problem = Problem.of(Linear(turned(values)), X, A, condal.Equal([0.5, 1.0]))
    result = condal.solve(problem, condal.CGAL(eta=LineSearch()), tol=5e-2, max_iters=600)
    # 1.5 of the trace lies at -1, the rest at the next eigenvalue, 0.
    assert result.status is Status.SOLVED
    assert result.bound <= -1.5 + 1e-9
    assert result.objective == pytest.approx(-1.5, abs=0.2)


# Steps.


def drift(x, A, atoms, steps):
    """Return the distance of the method's recursive Ax from the map of the stored x."""
    Ax, images = np.zeros(A.size), [A(s) for s in atoms]
    for k in range(1, steps + 1):
        i, eta = (k * k) % 11 % len(atoms), 2 / (k + 1)
        Ax = axpy(Ax, images[i] - Ax, eta)
        x.move(atoms[i], eta)
    return np.abs(A(x.point()) - Ax).max()


def test_drift_of_ax_over_1e5_steps():
    A = condal.Matrix([[1.0, 2.0, 4.0], [0.3, 0.1, -0.7]])
    assert drift(Kept(), A, list(np.eye(3)), 100_000) <= 1e-13


@pytest.mark.parametrize("make", [Factored, lambda n: Sketch(n, n)], ids=["factored", "sketch"])
def test_drift_of_ax_of_matrices_over_many_steps(make):
    turns = [np.array([[np.cos(t)], [np.sin(t)]]) for t in np.linspace(0.0, 3.0, 7)]
    atoms = [LowRank(u, np.ones(1)) for u in turns]
    assert drift(make(2), condal.RowSums(2), atoms, 20_000) <= 1e-12


@pytest.mark.parametrize(("name", "steps"), [("sdp-equal", 2_000), ("simplex-equal", 20_000)])
def test_drift_of_ax_over_the_steps_of_a_method(name, steps):
    problem = PLANTED[name]().problem
    x = Factored(12) if name == "sdp-equal" else Kept()
    (last,) = islice(condal.CGAL(1.0).iterates(problem, x), steps - 1, steps)
    near = 1e-11 if name == "sdp-equal" else 1e-13
    np.testing.assert_allclose(problem.A(x.point()), last.Ax, rtol=1e-12, atol=near)
    np.testing.assert_allclose(problem.f.M(x.point()), last.Mx, rtol=1e-12, atol=near)
    assert problem.X.distance(x.point()) <= 10 * near


@pytest.mark.parametrize("D_Y", [3.0, np.inf])
@pytest.mark.parametrize("rule", [Const(), Decr(), Never(), Harmonic(1.0)])
def test_d_of_0_in_the_dual_step(rule, D_Y):
    """It is 0 if Ax is in K: at every step if the constraint is the trace itself."""
    y, zero = np.array([1.0, -2.0]), np.zeros(2)
    for k in (1, 10, 10**6):
        sigma = rule(k, 1.0, y, zero, budget=1.0)
        assert np.isfinite(sigma)
        assert sigma >= 0
    A = condal.Inner([np.eye(3)])
    problem = Problem.of(Linear(np.diag([1.0, 2, 3])), Spectrahedron(3), A, condal.Equal([1.0]))
    result = condal.solve(problem, condal.CGAL(1.0, sigma=rule, D_Y=D_Y), max_iters=50)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(1.0, abs=1e-3)
    assert np.isfinite(result.y).all()


@dataclass(frozen=True)
class Explosive:
    """lam_k = 1e9^k, as a user's rule may choose."""

    first: float = 1.0

    def at(self, k, lam0):
        return lam0 * 1e9 ** min(k, 34)

    def __call__(self, k, lam0, gap, price):
        return lam0


def test_overflow_of_lam_ends_a_solve_by_name():
    known = PLANTED["sdp-equal"]()
    result = condal.solve(known.problem, condal.CGAL(Explosive()), tol=1e-9)
    assert result.status is Status.NUMERICAL_ERROR
    assert result.reason == "the penalty lam has grown to 1e+54; begin with a smaller lam0"
    assert result.bound <= known.optimum + 1e-9
    assert result.x is not None
    assert np.isfinite(condal.dense(result.x)).all()


@pytest.mark.parametrize("lam", [1e-49, 1e-20, 1e20, 1e49])
@pytest.mark.parametrize("name", ["sdp-equal", "sdp-box", "simplex-equal"])
def test_no_penalty_of_any_size_makes_a_claim_false(lam, name):
    known = PLANTED[name]()
    for method in (condal.CGAL(lam), condal.CGAL(lam, eta=LineSearch()), fwal(lam), IAL(lam)):
        result = condal.solve(known.problem, method, max_iters=30)
        assert result.status is not Status.INFEASIBLE
        assert result.bound <= known.optimum + 1e-9 * (1 + abs(known.optimum))
        assert result.x is not None


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_an_objective_of_minus_0_is_0(form):
    W = form(-(np.ones((3, 3)) - np.eye(3)))
    result = condal.solve(condal.problems.max_cut(W))
    assert f"{result.objective:g}" == "0"


# numpy.seterr(all="raise"): an underflow is a rounding like any other.

DENORMAL = 5e-324
ARRAYS = [(name, arg) for name, b in BUILDERS.items() for arg in b.numbers | b.waves]


def with_a_denormal(name, arg):
    given = np.array(BUILDERS[name].arrays[arg])
    given = given.astype(np.result_type(float, given))
    if arg in BUILDERS[name].symmetric:
        given[0, 1] = given[1, 0] = DENORMAL
    else:
        given.flat[min(1, given.size - 1)] = DENORMAL
    return given


@pytest.mark.parametrize(("name", "arg"), ARRAYS, ids=[f"{n}-{a}" for n, a in ARRAYS])
def test_a_denormal_entry_is_taken_where_numpy_raises_at_underflow(name, arg):
    given = with_a_denormal(name, arg)
    with np.errstate(all="raise"):
        try:
            made = BUILDERS[name](**{arg: given})
        except condal.ProblemError:
            return  # by its value, not by its underflow
        if name in MODELS:
            result = condal.solve(made, max_iters=100)
            condal.certify(made, result.x, result.y)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_a_logistic_loss_is_solved_where_numpy_raises_at_underflow(scale):
    draw = np.random.default_rng(0)
    features, labels = scale * draw.standard_normal((40, 5)), draw.choice([-1.0, 1.0], 40)
    with np.errstate(all="raise"):
        problem = Problem.of(f=condal.Logistic(features, labels), X=condal.L1Ball(5, 10.0))
        assert condal.solve(problem).status is Status.SOLVED


# Sketches, and threads.


def unit(n, seed=0):
    u = np.random.default_rng(seed).standard_normal((n, 1))
    return LowRank(u / np.linalg.norm(u), np.ones(1))


def test_sketch_r_above_n_solves():
    known = PLANTED["sdp-equal"]()
    result = condal.solve(known.problem, storage=Sketch(12, 500), tol=1e-2, max_iters=5000)
    assert result.status is Status.SOLVED
    assert result.objective == pytest.approx(known.optimum, rel=0.05)


def test_an_all_zero_sketch_solves():
    """The optimum is x = 0, which the sketch holds at every step."""
    problem = condal.Problem.of(condal.Linear(np.eye(5)), Spectrahedron(5, at_most=True))
    result = condal.solve(problem, storage=Sketch(5, 2))
    assert (result.status, result.objective) == (Status.SOLVED, 0.0)


@pytest.mark.parametrize("trace", [0.0, 0.3, 0.999999])
def test_a_negative_trace_correction(trace):
    """Rounding or drift may give the reconstruction a larger trace than x: no weight is negative,
    and the trace is as near to that of x as possible."""
    x = Sketch(12, 4)
    x.load(unit(12))
    x._trace = trace
    point = x.point()
    assert np.all(point.weights >= 0.0)
    assert point.trace <= max(trace, 1.0) + 1e-12
    assert np.isfinite(point.U).all()


THREADED = """
import json, sys
import numpy as np, condal
sys.path.insert(0, {tests!r})
from known import planted_sdp, torus
C = np.random.default_rng(0).standard_normal((150, 150))
large = condal.Problem.of(condal.Linear(C + C.T), condal.Spectrahedron(150))
found = []
for model, tol in ((planted_sdp().problem, 1e-6), (condal.problems.max_cut(torus(12, 12)), 1e-4),
                   (large, 1e-6)):
    r = condal.solve(model, tol=tol, max_iters=2000)
    found.append([r.status.name, r.objective, r.bound])
print(json.dumps(found))
"""


def test_1_thread_against_2():
    """Sums in another order differ by rounding: the answers agree to the tolerance."""
    tests = str(TESTS)
    runs = []
    for threads in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", THREADED.format(tests=tests)],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        runs.append(json.loads(run.stdout))
    for (status, objective, bound), (other, *numbers) in zip(*runs, strict=True):
        assert status == other == "SOLVED"
        np.testing.assert_allclose(numbers, [objective, bound], rtol=2e-4)
