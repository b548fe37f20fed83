"""The preconditioner of J J': its blocks, and what they are good for."""

import numpy as np
import pytest

import condal
from condal.driver.scaling import normalise
from condal.methods.surface import coupling as schwarz
from condal.methods.surface.gram import Gram
from condal.methods.surface.rows import SurfaceRows
from known import random_graph
from sparse_matrices import identity


def rows_of(edges: list[tuple[int, int]], n: int) -> SurfaceRows:
    """Equations for the diagonal and for the entries of edges."""
    i, j = np.array(edges).T
    A = condal.Entries(n, np.concatenate([np.arange(n), i]), np.concatenate([np.arange(n), j]))
    b = np.concatenate([np.ones(n), np.full(i.size, -0.5)])
    problem = condal.Problem.of(
        condal.Linear(identity(n)), condal.Spectrahedron(n, n), A, condal.Equal(b)
    )
    rows = SurfaceRows.of(normalise(problem)[0])
    assert rows is not None
    return rows


def blocks_of(rows: SurfaceRows) -> set[tuple[int, ...]]:
    members = schwarz._members(rows.coupling.touched)
    return {tuple(sorted(map(int, block))) for group in members for block in group}


def test_the_block_of_a_triangle_has_its_edges_and_the_diagonal_of_its_corners():
    rows = rows_of([(0, 1), (0, 2), (1, 2), (2, 3)], 4)
    assert blocks_of(rows) == {
        (0, 1, 2, 4, 5, 6),  # of 0 and of 1: the triangle
        (0, 1, 2, 4, 5, 6, 7),  # of 2: the edge to 3 as well
        (3, 7),
    }


def test_a_graph_without_triangles_has_the_rows_that_touch_each_vertex():
    rows = rows_of([(0, 1), (1, 2), (2, 3), (3, 0)], 4)
    assert blocks_of(rows) == {(0, 4, 7), (1, 4, 5), (2, 5, 6), (3, 6, 7)}


def test_a_block_that_would_grow_too_much_stays_as_it_is(monkeypatch):
    monkeypatch.setattr(schwarz, "MAX_GROWTH", 1)
    rows = rows_of([(0, 1), (0, 2), (1, 2)], 3)
    assert blocks_of(rows) == {(0, 3, 4), (1, 3, 5), (2, 4, 5)}


def test_one_block_of_all_rows_is_inverted():
    rows = rows_of([(0, 1), (0, 2), (1, 2)], 3)
    R = np.random.default_rng(0).standard_normal((3, 4))
    gram = Gram(rows, R)
    product = gram._inverse @ gram.matrix
    assert np.allclose(product.toarray(), 3 * np.eye(6), atol=1e-5)  # one block for each vertex


@pytest.mark.parametrize("degree", [3.0, 8.0])
def test_the_preconditioner_is_symmetric_and_positive_definite(degree):
    problem = condal.problems.max_k_cut(random_graph(40, degree, seed=2), 3).problem
    rows = SurfaceRows.of(normalise(problem)[0])
    R = rows.with_slacks(np.random.default_rng(1).standard_normal((40, 12)) / np.sqrt(480))
    inverse = Gram(rows, R)._inverse.toarray()
    assert np.allclose(inverse, inverse.T)
    assert np.linalg.eigvalsh(inverse)[0] > 0


def test_nearly_dependent_rows_of_triangles_cost_few_steps(monkeypatch):
    """A point of unit rows with x_ij near -1/2 on every edge of disjoint triangles."""
    count, rng = 100, np.random.default_rng(0)
    edges = [(3 * k + i, 3 * k + j) for k in range(count) for i, j in ((0, 1), (0, 2), (1, 2))]
    edges += [(3 * k, 3 * k + 4) for k in range(count - 1)]
    rows = rows_of(edges, 3 * count)
    R = np.zeros((3 * count, 30))
    for k in range(count):
        frame = np.linalg.qr(rng.standard_normal((30, 2)))[0]
        for i in range(3):
            R[3 * k + i] = frame @ [np.cos(2 * np.pi * i / 3), np.sin(2 * np.pi * i / 3)]
    R += 1e-3 * rng.standard_normal(R.shape)
    R /= np.linalg.norm(R)
    z = rng.standard_normal(rows.b.size)

    def steps() -> int:
        gram = Gram(rows_of(edges, 3 * count), R)
        gram.solve(z, 1e-8)
        return gram.steps

    grown = steps()
    monkeypatch.setattr(schwarz, "MAX_REACHED", 0)
    assert grown < 0.3 * steps()
