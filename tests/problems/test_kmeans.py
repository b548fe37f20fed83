"""k-means: its model, its bound, its rounding."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans as Rival

import condal
from condal.linalg.points import LowRank
from condal.problems import k_means
from condal.problems.lloyd import Distances, PointRows, best_clustering, cost_of, lloyd
from condal.problems.models import Trials


def blobs(n, k, *, apart, seed=0, dimension=2):
    """n points about k centres, no two of which are nearer than `apart`; unit variance."""
    rng = np.random.default_rng(seed)
    while True:
        centres = apart * np.sqrt(k) * rng.uniform(-1, 1, (k, dimension))
        gaps = np.linalg.norm(centres[:, None] - centres, axis=2)[np.triu_indices(k, 1)]
        if gaps.min(initial=np.inf) >= apart:
            return centres[np.arange(n) % k] + rng.standard_normal((n, dimension))


def plain_cost(points, labels):
    """The definition: squared distances to the means."""
    groups = [points[labels == c] for c in np.unique(labels)]
    return sum(((group - group.mean(axis=0)) ** 2).sum() for group in groups)


def indicator(labels):
    """sum_C 1_C 1_C' / |C|."""
    same = np.asarray(labels)[:, None] == labels
    return same / same.sum(axis=1)


@pytest.mark.parametrize(("n", "k"), [(60, 3), (90, 4), (150, 5)])
def test_well_separated_blobs_are_proved_optimal(n, k):
    points = blobs(n, k, apart=8.0, seed=n)
    model = k_means(points, k)
    result = condal.solve(model, tol=1e-3, max_iters=5000)
    rival = Rival(k, n_init=20, random_state=0).fit(points)
    assert result.status is condal.Status.SOLVED
    assert result.bound <= rival.inertia_ * (1 + 1e-9)
    assert result.bound == pytest.approx(rival.inertia_, rel=1e-3)
    clustering = model.round(result)
    assert clustering.cost == pytest.approx(rival.inertia_)
    assert model.excess(clustering.labels, result) <= 1e-3
    assert model.excess(rival.labels_, result) <= 1e-3


def test_the_certificate_is_the_dual_function_of_the_theory():
    # -sum u + k lambda_min(D/2 + (u 1' + 1 u')/2 + W), W <= 0
    rng = np.random.default_rng(1)
    n, k = 12, 3
    model = k_means(rng.standard_normal((n, 2)), k)
    u, W = rng.standard_normal(n), -rng.random((n, n))
    W = W + W.T
    y = np.concatenate([u, condal.Triangle(n)(W)])
    V = 0.5 * model.D + 0.5 * (u[:, None] + u) + W
    certificate = condal.certify(model, indicator(np.arange(n) % k), y)
    assert certificate.bound == pytest.approx(-u.sum() + k * np.linalg.eigvalsh(V)[0], abs=1e-6)


def test_a_clustering_is_feasible_and_its_objective_is_its_cost():
    rng = np.random.default_rng(2)
    points = rng.standard_normal((15, 3))
    model = k_means(points, 4)
    labels = np.arange(15) % 4
    assert model.cost(labels) == pytest.approx(plain_cost(points, labels))
    assert model.cost([f"group {c}" for c in labels]) == pytest.approx(model.cost(labels))
    x = indicator(labels)
    assert model.problem.infeasibility(x) <= 1e-15
    assert model.problem.X.distance(x) <= 1e-12
    assert model.problem.objective(x) == pytest.approx(model.cost(labels))


def test_a_proposal_is_feasible_and_proves_what_is_well_separated():
    points = blobs(40, 4, apart=8.0)
    model = k_means(points, 4)
    x, y = model.propose(LowRank(np.eye(40), np.full(40, 0.1)))
    certificate = condal.certify(model, x, y)
    assert certificate.infeasibility <= 1e-14
    assert certificate.distance_to_X <= 1e-12
    assert certificate.bound <= certificate.objective
    assert certificate.gap <= 1e-6


def test_a_useless_proposal_counts_for_nothing():
    points = np.random.default_rng(0).standard_normal((12, 2))
    good = k_means(points, 3).problem
    useless = replace(good, propose=lambda x: (np.zeros((12, 12)), np.zeros(12 + 78)))
    none = replace(good, propose=None)
    a, b = (condal.solve(problem, tol=2e-2, max_iters=20_000) for problem in (useless, none))
    assert a.status is b.status is condal.Status.SOLVED
    assert a.iterations == b.iterations
    assert a.bound == b.bound


def test_the_bound_of_a_proposal_is_kept_where_it_is_the_best():
    points = blobs(60, 3, apart=4.0)
    model = k_means(points, 3)
    with_it = condal.solve(model, tol=1e-9, max_iters=20)
    without = condal.solve(replace(model.problem, propose=None), tol=1e-9, max_iters=20)
    assert with_it.bound > without.bound
    again = condal.certify(model, with_it.x, with_it.y)
    assert again.bound == pytest.approx(with_it.bound, rel=1e-3)


def test_points_and_their_squared_distances_are_one_problem():
    points = blobs(30, 3, apart=8.0)
    by_points, by_distances = (
        k_means(points, 3),
        k_means(distances=((points[:, None] - points) ** 2).sum(axis=2), k=3),
    )
    assert np.allclose(by_points.D, by_distances.D)
    result = condal.solve(by_distances)
    clustering = by_distances.round(result)
    assert clustering.centres is None
    assert clustering.cost == pytest.approx(by_points.round(condal.solve(by_points)).cost)


def test_distances_of_points_are_exact_where_they_can_be():
    points = 1e6 + np.random.default_rng(0).standard_normal((20, 3))
    D = k_means(points, 2).D
    assert np.array_equal(D, D.T)
    assert not np.diagonal(D).any()
    assert D.min() >= 0
    assert np.allclose(D, ((points[:, None] - points) ** 2).sum(axis=2), rtol=1e-12)


def test_centres_are_the_means():
    points = blobs(30, 3, apart=8.0)
    model = k_means(points, 3)
    clustering = model.round(condal.solve(model), seed=4)
    for c, centre in enumerate(clustering.centres):
        assert np.allclose(centre, points[clustering.labels == c].mean(axis=0))
    assert "sizes=[10, 10, 10]" in repr(clustering)


CLOUD = np.random.default_rng(0).standard_normal((6, 2))


@pytest.mark.parametrize(
    ("points", "k", "optimum"),
    [
        (CLOUD, 6, 0.0),
        (CLOUD, 1, plain_cost(CLOUD, np.zeros(6))),
        (np.zeros((5, 2)), 2, 0.0),
        (np.ones((1, 3)), 1, 0.0),
        (np.repeat([[0.0], [1.0]], 4, axis=0), 2, 0.0),
        (np.repeat([[0.0], [1.0]], 4, axis=0), 3, 0.0),
    ],
    ids=["k = n", "k = 1", "one place", "one point", "two places", "more clusters than places"],
)
def test_the_ends_of_the_scale_are_solved(points, k, optimum):
    model = k_means(points, k)
    result = condal.solve(model, tol=1e-3, max_iters=2000)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(optimum, abs=1e-3, rel=1e-3)
    clustering = model.round(result)
    assert clustering.cost == pytest.approx(optimum, abs=1e-12)
    assert sorted(set(clustering.labels)) == list(range(k))


def test_nothing_proved_is_infinitely_far_from_optimal():
    model = k_means(CLOUD, 2)
    result = condal.solve(model, max_iters=1)
    unproved = replace(result, certificate=replace(result.certificate, bound=-1.0))
    assert model.excess([0, 0, 0, 1, 1, 1], result) < np.inf
    assert model.excess([0, 0, 0, 1, 1, 1], unproved) == np.inf


@pytest.mark.parametrize("kind", ["rows", "distances", "no points"])
def test_lloyd_never_worsens_and_leaves_no_cluster_empty(kind):
    rng = np.random.default_rng(3)
    points = rng.standard_normal((40, 2))
    cloud = PointRows(points) if kind == "rows" else Distances(k_means(points, 1).D)
    if kind == "no points":
        D = np.triu(rng.random((40, 40)), 1)
        cloud = Distances(D + D.T)
    starts = rng.integers(0, 3, (5, 40))  # clusters 3 and 4 begin empty
    labels, costs = lloyd(cloud, starts, 5)
    for row, total in zip(labels, costs, strict=True):
        assert set(row) == set(range(5))
        assert total == pytest.approx(cost_of(cloud, row, 5))
    full = rng.integers(0, 5, (5, 40))
    full[:, :5] = np.arange(5)
    improved, after = lloyd(cloud, full, 5)
    assert all(after[i] <= cost_of(cloud, full[i], 5) for i in range(5))
    assert improved.shape == full.shape


def test_rows_and_their_distances_are_one_cloud():
    rng = np.random.default_rng(5)
    points = 1e5 + rng.standard_normal((30, 3))
    rows, distances = PointRows(points), Distances(k_means(points, 1).D)
    labels = rng.integers(0, 4, (3, 30))
    for a, b in zip(rows.to_centres(labels, 4), distances.to_centres(labels, 4), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(rows.to_point(7), distances.to_point(7), rtol=1e-7)
    assert cost_of(rows, labels[0], 4) == pytest.approx(plain_cost(points, labels[0]))


@pytest.mark.parametrize("kind", ["rows", "distances"])
def test_starts_find_what_scikit_learn_finds(kind):
    points = blobs(120, 6, apart=5.0, seed=3)
    cloud = PointRows(points) if kind == "rows" else Distances(k_means(points, 6).D)
    labels = best_clustering(cloud, 6, Trials(20, np.random.default_rng(0)))
    rival = Rival(6, n_init=20, random_state=0).fit(points)
    assert cost_of(cloud, labels, 6) == pytest.approx(rival.inertia_, rel=1e-2)
    again = best_clustering(cloud, 6, Trials(20, np.random.default_rng(0)))
    assert np.array_equal(labels, again)


def test_points_all_alike_fill_every_cluster():
    for cloud in (PointRows(np.zeros((5, 2))), Distances(np.zeros((5, 5)))):
        assert set(best_clustering(cloud, 3, Trials(1, np.random.default_rng(0)))) == {0, 1, 2}


def test_no_bound_of_an_answer_is_negative():
    model = k_means(blobs(30, 3, apart=8.0), 3)
    assert model.round(condal.solve(model.problem, max_iters=1)).bound >= 0.0


@pytest.mark.parametrize("kind", [pd.Series, np.array, list])
def test_names_are_labels(kind):
    model = k_means(CLOUD, 2)
    assert model.cost(kind(list("ababab"))) == model.cost([0, 1, 0, 1, 0, 1])
    assert model.cost(pd.Series([3, 8] * 3, dtype=object)) == model.cost([0.0, 1.0] * 3)


GOOD = np.array([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"points": CLOUD, "k": 7}, r"k = 7 clusters of 6 points.*k must be at most 6"),
        ({"points": CLOUD}, "k must be a whole number, at least 1; got None"),
        ({"points": [0.0, 1.0], "k": 1}, r"points must have 2 dimensions; got shape \(2,\)"),
        ({"points": np.zeros((0, 2)), "k": 1}, "points has no rows"),
        ({"points": [[1e200], [-1e200]], "k": 1}, "beyond what double precision holds; scale"),
        ({"k": 2}, "either points or distances .*; got neither"),
        ({"points": CLOUD, "distances": GOOD, "k": 1}, "either points or distances .*; got both"),
        ({"distances": -GOOD, "k": 1}, r"must not be negative; got -1 at \(0, 1\)"),
        ({"distances": GOOD + np.eye(2), "k": 1}, r"a zero diagonal; got 1 at \(0, 0\)"),
    ],
)
def test_bad_input_is_refused(given, text):
    with pytest.raises(condal.ProblemError, match=text):
        k_means(**given)


def test_bad_labels_and_results_are_refused():
    model = k_means(CLOUD, 2)
    with pytest.raises(
        condal.ProblemError,
        match=r"labels must be 6 whole numbers or names, one per point; got a list of shape \(5,\)",
    ):
        model.cost([0, 0, 0, 1, 1])
    for wrong in ([0.5] * 6, [np.nan] * 6, [None] * 6, pd.Series(["a"] * 5 + [None], dtype=object)):
        with pytest.raises(condal.ProblemError, match="labels must be 6 whole numbers or names"):
            model.cost(wrong)
    with pytest.raises(condal.ProblemError, match=r"labels has 3 different values, but .* k = 2"):
        model.cost([0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize("seed", [0, 5, 23, 29])
def test_rounding_costs_no_more_than_the_clustering_the_solve_begins_at(seed):
    model = k_means(np.random.default_rng(seed).standard_normal((40, 2)), 4)
    start, _ = model.first_pair()
    rounded = model.round(condal.solve(model, tol=1e-2))
    assert rounded.cost <= model.cost(start.U.argmax(axis=1))


def test_rounding_does_not_depend_on_where_the_points_are():
    points = np.random.default_rng(3).standard_normal((40, 2))
    result = condal.solve(k_means(points, 4), tol=1e-2, max_iters=300)
    here = k_means(points, 4).round(result)
    there = k_means(points + 1e4, 4).round(result)
    assert there.cost == pytest.approx(here.cost, rel=1e-6)


def test_rounding_noise_in_distances_is_forgiven():
    D = condal.problems.lloyd.squared_distances(np.arange(4.0)[:, None])
    noisy = D + 1e-14 * np.eye(4)
    np.testing.assert_array_equal(k_means(distances=noisy, k=2).D, D)


def test_separated_blobs_are_proved_before_any_iteration_matters():
    points = blobs(300, 5, apart=12.0)
    model = k_means(points, 5)
    result = condal.solve(model, tol=1e-6)
    assert result.status is condal.Status.SOLVED
    assert result.iterations == 1
    cost = model.round(result).cost
    assert result.bound == pytest.approx(cost, rel=1e-6)
    assert result.bound <= cost * (1 + 1e-12)


class TestPairsOfClusters:
    """Many points: one inequality for each pair of clusters replaces x >= 0."""

    @pytest.fixture(autouse=True)
    def _always(self, monkeypatch):
        monkeypatch.setattr("condal.problems.clusterings.MAX_ENTRIES_SIDE", 0)

    @pytest.mark.parametrize(("k", "dimension"), [(1, 2), (2, 1), (5, 2), (8, 90)])
    def test_separated_clusters_are_proved_optimal(self, k, dimension):
        points = blobs(300, k, apart=20.0, dimension=dimension)
        model = k_means(points, k)
        result = condal.solve(model, tol=1e-6)
        assert model.D is None
        assert result.status is condal.Status.SOLVED
        clustering = model.round(result)
        assert clustering.cost == pytest.approx(plain_cost(points, np.arange(300) % k))
        assert result.bound == pytest.approx(clustering.cost, rel=1e-6)
        assert result.bound <= clustering.cost * (1 + 1e-12)

    def test_the_objective_is_the_cost_and_every_clustering_is_feasible(self):
        points = 1e3 + np.random.default_rng(0).standard_normal((40, 3))
        problem = k_means(points, 4).problem
        for seed in range(5):
            labels = np.random.default_rng(seed).permutation(np.arange(40) % 4)
            x = indicator(labels)
            assert problem.infeasibility(x) <= 1e-14
            assert problem.objective(x) == pytest.approx(plain_cost(points, labels))

    def test_the_forms_are_nonnegative_for_nonnegative_x_and_have_an_adjoint(self):
        from condal.maps.user import check_adjoint
        from condal.problems.cluster_duals import ClusterPairs

        points = blobs(40, 3, apart=6.0)
        forms = ClusterPairs(points, np.arange(40) % 3, 3).forms()
        x = np.random.default_rng(1).random((40, 40))
        check_adjoint(forms, [x + x.T, LowRank(x[:, :3], np.ones(3))])
        assert (forms(x + x.T) >= 0).all()
        r, s = 0.5 * (forms.sums + forms.differences), 0.5 * (forms.sums - forms.differences)
        rows = [np.outer(a, b) for a, b in zip(r.toarray(), s.toarray(), strict=True)]
        sizes = [np.linalg.norm(0.5 * (row + row.T)) for row in rows]
        assert forms.row_norms() == pytest.approx(sizes)
        assert forms(x + x.T) == pytest.approx([(row * (x + x.T)).sum() for row in rows])

    @pytest.mark.parametrize("seed", range(3))
    def test_the_bound_of_overlapping_clusters_lies_below_all_costs(self, seed):
        points = np.random.default_rng(seed).standard_normal((30, 2))
        model = k_means(points, 3)
        result = condal.solve(model, tol=1e-2, max_iters=200)
        rival = Rival(3, n_init=20, random_state=0).fit(points)
        assert result.bound <= rival.inertia_ * (1 + 1e-9)

    def test_far_away_points_are_refused_as_with_distances(self):
        with pytest.raises(condal.ProblemError, match="beyond what double precision"):
            k_means(np.full((5, 2), 1e200), 2)
