"""Nonsmooth functions: the identities of Moreau and Fenchel, scaling by its definition."""

import numpy as np
import pytest

import condal
from condal.errors import ProblemError
from condal.linalg.blocked import BLOCK_LENGTH
from condal.linalg.rounding import group_norms, stable_norm
from condal.nonsmooth import (
    L1,
    L2,
    AbsoluteLoss,
    EpsilonInsensitive,
    GroupL1,
    Hinge,
    Linf,
    MaxEigenvalue,
    Maximum,
    Quantile,
    total_variation,
)
from condal.sets import Equal, Separable
from laws.functions import FUNCTIONS
from laws.proximable import LAWS, pieces_obey_their_law


@pytest.mark.parametrize("law", LAWS, ids=[law.__name__ for law in LAWS])
@pytest.mark.parametrize("case", FUNCTIONS, ids=[case.name for case in FUNCTIONS])
def test_laws(case, law):
    law(case)


LONG = BLOCK_LENGTH + 3
long = np.linspace(1.0, 2.0, LONG)
signs = np.where(np.arange(LONG) % 2, 1.0, -1.0)


@pytest.mark.parametrize(
    "g",
    [
        L1(long),
        AbsoluteLoss(signs, long),
        Quantile(long, 0.3, long),
        Hinge(signs, long),
        EpsilonInsensitive(signs, 0.1 * long, long),
        GroupL1(np.arange(LONG) % 1000),
        Linf(1.0, LONG),
    ],
    ids=lambda g: type(g).__name__,
)
def test_a_long_function_is_the_sum_of_its_pieces(g):
    pieces_obey_their_law(g, np.random.default_rng(5))


z4 = np.array([1.5, -0.5, 0.0, 4.0])
c4 = np.array([1.0, 1.0, 1.0, 1.0])
symmetric = np.array([[2.0, 1.0, 0.0], [1.0, -3.0, 0.5], [0.0, 0.5, 1.0]])


@pytest.mark.parametrize(
    ("g", "z", "value"),
    [
        (L1(0.5), z4, 3.0),
        (L1([1.0, 2.0, 3.0, 4.0]), z4, 18.5),
        (L2(2.0), np.array([3.0, 4.0]), 10.0),
        (Linf(2.0), -z4, 8.0),
        (Maximum(2.0), -z4, 1.0),
        (GroupL1([5, 2, 5, 2], [1.0, 10.0]), np.array([3.0, 6.0, 4.0, 8.0]), 10.0 + 50.0),
        (Hinge([1, -1, 1, -1], 2.0), z4, 2 * (0.0 + 0.5 + 1.0 + 5.0)),
        (Hinge(), z4, 0.0 + 1.5 + 1.0 + 0.0),
        (AbsoluteLoss(c4, 2.0), z4, 2 * (0.5 + 1.5 + 1.0 + 3.0)),
        (EpsilonInsensitive(c4, 1.0, 2.0), z4, 2 * (0.0 + 0.5 + 0.0 + 2.0)),
        (Quantile(c4, 0.9), z4, 0.1 * (0.5 + 3.0) + 0.9 * (1.5 + 1.0)),
    ],
    ids=lambda g: type(g).__name__,
)
def test_values(g, z, value):
    assert g.value(z) == pytest.approx(value)
    assert g.sized(z.size).value(z) == pytest.approx(value)


def test_max_eigenvalue_is_of_the_matrix():
    g = MaxEigenvalue(3, 2.0)
    z = g.vector(symmetric)
    assert np.linalg.norm(z) == pytest.approx(np.linalg.norm(symmetric))
    np.testing.assert_allclose(g.matrix(z), symmetric)
    assert g.value(z) == pytest.approx(2 * np.linalg.eigvalsh(symmetric)[-1])
    np.testing.assert_allclose(condal.Triangle(3)(symmetric), z)


def test_a_quantile_is_least_where_that_part_lies_below():
    c = np.arange(1.0, 11.0)
    values = [Quantile(c, 0.75).value(np.full(10, z)) for z in c]
    assert c[int(np.argmin(values))] == 8.0


def test_total_variation_of_an_image():
    """Differences down the columns first, then along the rows: a pixel owns one of each."""
    image = np.array([[0.0, 3.0], [4.0, 4.0]])
    down, along = np.zeros((2, 2)), np.zeros((2, 2))
    down[:-1], along[:, :-1] = np.diff(image, axis=0), np.diff(image, axis=1)
    z = np.concatenate([down.ravel(), along.ravel()])
    assert total_variation((2, 2), 2.0).value(z) == pytest.approx(2 * (5.0 + 1.0))
    assert total_variation((2, 2), isotropic=False).value(z) == pytest.approx(4 + 1 + 3 + 0)
    assert isinstance(total_variation((5,), 1.0), L1)
    np.testing.assert_allclose(condal.FiniteDifferences((2, 2))(image.ravel()), z)


@pytest.mark.parametrize(
    ("g", "y", "missed"),
    [
        (L2(2.0), np.array([0.0, 2.0 * (1 + 5e-13)]), 1e-12),
        (Linf(1.0), np.array([0.5, -0.5 - 5e-13]), 5e-13 / np.sqrt(2)),
        (Maximum(1.0), np.array([0.5, 0.5 - 5e-13]), 5e-13 / np.sqrt(2)),
        (GroupL1([0, 1, 1]), np.array([1 + 5e-13, 0.0, 1 + 5e-13]), 5e-13 * np.sqrt(2)),
        (MaxEigenvalue(1), np.array([1 + 5e-13]), 5e-13),
    ],
    ids=lambda g: type(g).__name__,
)
def test_what_the_conjugate_overlooks_the_proofs_are_told(g, y, missed):
    """A point outside of dom g* by a rounding counts as one of it, and says by how much."""
    assert g.conjugate(y) == 0.0
    assert 0.999 * missed <= g.dual_error(y) <= 3 * missed + 1e-14


SIZES = [1e-300, 1e-200, 1e-160, 1.0, 1e160, 1e200, 1e300]


@pytest.mark.parametrize("size", SIZES)
def test_norms_whose_squares_are_no_doubles(size):
    z, direction = size * np.array([3.0, -4.0]), np.array([0.6, -0.8])
    for g in (L2(2.0, 2), GroupL1([7, 7], 2.0)):
        assert g.value(z) == pytest.approx(10 * size, rel=1e-14)
        np.testing.assert_allclose(g.prox(z, size), 3 * size * direction, rtol=1e-14)
        np.testing.assert_array_equal(g.prox(z, 2.6 * size), [0.0, 0.0])
        for t in (size, 1e-20 * size, 4.9 * size):
            cut = type(g)(t, 2) if isinstance(g, L2) else type(g)([7, 7], t)
            assert cut.lipschitz == pytest.approx(t)
            assert cut.conjugate(z) == np.inf
            assert cut.dual_error(z) == pytest.approx(5 * size - t, rel=1e-12)
            y = cut.dual_point(z)
            np.testing.assert_allclose(y, t * direction, rtol=1e-14)
            assert cut.conjugate(y) == 0.0
            assert cut.dual_error(y) <= 1e-14 * t
            np.testing.assert_array_equal(cut.multiplier(z, 1.0), y)


def test_each_group_has_its_own_size():
    z = np.array([3e200, 1.0, 3e-200, 4e200, 2.0, 4e-200, 0.0])
    groups = [0, 1, 2, 0, 1, 2, 3]
    g = GroupL1(groups, [1.0, 1.0, 1e-200, 1.0])
    np.testing.assert_allclose(g._norms(z), [5e200, np.sqrt(5.0), 5e-200, 0.0], rtol=1e-15)
    np.testing.assert_array_equal(g._norms(z), condal.GroupL1Ball(groups).norms(z))
    np.testing.assert_allclose(
        g.dual_point(z),
        [0.6, np.sqrt(0.2), 0.6e-200, 0.8, 2 * np.sqrt(0.2), 0.8e-200, 0],
        rtol=1e-14,
    )
    assert GroupL1([0, 1], 1e200).lipschitz == pytest.approx(np.sqrt(2) * 1e200)


def test_lengths_of_what_is_no_number():
    assert stable_norm(np.zeros(3)) == stable_norm(np.zeros(0)) == 0.0
    assert stable_norm(np.array([np.inf, 1.0])) == np.inf
    assert np.isnan(stable_norm(np.array([np.nan, 1.0])))
    v = np.array([0.0, np.nan, 1e-200, np.inf, 1.0])
    found = group_norms(v, np.array([0, 1, 2, 3, 3]), 5)
    np.testing.assert_array_equal(found, [0.0, np.nan, 1e-200, np.inf, 0.0])


def test_a_function_without_data_has_the_size_of_its_map():
    for g in (L1(0.3), L2(0.3), Linf(0.3), Maximum(0.3), Hinge(t=0.3)):
        with pytest.raises(ProblemError, match="as g= with B=, or give size="):
            _ = g.size
        sized = g.sized(4)
        assert type(sized) is type(g)
        assert sized.size == 4
        assert sized.sized(4) is sized
        assert sized.lipschitz > 0
        text = f"{type(g).__name__} is a function of vectors of length 4; got images of length 3"
        with pytest.raises(ProblemError, match=text):
            sized.sized(3)
        z = np.array([1.0, -2.0, 0.0, 3.0])
        np.testing.assert_array_equal(g.prox(z, 0.5), sized.prox(z, 0.5))
        np.testing.assert_array_equal(g.dual_point(z), sized.dual_point(z))
    with pytest.raises(ProblemError, match="AbsoluteLoss is a function of vectors of length 2"):
        AbsoluteLoss([1.0, 2.0]).sized(3)


def test_a_sum_over_blocks_is_lipschitz_as_its_parts_are():
    g = L1(size=4)
    assert Separable(g, g).lipschitz == pytest.approx(np.sqrt(8.0))
    assert Separable().lipschitz == 0.0
    assert Separable(g, Equal([1.0])).lipschitz == np.inf


@pytest.mark.parametrize("t", [0.0, -1.0, [1.0, 2.0], [[1.0, 1.0, 1.0]]])
def test_weights_are_checked(t):
    with pytest.raises(ProblemError, match="t must be a positive number, or 3 of them"):
        L1(t, 3)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: L1([[1.0]]),
            r"or one for each entry; got \[\[1.0\]\]",
        ),
        (lambda: Maximum([1.0]), r"t must be a positive number; got \[1.0\]"),
        (lambda: GroupL1([0.5, 1.0]), r"groups must be a whole number for each entry, .* float64"),
        (lambda: GroupL1([[0]]), r"whole number for each entry.* int\d+ of shape \(1, 1\)"),
        (lambda: GroupL1([0, 1], [1.0]), "t must be a positive number, or 2 of them"),
        (lambda: Hinge([1, 0]), "got 0 at index 1: pass 2 \\* labels - 1 if they are 0 and 1"),
        (lambda: Hinge([[1]]), r"labels must be a vector; got shape \(1, 1\)"),
        (lambda: Hinge([1, -1], size=3), r"of different lengths: \[2, 3\]"),
        (lambda: Hinge([1, np.nan]), "labels has the value nan at index 1"),
        (lambda: Quantile([1.0], 1.0), "q must lie between 0 and 1; got 1.0"),
        (lambda: EpsilonInsensitive([1.0], -0.1), "epsilon must be a number, at least 0, or 1 of"),
        (lambda: AbsoluteLoss(1.0), r"c must have 1 dimension; got shape \(\)"),
        (lambda: AbsoluteLoss([1.0], [1.0, 2.0]), "t must be a positive number, or 1 of them"),
        (
            lambda: MaxEigenvalue(2).vector(np.eye(3)),
            r"x must be a 2 x 2 matrix; got shape",
        ),
        (lambda: MaxEigenvalue(2).vector([[0, 1], [0, 0]]), "x must be symmetric"),
        (lambda: total_variation((2, 2.5)), "a side of shape must be a whole number"),
    ],
)
def test_wrong_input_is_refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()
