"""Storages: after any moves each holds the x of the plain recurrence, and so do its images."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condal.domains import L1Ball, NuclearBall, Product, Simplex, Spectrahedron
from condal.errors import ProblemError
from condal.linalg.lifting import rectangle, square_point
from condal.linalg.points import LowRank, Outer, combine, dense
from condal.storage import (
    Atoms,
    Blocks,
    Dense,
    Factored,
    Sketch,
    automatic,
    require_fit,
)
from laws.spectra import STORAGES
from spaces import random_lowrank

kinds = pytest.mark.parametrize("kind", STORAGES)


def recurrence(x, moves):
    """x <- (1 - eta) x + eta s, in dense arrays."""
    for s, eta in moves:
        x = (1 - eta) * x + eta * np.asarray(s)
    return x


def random_moves(n, count, rng, ranks=(1,)):
    """Steps as a method makes them, the first all the way."""
    for k in range(1, count + 1):
        s = random_lowrank(n, int(rng.choice(ranks)), rng)
        yield LowRank(s.U, s.weights / s.trace if s.rank else s.weights), 2.0 / (k + 1)


def close(x, expected, tol=1e-12):
    np.testing.assert_allclose(dense(x), expected, rtol=0, atol=tol * (1 + np.abs(expected).max()))


@kinds
@pytest.mark.parametrize("n", [1, 2, 5, 20])
@pytest.mark.parametrize("ranks", [(1,), (0, 1, 2, 3), (1, 50)], ids=str)
def test_moves_follow_the_recurrence(kind, n, ranks):
    x, rng = STORAGES[kind](n), np.random.default_rng(n)
    moves = list(random_moves(n, 6 * n + 30, rng, ranks))  # past 2n columns many times over
    for k in range(len(moves)):
        x.move(*moves[k])
        if k % 10 == 0 or k == len(moves) - 1:
            close(x.point(), recurrence(np.zeros((n, n)), moves[: k + 1]), 1e-11)


@kinds
@given(
    st.integers(1, 6),
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1.0, 0.5]) | st.floats(0, 1)),
        max_size=20,
    ),
    st.integers(0, 5),
)
def test_any_steps_from_a_loaded_point(kind, n, steps, seed):
    rng = np.random.default_rng(seed)
    x, start = STORAGES[kind](n), random_lowrank(n, 2, rng)
    x.load(start)
    moves = [(random_lowrank(n, rank, rng), eta) for rank, eta in steps]
    for s, eta in moves:
        x.move(s, eta)
    close(x.point(), recurrence(np.asarray(start), moves), 1e-10)


@kinds
def test_before_the_first_step_x_is_zero(kind):
    x, s = STORAGES[kind](4), random_lowrank(4, 1, np.random.default_rng(0))
    x.move(s, 0.25)
    close(x.point(), 0.25 * np.asarray(s), 1e-11)


@kinds
@pytest.mark.parametrize("rank", [0, 1, 3, 5, 11, 40])
def test_load_and_point_are_a_round_trip(kind, rank):
    point = random_lowrank(5, rank, np.random.default_rng(rank))
    for given_point in (point, np.asarray(point)):
        x = STORAGES[kind](5)
        x.move(random_lowrank(5, 1, np.random.default_rng(9)), 1.0)
        x.load(given_point)
        close(x.point(), np.asarray(point), 1e-11)
        again = STORAGES[kind](5)
        again.load(x.point())
        close(again.point(), np.asarray(point), 1e-11)


@kinds
def test_what_is_given_and_what_is_taken_is_not_shared(kind):
    rng = np.random.default_rng(4)
    x, s, start = STORAGES[kind](4), random_lowrank(4, 2, rng), random_lowrank(4, 2, rng)
    before = s.U.copy(), s.weights.copy(), start.U.copy()
    x.load(start)
    x.move(s, 0.5)
    expected = np.array(x.point())
    taken = x.point()
    for array in (taken,) if isinstance(taken, np.ndarray) else (taken.U, taken.weights):
        array[...] = 7.0
    close(x.point(), expected, 1e-15)
    np.testing.assert_array_equal(s.U, before[0])
    np.testing.assert_array_equal(s.weights, before[1])
    np.testing.assert_array_equal(start.U, before[2])


@pytest.mark.parametrize("make", [Dense, Atoms])
def test_vectors(make):
    rng = np.random.default_rng(5)
    x, moves = make(), [(rng.standard_normal(4), 2 / (k + 1)) for k in range(1, 20)]
    for s, eta in moves:
        x.move(s, eta)
    close(x.point(), recurrence(np.zeros(4), moves), 1e-13)
    x.load(np.arange(4))
    x.move(np.ones(4), 0.5)
    close(x.point(), (np.arange(4) + 1) / 2, 1e-15)


@pytest.mark.parametrize("make", [Dense, Atoms])
def test_there_is_no_point_before_the_first_step(make):
    with pytest.raises(
        ProblemError, match="no step has been taken yet: there is no point to return"
    ):
        make().point()


# Factored.


def test_factored_never_keeps_more_than_2n_columns_of_rank_one():
    x, rng = Factored(10), np.random.default_rng(6)
    for s, eta in random_moves(10, 200, rng):
        x.move(s, eta)
        assert x.point().rank <= 20


def test_factored_ignores_atoms_of_weight_zero():
    x = Factored(3)
    for _ in range(50):
        x.move(LowRank(np.ones((3, 1)), np.zeros(1)), 0.5)
    assert x.point().rank == 0
    close(x.point(), np.zeros((3, 3)))


def test_factored_keeps_small_eigenvalues():
    """A direction that is hardly used is not lost when the columns are compressed."""
    x, moves = Factored(4), []
    for k in range(1, 60):
        e = np.eye(4)[:, [k % 3]]
        moves.append(
            (
                LowRank(e, np.ones(1)) if k != 5 else LowRank(np.eye(4)[:, [3]], np.array([1e-9])),
                0.05,
            )
        )
        x.move(*moves[-1])
    close(x.point(), recurrence(np.zeros((4, 4)), moves), 1e-14)


# Sketch.


def sketched(n, R, moves, seed=0):
    x = Sketch(n, R, seed=seed)
    for s, eta in moves:
        x.move(s, eta)
    return x.point()


@pytest.mark.parametrize(
    ("n", "rank", "R"), [(30, 1, 1), (30, 1, 5), (30, 4, 4), (30, 4, 9), (5, 5, 99)]
)
@pytest.mark.parametrize("seed", range(5))
def test_a_sketch_is_exact_up_to_its_rank(n, rank, R, seed):
    rng = np.random.default_rng(seed)
    atoms = [
        LowRank(u[:, None], np.ones(1)) for u in np.linalg.qr(rng.standard_normal((n, rank)))[0].T
    ]
    moves = [(atoms[int(rng.integers(rank))], 2 / (k + 1)) for k in range(1, 60)]
    point = sketched(n, R, moves, seed)
    expected = recurrence(np.zeros((n, n)), moves)
    close(point, expected, 1e-9)
    assert point.rank == min(R, n)


@pytest.mark.parametrize("R", [1, 3, 10, 30, 99])
@pytest.mark.parametrize("seed", range(5))
def test_a_sketch_is_psd_and_keeps_the_trace(R, seed):
    moves = list(random_moves(30, 100, np.random.default_rng(seed)))
    point = sketched(30, R, moves, seed)
    assert np.all(point.weights >= 0.0)
    assert point.trace == pytest.approx(1.0, abs=1e-11)
    np.testing.assert_allclose(point.U.T @ point.U, np.eye(point.rank), atol=1e-12)


def test_a_sketch_of_a_decaying_spectrum_is_as_near_as_its_theorem_says():
    """Tropp et al. (2017), theorem 4.1: E|x - xhat|_1 <= (1 + r/(R - r - 1)) |x - x_r|_1.

    The trace that is put back at most doubles the error.
    """
    n, R, r = 40, 12, 5
    values = 2.0 ** -np.arange(n)
    q = np.linalg.qr(np.random.default_rng(0).standard_normal((n, n)))[0]
    full = (q * values) @ q.T
    errors = []
    for seed in range(20):
        x = Sketch(n, R, seed=seed)
        x.load(LowRank(q, values))
        errors.append(np.abs(np.linalg.eigvalsh(np.asarray(x.point()) - full)).sum())
    assert np.mean(errors) <= 2 * (1 + r / (R - r - 1)) * values[r:].sum()


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_a_sketch_at_any_scale(scale):
    s = random_lowrank(20, 3, np.random.default_rng(0))
    x = Sketch(20, 6)
    x.load(LowRank(s.U, scale * s.weights))
    np.testing.assert_allclose(np.asarray(x.point()) / scale, np.asarray(s), atol=1e-9)


def test_a_sketch_of_nothing():
    point = Sketch(5, 3).point()
    close(point, np.zeros((5, 5)))
    x = Sketch(5, 3)
    x.move(LowRank(np.ones((5, 1)), np.zeros(1)), 1.0)
    close(x.point(), np.zeros((5, 5)))


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (7, 2), (20, 30)], ids=str)
@pytest.mark.parametrize("R", [1, 3, 8])
def test_a_sketch_of_a_rectangular_matrix_is_exact_up_to_its_rank(shape, R):
    """And in the ball: half the trace bounds the sum of its singular values."""
    rng = np.random.default_rng(R)
    for rank in {0, 1, min(R, *shape)}:
        x = Outer(
            *(rng.standard_normal(side) for side in ((shape[0], rank), rank, (shape[1], rank)))
        )
        point, kept = square_point(x, *shape), Sketch(sum(shape), R)
        kept.load(point)
        found = rectangle(kept.point(), shape[0])
        close(np.asarray(found), np.asarray(x), 1e-9)
        assert found.singular_values().sum() <= 0.5 * point.trace * (1 + 1e-9) + 1e-12


def test_matrices_of_a_nuclear_ball_are_sketched():
    X = NuclearBall(300, 200)
    assert isinstance(automatic(X, 10), Factored)
    for x in (automatic(X, 10, max_bytes=10**6), automatic(X, 10, keeps="sketch")):
        assert isinstance(x, Sketch)
        assert (x.n, x.R) == (500, 6)  # sqrt(2 p) + 1
    pair = automatic(Product(X, Spectrahedron(5)), 10, keeps="sketch")
    assert [type(part) for part in pair.parts] == [Sketch, Sketch]


# Atoms.


def test_atoms_are_the_points_and_their_weights():
    x = Atoms()
    for k, s in enumerate(np.eye(4), start=1):
        x.move(s, 2 / (k + 1))
    assert x.weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(x.point(), x.weights)
    assert len(x.points) == 4
    x.move(np.ones(4), 1.0)
    assert len(x.points) == len(x.weights) == 1


def test_the_blocks_of_a_point_can_be_atoms_of_their_own():
    rng = np.random.default_rng(5)
    x, joint = Atoms(by_block=True), Blocks(Atoms(), Atoms())
    for k in range(1, 6):
        s = (random_lowrank(3, 1, rng), rng.standard_normal(2))
        x.move(s, 2 / (k + 1))
        joint.move(s, 2 / (k + 1))
    for ours, wanted in zip(x.point(), joint.point(), strict=True):
        close(ours, np.asarray(wanted))
    np.testing.assert_array_equal(np.bincount(x.blocks), [5, 5])
    np.testing.assert_allclose(np.bincount(x.blocks, weights=x.weights), 1.0)
    first, second = x.split(s)
    close(combine([first, second], np.ones(2))[0], np.asarray(s[0]))
    close(first[1], np.zeros(2))
    close(second[0], np.zeros((3, 3)))
    whole = combine(x.whole(), x.weights)
    close(whole[0], np.asarray(x.point()[0]))
    close(whole[1], x.point()[1])


def test_reweighing_drops_the_atoms_of_weight_0():
    x = Atoms()
    for k, s in enumerate(np.eye(4), start=1):
        x.move(s, 2 / (k + 1))
    x.reweigh(np.array([0.25, 0.0, 0.75, 0.0]))
    assert len(x.points) == x.weights.size == x.blocks.size == 2
    close(x.point(), np.array([0.25, 0.0, 0.75, 0.0]))


def test_a_method_gets_the_storage_that_it_keeps():
    X = Spectrahedron(30, trace=1.0)
    assert isinstance(automatic(X, 5), Factored)
    assert isinstance(automatic(X, 5, keeps="sketch"), Sketch)
    assert isinstance(automatic(X, 5, keeps="atoms"), Atoms)
    assert isinstance(automatic(Product(X, X), 5, keeps="atoms by block"), Atoms)


def test_a_huge_sketch_has_a_rank_that_a_point_can_be_made_of():
    sides = (10**4, 10**5, 10**7)
    ranks = [automatic(Spectrahedron(n), n, keeps="sketch", max_bytes=2**40).R for n in sides]
    assert ranks == [111, 35, 10]
    assert automatic(Spectrahedron(10**7), 10**7, max_bytes=2**30).R == 1  # what fits


def test_atoms_of_different_kinds_are_combined():
    s = random_lowrank(3, 2, np.random.default_rng(0))
    mixed = combine([np.eye(3), s], np.array([0.5, 2.0]))
    close(mixed, 0.5 * np.eye(3) + 2 * np.asarray(s))
    close(combine([s, np.eye(3)], np.array([2.0, 0.5])), np.asarray(mixed))
    first, second = combine([(np.ones(2), s), (np.zeros(2), s)], np.array([0.5, 2.0]))
    close(first, 0.5 * np.ones(2))
    close(second, 2.5 * np.asarray(s))


# Blocks.


@kinds
def test_blocks_move_together(kind):
    rng = np.random.default_rng(8)
    x = Blocks(STORAGES[kind](5), Dense(), Blocks(Atoms()))
    pairs = [(s, rng.standard_normal(3), (s,), eta) for s, eta in random_moves(5, 40, rng)]
    for s, v, inner, eta in pairs:
        x.move((s, v, inner), eta)
    matrix, vector, (last,) = x.point()
    close(matrix, recurrence(np.zeros((5, 5)), [(s, eta) for s, _, _, eta in pairs]), 1e-11)
    close(vector, recurrence(np.zeros(3), [(v, eta) for _, v, _, eta in pairs]), 1e-13)
    close(last, np.asarray(matrix), 1e-11)
    again = Blocks(STORAGES[kind](5), Dense(), Blocks(Atoms()))
    again.load(x.point())
    close(again.point()[0], np.asarray(matrix), 1e-11)
    close(again.point()[1], vector)


def test_blocks_want_as_many_blocks():
    x = Blocks(Dense(), Dense())
    with pytest.raises(ValueError, match=r"shorter|longer"):
        x.move((np.ones(2),), 1.0)


# automatic.


def test_vectors_are_kept_whole():
    for X in (Simplex(10**6), L1Ball(5)):
        assert isinstance(automatic(X, 10), Dense)


def test_matrices_are_factored_while_they_fit():
    assert isinstance(automatic(Spectrahedron(1), 10), Factored)
    assert isinstance(automatic(Spectrahedron(1000), 1000), Factored)
    assert isinstance(automatic(Spectrahedron(1000), 1000, max_bytes=10**7), Sketch)


@pytest.mark.parametrize(
    ("n", "p", "max_bytes"), [(2000, 50, 10**7), (2000, 10**6, 10**7), (500, 1, 10**4)]
)
def test_the_sketch_is_as_wide_as_a_solution_may_need_and_memory_lets_it(n, p, max_bytes):
    x = automatic(Spectrahedron(n), p, max_bytes=max_bytes)
    assert isinstance(x, Sketch)
    enough = np.sqrt(2 * p) + 1
    assert 1 <= x.R <= enough + 1
    assert min(enough, max_bytes // (64 * n)) <= x.R
    assert x.R == 1 or 2 * 8 * n * x.R <= max_bytes


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: Sketch(300, 4, seed=seed),
        lambda seed: automatic(Spectrahedron(300), 10, seed=seed, max_bytes=10**6),
    ],
    ids=["given", "automatic"],
)
def test_the_seed_makes_the_tests_of_a_sketch(make):
    point, points = random_lowrank(300, 40, np.random.default_rng(0)), []
    for seed in (0, 0, 1):
        x = make(seed)
        x.load(point)
        points.append(x.point())
    np.testing.assert_array_equal(points[0].U, points[1].U)
    np.testing.assert_array_equal(points[0].weights, points[1].weights)
    assert not np.array_equal(points[0].U, points[2].U)


def test_a_product_has_a_storage_a_block():
    X = Product(Simplex(3), Spectrahedron(70), Product(Spectrahedron(5)))
    x = automatic(X, 10)
    assert isinstance(x, Blocks)
    assert [type(part) for part in x.parts] == [Dense, Factored, Blocks]
    tight = automatic(Product(*[Spectrahedron(500)] * 8), 10, max_bytes=5 * 10**7)
    assert all(isinstance(part, Sketch) for part in tight.parts)
    assert isinstance(automatic(Spectrahedron(500), 10, max_bytes=5 * 10**7), Factored)


@pytest.mark.parametrize(
    ("x", "X", "text"),
    [
        (Factored(7), Spectrahedron(30), r"one for n = 30, such as Factored\(30\)"),
        (Sketch(7, 3), Spectrahedron(30), "one for n = 30"),
        (Factored(7), Simplex(7), r"pass Dense\(\) or Atoms\(\), or leave it out"),
        (Dense(), Product(Simplex(2), Simplex(2)), r"pass Blocks\(...\), one storage per block"),
        (Sketch(4, 1), Product(Simplex(2), Simplex(2)), "does not fit the domain Product"),
        (Sketch(4, 1), NuclearBall(3, 2), r"one for n = 5 = 3 \+ 2, such as Sketch\(5, 1\)"),
    ],
)
def test_a_storage_that_does_not_fit_is_refused(x, X, text):
    with pytest.raises(ProblemError, match=text):
        require_fit(x, X)


def test_storages_that_fit_are_taken():
    require_fit(Factored(5), Spectrahedron(5))
    require_fit(Dense(), Spectrahedron(5))
    require_fit(Dense(), L1Ball(5))
    require_fit(Factored(5), NuclearBall(2, 3))
    require_fit(Blocks(Dense(), Dense()), Product(Simplex(2), Simplex(2)))
