"""The default method: what is chosen, when it is left, and that the result says so."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.driver.run_record import StallDetector
from condal.driver.scaling import normalise
from condal.methods import cgal
from condal.methods import choice as auto
from condal.methods.choice import Choice, choices
from condal.methods.lowrank.method import LowRankCGAL
from condal.methods.registry import METHODS
from condal.methods.state import State, Warm
from condal.methods.surface.method import LowRankNewton
from condal.problem import problem_of
from condal_lab.benchmarks.penalty import FAMILIES
from condal_lab.generated import sparse_graph
from known import PLANTED, random_graph
from method_cases import CASES


def names(problem, **options):
    return [c.method.name for c in choices(problem_of(problem), **{"tol": 1e-3, **options})]


def theta(n=30, p=60, seed=0):
    """max <J, x> over tr x = 1 and x_ij = 0 for p pairs."""
    pairs = np.column_stack(np.triu_indices(n, 1))
    chosen = pairs[np.random.default_rng(seed).permutation(len(pairs))[:p]]
    return condal.Problem.of(
        f=condal.Linear(np.ones((n, n))),
        X=condal.Spectrahedron(n),
        A=condal.Entries(n, chosen[:, 0], chosen[:, 1]),
        K=condal.Equal(np.zeros(p)),
        maximise=True,
    )


def test_max_cut_goes_to_the_low_rank_method_and_small_n_to_newton_steps_or_projections():
    assert names(condal.problems.max_cut(random_graph(50, 4)))[0] == "lowrank"
    assert names(theta())[:2] == ["interior-point", "splitting"]
    assert names(theta(), tol=0.1) == names(theta())
    assert names(theta(80, 1000))[:2] == ["splitting", "interior-point"]
    assert names(theta(150, 9000))[0] == "splitting"
    assert "interior-point" not in names(theta(150, 9000))  # its system has too many rows


def test_a_smaller_tolerance_speaks_for_newton_steps():
    assert names(theta(80, 800), tol=1e-3)[0] == "splitting"
    assert names(theta(80, 800), tol=1e-6)[0] == "interior-point"


def test_few_constraints_go_to_cgal_and_on_many_rows_to_the_low_rank_method_for_small_tolerances():
    C, B = np.diag(np.arange(200.0)), np.diag(np.linspace(1.0, 2.0, 200))
    few = condal.Problem.of(
        f=condal.Linear(C), X=condal.Spectrahedron(200), A=condal.Inner([B]), K=condal.Equal([1.5])
    )
    every = ["lowrank", "interior-point", "newton", "splitting", "cgal-ls"]
    assert names(few) == ["cgal-ls", *every]
    assert names(few, tol=1e-5) == every


def test_without_constraints_the_first_answer_of_the_oracle_is_the_one():
    free = condal.Problem.of(condal.Linear(np.diag(np.arange(50.0))), condal.Spectrahedron(50))
    result = condal.solve(free)
    assert result.method == "cgal-ls"
    assert result.iterations == 1


def test_a_large_matrix_of_a_fixed_diagonal_goes_to_methods_over_factors(monkeypatch):
    def problem(n, *, fixed):
        i, j = np.arange(n if fixed else n - 1), np.arange(n - 1)
        A = condal.Entries(n, np.concatenate([i, j]), np.concatenate([i, j + 1]))
        return condal.Problem.of(
            condal.Linear(sp.eye(n)), condal.Spectrahedron(n, n), A, condal.Equal(np.zeros(A.size))
        )

    newton = ["newton", "interior-point"]
    assert names(problem(900, fixed=True))[:4] == [*newton, "lowrank", "splitting"]
    assert names(problem(900, fixed=False))[:3] == [*newton, "splitting"]
    assert names(problem(600, fixed=True))[0] == "newton"
    monkeypatch.setattr(LowRankNewton, "estimate", lambda *_: "rows of no surface")
    assert names(problem(900, fixed=True))[:2] == ["lowrank", "splitting"]
    assert names(problem(900, fixed=False))[0] == "splitting"
    assert names(problem(300, fixed=True))[0] == "interior-point"


def test_sparse_equations_go_to_newton_steps_over_factors_where_these_are_expected_to_be_faster():
    assert names(theta(700, 3500), tol=1e-6)[0] == "newton"
    assert names(theta(400, 2000), tol=1e-6)[0] == "newton"
    assert names(theta(320, 300), tol=1e-6)[:2] == ["interior-point", "newton"]
    assert names(theta(100, 500), tol=1e-6)[0] == "interior-point"
    assert names(theta(400, 4800))[:2] == ["splitting", "newton"]
    assert names(theta(320, 1500), tol=0.1)[:2] == ["cgal-ls", "splitting"]
    assert names(condal.problems.max_k_cut(random_graph(500, 10), 3, pairs="edges"))[0] == "newton"
    assert "newton" not in names(theta(320, 40000), tol=1e-6)  # J J' is dense
    assert names(theta(320, 1500), tol=1e-6)[-1] == "cgal-ls"


def test_newton_steps_are_no_choice_for_dense_rows():
    rows = [np.outer(v, v) for v in np.random.default_rng(0).standard_normal((30, 200))]
    A, K = condal.Inner(rows), condal.Equal(np.ones(30))
    dense = condal.Problem.of(condal.Linear(np.eye(200)), condal.Spectrahedron(200), A, K)
    assert names(dense)[0] == "interior-point"


def test_a_surface_of_nearly_dependent_rows_is_left_for_slow_interior_point_steps():
    problem = problem_of(theta(700, 5500))
    first, second = list(choices(problem, tol=1e-5))[:2]
    assert [first.method.name, second.method.name] == ["newton", "interior-point"]
    assert first.method == LowRankNewton(aim=1e-5, patient=False)
    others = [c.method for c in choices(problem_of(theta(1500, 5500)), tol=1e-5)]
    assert others[0] == LowRankNewton(aim=1e-5)  # no interior-point steps at this side
    assert "interior-point" not in [method.name for method in others]


def test_domains_with_a_projection_go_to_the_primal_dual_method():
    every = ["primal-dual", "cgal-fc", "cgal-ls"]
    assert names(PLANTED["simplex-equal"]().problem) == every
    parts = condal.Simplex(3), condal.L1Ball(2), condal.Spectrahedron(2)
    f = condal.Linear((np.ones(3), np.ones(2), np.eye(2)))
    assert names(condal.Problem.of(f, condal.Product(*parts))) == every


def test_linear_programs_of_few_rows_go_to_newton_steps():
    def program(n, m):
        f, A = condal.Linear(np.arange(float(n))), condal.Matrix(np.ones((m, n)))
        return condal.Problem.of(f, condal.Simplex(n), A, condal.Equal(np.ones(m)))

    every = ["primal-dual", "cgal-fc", "cgal-ls"]
    assert names(program(30, 4)) == ["interior-point", *every]
    assert names(program(9, 1500)) == ["primal-dual", "interior-point", *every[1:]]
    assert names(program(9, 6000)) == every


def test_domains_of_an_oracle_alone_have_their_atoms_weighed(monkeypatch):
    hull = condal.Problem.of(f=condal.Linear(np.ones(2)), X=condal.Hull(np.eye(2)))
    assert names(hull) == ["cgal-fc", "cgal-ls"]
    f = condal.Linear((np.ones(3), np.ones(2)))
    mixed = condal.Problem.of(f, condal.Product(condal.Simplex(3), condal.Hull(np.eye(2))))
    assert names(mixed) == ["cgal-fc", "cgal-ls"]
    monkeypatch.setattr(cgal, "MAX_IMAGE_ROWS", 0)  # images of an atom that are too long to keep
    assert names(hull) == ["cgal-ls"]


def test_curved_objectives_go_to_projections_of_small_matrices_and_factors_of_large_ones():
    E = condal.Entries(6)
    curved = condal.Problem.of(f=condal.LeastSquares(E, E(np.eye(6))), X=condal.Spectrahedron(6))
    assert names(curved) == ["primal-dual", "accelerated", "lowrank", "cgal-ls"]
    every = ["lowrank", "accelerated", "lowrank", "primal-dual", "cgal-ls"]
    assert names(replace(curved, rank=1)) == every
    assert names(replace(curved, rank=2)) == every[1:]
    seen = condal.Entries.rectangular((3, 4), [0, 1], [2, 3])
    ball = condal.Problem.of(f=condal.LeastSquares(seen, np.ones(2)), X=condal.NuclearBall(3, 4))
    assert names(ball) == ["primal-dual", "accelerated", "lowrank", "cgal-ls"]
    assert names(ball, tol=0.1) == names(ball)
    seen = condal.Entries.rectangular((300, 400), [0, 1], [2, 3])
    f = condal.LeastSquares(seen, np.ones(2))
    large = condal.Problem.of(f=f, X=condal.NuclearBall(300, 400))
    assert names(large) == ["accelerated", "lowrank", "cgal-ls"]


def test_hermitian_and_several_matrices_are_as_real_ones_and_one():
    H = np.array([[0, 1j], [-1j, 0]])
    diagonal = condal.Diagonal(2, hermitian=True)
    X, ones = condal.Hermitian(2, 2.0), condal.Equal(np.ones(2))
    cut = condal.Problem.of(f=condal.Linear(H), X=X, A=diagonal, K=ones)
    assert names(cut) == ["lowrank", "interior-point", "splitting", "cgal-ls"]
    one = condal.Problem.of(f=condal.Linear(H), X=X, A=condal.Inner([H]), K=condal.Equal([0.5]))
    assert names(one) == ["cgal-ls", "interior-point", "splitting", "lowrank", "cgal-ls"]
    blocks = condal.Problem.of(
        f=condal.Linear((np.eye(200), np.eye(2))),
        X=condal.Product(condal.Spectrahedron(200), condal.Spectrahedron(2)),
    )
    assert names(blocks) == ["cgal-ls", "lowrank", "primal-dual", "cgal-ls"]


def test_a_given_storage_goes_to_cgal():
    assert names(theta(), free_storage=False) == ["cgal-ls"]
    assert names(PLANTED["simplex-equal"]().problem, free_storage=False) == ["cgal-ls"]


def test_the_low_rank_method_begins_at_the_rank_that_is_expected():
    def first(rank):
        problem = replace(condal.problems.max_cut(random_graph(200, 4)).problem, rank=rank)
        return LowRankCGAL().start(problem).carry.R.shape[1]

    assert first(3) == 3
    assert first(7) == 7
    assert first(None) > 7
    assert first(10_000) <= 200


def test_the_low_rank_method_is_told_what_to_aim_at():
    first = next(choices(condal.problems.max_cut(random_graph(50, 4)).problem, tol=1e-5))
    assert first.method == LowRankCGAL(aim=1e-5)


def test_the_result_says_what_was_done_and_why():
    result = condal.solve(condal.problems.max_cut(random_graph(50, 4)))
    assert result.method == "lowrank"
    assert result.why.startswith("lowrank: f is linear and diag x = b is all of A")
    asked = condal.solve(theta(), condal.CGAL(), max_iters=3)
    assert asked.why == "cgal: it was asked for"


@dataclass(frozen=True)
class Resting:
    """CGAL for some steps, and then nothing more, or nothing new for ever."""

    name: ClassVar[str] = "resting"
    keeps: ClassVar[str] = "x"
    steps: int
    ends: bool

    def start(self, problem, warm: Warm | None = None) -> State:
        return condal.CGAL().start(problem, warm)

    def iterates(self, problem, x, start=None) -> Iterator[State]:
        state = start
        for state in condal.CGAL().iterates(problem, x, start):
            yield state
            if state.k >= self.steps:
                break
        while not self.ends:
            state = replace(state, k=state.k + 1)
            yield state


@pytest.mark.parametrize("ends", [True, False])
def test_a_method_that_rests_is_followed_by_the_next_from_where_it_is(ends, monkeypatch):
    monkeypatch.setattr(auto, "PATIENCE", 20)
    seen = []
    real = condal.CGAL.start

    def start(self, problem, warm=None):
        seen.append(warm)
        return real(self, problem, warm)

    monkeypatch.setattr(condal.CGAL, "start", start)
    last = condal.CGAL(eta=condal.methods.rules.LineSearch())
    tried = (Choice(Resting(30, ends), "it is a test"), Choice(last, "it comes last"))
    monkeypatch.setattr("condal.driver.memory.choices", lambda *_, **__: tried)
    result = condal.solve(condal.problems.max_cut(random_graph(40, 4)), tol=1e-2)
    assert result.status is condal.Status.SOLVED
    assert result.method == "resting, then cgal-ls"
    assert "resting: it is a test; it stopped at a gap of" in result.why
    assert result.why.endswith("cgal-ls: it comes last")
    assert seen[0] is None
    assert seen[-1].k >= 30
    assert seen[-1].x is not None
    ks = [row.k for row in result.history]
    assert ks == sorted(ks)


def test_a_limit_is_a_limit_whatever_is_left_to_try(monkeypatch):
    tried = (Choice(Resting(5, True), "a test"), Choice(condal.CGAL(), "last"))
    monkeypatch.setattr("condal.driver.memory.choices", lambda *_, **__: tried)
    result = condal.solve(condal.problems.max_cut(random_graph(40, 4)), tol=1e-9, max_iters=9)
    assert result.status is condal.Status.MAX_ITERS
    assert result.iterations == 9


def stalls(progress, k, measure):
    progress.note(k, measure)
    return progress.stalled


def test_progress_is_by_halves():
    progress = StallDetector(0)
    assert not any(stalls(progress, k, 2.0**-k) for k in range(2000))
    slow = StallDetector(0)
    stalled = [k for k in range(2000) if stalls(slow, k, 1.0 / (1 + 1e-6 * k))]
    assert stalled[0] == auto.PATIENCE + 1


def restful(monkeypatch, first, last):
    tried = (Choice(first, "first"), Choice(last, "last"))
    monkeypatch.setattr("condal.driver.memory.choices", lambda *_, **__: tried)
    monkeypatch.setattr(auto, "PATIENCE", 20)


@dataclass(frozen=True)
class Spoiling(Resting):
    """It goes back to the first point, and stays there."""

    name: ClassVar[str] = "spoiling"

    def iterates(self, problem, x, start=None) -> Iterator[State]:
        for k in range(1, self.steps):
            for state in condal.CGAL().iterates(problem, x, None):
                yield replace(state, k=start.k + k)
                break


def test_the_best_answer_is_returned_whoever_found_it(monkeypatch):
    restful(monkeypatch, Resting(60, True), Spoiling(5, True))
    model = condal.problems.max_cut(random_graph(40, 4))
    result = condal.solve(model, tol=1e-9)
    alone = condal.solve(model, Resting(60, True), tol=1e-9)
    assert result.method == "resting, then spoiling"
    assert result.gap <= alone.gap


def test_a_method_that_breaks_is_followed_by_the_next(monkeypatch):
    @dataclass(frozen=True)
    class Breaking(Resting):
        name: ClassVar[str] = "breaking"

        def iterates(self, problem, x, start=None) -> Iterator[State]:
            for state in condal.CGAL().iterates(problem, x, start):
                if state.k > 10:
                    raise FloatingPointError("a test")
                yield state

    restful(monkeypatch, Breaking(0, True), condal.CGAL(eta=condal.methods.rules.LineSearch()))
    result = condal.solve(condal.problems.max_cut(random_graph(40, 4)), tol=1e-2)
    assert result.status is condal.Status.SOLVED
    assert result.method == "breaking, then cgal-ls"


@pytest.mark.parametrize("first", [condal.methods.Splitting(), LowRankCGAL()])
def test_the_penalty_of_another_method_is_not_taken_over(first):
    problem = theta()
    warm = condal.solve(problem, first, tol=1e-9, max_iters=20)
    seen = []
    condal.solve(
        problem,
        condal.CGAL(),
        warm_start=warm,
        max_iters=1,
        callback=lambda row: seen.append(row.lam),
    )
    fresh = []
    condal.solve(problem, condal.CGAL(), max_iters=1, callback=lambda row: fresh.append(row.lam))
    assert 0.1 * fresh[0] <= seen[0] <= 100 * fresh[0]


@pytest.mark.parametrize("method", [None, condal.CGAL(), LowRankCGAL(), condal.methods.Splitting()])
def test_iterations_count_from_the_warm_start(method):
    model = condal.problems.max_cut(random_graph(40, 4))
    warm = condal.solve(model, method, tol=1e-14, max_iters=7)
    result = condal.solve(model, method, tol=1e-14, max_iters=5, warm_start=warm)
    assert len(result.history) <= 5


def test_nothing_known_of_the_gap_is_no_progress():
    progress = StallDetector(0)
    assert any(stalls(progress, k, np.inf) for k in range(2000))


def test_a_warm_start_from_zero_begins_anew():
    problem = condal.Problem.of(
        condal.Linear(np.diag([1.0, 2.0, 3.0])), condal.Spectrahedron(3, 2.0, at_most=True)
    )
    warm = condal.solve(problem)
    assert condal.solve(problem, LowRankCGAL(), warm_start=warm).status is condal.Status.SOLVED


@pytest.mark.parametrize("small", [1e-6, 1e-40, 1e-100])
def test_rows_of_very_different_sizes_do_not_break_the_sweeps(small):
    n = 1500
    b = np.where(np.arange(n) % 7 == 0, small, 1.0)
    problem = condal.Problem.of(
        f=condal.Linear(random_graph(n, 4)),
        X=condal.Spectrahedron(n, trace=float(b.sum())),
        A=condal.Diagonal(n),
        K=condal.Equal(b),
    )
    result = condal.solve(problem, LowRankCGAL(), tol=1e-3, max_iters=60)
    assert np.isfinite(result.objective)
    assert result.infeasibility <= 1e-9


def test_a_point_of_another_size_is_refused_by_the_certificate():
    E = condal.Entries(4, [0, 1], [1, 2])
    problem = condal.Problem.of(f=condal.LeastSquares(E, np.zeros(2)), X=condal.Spectrahedron(4))
    small = condal.LowRank(np.eye(2), np.array([0.5, 0.5]))
    with pytest.raises(condal.errors.ProblemError, match="x must be 4 x 4; got shape"):
        condal.certify(problem, small, np.zeros(0))
    with pytest.raises(condal.errors.ProblemError, match="a dual of 2 numbers is wanted; got 7"):
        E.adjoint(np.ones(7))


def test_what_does_not_fit_goes_to_cgal_whatever_else_speaks_for_the_low_rank_method(monkeypatch):
    model = condal.problems.max_cut(random_graph(50, 4))
    monkeypatch.setattr("condal.methods.lowrank.method.MAX_BYTES", 1000)
    assert "lowrank" not in names(model)


@pytest.mark.parametrize("tol", [0.1, 1e-3, 1e-6])
@pytest.mark.parametrize("name", CASES)
def test_no_estimate_is_below_its_lower_bound_and_choices_come_in_their_order(name, tol):
    problem = normalise(CASES[name].known().problem)[0]
    seconds = {}
    for candidate in auto.CANDIDATES:
        method = METHODS[candidate.name]()
        estimate, least = method.estimate(problem, tol), candidate.least(auto.Size.of(problem, tol))
        if not isinstance(estimate, str) and np.isfinite(least):
            assert least <= estimate.spread * estimate.seconds
            seconds[(estimate.method or method).name] = estimate.spread * estimate.seconds
    chosen = [seconds[name] for name in names(problem, tol=tol)[:-1] if name in seconds]
    assert chosen == sorted(chosen)


TOLS = (1e-6, 1e-4, 1e-3, 1e-2, 3e-2, 1e-1)  # from tight to loose


def drawn(family, n):
    return FAMILIES[family](n, np.random.default_rng(0))


def first_seconds(problem, tol):
    """The estimates of all methods that may come first."""
    answers = [METHODS[each.name]().estimate(problem, tol) for each in auto.CANDIDATES]
    first = [each for each in answers if not isinstance(each, str) and not each.follows]
    return [each.spread * each.seconds for each in first]


PROBLEMS = {
    **{f"{name} {n}": (drawn, name, n) for name in FAMILIES for n in (40, 100)},
    "bisection 1000": (drawn, "bisection", 1000),
    "max-3-cut 600": (drawn, "max-3-cut", 600),
    "max-cut 20000": (lambda: condal.problems.max_cut(sparse_graph(20_000, degree=6.0)),),
    "theta 5000": (lambda: condal.problems.theta(sparse_graph(5000, degree=6.0)),),
    **{name: (lambda name=name: CASES[name].known().problem,) for name in CASES},
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_estimate_of_the_first_choice_does_not_rise_with_the_tolerance(name):
    build, *arguments = PROBLEMS[name]
    problem = normalise(problem_of(build(*arguments)))[0]
    least = [min(first_seconds(problem, tol)) for tol in TOLS]
    assert all(loose <= tight for tight, loose in pairwise(least))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_looser_tolerance_takes_no_more_steps_of_the_same_method(family):
    model = drawn(family, 40)
    results = [condal.solve(model, tol=tol, seed=0) for tol in TOLS[2:]]
    for tight, loose in pairwise(results):
        assert loose.status is tight.status is condal.Status.SOLVED
        if loose.method == tight.method:
            assert loose.iterations <= 1.1 * tight.iterations
            assert loose.oracle_calls <= 1.1 * tight.oracle_calls
