"""The laws of surfaces of factors, and of functions on them."""

import numpy as np
import pytest

from condal.methods.lowrank.factored import FactoredLagrangian
from condal.methods.lowrank.surfaces import Geometry


def derivatives_obey_their_law(F: FactoredLagrangian) -> None:
    """Along a tangent D, slope and curvature are those of differences of values."""
    R = F.geometry.on(np.random.default_rng(2).standard_normal((F.layout.height, 3)))
    place = F.at(R)
    D = F.geometry.tangent(R, np.random.default_rng(3).standard_normal(R.shape))
    D /= np.linalg.norm(D)
    t = 1e-4
    ahead, behind = (F.at(F.geometry.on(R + s * D)).value for s in (t, -t))
    slope = (ahead - behind) / (2 * t)
    assert slope == pytest.approx(float(np.vdot(place.gradient, D)), rel=1e-5, abs=1e-7)
    curvature = (ahead - 2 * place.value + behind) / t**2
    wanted = float(np.vdot(D, place.hessian(D)))
    assert curvature == pytest.approx(wanted, rel=2e-2, abs=1e-4 * (1 + abs(wanted)))
    np.testing.assert_allclose(F.geometry.tangent(R, place.hessian(D)), place.hessian(D), atol=1e-9)


def surface_obeys_its_law(surface: Geometry, height: int) -> np.ndarray:
    """Its points stay, tangents keep it to second order, and the shift makes gradients tangent."""
    rng = np.random.default_rng(4)
    R, U, W = rng.standard_normal((3, height, 3))
    V = rng.standard_normal((height, height))
    R = surface.on(R)
    np.testing.assert_allclose(surface.on(R), R, atol=1e-14)
    P = surface.tangent(R, U)
    np.testing.assert_allclose(surface.tangent(R, P), P, atol=1e-13)
    assert np.vdot(P, W) == pytest.approx(np.vdot(U, surface.tangent(R, W)), abs=1e-12)
    np.testing.assert_allclose(surface.on(R + 1e-6 * P), R + 1e-6 * P, atol=1e-10)
    scaled = surface.tangent_scaled(R, P, rng.uniform(0.5, 2.0, (height, 1)))
    np.testing.assert_allclose(surface.tangent(R, scaled), scaled, atol=1e-13)
    image = (V + V.T) @ R
    shift = surface.shift(R, image)
    surface.subtract(image, shift, R)
    np.testing.assert_allclose(surface.tangent(R, (V + V.T) @ R), image, atol=1e-12)
    return R
