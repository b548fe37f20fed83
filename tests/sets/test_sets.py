"""Sets K: projection, support function, their identities, and scaling by its definition."""

import numpy as np
import pytest

import condal
from condal.errors import ProblemError
from condal.sets import (
    Affine,
    Ball,
    Box,
    Equal,
    NonNegative,
    PSDCone,
    SecondOrder,
    Separable,
)
from laws.proximable import INF, LAWS, pieces_obey_their_law
from laws.sets import SETS, long_set


@pytest.mark.parametrize("law", LAWS, ids=[law.__name__ for law in LAWS])
@pytest.mark.parametrize("case", SETS, ids=[case.name for case in SETS])
def test_laws(case, law):
    law(case)


@pytest.mark.parametrize("case", SETS, ids=[case.name for case in SETS])
def test_sets_have_no_value_and_no_lipschitz_constant(case):
    z = np.random.default_rng(0).standard_normal(case.h.size)
    assert case.h.value(z) == 0.0
    assert case.h.lipschitz == INF or case.h.size == 0


def test_a_long_set_is_the_sum_of_its_pieces():
    pieces_obey_their_law(long_set(), np.random.default_rng(11))


def test_separable_is_as_separable_as_its_parts():
    class Whole(NonNegative):
        separable = False

    assert not Separable(Equal([1.0]), Whole(2)).separable


def test_the_psd_cone_is_that_of_the_map_triangle():
    rng = np.random.default_rng(12)
    for n in (1, 4, 40):
        x = rng.standard_normal((n, n))
        x = x + x.T
        h = PSDCone(n)
        z = condal.Triangle(n)(x)
        np.testing.assert_allclose(h.vector(x), z)
        np.testing.assert_allclose(h.matrix(z), x)
        values = np.linalg.eigvalsh(x)
        assert h.distance(z) == pytest.approx(np.linalg.norm(np.minimum(values, 0.0)))


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_projections_of_numbers_whose_squares_are_no_doubles(size):
    ball, z = Ball([0.0, 0.0], size), size * np.array([3.0, -4.0])
    np.testing.assert_allclose(ball.prox(z, 1.0), size * np.array([0.6, -0.8]), rtol=1e-14)
    assert ball.conjugate(np.array([3.0, -4.0])) == pytest.approx(5 * size)
    assert Ball([0.0, 0.0], 1.0).conjugate(z) == pytest.approx(5 * size)
    cone, z = SecondOrder(3), size * np.array([0.0, 3.0, 4.0])
    np.testing.assert_allclose(cone.prox(z, 1.0), size * np.array([2.5, 1.5, 2.0]), rtol=1e-14)
    assert cone.conjugate(z) == INF
    assert cone.conjugate(-cone.prox(z, 1.0)) == 0.0


def test_an_affine_subspace_leaves_out_dependent_rows_and_keeps_its_factors():
    C = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 2.0, 1.0]])
    h = Affine(C, [1.0, 2.0, 3.0])
    assert h.C.shape == (2, 3)
    assert h.distance(np.array([0.0, 1.0, 1.0])) <= 1e-15
    assert h.scaled(np.full(3, 2.0), 1.0).C is h.C


@pytest.mark.parametrize("small", [1e-5, 1e-11, 1e-100, 1e-200, 1e-300, 1e200, 1e300])
@pytest.mark.parametrize("goal", [0.0, 1.0, -3.0])
def test_a_row_counts_whatever_its_size(small, goal):
    h = Affine(np.diag([1.0, small]), [0.5, goal * small])
    assert h.C.shape == (2, 2)
    np.testing.assert_allclose(h.prox(np.array([7.0, 8.0]), 1.0), [0.5, goal], atol=1e-14)
    assert h.distance(np.array([0.5, 5.0])) == pytest.approx(5.0 - goal)
    assert h.conjugate(np.array([2.0, 3.0])) == pytest.approx(1.0 + 3 * goal)


def test_rows_of_all_sizes_are_those_of_the_scaled_system():
    rng = np.random.default_rng(15)
    C, z = rng.standard_normal((4, 7)), rng.standard_normal(7)
    sizes = 10.0 ** rng.integers(-200, 200, 4)
    plain, scaled = Affine(C, C @ z), Affine(sizes[:, None] * C, sizes * (C @ z))
    v = rng.standard_normal(7)
    np.testing.assert_allclose(scaled.prox(v, 1.0), plain.prox(v, 1.0), atol=1e-13)
    y = plain.dual_point(v)
    assert scaled.conjugate(y) == pytest.approx(plain.conjugate(y))


@pytest.mark.parametrize("apart", [1e-3, 1e-8, 1e-11, 1e-13])
def test_rows_that_are_nearly_parallel_are_two(apart):
    """z_0 = 1/2 and z_0 + apart z_1 = 1/2 + apart: z = (1/2, 1), as far as doubles can say."""
    h = Affine([[1.0, 0.0], [1.0, apart]], [0.5, 0.5 + apart])
    assert h.C.shape == (2, 2)
    np.testing.assert_allclose(h.prox(np.zeros(2), 1.0), [0.5, 1.0], rtol=4e-16 / apart)


def test_rows_that_say_what_others_say_are_left_out_rounding_or_no():
    rng = np.random.default_rng(16)
    for n, m in ((3, 5), (20, 30), (200, 80)):
        C = rng.standard_normal((4, n)) * 10.0 ** rng.integers(-9, 9, (4, 1))
        mix = rng.standard_normal((m, 4)) / np.linalg.norm(C, axis=1)
        mix *= 10.0 ** rng.integers(-9, 9, (m, 1))
        z = rng.standard_normal(n)
        rows = np.vstack([C, mix @ C])
        h = Affine(rows, np.concatenate([C @ z, mix @ (C @ z)]))
        assert h.C.shape[0] == min(n, 4)
        assert h.distance(z) <= 1e-13 * n


def test_rows_of_zeros_ask_nothing():
    h = Affine([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]], [0.0, 4.0, 0.0])
    assert h.C.shape == (1, 2)
    np.testing.assert_allclose(h.prox(np.zeros(2), 1.0), [2.0, 2.0])


@pytest.mark.parametrize("condition", [1e3, 1e6, 1e9])
def test_an_ill_conditioned_subspace_says_how_far_its_duals_are_off(condition):
    """The range of C' is found to about eps times the condition number, and `dual_error` knows."""
    rng = np.random.default_rng(13)
    C = rng.standard_normal((2, 6))
    C[1] = C[0] + C[1] / condition
    h = Affine(C, [1.0, 1.0])
    for _ in range(10):
        y = h.dual_point(rng.standard_normal(6))
        assert np.isfinite(h.conjugate(y))
        u, *_ = np.linalg.lstsq(C.T, y, rcond=None)
        assert h.dual_error(y) >= 0.5 * np.linalg.norm(C.T @ u - y)
        assert h.dual_error(y) <= 1e-13 * condition


@pytest.mark.parametrize(
    ("h", "y", "missed"),
    [
        (SecondOrder(2), np.array([-1.0, 1 + 5e-13]), 5e-13 / np.sqrt(2)),
        (PSDCone(1), np.array([0.0]), 0.0),
        (PSDCone(2), PSDCone(2).vector([[-1.0, 0.0], [0.0, 5e-13]]), 5e-13),
        (Affine([1.0, 1.0], 0.0), np.array([1.0, 1.0 + 1e-12]), 1e-12 / np.sqrt(2)),
    ],
)
def test_what_the_conjugate_overlooks_the_proofs_are_told(h, y, missed):
    """A point outside of dom h* by a rounding counts as one of it, and says by how much."""
    assert h.conjugate(y) == 0.0
    assert 0.999 * missed <= h.dual_error(y) <= 3 * missed + 1e-14


def test_the_proof_pays_for_a_dual_that_is_not_quite_one():
    """|A'y - A'w| <= |A| |y - w| for the point w of dom h* that y stands for."""

    class Off(Affine):
        def dual_error(self, y):
            return super().dual_error(y) + 1e-3

    rng, bounds = np.random.default_rng(0), []
    A, cost, x = rng.standard_normal((3, 12)), rng.standard_normal(12), np.full(12, 1 / 12)
    for kind in (Affine, Off):
        problem = condal.Problem.of(
            condal.Linear(cost), condal.Simplex(12), condal.Matrix(A), kind(np.ones(3), 0.1)
        )
        bounds.append(condal.certify(problem, x, np.ones(3)).bound)
    assert bounds[0] - bounds[1] == pytest.approx(1e-3 * np.linalg.norm(A), rel=1e-6)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Equal(1.0), r"b must have 1 dimension; got shape \(\)"),
        (lambda: Box([0.0], [1.0, 2.0]), "low has length 1, high has 2"),
        (lambda: PSDCone(2).vector(np.ones(3)), r"x must have 2 dimensions; got shape \(3,\)"),
        (lambda: PSDCone(2).vector([[0, 1], [0, 0]]), "x must be symmetric"),
        (lambda: Affine([[1.0, 2.0]], [1.0, 2.0]), r"C has 1 rows, but d has shape \(2,\)"),
        (lambda: Affine(np.zeros((0, 2)), []), r"at least 1 x 1; got shape \(0, 2\)"),
        (lambda: Affine(np.zeros((1, 2)), [0.0]), "C is 0: it does not restrict z"),
        (
            lambda: Affine([[1.0, 1.0], [2.0, 2.0]], [1.0, 3.0]),
            r"the subspace is empty: row \d of C is a combination of others",
        ),
        (
            lambda: Affine([[1.0, 1.0], [1e-20, 1e-20]], [1.0, 1.00001e-20]),
            r"row 1 of C is a combination .* ask for 1e-20 where d\[1\] = 1.00001e-20",
        ),
        (
            lambda: Affine([[1.0, 0.0], [0.0, 0.0]], [1.0, 1e-30]),
            r"the subspace is empty: row 1 of C is 0, but d\[1\] = 1e-30",
        ),
        (
            lambda: Affine([[1.0, 0.0], [0.0, 1e-300]], [1.0, 1e100]),
            r"row 1 of C is too small for d\[1\] = 1e\+100: z would be larger than any double",
        ),
    ],
)
def test_wrong_input_is_refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()
