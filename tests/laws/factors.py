"""The law of functions of a factor: their derivatives are those of their values."""

import numpy as np
import pytest

from condal.methods.lowrank.factored import FactoredLagrangian


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
