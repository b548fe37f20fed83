"""Equal psd blocks that are proved psd together."""

from fractions import Fraction

import numpy as np
import pytest

from condal.certificates.cones import Cone
from condal.certificates.containment import all_psd, unproved
from condal.certificates.exact import is_psd

CONES = [Cone("psd", 3), Cone("psd", 3, packed=True), Cone("psd", 3, packed=True, doubled=True)]


def blocks(cone, least, scale=1.0, count=6):
    """Coordinates of random matrices with a given least eigenvalue."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((count, cone.n, cone.n)))[0]
    values = 1.0 + rng.random((count, cone.n))
    values[:, 0] = least
    full = scale * (Q * values[:, None, :]) @ Q.swapaxes(1, 2)
    return np.array([cone.vector(0.5 * (a + a.T)) for a in full])


@pytest.mark.parametrize("cone", CONES, ids=str)
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_matrices_deep_inside_are_proved(cone, scale):
    v = blocks(cone, 1e-9, scale)
    assert all_psd(cone, v, np.zeros(v.shape))
    assert all_psd(cone, v, np.full(v.shape, 1e-11 * scale))


@pytest.mark.parametrize("cone", CONES, ids=str)
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_nothing_is_proved_that_the_error_may_take_outside(cone, scale):
    v = blocks(cone, 1e-9, scale)
    error = np.zeros(v.shape)
    error[-1] = 1.5e-9 * scale  # of one block only
    assert not all_psd(cone, v, error)
    error[-1] = np.nan
    assert not all_psd(cone, v, error)


@pytest.mark.parametrize("cone", CONES, ids=str)
def test_what_is_proved_holds_in_fractions(cone):
    """Least eigenvalues around the rounding of a factorisation."""
    for least in np.concatenate([-np.logspace(-18, -10, 30), np.logspace(-18, -10, 30), [0.0]]):
        v = blocks(cone, least)
        for block in v:
            if all_psd(cone, block[None], np.zeros((1, block.size))):
                full = cone.matrix(block)
                assert is_psd(full), Fraction(least)


def test_a_zero_and_an_infinite_matrix_are_left_to_others():
    cone = CONES[1]
    for value in (0.0, np.inf):
        v = blocks(cone, 0.1)
        v[2] = value
        assert not all_psd(cone, v, np.zeros(v.shape))


def test_blocks_that_are_not_proved_together_are_all_left():
    cone, other = CONES[1], Cone("orthant", 2)
    inside, outside = blocks(cone, 0.1), blocks(cone, -0.1)
    for v, left in ((inside, 1), (np.concatenate([inside[:5], outside[:1]]), 7)):
        whole = np.concatenate([v.ravel(), np.ones(2)])
        places = [slice(k * 6, k * 6 + 6) for k in range(6)] + [slice(36, 38)]
        cones = [cone] * 6 + [other]
        assert len(list(unproved(cones, places, whole, np.zeros(38)))) == left
