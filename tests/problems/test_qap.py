"""Quadratic assignment: the face, the relaxation, its bound and its rounding."""

import csv
import itertools
import tarfile

import networkx as nx
import numpy as np
import pytest

import condal
from condal.io.formats import read_qaplib
from condal.linalg.points import LowRank
from condal.linalg.symmetric import Symmetric
from condal.problems import assignments, quadratic_assignment
from condal.problems.assignments import Assignments
from condal.problems.qap import exchange_costs, improve_by_exchanges
from condal.types import Spectral
from known import DATA, needs_data


def instance(n, seed=0, *, loops=False):
    """Two matrices that are not symmetric, with a diagonal if asked for."""
    A, B = np.random.default_rng(seed).integers(0, 9, (2, n, n)).astype(float)
    return (A, B) if loops else (A - np.diag(np.diagonal(A)), B - np.diag(np.diagonal(B)))


def permutations(n):
    return (np.array(p) for p in itertools.permutations(range(n)))


def test_fewer_constraints_never_bound_better():
    a, b = instance(6, 7)
    a[np.random.default_rng(0).random(a.shape) < 0.6] = 0.0
    models = [quadratic_assignment(a, b, nonnegative=w) for w in ("all", "costs")]
    every, some = (condal.solve(model, tol=1e-4) for model in models)
    assert some.bound <= every.objective * (1 + 1e-3)
    assert models[1].problem.A.size < models[0].problem.A.size


def test_the_order_of_a_and_b_only_inverts_the_permutation():
    A, B = instance(5, 3)
    model, other = quadratic_assignment(A, B), quadratic_assignment(B, A)
    p = np.random.default_rng(0).permutation(5)
    assert model.cost(p) == pytest.approx(other.cost(np.argsort(p)))
    x, z = condal.solve(model, tol=1e-4), condal.solve(other, tol=1e-4)
    assert x.bound == pytest.approx(z.bound, rel=3e-4)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_permutation_is_a_point_of_the_relaxation(n):
    model = quadratic_assignment(*instance(n, n, loops=True))
    for nonnegative in ("all", "costs"):
        problem = quadratic_assignment(model.A, model.B, nonnegative=nonnegative).problem
        for p in itertools.islice(permutations(n), 20):
            x = model.point(p)
            assert problem.objective(x) == pytest.approx(model.cost(p))
            assert problem.infeasibility(x) == 0.0
            assert problem.X.distance(x) <= 1e-12 * n


@pytest.mark.parametrize("seed", range(3))
def test_changes_are_what_an_exchange_changes(seed):
    A, B = instance(6, seed, loops=True)
    p = np.random.default_rng(seed).permutation(6)
    model = quadratic_assignment(A, B)
    change = exchange_costs(A, B[np.ix_(p, p)])
    for r, s in itertools.product(range(6), repeat=2):
        q = p.copy()
        q[r], q[s] = p[s], p[r]
        assert change[r, s] == pytest.approx(model.cost(q) - model.cost(p), abs=1e-9)
    settled = improve_by_exchanges(A, B, p)
    assert exchange_costs(A, B[np.ix_(settled, settled)]).min() >= -1e-9
    assert model.cost(settled) <= model.cost(p)


@pytest.mark.parametrize("dense", [0, 2000])
def test_the_face_obeys_the_laws_of_a_spectral_domain(monkeypatch, dense):
    monkeypatch.setattr(assignments, "MAX_DENSE_SIDE", dense)
    X, rng = Assignments(4), np.random.default_rng(0)
    assert isinstance(X, Spectral)
    means = [quadratic_assignment(*instance(4)).point(p) for p in permutations(4)]
    full = sum(condal.dense(z) for z in means) / len(means)
    assert X.distance(full) <= 1e-12
    span = np.linalg.matrix_rank(full)  # of all permutation matrices together
    assert span == 10
    a = rng.standard_normal((16, 16))
    v = Symmetric(16, dense=a + a.T)
    Q = np.linalg.svd(full)[0][:, :span]
    least = np.linalg.eigvalsh(Q.T @ (a + a.T) @ Q)
    s = X.lmo(v)
    assert X.distance(s) <= 1e-12
    assert v.quadratic(s) == pytest.approx(4 * least[0])
    values, vectors = X.lowest(v, 3, 1e-9)
    assert values[0] == pytest.approx(least[0])
    assert vectors.T @ vectors == pytest.approx(np.eye(vectors.shape[1]), abs=1e-9)
    proof = X.bound(v, slack=1e-6, failure=1e-6, seed=0)
    assert 4 * least[0] - 1e-3 <= proof.value <= 4 * least[0]
    near = X.project(a + a.T)
    assert X.distance(near) <= 1e-10
    for z in (s, *means):  # the projection makes an obtuse angle with all points
        gap = (a + a.T - condal.dense(near)) * (condal.dense(z) - condal.dense(near))
        assert gap.sum() <= 1e-9
    assert X.distance(4 * np.eye(16) / 16) > 0.1
    assert X.distance(LowRank(np.eye(16)[:, :1], np.array([4.0]))) > 0.1
    assert X.diameter == pytest.approx(4 * np.sqrt(2))


@needs_data
@pytest.mark.parametrize("name", ["nug12", "had12", "esc16b"])
def test_bounds_of_the_library(tmp_path, name):
    with tarfile.open(DATA / "qaplib" / "qaplib_dat_sln.tar.xz") as archive:
        (member,) = (one for one in archive if one.name.endswith(f"{name}.dat"))
        (tmp_path / "it.dat").write_bytes(archive.extractfile(member).read())
    rows = csv.DictReader((DATA / "qaplib" / "qaplib.csv").read_text().splitlines())
    best = next(float(row["best_known"]) for row in rows if row["name"] == name)
    data = read_qaplib(tmp_path / "it.dat")
    model = quadratic_assignment(data.A, data.B, name=name)
    result = condal.solve(model, tol=1e-2)
    assert result.status is condal.Status.SOLVED
    assert 0.96 * best <= result.bound <= best
    assert best <= model.round(result).cost <= 1.02 * best


@pytest.mark.parametrize(
    ("A", "B", "text"),
    [
        (np.ones((2, 3)), np.eye(2), r"A must be square, at least 1 x 1; got shape \(2, 3\)"),
        (np.eye(2), np.zeros((0, 0)), "B must be square, at least 1 x 1"),
        (np.eye(2), np.eye(3), r"A and B must have the same size; got \(2, 2\) and \(3, 3\)"),
    ],
)
def test_bad_models_are_refused(A, B, text):
    with pytest.raises(condal.ProblemError, match=text):
        quadratic_assignment(A, B)


def test_bad_choices_are_refused():
    with pytest.raises(condal.ProblemError, match="nonnegative must be 'all' or 'costs'; got 'x'"):
        quadratic_assignment(np.eye(2), np.eye(2), nonnegative="x")
    model = quadratic_assignment(*instance(3))
    for p in ([0, 1], [0, 1, 1], [1, 2, 3], [0.0, 1.0, 2.0], ["a", "b", "c"], [[0], [1, 2]]):
        with pytest.raises(
            condal.ProblemError, match=r"permutation must (hold each of 0, ..., 2|be)"
        ):
            model.cost(p)


def test_graphs_sparse_matrices_and_tables_are_taken():
    A, B = nx.path_graph(4), nx.cycle_graph(4)
    model = quadratic_assignment(A, B)
    for kind in (nx.to_numpy_array, nx.to_scipy_sparse_array, nx.to_pandas_adjacency):
        other = quadratic_assignment(kind(A), kind(B))
        np.testing.assert_array_equal(other.A, model.A)
        np.testing.assert_array_equal(other.B, model.B)
    assert model.cost([0, 1, 2, 3]) == 6.0
