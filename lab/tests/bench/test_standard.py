"""The standard form is equivalent to the problem, and so is its dual."""

import numpy as np
import pytest

import condal
from condal.errors import ProblemError
from condal_lab.bench.peers.executables import sdpa_of
from condal_lab.bench.peers.packages import ConeForm
from condal_lab.bench.peers.peer import standard_form
from condal_lab.generated import random_edges, sparse_graph, theta, torus
from known import PLANTED

SPECTRAL = ("sdp-equal", "sdp-box", "sdp-at-most")


@pytest.fixture(params=SPECTRAL)
def known(request):
    return PLANTED[request.param]()


def test_the_solution_satisfies_the_rows(known):
    form, x = standard_form(known.problem), np.asarray(known.x)
    values = form.rows @ x.ravel()
    e = form.equalities
    np.testing.assert_allclose(values[:e], form.b[:e], atol=1e-10)
    assert (values[e:] <= form.b[e:] + 1e-10).all()
    C = form.C if isinstance(form.C, np.ndarray) else form.C.toarray()
    assert np.vdot(C, x) == pytest.approx(known.optimum)


def test_a_dual_goes_back_to_the_problem(known):
    """From z with sum_i z_i A_i = A'y + mu I, `dual` returns y without the trace's part."""
    form = standard_form(known.problem)
    rng = np.random.default_rng(0)
    z = rng.random(form.m)
    adjoint = (form.rows.T @ z).reshape(form.n, form.n)
    y = form.dual(z)
    rest = adjoint - known.problem.A.adjoint(y).to_dense()
    np.testing.assert_allclose(rest, rest[0, 0] * np.eye(form.n), atol=1e-12)


@pytest.mark.parametrize("upper", [True, False, None])
def test_rows_of_a_cone_form_keep_inner_products(known, upper):
    form, x = standard_form(known.problem), np.asarray(known.x)
    cone = ConeForm.of(form.program, upper=upper)
    slack = form.m - form.equalities
    keep = {True: np.tri(form.n).T, False: np.tri(form.n), None: np.ones(x.shape)}[upper] > 0
    twice = 1.0 if upper is None else np.sqrt(2.0)
    scaled = x * np.where(np.eye(form.n, dtype=bool), 1.0, twice)
    flat = np.concatenate([np.zeros(slack), scaled.T[keep.T]])  # column by column
    np.testing.assert_allclose(cone.G.T @ flat, form.rows @ x.ravel(), atol=1e-12)
    assert cone.c @ flat == pytest.approx(np.vdot(_dense(form.C), x))
    np.testing.assert_allclose(cone.point(flat)[0], x, atol=1e-14)


def test_a_trace_that_the_rows_imply_is_not_said_again():
    cut = standard_form(condal.problems.max_cut(torus(3, 4)).problem)
    assert cut.m == 12
    lovasz = standard_form(theta(10, 12))
    assert lovasz.m == 13
    np.testing.assert_array_equal(lovasz.rows[[12]].toarray().reshape(10, 10), np.eye(10))


def test_k_means_has_a_row_for_every_sum_and_every_entry():
    model = condal.problems.k_means(np.arange(8.0).reshape(4, 2), 2)
    form = standard_form(model.problem)
    assert (form.m, form.equalities) == (4 + 1 + 10, 5)
    x = np.kron(np.eye(2), np.full((2, 2), 0.5))
    values = form.rows @ x.ravel()
    np.testing.assert_allclose(values[:5], [1, 1, 1, 1, 2])
    assert (values[5:] <= 0).all()


def test_the_file_of_a_standard_form_has_its_slacks():
    known = PLANTED["sdp-box"]()
    form = standard_form(known.problem)
    file = sdpa_of(form.program)
    slack = form.m - form.equalities
    assert file.sizes == (form.n, -slack)
    last = file.blocks == 1
    np.testing.assert_array_equal(file.matrices[last], np.arange(form.equalities, form.m) + 1)
    np.testing.assert_array_equal(file.values[last], np.ones(slack))


def test_what_peers_cannot_take_is_said():
    with pytest.raises(ProblemError, match="one spectral domain; got LeastSquares over Simplex"):
        standard_form(PLANTED["simplex-equal"]().problem)
    parts = {"X": condal.Spectrahedron(3), "B": condal.maps.Diagonal(3), "g": condal.L1(0.3)}
    penalised = condal.Problem.of(f=condal.Linear(np.eye(3)), **parts)
    with pytest.raises(ProblemError, match="points, boxes and orthants; got L1"):
        standard_form(penalised)


def test_random_edges_are_different_pairs():
    for n, count in ((10, 45), (10, 20), (1000, 300)):
        i, j = random_edges(n, count, seed=1)
        assert (i < j).all()
        assert i.min() >= 0
        assert j.max() < n
        assert len(set(zip(i.tolist(), j.tolist(), strict=True))) == count


def test_a_sparse_graph_has_its_degree():
    W = sparse_graph(1000, degree=4.0, seed=2)
    assert W.sum() / 1000 == 4.0
    assert abs(W - W.T).max() == 0
    assert set(np.unique(W.data)) == {1.0}
    assert (torus(4, 5).sum(axis=1).shape, abs(torus(4, 5)).sum()) == ((20,), 80)


def _dense(C):
    return C if isinstance(C, np.ndarray) else C.toarray()
