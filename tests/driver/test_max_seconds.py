"""max_seconds is one budget for a whole call, here measured in processor time.

The processor's clock takes the place of the wall's, so that a busy machine does not matter.
"""

import time
from functools import cached_property

import numpy as np
import pytest

import condal
from condal import problems
from known import random_graph

pytestmark = pytest.mark.usefixtures("processor_clock")


def seconds_of(call):
    began = time.process_time()
    result = call()
    return time.process_time() - began, result


def points(n):
    rng = np.random.default_rng(0)
    return np.concatenate([rng.standard_normal((n // 3, 5)) + 3 * c for c in range(3)])


def rotations(n):
    edges = random_graph(n, 6).tocoo()
    turns = np.exp(1j * (edges.row - edges.col))
    full = edges.copy().astype(complex)
    full.data = turns
    return full.tocsr()


rng = np.random.default_rng(1)
MODELS = {
    "max-cut": lambda: problems.max_cut(random_graph(20_000, 8)),
    "max-3-cut": lambda: problems.max_k_cut(random_graph(6_000, 8), 3),
    "communities": lambda: problems.communities(random_graph(6_000, 8), 4),
    "theta": lambda: problems.theta(random_graph(20_000, 6)),
    "k-means": lambda: problems.k_means(points(600), 3),
    "quadratic assignment": lambda: problems.quadratic_assignment(*rng.random((2, 14, 14))),
    "signs": lambda: problems.sign_synchronisation(random_graph(20_000, 8)),
    "angles": lambda: problems.angular_synchronisation(rotations(4_000)),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_solve_and_its_rounding_keep_their_limits(name):
    model = MODELS[name]()
    spent, result = seconds_of(lambda: condal.solve(model, tol=1e-9, max_seconds=1.0))
    assert spent <= 1.1 * 1.0 + 1.0
    assert np.isfinite(result.bound)  # there was time for a proof
    assert result.seconds == pytest.approx(spent, abs=0.2)
    spent, answer = seconds_of(lambda: model.round(result, trials=10_000, max_seconds=0.5))
    assert spent <= 1.1 * 0.5 + 1.0
    assert answer.bound == model.round(result, trials=1).bound
    assert type(model.round(result, max_seconds=1e-9)) is type(answer)


def test_time_before_the_first_iteration_counts():
    """A model whose problem takes long to build leaves less time for the solve."""

    class Slow:
        model = problems.max_cut(random_graph(300, 8))

        @cached_property
        def problem(self):
            until = time.process_time() + 1.0
            while time.process_time() < until:
                pass
            return self.model.problem

    spent, result = seconds_of(
        lambda: condal.solve(Slow(), condal.CGAL(), tol=1e-12, max_seconds=1.5)
    )
    assert result.status is condal.Status.MAX_SECONDS
    assert 1.0 <= result.seconds <= spent
    assert spent <= 1.1 * 1.5 + 1.0
