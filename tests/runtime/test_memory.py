"""What does not fit into memory is refused at once, in words that say what to do."""

import numpy as np
import pytest
import scipy.sparse as sp

from condal import ProblemError, problems, solve

MACHINE = 16 * 10**9


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    monkeypatch.setattr("condal.runtime.limits.available", lambda: MACHINE)


def empty(n):
    """Return n vertices and one edge."""
    return sp.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(n, n))


HUGE = {
    "k-means of 60000 distances": (
        lambda: problems.k_means(distances=np.broadcast_to(0.0, (60_000, 60_000)), k=3),
        "140 GB",
    ),
    "theta+ of 60000 vertices": (
        lambda: problems.theta(empty(60_000), theta_plus=True).problem,
        "86 GB",
    ),
    "the complement of 60000 vertices": (
        lambda: problems.theta(empty(60_000)).complement,
        "86 GB",
    ),
    "a 3-cut of all pairs of 60000 vertices": (
        lambda: problems.max_k_cut(empty(60_000), 3, pairs="all").problem,
        "86 GB",
    ),
    "sparse PCA of 60000 variables": (
        lambda: problems.sparse_pca(data=np.zeros((2, 60_000)), rho=1.0),
        "140 GB",
    ),
    "a quadratic assignment of 300 items": (
        lambda: problems.quadratic_assignment(np.eye(300), np.eye(300)).problem,
        "190 GB",
    ),
}


@pytest.mark.parametrize("name", HUGE)
def test_what_needs_more_than_n_by_n_numbers_is_refused_at_once(name):
    make, needed = HUGE[name]
    with pytest.raises(
        ProblemError,
        match=rf"needs at least {needed} of memory, for \d matrices of .*, and this machine allows "
        "16 GB: .",
    ):
        make()


def test_a_clustering_that_fits_is_not_refused():
    model = problems.k_means([[0.0], [1.0], [10.0], [12.0]], 2)
    assert model.round(solve(model)).cost == 2.5
