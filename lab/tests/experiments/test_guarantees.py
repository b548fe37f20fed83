"""The planted problems of the guarantees, and the measurements that are laws."""

import numpy as np
import pytest

from condal.methods.rules import Classical, Corrective, LineSearch
from condal_lab.experiments import guarantees
from condal_lab.experiments.claims import ClaimVerdict
from condal_lab.experiments.guarantees import planted

KINDS = ("point", "box")


@pytest.mark.parametrize("kind", KINDS)
def test_the_dual_proves_the_optimum(kind):
    truth = planted(kind)
    problem = truth.problem
    gradient = problem.f.M.adjoint(np.ones(1)).to_dense() + np.diag(truth.y)
    lowest = np.linalg.eigvalsh(gradient)[0]
    bound = problem.X.trace * lowest - problem.h.conjugate(truth.y)
    assert bound == pytest.approx(truth.optimum, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_attained(kind):
    truth = planted(kind)
    assert truth.problem.objective(truth.x) == pytest.approx(truth.optimum, abs=1e-9)
    assert truth.problem.infeasibility(truth.x) < 1e-12
    assert truth.problem.X.distance(truth.x) < 1e-9


@pytest.mark.parametrize("eta", [Classical(), LineSearch(), Corrective()])
@pytest.mark.parametrize("sigma", ["const", "decr"])
def test_theorem_3_1_holds_for_every_step(eta, sigma):
    claim = guarantees.theorem("a step", eta, sigma)(200)
    assert claim.verdict is ClaimVerdict.HOLDS, claim.measured


def test_scaling_f_and_eps_together_leaves_upd_as_it_is():
    """G_t(t y) = t G(y): the steps are those of f and eps, but for the first M."""
    merits = [guarantees._upd_merit(scale, 0.1 * scale, 200) for scale in (0.1, 1.0, 10.0)]
    assert merits == pytest.approx([merits[1]] * 3, rel=0.2)
    assert guarantees.upd_depends_on_scale(300).verdict is ClaimVerdict.FAILS


def test_the_duals_of_decr_settle():
    assert guarantees.decr_steps_shrink(2000).verdict is ClaimVerdict.HOLDS
    assert guarantees.decr_duals_are_bounded(2000).verdict is ClaimVerdict.HOLDS
