"""Oracle calls and products are counted, and counting changes nothing."""

from __future__ import annotations

from itertools import islice

import numpy as np

import condal
from condal.counting import counted
from condal.storage import Dense
from known import random_graph


def test_counts_are_those_of_the_oracle():
    problem = condal.problems.max_cut(random_graph(80, 6.0)).problem
    wrapped, counts = counted(problem)
    with_counts = list(islice(condal.CGAL(1e-3).iterates(wrapped, Dense()), 12))
    without = list(islice(condal.CGAL(1e-3).iterates(problem, Dense()), 12))
    assert np.array_equal(with_counts[-1].y, without[-1].y)
    assert counts.oracle_calls == 12
    assert counts.matvecs >= 12 * 6
    assert counts.oracle_cpu_seconds > 0


def test_products_are_counted_one_by_one_and_in_blocks():
    problem = condal.problems.max_cut(random_graph(80, 6.0)).problem
    asked = []

    class Engine:
        def smallest(self, V, tol=0.0, guess=None):
            V @ np.ones(80)
            V @ np.ones((80, 5))
            asked.append(1)
            return condal.eigen.Eigenpair(0.0, np.ones(80) / np.sqrt(80), 0.0, 0.0)

    X = condal.Spectrahedron(80, trace=80.0, engine=Engine())
    wrapped, counts = counted(condal.Problem.of(f=problem.f, X=X))
    list(islice(condal.CGAL(1.0).iterates(wrapped, Dense()), 3))
    assert (counts.oracle_calls, counts.matvecs) == (3, 18) == (len(asked), 6 * len(asked))
