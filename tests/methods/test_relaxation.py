"""Over-relaxed sweeps: they descend, keep the lengths of rows, and see no neighbour of a colour."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from condal.linalg.lifting import complex_vectors, real_vectors, symmetric
from condal.linalg.symmetric import Symmetric
from condal.methods.lowrank import sweeps as relaxation
from condal.methods.lowrank.sweeps import MAX_OMEGA, Sweeps, colouring, move_rows, next_omega
from known import random_graph, torus

rng = np.random.default_rng(11)
GRAPHS = {
    "random": random_graph(300, 4),
    "torus": torus(20, 15),
    "star": sp.csr_array(
        sp.coo_array((np.ones(50), (np.zeros(50, int), np.arange(1, 51))), (51, 51))
    ),
    "empty": sp.csr_array((7, 7)),
}
GRAPHS["star"] = sp.csr_array(GRAPHS["star"] + GRAPHS["star"].T)
graphs = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)


def weighted(graph):
    """The graph with weights of both signs, and a diagonal that must not matter."""
    upper = sp.coo_array(sp.triu(graph, 1))
    upper = sp.csr_array((rng.standard_normal(upper.nnz), (upper.row, upper.col)), graph.shape)
    return Symmetric(
        graph.shape[0], sparse=(upper + upper.T,), diagonal=rng.standard_normal(graph.shape[0])
    )


def hermitian(graph):
    """The graph with complex weights, and a real diagonal that must not matter."""
    upper = sp.coo_array(sp.triu(graph, 1))
    weights = rng.standard_normal(upper.nnz) + 1j * rng.standard_normal(upper.nnz)
    upper = sp.csr_array((weights, (upper.row, upper.col)), graph.shape)
    diagonal = sp.dia_array((rng.standard_normal((1, graph.shape[0])), [0]), graph.shape)
    return sp.csr_array(upper + upper.conj().T + diagonal)


def sweeps_of(C, squares, monkeypatch):
    monkeypatch.setattr("condal.methods.lowrank.sweeps.MIN_COLOUR_ENTRIES", 1)
    sweeps = Sweeps.of(C, squares)
    assert sweeps is not None
    return sweeps


def factor(n, squares, rank=4):
    R = rng.standard_normal((n, rank))
    return R * (np.sqrt(squares) / np.linalg.norm(R, axis=1))[:, None]


@graphs
def test_no_two_of_a_colour_are_joined_and_all_are_coloured(graph):
    colours = colouring(graph, most=graph.shape[0])
    np.testing.assert_array_equal(np.sort(np.concatenate(colours)), np.arange(graph.shape[0]))
    for colour in colours:
        assert graph[colour][:, colour].nnz == 0


@graphs
def test_each_vertex_has_the_first_colour_that_no_neighbour_has(graph):
    colours = colouring(graph, most=graph.shape[0])
    for number, colour in enumerate(colours):
        for earlier in colours[:number]:  # or the vertex would be there
            assert np.all(abs(graph[colour][:, earlier]).sum(axis=1) > 0)


def test_a_star_needs_two_colours_and_a_complete_graph_as_many_as_it_has_vertices():
    assert len(colouring(GRAPHS["star"], most=51)) == 2
    complete = sp.csr_array(np.ones((6, 6)) - np.eye(6))
    assert len(colouring(complete, most=6)) == 6
    assert colouring(complete, most=5) is None


@graphs
@pytest.mark.parametrize("omega", [0.5, 1.0, 1.9, MAX_OMEGA])
@pytest.mark.parametrize("complex_", [False, True], ids=["real", "complex"])
def test_a_sweep_moves_row_by_row_descends_and_keeps_the_lengths(
    graph, omega, complex_, monkeypatch
):
    """Complex rows are swept as pairs of real ones."""
    n = graph.shape[0]
    H = hermitian(graph) if complex_ else sp.csr_array(weighted(graph).to_sparse())
    squares, joined = rng.uniform(0.5, 2.0, n), H.toarray() - np.diag(H.diagonal())
    sweeps = sweeps_of(symmetric(H), squares, monkeypatch)
    R = rng.standard_normal((n, 4)) + 1j * complex_ * rng.standard_normal((n, 4))
    R = (R if complex_ else R.real) * (np.sqrt(squares) / np.linalg.norm(R, axis=1))[:, None]
    for _ in range(3):
        before, expected = np.vdot(R, H @ R).real, R.copy()
        for i in sweeps.order:
            pull = joined[i] @ expected
            if pull.any():
                best = -np.sqrt(squares[i]) * pull / np.linalg.norm(pull)
                moved = expected[i] + omega * (best - expected[i])
                expected[i] = np.sqrt(squares[i]) * moved / np.linalg.norm(moved)
        given = real_vectors(R) if complex_ else R
        swept, _ = sweeps.relaxed(given, sweeps=1, omega=omega, single=False)
        R = complex_vectors(swept) if complex_ else swept
        np.testing.assert_allclose(R, expected, atol=1e-10)
        np.testing.assert_allclose((np.abs(R) ** 2).sum(axis=1), squares)
        assert np.vdot(R, H @ R).real <= before + 1e-12 * abs(before)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1e-22, 1e-20, 1e-10, 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_keep_their_length_whatever_the_size_of_the_pull(dtype, size):
    """The squares of small pulls underflow."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((50, 3))
    rows = (rows / np.linalg.norm(rows, axis=1)[:, None]).astype(dtype)
    pull = (size * np.concatenate([-rows[:25], rng.standard_normal((25, 3))])).astype(dtype)
    move_rows(rows, pull, 1.9)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-4)


@pytest.mark.parametrize("omega", [1.0, 1.9])
def test_a_move_tells_the_pull_along_and_across_the_rows_before_it(omega):
    rows = factor(20, np.ones(20))
    before, pull = rows.copy(), rng.standard_normal(rows.shape)
    along, across = move_rows(rows, pull.copy(), omega)
    best = -pull / np.linalg.norm(pull, axis=1, keepdims=True)
    moved = before + omega * (best - before)
    np.testing.assert_allclose(rows, moved / np.linalg.norm(moved, axis=1, keepdims=True))
    np.testing.assert_allclose(along, (before * pull).sum(axis=1))
    np.testing.assert_allclose(across, ((pull - along[:, None] * before) ** 2).sum(axis=1))


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("name", ["random", "torus"])
def test_sweeps_end_near_the_residual_that_is_asked_for(name, single, monkeypatch):
    C, n = weighted(GRAPHS[name]), GRAPHS[name].shape[0]
    C = Symmetric(n, sparse=C.sparse, diagonal=rng.uniform(-1.0, 1.0, n))
    squares = rng.uniform(0.5, 2.0, n)
    sweeps, R = sweeps_of(C, squares, monkeypatch), factor(n, squares, rank=12)
    for until in (1e-2, 1e-3):
        R, met = sweeps.relaxed(R, sweeps=500, omega=1.7, single=single, until=until)
        V = C @ R
        gradient = V - ((V * R).sum(axis=1) / squares)[:, None] * R
        residual = np.linalg.norm(gradient) * np.linalg.norm(R) / abs(np.vdot(R, V))
        assert met.sweeps < 500
        assert 0.3 * until <= residual <= 1.5 * until


def test_single_precision_goes_the_same_way(monkeypatch):
    C, squares = weighted(GRAPHS["torus"]), np.ones(300)
    sweeps, R = sweeps_of(C, squares, monkeypatch), factor(300, squares)
    double, single = (sweeps.relaxed(R, sweeps=3, omega=1.9, single=s)[0] for s in (False, True))
    assert single.dtype == np.float64
    assert 0.0 < np.abs(single - double).max() <= 1e-4


def test_what_has_no_sparse_matrix_or_too_many_colours_has_no_sweeps():
    assert Sweeps.of(Symmetric(5, dense=np.ones((5, 5))), np.ones(5)) is None
    complete = sp.csr_array(np.ones((40, 40)) - np.eye(40))
    assert Sweeps.of(Symmetric(40, sparse=(complete,)), np.ones(40)) is None


@pytest.mark.parametrize("mu", [0.9, 0.99, 0.999])
def test_the_best_omega_is_found_from_the_rate_of_a_smaller_one(mu):
    """The larger root of (rate + omega - 1)^2 = rate (omega mu)^2 is the rate at that omega."""
    omega = 1.3
    root = (omega * mu + np.sqrt((omega * mu) ** 2 - 4 * (omega - 1))) / 2
    best = 2 / (1 + np.sqrt(1 - mu**2))
    assert next_omega(omega, root**2) == pytest.approx(min(best, MAX_OMEGA))


def test_omega_never_falls_and_stays_below_two():
    assert next_omega(1.9, 0.5) == 1.9
    assert next_omega(1.9, 1.2) == 1.9
    assert next_omega(1.9, 1 - 1e-12) == MAX_OMEGA


def test_a_large_graph_is_ordered_and_swept_all_the_same(monkeypatch):
    monkeypatch.setattr("condal.methods.lowrank.sweeps.MIN_REORDERED_SIDE", 100)
    C, squares = weighted(GRAPHS["random"]), rng.uniform(0.5, 2.0, 300)
    sweeps, R = sweeps_of(C, squares, monkeypatch), factor(300, squares)
    np.testing.assert_array_equal(np.sort(sweeps.order), np.arange(300))
    swept, _ = sweeps.relaxed(R, sweeps=3, omega=1.5, single=False)
    np.testing.assert_allclose((swept**2).sum(axis=1), squares)
    assert np.vdot(swept, C @ swept) < np.vdot(R, C @ R)


def test_a_block_that_turns_its_own_row_has_no_sweeps(monkeypatch):
    """What is no real form of a Hermitian matrix: x_00 of it meets x_01."""
    monkeypatch.setattr("condal.methods.lowrank.sweeps.MIN_COLOUR_ENTRIES", 1)
    C = np.zeros((4, 4))
    C[0, 1] = C[1, 0] = C[0, 2] = C[2, 0] = 1.0
    assert Sweeps.of(Symmetric(4, sparse=(sp.csr_array(C),)), np.ones(2)) is None
    assert Sweeps.of(Symmetric(4, sparse=(sp.csr_array(C),)), np.ones(4)) is not None


@graphs
@pytest.mark.parametrize("single", [False, True])
def test_copied_neighbours_give_the_same_bits(graph, single, monkeypatch):
    C, n = weighted(graph), graph.shape[0]
    R = factor(n, np.ones(n))
    monkeypatch.setattr(relaxation, "MIN_REORDERED_SIDE", 1)
    copied = sweeps_of(C, np.ones(n), monkeypatch)
    dtype = np.float32 if single else np.float64
    direct = replace(copied, blocks={dtype: _recut(copied.blocks[dtype])})
    expected, _ = direct.relaxed(R, sweeps=3, omega=1.9, single=single)
    swept, _ = copied.relaxed(R, sweeps=3, omega=1.9, single=single)
    np.testing.assert_array_equal(swept, expected)


def _recut(blocks):
    """Return the blocks with products that read R directly, without copies of its rows."""
    n = max(block.rows.stop for colour in blocks for block in colour)
    return tuple(
        tuple(
            block
            if block.neighbours is None
            else replace(
                block,
                joined=sp.csr_array(
                    (block.joined.data, block.neighbours, block.joined.indptr),
                    shape=(block.joined.shape[0], n),
                ),
                neighbours=None,
            )
            for block in colour
        )
        for colour in blocks
    )
