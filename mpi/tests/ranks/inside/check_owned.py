"""What is done with owned arrays is what NumPy does with the whole, and nothing else is done."""

import numpy as np
import pytest
from sharded import sharded, together

from condal.linalg.blocked import axpy, lerp, weighted_squares
from condal.linalg.rounding import stable_norm, sum_roundings
from condal_mpi.sharded_array import ROWS_PER_GENERATOR, normals

N = 97


@pytest.fixture
def whole():
    return np.random.default_rng(5).standard_normal((N, 3))


def test_entry_by_entry(team, whole):
    a, b, c = whole.T
    u, v, w = (sharded(team, one) for one in (a, b, c))
    assert np.array_equal(together(team, 2.0 * u - v / 3 + abs(w)), 2.0 * a - b / 3 + abs(c))
    assert np.array_equal(together(team, np.where(u > 0, v, 0.0)), np.where(a > 0, b, 0.0))
    assert np.array_equal(together(team, axpy(u, v, 0.3)), axpy(a, b, 0.3))
    assert np.array_equal(together(team, lerp(u, v, 0.3)), lerp(a, b, 0.3))
    u[v > 0] = 0.0
    u *= 2.0
    assert np.array_equal(together(team, u), 2.0 * np.where(b > 0, 0.0, a))
    np.multiply(v, 5.0, out=w)
    assert np.array_equal(together(team, w), 5.0 * b)


def test_rows_by_small_matrices(team, whole):
    U, small = sharded(team, whole), np.arange(6.0).reshape(3, 2)
    assert np.allclose(together(team, U @ small), whole @ small, rtol=1e-14)
    assert np.allclose(together(team, U * small[:, 0]), whole * small[:, 0], rtol=1e-14)
    assert np.array_equal(together(team, U[:, 0][:, None]), whole[:, :1])
    squares = weighted_squares(whole, small[:, 1])
    assert np.allclose(together(team, weighted_squares(U, small[:, 1])), squares, rtol=1e-14)


def test_sums_over_the_rows_are_the_same_bits_on_each_rank(team, whole):
    U, u, v = sharded(team, whole), sharded(team, whole[:, 0]), sharded(team, whole[:, 1])
    for found, wanted in (
        (u @ v, whole[:, 0] @ whole[:, 1]),
        (np.linalg.norm(u), np.linalg.norm(whole[:, 0])),
        (stable_norm(u), np.linalg.norm(whole[:, 0])),
        (U.T @ v, whole.T @ whole[:, 1]),
        (U.T @ U, whole.T @ whole),
        (np.einsum("ij,ij->j", U, U), (whole**2).sum(axis=0)),
        (U.sum(axis=0), whole.sum(axis=0)),
        (u.sum(), whole[:, 0].sum()),
        (np.abs(u).max(initial=0.0), np.abs(whole[:, 0]).max()),
        (u.min(), whole[:, 0].min()),
        (np.all(u < 9), True),
        (np.any(u > 9), False),
    ):
        assert np.allclose(found, wanted, rtol=1e-13)
        team.require_same(np.asarray(found).tobytes(), "a sum")
    assert np.allclose(together(team, U.sum(axis=1)), whole.sum(axis=1), rtol=1e-13)
    assert u[u > 9].max(initial=-1.0) == -1.0


def test_a_sum_has_no_more_roundings_than_it_says(team, whole):
    u = sharded(team, whole[:, 0])
    longest = -(-N // team.size)
    assert sum_roundings(u) == longest + team.size
    assert sum_roundings(whole[:, 0]) == N


@pytest.mark.parametrize(
    "wrong",
    [
        lambda u: u[0],
        lambda u: u[[0, 1]],
        lambda u: u[None, :],
        lambda u: np.asarray(u),
        lambda u: list(u),
        lambda u: u + np.ones(u.size),
        lambda u: np.add(u, 1.0, out=np.empty(u.size)),
        lambda u: u @ np.ones(u.size),
        lambda u: np.sort(u),
        lambda u: np.mean(u),
        lambda u: np.cumsum(u),
        lambda u: np.add.reduce(u),
        lambda u: np.concatenate([u, u]),
        lambda u: np.einsum("i,i->i", u, u),
        lambda u: u.T @ np.ones(u.size),
        lambda u: float(u),
    ],
)
def test_nothing_is_wrong_in_silence(team, whole, wrong):
    with pytest.raises(TypeError):
        wrong(sharded(team, whole[:, 0]))


def test_random_rows_do_not_depend_on_who_owns_them(team):
    n = 3 * ROWS_PER_GENERATOR + 17
    every = together(team, normals(team, n, seed=[7], columns=2))
    blocks = [
        np.random.default_rng([7, b]).standard_normal((ROWS_PER_GENERATOR, 2)) for b in range(4)
    ]
    assert np.array_equal(every, np.concatenate(blocks)[:n])
    other = together(team, normals(team, n, seed=[8], columns=2))
    assert not np.allclose(every, other)


def test_a_rank_owns_as_many_rows_as_any_other_or_one_more(team):
    for n in (team.size, 10, N):
        ranges = [team.range(n, rank) for rank in range(team.size)]
        assert [begin for begin, _ in ranges] == [0, *(end for _, end in ranges[:-1])]
        assert ranges[-1][1] == n
        lengths = {end - begin for begin, end in ranges}
        assert max(lengths) - min(lengths) <= 1
        assert team.range(n) == ranges[team.rank]
