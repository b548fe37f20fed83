"""Proofs about conic programs: right on planted problems, and never fooled by near misses."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from condal.certificates.cones import Cone, ConicForm
from condal.certificates.conic import (
    falls_along,
    proved_lower_bound,
    proved_upper_bound,
    proves_feasible,
    proves_infeasible,
)
from condal.certificates.containment import contains
from condal.certificates.exact import exact_residual, is_psd
from condal.certificates.proposals import proved_value
from condal.certificates.row_space import residual
from condal.conic import Block, Program, certify
from condal.errors import ProblemError
from condal.problems.conic.interior import interior_point
from sparse_matrices import identity

D = 2.0**-44


def is_unbounded(form, x, d):
    return falls_along(form, d) and proves_feasible(form, x)


def form(c, A, b, *cones) -> ConicForm:
    cones = tuple(Cone(*cone) for cone in cones)
    A = sp.csr_array(np.array(A, dtype=float).reshape(len(b), len(c)))
    return ConicForm(np.array(c, dtype=float), A, np.array(b, dtype=float), cones)


def test_a_linear_program_with_a_free_variable_has_its_bound():
    """min x + s: x + s = 1, x - t = -1, x free: s, t >= 0, so x >= -1 and the value is 1."""
    program = form([1, 1, 0], [[1, 1, 0], [1, 0, -1]], [1, -1], ("free", 1), ("orthant", 2))
    # z = c - A'y: y = (1, 0) gives z = (0, 0, 0) exactly.
    assert proved_lower_bound(program, np.array([1.0, 0.0])) == pytest.approx(1.0)
    # A y that is off by rounding is corrected; one that is inside the cone stays there.
    inside = np.array([0.3, 0.7]) + 1e-13
    assert proved_lower_bound(program, inside) == pytest.approx(0.3 - 0.7, abs=1e-9)
    assert proved_lower_bound(program, inside) <= -0.4 + 1e-12
    # This y is outside the cone for s: it proves nothing.
    assert proved_lower_bound(program, np.array([2.0, -1.0])) == -np.inf


def test_duplicate_entries_add_up_and_leave_the_given_matrix_alone():
    """x + x = 2 and x = 2 contradict each other, and would not if one x were dropped."""
    A = sp.csr_array((np.ones(3), np.array([0, 0, 0]), np.array([0, 2, 3])), shape=(2, 1))
    program = ConicForm(np.zeros(1), A, np.array([2.0, 2.0]), (Cone("free", 1),))
    assert not proves_feasible(program, np.zeros(1))
    assert program.A.toarray().tolist() == [[2.0], [1.0]]
    assert A.nnz == 3


def test_a_free_variable_without_rows_is_unbounded_whatever_the_scale():
    """1e10 x + z with 0 <= x <= 5 and z free falls along -z."""
    program = form([1e10, 0, 1], [[1, 1, 0]], [5], ("orthant", 2), ("free", 1))
    assert proved_lower_bound(program, np.array([-1.0])) == -np.inf
    assert is_unbounded(program, np.array([2.0, 3.0, 0.0]), np.array([0.0, 0.0, -1.0]))
    assert not is_unbounded(program, np.array([2.0, 3.0, 0.0]), np.array([0.0, 0.0, 1.0]))


def test_an_objective_with_curvature_does_not_fall_for_ever():
    """x^2 / 2 - x - y falls along y alone."""
    A, P = sp.csr_array((0, 2)), sp.csr_array(np.diag([1.0, 0.0]))
    program = ConicForm(np.array([-1.0, -1.0]), A, np.zeros(0), (Cone("free", 2),), P)
    assert not is_unbounded(program, np.zeros(2), np.array([1.0, 0.0]))
    assert is_unbounded(program, np.zeros(2), np.array([0.0, 1.0]))


def test_costs_of_mixed_scale_do_not_hide_a_ray():
    program = ConicForm(
        np.array([1e4, -1.0]), sp.csr_array((0, 2)), np.zeros(0), (Cone("orthant", 2),)
    )
    assert is_unbounded(program, np.zeros(2), np.array([0.0, 1.0]))
    assert not is_unbounded(program, np.zeros(2), np.array([1.0, 0.0]))
    bounded = ConicForm(np.array([1e4, 1e-9]), program.A, program.b, program.cones)
    assert proved_lower_bound(bounded, np.zeros(0)) == pytest.approx(0.0, abs=1e-300)


def test_nearly_parallel_rows_are_feasible_where_they_meet():
    """x - s = 0 and x - (1 - d) s = 8 d meet at x = s = 8 within s <= 100: not infeasible."""
    A = [[1, -1, 0], [1, -(1 - D), 0], [0, 1, 1]]
    program = form([0, 0, 0], A, [0, 8 * D, 100], ("free", 1), ("orthant", 2))
    for scale in (1.0, 1e6, 1e12):
        assert not proves_infeasible(program, scale * np.array([-1.0, 1.0, 0.0]))
    assert proves_feasible(program, np.array([8.0, 8.0, 92.0]))


def test_contradictory_rows_are_infeasible_however_near():
    rows = [[1, 1], [1, 1]]
    program = form([0, 0], rows, [1, 1 + 1e-10], ("orthant", 2))
    assert proves_infeasible(program, np.array([-1.0, 1.0]))
    assert not proves_infeasible(program, np.array([1.0, -1.0]))
    assert not proves_feasible(program, np.array([0.5, 0.5]))
    same = form([0, 0], rows, [1, 1], ("orthant", 2))
    assert not proves_infeasible(same, np.array([-1.0, 1.0]))
    assert proves_feasible(same, np.array([0.5, 0.5]))


def test_a_row_in_other_units_is_no_proof():
    """The rounding of 0 in b of a row multiplied by 1e-6 has a sign, which proves nothing."""
    program = form([0, 0], [[1e-6, -1e-6], [1, 1]], [5.4e-10, 1], ("orthant", 2))
    assert proves_feasible(program, np.array([0.50027, 0.49973]))
    assert not proves_infeasible(program, np.array([1e6, 0.0]))


@pytest.mark.parametrize("packed", [False, True])
def test_psd_blocks(packed):
    """min <C, X>, tr X = 1: the smallest eigenvalue."""
    rng = np.random.default_rng(0)
    C = rng.standard_normal((4, 4))
    C = C + C.T
    cols, rows = np.triu_indices(4)

    def coordinates(S):
        return S[rows, cols] if packed else S.ravel()

    def functional(S):
        return np.where(rows == cols, 1.0, 2.0) * coordinates(S) if packed else S.ravel()

    program = form(functional(C), [functional(np.eye(4))], [1.0], ("psd", 4, packed))
    least = np.linalg.eigvalsh(C)[0]
    assert proved_lower_bound(program, np.array([least + 1e-9])) == -np.inf
    bound = proved_lower_bound(program, np.array([least - 1e-9]))
    assert least - 2e-9 <= bound <= least
    assert proves_feasible(program, coordinates(np.eye(4) / 4))
    assert not proves_feasible(program, coordinates(np.eye(4) / 4 - np.diag([0.5, -0.5, 0, 0])))


def test_an_infeasible_psd_program():
    """X_12 = 1 with tr X <= 2 - 1e-5: no psd X."""
    A = [[0, 0.5, 0.5, 0, 0], [1, 0, 0, 1, 1]]
    program = form(np.zeros(5), A, [1, 2 - 1e-5], ("psd", 2), ("orthant", 1))
    # 2 X_12 - tr X - s <= 0 on the cone, but the rows say 2 - (2 - 1e-5) > 0.
    assert proves_infeasible(program, np.array([2.0, -1.0]))
    feasible = form(np.zeros(5), A, [1, 2.0], ("psd", 2), ("orthant", 1))
    assert not proves_infeasible(feasible, np.array([2.0, -1.0]))


def test_second_order_cones():
    program = form([1, 0, 0], [[0, 1, 0], [0, 0, 1]], [3, 4], ("second-order", 3))
    y = np.array([0.6, 0.8])
    assert proved_lower_bound(program, (1 - 1e-12) * y) == pytest.approx(5.0)
    assert proved_lower_bound(program, (1 + 1e-9) * y) == -np.inf


@pytest.mark.parametrize("scale", [1e-160, 1e-100, 1.0, 1e100, 1e150])
def test_no_norm_underflows(scale):
    """A dual of any size proves the bound of its own rounding, never a better one."""
    program = form([0.0], [[scale]], [scale], ("orthant", 1))  # x = 1, value 0
    for y in (1e-300, 1e-170, 0.5):
        assert proved_lower_bound(program, np.array([y])) <= 0.0


def test_exact_semidefiniteness():
    v = np.array([[1.0, 1 / 3, 0.1]])
    assert is_psd(np.zeros((3, 3)))
    assert is_psd(np.diag([1.0, 0.0, 2.0]))
    assert not is_psd(np.diag([1.0, -1e-300]))
    assert is_psd(np.array([[1.0, 2.0], [2.0, 4.0]]))
    assert not is_psd(np.array([[1.0, 2.0], [2.0, np.nextafter(4.0, 0.0)]]))
    assert not is_psd(np.array([[0.0, 1.0], [1.0, 5.0]]))
    assert v.shape == (1, 3)


@pytest.mark.parametrize("seed", range(60))
def test_planted_programs_are_judged_right(seed):
    """Integer data with known optimum, infeasible and unbounded ones: no false verdict."""
    rng = np.random.default_rng(seed)
    n, m, free = 6, 4, 2
    A = rng.integers(-3, 4, (m, n + free)).astype(float)
    A[rng.integers(m)] *= 2.0 ** rng.integers(-20, 21)
    x = np.concatenate([rng.integers(1, 5, n), rng.integers(-3, 4, free)]).astype(float)
    y = rng.integers(-3, 4, m).astype(float)
    z = np.concatenate([rng.integers(0, 3, n), np.zeros(free)]).astype(float)
    cones = (Cone("orthant", n), Cone("free", free))
    program = ConicForm(A.T @ y + z, sp.csr_array(A), A @ x, cones)
    bound = proved_lower_bound(program, y)
    assert bound <= program.c @ x + 1e-9 * abs(program.c @ x)
    assert bound == pytest.approx(float(program.b @ y), rel=1e-9, abs=1e-9)
    if np.linalg.matrix_rank(A) == m:
        assert proves_feasible(program, x)
    assert not proves_infeasible(program, rng.standard_normal(m))
    assert not is_unbounded(program, x, np.concatenate([rng.random(n), np.zeros(free)]))


def test_contains_is_strict_about_errors():
    cone = Cone("orthant", 2)
    assert contains(cone, np.array([0.0, 1.0]), np.zeros(2))
    assert not contains(cone, np.array([0.0, 1.0]), np.array([1e-300, 0.0]))


def test_an_upper_bound_is_that_of_an_exact_point_nearby():
    """min x0 + 2 x1, x0 + x1 = 1: the point (1, 0) is on the boundary, and 1/3 is no double."""
    program = form([1, 2], [[1, 1]], [1], ("orthant", 2))
    assert 1.0 <= proved_upper_bound(program, np.array([1.0, 0.0])) <= 1.0 + 1e-15
    assert 1.0 <= proved_upper_bound(program, np.array([1.0 - 1e-9, 0.0])) <= 1.0 + 1e-8
    assert proved_upper_bound(program, np.array([1.0, -1e-300])) == np.inf
    thirds = form([1, 1], [[3, 0], [0, 3]], [1, 0], ("orthant", 2))
    assert 1 / 3 <= proved_upper_bound(thirds, np.array([1 / 3, 0.0])) <= 1 / 3 + 1e-15


def test_nearly_dependent_rows_are_solved_in_fractions():
    """x0 - x1 = 0 and x0 - (1 - d) x1 = 8 d meet at 8; doubles nearby are corrected to it."""
    d = 2.0**-50
    program = form([1, 0], [[1, -1], [1, -(1 - d)]], [0, 8 * d], ("orthant", 2))
    assert proved_upper_bound(program, np.array([8.0, 8.0])) == pytest.approx(8.0)
    assert proved_upper_bound(program, np.array([7.9, 8.1])) == pytest.approx(8.0)
    apart = form([1, 0], [[1, -1], [1, -1]], [0, d], ("orthant", 2))
    assert proved_upper_bound(apart, np.array([8.0, 8.0])) == np.inf


def test_a_psd_block_may_stay_on_a_face_of_zero_rows():
    A = [[1, 0, 0, 1, 0, 1]]  # the trace
    program = form([0, 0, 0, 1, 0, 1], A, [1], ("psd", 3, True))
    assert proved_upper_bound(program, np.eye(1, 6).ravel()) == pytest.approx(0.0, abs=1e-300)
    assert proved_upper_bound(program, (1 + 1e-9) * np.eye(1, 6).ravel()) < 1e-8


@pytest.mark.parametrize("rows", [300, 2100])
def test_rows_of_large_sparse_programs(rows):
    """x_i - x_{i+1} = 0 for free x, and x_0 + s = 1."""
    A = identity(rows, rows + 1) - identity(rows, rows + 1, k=1)
    cones = (Cone("orthant", rows + 1),)
    chain = ConicForm(np.ones(rows + 1), sp.csr_array(A), np.zeros(rows), cones)
    x = np.ones(rows + 1) + 1e-12 * np.random.default_rng(0).standard_normal(rows + 1)
    bound = proved_upper_bound(chain, x)
    assert bound == pytest.approx(rows + 1, rel=1e-6)


def test_proposals_are_corrected_and_moved_inside():
    """min <C, X>, diag X = 1: the dual slack of the optimum is singular."""
    n, (cols, rows) = 6, np.triu_indices(6)
    rng = np.random.default_rng(0)
    C = rng.integers(-3, 4, (n, n)).astype(float)
    C = C + C.T
    packed = C[rows, cols]
    A = sp.hstack(
        [
            sp.csr_array((rows == cols)[:, None] * (rows[:, None] == np.arange(n))),
            identity(rows.size),
        ]
    )
    dual = ConicForm(
        np.concatenate([-np.ones(n), np.zeros(rows.size)]),
        sp.csr_array(A * 1.0),
        packed,
        (Cone("free", n), Cone("psd", n, True)),
    )
    y = np.full(n, np.linalg.eigvalsh(C)[0])
    v = np.concatenate([y, packed - A[:, :n] @ y])  # on the boundary, up to rounding
    value, w = proved_value(dual, v, lambda: interior_point(dual))
    assert value == pytest.approx(-y.sum(), abs=1e-8)
    assert proved_upper_bound(dual, w) == value


def test_a_free_variable_without_any_row_has_no_bound():
    program = form([1, 0], [], [], ("free", 1), ("orthant", 1))
    assert proved_lower_bound(program, np.zeros(0)) == -np.inf
    constant = form([0, 1], [], [], ("free", 1), ("orthant", 1))
    assert -1e-300 <= proved_lower_bound(constant, np.zeros(0)) <= 0.0


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e150, 1e300])
def test_squares_that_overflow_or_underflow_prove_nothing_and_raise_nothing(size):
    program = form([1, 1, 0], [[1, 1, 0], [1, 0, -1]], [1, -1], ("free", 1), ("orthant", 2))
    with np.errstate(all="ignore"):
        assert proved_lower_bound(program, np.array([size, 3 * size])) <= 1
        assert proved_upper_bound(program, size * np.array([1.0, 3.0, 7.0])) >= 1


@pytest.mark.parametrize("exponent", [3, 30, 300, 500])
def test_residuals_are_within_their_error_and_zero_only_if_they_are(exponent):
    """Products that under- or overflow in double precision are among them."""
    rng = np.random.default_rng(exponent)

    def numbers(*shape):
        return rng.standard_normal(shape) * 2.0 ** rng.integers(-exponent, exponent, shape)

    for trial in range(40):
        m, n = rng.integers(1, 7, 2)
        M, v = sp.csr_array(numbers(m, n) * (rng.random((m, n)) < 0.6)), numbers(n)
        with np.errstate(over="ignore", invalid="ignore"):
            t = M @ v
        t = np.where(np.isfinite(t), t, 1.0) + (trial % 2) * (rng.random(m) < 0.3)
        r, error = residual(t, M, v)
        for i in range(m):
            exact = exact_residual((M, v), t, i)
            assert abs(Fraction(float(r[i])) - exact) <= Fraction(float(error[i]))
            assert (exact == 0) == (r[i] == 0 and error[i] == 0)


def test_an_interior_point_is_on_the_face_of_all_feasible_points():
    # x_11 = 0 leaves x_22 = 1 of the matrix; u_1 + u_2 = 0 leaves nothing of u; w is free.
    rows = [[1.0, 0, 0, 0, 0, 0], [0, 0, 1.0, 0, 0, 1.0], [0, 0, 0, 1.0, 1.0, 0]]
    cones = (Cone("psd", 2, packed=True), Cone("orthant", 2), Cone("free", 1))
    form = ConicForm(np.zeros(6), sp.csr_array(rows), np.array([0.0, 1.0, 0.0]), cones)
    v = interior_point(form)
    assert v is not None
    np.testing.assert_array_equal(v[[0, 1, 3, 4]], 0.0)
    assert v[2] > 0
    assert proves_feasible(form, v)
    assert interior_point(replace(form, b=np.array([0.0, 1.0, -1.0]))) is None


def test_numbers_beyond_doubles_prove_nothing_false_and_raise_no_overflow():
    program = Program([1.0, 2.0], [[1e150, 1.0]], [1.0], [Block("orthant", 2)])
    with pytest.raises(ProblemError, match="beyond what double precision holds"):
        certify(program, None, [1e160])
    trace = Program([1.0, -1.0], [[1.0, 1.0]], [1.0], [Block("orthant", 2)])
    assert "at least" not in certify(trace, None, [0.5], trace_bound=1e160).verdict
    cone = Program([1.0, 0, 0], [[1.0, 1.0, 1.0]], [1.0], [Block("second-order", 3)])
    attained = certify(cone, [np.full(3, 1e308)], [0.5]).attained
    assert np.isnan(attained) or (Fraction(attained) + 1) ** 2 >= 2  # the optimum is sqrt(2) - 1
