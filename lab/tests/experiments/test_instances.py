"""The instances are those of the paper, and their stand-ins resemble them."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import dense
from condal_lab import generated
from condal_lab.experiments import instances
from condal_lab.experiments.instances import FULL, QUICK, SPECTRA, build, geneig, geneig_like
from known import DATA, needs_data


def edges(problem):
    """The edges of a max-cut problem and their weights, from -L/4."""
    lower = sp.tril(problem.f.C.to_sparse(), k=-1)
    return 4 * lower.data


def psi(problem):
    return problem.A.adjoint(np.ones(1)).to_dense()


def phi(problem):
    return -problem.f.C.to_dense()


@pytest.mark.parametrize("name", QUICK)
def test_stand_ins_need_no_data_and_are_the_same_each_time(name, monkeypatch):
    monkeypatch.setattr(instances, "find", None)
    first, second = build(name, quick=True), build(name, quick=True)
    assert first.name == f"{name}-like"
    x = np.eye(first.problem.X.n)
    assert first.problem.objective(x) == second.problem.objective(x)
    np.testing.assert_array_equal(first.problem.A(x), second.problem.A(x))


@pytest.mark.parametrize("name", QUICK)
def test_instances_travel_between_processes(name):
    instance = build(name, quick=True)
    copy = pickle.loads(pickle.dumps(instance))
    x = np.eye(instance.problem.X.n)
    assert (copy.name, copy.title) == (instance.name, instance.title)
    assert copy.problem.objective(x) == instance.problem.objective(x)


def test_the_small_stand_in_has_the_counts_of_gd97b():
    W = generated.attached_graph()
    degrees = np.diff(W.indptr)
    weights = sp.tril(W).data
    assert W.shape == (47, 47)
    assert weights.size == 132
    assert sorted(degrees)[:2] == [0, 3]
    assert np.all(weights == np.round(weights))
    assert weights.min() >= 1
    assert (W != W.T).nnz == 0


def test_the_gset_stand_ins_have_the_make_of_g1_and_g40():
    W = generated.random_graph(400)
    assert set(W.data) == {1.0}
    assert sp.tril(W).nnz / (400 * 399 / 2) == pytest.approx(0.06, abs=0.005)
    W = generated.planar_union(400)
    assert set(W.data) == {-1.0, 1.0}
    # Two triangulations of 3n - 6 edges, few of them shared; degrees of at least 3 + 3.
    assert 0.97 * 2 * (3 * 400 - 6) < sp.tril(W).nnz <= 2 * (3 * 400 - 6)
    assert np.diff(W.indptr).min() >= 5
    assert (W != W.T).nnz == 0


def test_the_blobs_stand_in_order():
    points = generated.overlapping_blobs(10, k=5, spread=1e-3)
    assert points.shape == (10, 10)
    np.testing.assert_array_equal(points.argmax(axis=1), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4])


def test_the_clustering_objective_is_that_of_the_paper():
    """<D, x> with squared distances: twice the cost of a clustering."""
    instance = build("mnist", quick=True)
    points, labels = generated.overlapping_blobs(), np.repeat(np.arange(5), 12)
    x = (labels[:, None] == labels) / 12.0
    D = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    cost = sum(((c - c.mean(axis=0)) ** 2).sum() for c in np.split(points, 5))
    assert instance.problem.objective(x) == pytest.approx((D * x).sum(), rel=1e-12)
    assert instance.problem.objective(x) == pytest.approx(2 * cost, rel=1e-12)
    assert instance.problem.infeasibility(x) < 1e-12


@pytest.mark.parametrize("kind", SPECTRA)
def test_alpha_is_twice_the_least_that_is_feasible(kind):
    problem = geneig_like(kind).problem
    largest = np.linalg.eigvalsh(psi(problem))[-1]
    assert problem.X.trace * largest == pytest.approx(2.0, rel=1e-12)
    assert problem.X.at_most
    # Psi is indefinite and Phi has a positive part: no y makes the trace constraint inactive.
    assert np.linalg.eigvalsh(psi(problem))[0] < 0 < np.linalg.eigvalsh(phi(problem))[-1]


def test_the_spectra_are_those_of_the_paper():
    i = np.arange(1, 61)
    poly = np.linalg.eigvalsh(phi(geneig_like("polydecay").problem))[::-1]
    np.testing.assert_allclose(poly, 1.0 / i, rtol=1e-10)
    exponential = np.linalg.eigvalsh(phi(geneig_like("expdecay").problem))[::-1]
    np.testing.assert_allclose(exponential, 10 ** (-0.025 * i), rtol=1e-10)
    cut = phi(geneig_like("maxcut-sdp").problem)
    np.testing.assert_allclose(np.diagonal(cut), 1.0, rtol=1e-12)
    assert np.linalg.eigvalsh(cut)[0] > -1e-9


@pytest.mark.parametrize("n", [60, 200])
def test_gaussian_matrices_are_symmetric_parts_and_independent(n):
    problem = geneig("gaussian", n=n).problem
    Phi, Psi = phi(problem), psi(problem)
    off = np.triu_indices(n, 1)
    for matrix in (Phi, Psi):
        assert matrix[off].std() == pytest.approx(np.sqrt(0.5), rel=0.1)
        assert np.diagonal(matrix).std() == pytest.approx(1.0, rel=0.3)
    assert abs(np.corrcoef(Phi[off], Psi[off])[0, 1]) < 0.1


def test_unknown_names_are_named():
    with pytest.raises(ProblemError, match="there is no instance 'g2'; there are gd97b, g1, g40"):
        build("g2")
    with pytest.raises(ProblemError, match="there is no file 'G9'"):
        instances._gset("G9")


def test_every_instance_has_a_stand_in():
    assert list(FULL) == list(QUICK)


@needs_data
@pytest.mark.parametrize(
    ("name", "n", "m", "total"),
    [("gd97b", 47, 132, 20112.4091), ("g1", 800, 19176, 19176.0), ("g40", 2000, 11766, -98.0)],
)
def test_the_graphs_are_the_published_ones(name, n, m, total):
    instance = build(name, DATA)
    assert instance.problem.X.n == n
    assert edges(instance.problem).size == m
    assert edges(instance.problem).sum() == pytest.approx(total, abs=1e-4)


@needs_data
def test_the_digits_are_sorted_by_label():
    """The planted clustering has the cost of its authors' data: 103.543073."""
    instance = build("mnist", DATA)
    sizes = [85, 126, 116, 107, 110, 87, 87, 99, 89, 94]
    labels = np.repeat(np.arange(10), sizes)
    x = (labels[:, None] == labels) / np.repeat(sizes, sizes)
    assert instance.problem.objective(dense(x)) == pytest.approx(2 * 103.543073, rel=1e-8)
    assert instance.problem.infeasibility(x) < 1e-12
