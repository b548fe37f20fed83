"""Programs with sparse rows on ranks: the map is that of one process, and so is what is proved."""

from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
from sharded import own, own_rows, refused_by_all, sharded, together
from sparse_programs import TRACE, N, P, bounds, boxed, data, dealt, inner, program, whole_boxed

import condal
import condal_mpi
from condal.errors import ProblemError
from condal.linalg.points import LowRank
from condal.linalg.symmetric import Symmetric
from condal_mpi.pieces import DistributedBox, DistributedSpectrahedron

TOL = 2e-2


@pytest.fixture(scope="module")
def whole():
    return whole_boxed()


def test_the_map_and_its_adjoint_are_those_of_one_process(team):
    C, entries = data(23)
    entries["owner"][entries["owner"] == 7] = 8  # the matrix of number 7 is 0
    repeated = {name: np.append(array, array[::3]) for name, array in entries.items()}
    A = program(team, C, repeated, b=np.zeros(23)).A
    rng = np.random.default_rng(0)
    factors, y = 1.0 + rng.random(23), rng.standard_normal(23)
    scaled = A.scaled(sharded(team, factors))
    wanted = inner(repeated, 23).scaled(factors)
    x = LowRank(rng.standard_normal((N, 3)), np.array([2.0, 1.0, 0.5]))
    local, dual = LowRank(sharded(team, x.U), x.weights), sharded(team, y)
    np.testing.assert_allclose(together(team, scaled(local)), wanted(x), atol=1e-12)
    v, V = rng.standard_normal((N, 2)), scaled.adjoint(dual)
    for vectors in (v, v[:, 0]):
        image = together(team, V @ sharded(team, vectors))
        np.testing.assert_allclose(image, wanted.adjoint(y) @ vectors, atol=1e-12)
    assert dual @ scaled(local) == pytest.approx(V.quadratic(local), rel=1e-12)
    np.testing.assert_allclose(together(team, scaled.row_norms()), wanted.row_norms(), rtol=1e-14)
    assert together(team, scaled.row_norms())[7] == 0.0
    assert wanted.norm <= scaled.norm <= 1.03 * wanted.norm
    assert scaled.terms == wanted.terms


def test_the_gradient_is_one_matrix(team, whole):
    problem, y = boxed(team), np.random.default_rng(5).standard_normal(P)
    C = problem.f.scaled(0.5).M.adjoint(np.ones(1))
    V = C + problem.A.adjoint(sharded(team, y))
    assert len(V.terms) == 1
    wanted = whole.f.scaled(0.5).M.adjoint(np.ones(1)) + whole.A.adjoint(y)
    v = np.random.default_rng(6).standard_normal((N, 2))
    np.testing.assert_allclose(together(team, V @ sharded(team, v)), wanted @ v, atol=1e-12)
    np.testing.assert_allclose(together(team, V.diag()), wanted.diag(), atol=1e-14)


@pytest.mark.parametrize("unit", [1e-170, 1e170])
def test_its_norms_neither_overflow_nor_underflow(team, unit):
    C, entries = data()
    A = program(team, C, entries, b=np.zeros(P)).A
    entries["values"] *= unit
    small = program(team, C, entries, b=np.zeros(P)).A
    assert small.norm == pytest.approx(unit * A.norm, rel=1e-12)
    wanted = unit * together(team, A.row_norms())
    np.testing.assert_allclose(together(team, small.row_norms()), wanted, rtol=1e-12)


def test_both_triangles_have_the_same_bits_whoever_gave_them(team):
    C, entries = data()
    for name, array in entries.items():
        entries[name] = np.repeat(array, 5)
    entries["values"] *= 10.0 ** np.random.default_rng(1).integers(-8, 8, entries["values"].size)
    A = program(team, C, entries, b=np.zeros(P)).A
    of_ranks = zip(*team.gathered(A.matrices.entries()), strict=True)
    *places, numbers = (np.concatenate(each).tolist() for each in of_ranks)
    values = dict(zip(zip(*places, strict=True), numbers, strict=True))
    assert len(values) == len(numbers)
    assert all(values[j, i, k] == value for (i, j, k), value in values.items())


def test_a_box_on_ranks_is_that_of_one_process(team, whole):
    K = whole.h
    shared = DistributedBox(sharded(team, K.low), sharded(team, K.high))
    rng = np.random.default_rng(2)
    z, y = 3.0 * rng.standard_normal((2, P))
    y = K.dual_point(y)
    local, dual = sharded(team, z), sharded(team, y)
    for name, arguments, of_one in (
        ("prox", (local, 1.0), K.prox(z, 1.0)),
        ("multiplier", (local, 2.0), K.multiplier(z, 2.0)),
        ("dual_point", (local,), K.dual_point(z)),
    ):
        np.testing.assert_array_equal(together(team, getattr(shared, name)(*arguments)), of_one)
    assert shared.conjugate(dual) == pytest.approx(K.conjugate(y), rel=1e-12)
    assert shared.conjugate_abs_sum(dual) == pytest.approx(K.conjugate_abs_sum(y), rel=1e-12)
    assert shared.distance(local) == pytest.approx(K.distance(z), rel=1e-12)


def test_a_feasible_point_is_found_without_an_objective(team):
    C, entries = data()
    low, high = bounds(inner(entries))
    result = condal_mpi.solve(program(team, 0.0 * C, entries, low=low, high=high), R=20)
    assert (result.status, result.objective) == (condal.Status.SOLVED, 0.0)
    assert result.infeasibility <= 1e-2
    assert -1e-2 <= result.bound <= 0.0


def test_equations_and_a_maximum(team):
    C, entries = data(5)
    A = inner(entries, 5)
    b = A(LowRank(np.eye(N), np.full(N, TRACE / N)))
    problem = program(team, -C, entries, maximise=True, b=b)
    result = condal_mpi.solve(problem, tol=TOL, R=20)
    X = condal.Spectrahedron(N, TRACE)
    best = condal.solve(condal.Problem.of(condal.Linear(C), X, A, condal.Equal(b)), tol=1e-7)
    assert result.status is condal.Status.SOLVED
    assert -best.bound * (1 - 1e-6) <= result.bound <= -best.objective * (1 + 4e-2)
    assert result.objective == pytest.approx(-best.objective, rel=2e-2)


def test_a_trace_that_is_only_bounded(team):
    """tr x is least where x_kk is k + 1, its lower bound, for k < 4, and 0 elsewhere: 10."""
    k = np.arange(4)
    entries = {"owner": k, "rows": k, "cols": k, "values": np.ones(4)}
    low, high = k + 1.0, np.full(4, np.inf)
    options = {"trace": 16.0, "at_most": True, "low": low, "high": high}
    problem = program(team, sp.csr_array(sp.eye(N)), entries, **options)
    result = condal_mpi.solve(problem, tol=TOL, R=20)
    assert result.status is condal.Status.SOLVED
    assert 10.0 * (1 - 4e-2) <= result.bound <= 10.0
    assert result.objective == pytest.approx(10.0, rel=4e-2)


def test_the_domain_of_bounded_trace_has_the_distance_and_bound_of_one_process(team):
    X = DistributedSpectrahedron.of(N, TRACE, team, at_most=True)
    of_one = condal.Spectrahedron(N, TRACE, at_most=True)
    U = np.random.default_rng(4).standard_normal((N, 3))
    for weights in ([1e-3, 1e-3, 0.0], [1.0, 1.0, 1.0], [1e-3, 1e-3, -1e-3]):
        x = LowRank(U, np.array(weights))
        local = LowRank(sharded(team, U), x.weights)
        assert X.distance(local) == pytest.approx(of_one.distance(x), rel=1e-12, abs=1e-15)
    options = {"slack": 1e-6, "failure": 1e-6, "seed": 0}
    for d, least in ((np.linspace(1.0, 2.0, N), 0.0), (np.linspace(-1.0, 2.0, N), -TRACE)):
        proof = X.bound(Symmetric(N, diagonal=sharded(team, d)), **options)
        assert least - 1e-5 <= proof.value <= least


@pytest.mark.parametrize("changed", ["values", "owner", "low"])
def test_a_checkpoint_of_other_data_is_refused(team, shared, changed):
    path = shared / "run"
    condal_mpi.solve(boxed(team), R=4, max_iters=2, checkpoint=path)
    C, entries = data()
    low, high = bounds(inner(entries))
    if changed == "low":
        low[0] -= 1e-9
    else:
        entries[changed][[0, 1]] = entries[changed][[1, 0]]
    with pytest.raises(ProblemError, match="with other data"):
        condal_mpi.resume(path, program(team, C, entries, low=low, high=high))


def wrong_rows(entries, numbers):
    entries["rows"] = np.append(entries["rows"][:-1], N)


def wrong_owner(entries, numbers):
    entries["owner"] = np.append(entries["owner"][:-1], P)


def wrong_value(entries, numbers):
    entries["values"] = np.append(entries["values"][:-1], np.nan)


def wrong_length(entries, numbers):
    entries["cols"] = entries["cols"][1:]


def wrong_numbers(entries, numbers):
    numbers["b"] = np.full(numbers["b"].size, np.inf)


def both_kinds(entries, numbers):
    numbers["low"] = numbers["b"]


def empty_box(entries, numbers):
    zeros = numbers.pop("b")
    numbers.update(low=zeros + 1.0, high=zeros)


def no_trace(entries, numbers):
    numbers["trace"] = -1.0


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (wrong_rows, rf"rows must lie in 0..{N - 1}; got"),
        (wrong_owner, rf"owner must lie in 0..{P - 1}; got"),
        (wrong_value, "values"),
        (wrong_length, "cols and values differ in length"),
        (wrong_numbers, "b "),
        (both_kinds, "give b for equations, or low and high for bounds; got b and low"),
        (empty_box, r"the box is empty: low\[0\] = 1 is above high\[0\] = 0"),
        (no_trace, "trace must be"),
    ],
)
def test_all_ranks_refuse_what_is_wrong_on_the_last(team, spoil, message):
    C, entries = data()
    given, numbers = dealt(team, entries), {"b": own(team, np.zeros(P)), "trace": TRACE}
    if team.rank == team.size - 1:
        spoil(given, numbers)
    with refused_by_all(team, ProblemError, message):
        condal_mpi.sparse_program(own_rows(team, C), **given, **numbers, team=team)


def last_has_more(team):
    return {"b": np.zeros(own(team, np.zeros(P)).size + (team.rank == team.size - 1))}


def first_has_bounds(team):
    zeros = own(team, np.zeros(P))
    return {"b": zeros} if team.rank else {"low": zeros, "high": zeros}


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (last_has_more, r"rank \d owns the constraints \d+ to \d+ of 13; got \d+ numbers"),
        (first_has_bounds, "the ranks differ in the set K, the trace, at_most and maximise"),
    ],
)
def test_numbers_that_do_not_fit_those_of_other_ranks_are_refused(team, numbers, message):
    """One rank alone may have them."""
    C, entries = data()
    several = pytest.raises(ProblemError, match=message)
    with several if team.size > 1 else nullcontext():
        given = {**dealt(team, entries), **numbers(team)}
        condal_mpi.sparse_program(own_rows(team, C), **given, trace=1.0, team=team)


def test_a_cost_that_is_not_symmetric_is_refused(team):
    C, entries = data()
    with pytest.raises(ProblemError, match="do not form a symmetric C"):
        program(team, sp.csr_array(sp.triu(C)), entries, b=np.zeros(P))


def test_a_complex_cost_of_one_rank_is_refused_by_all(team):
    C, entries = data()
    with refused_by_all(team, ProblemError, "C is complex"):
        program(team, C * (1j if team.rank == team.size - 1 else 1.0), entries, b=np.zeros(P))


def test_fewer_constraints_than_ranks_are_refused(team):
    C, entries = data()
    nothing = {name: array[:0] for name, array in entries.items()} | {"b": np.zeros(0)}
    with pytest.raises(ProblemError, match=f"0 constraints cannot be shared by {team.size} ranks"):
        condal_mpi.sparse_program(own_rows(team, C), **nothing, trace=1.0, team=team)
