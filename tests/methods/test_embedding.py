"""The interior-point engine on conic programs: solutions, rays, inner duals, and every cone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

from condal.certificates.cones import Cone, ConicForm
from condal.certificates.conic import (
    falls_along,
    proved_lower_bound,
    proves_feasible,
    proves_infeasible,
)
from condal.methods.interior.embedding import Embedded
from condal.methods.interior.engine import Proposal, Scaled, propose
from condal.runtime.limits import TimeLimit


def proposed(form: ConicForm) -> Proposal:
    return propose(form.c, form.A, form.b, form.cones)


@dataclass(frozen=True)
class Planted:
    form: ConicForm
    x: np.ndarray
    optimum: float


def _inside(rng, cone: Cone) -> np.ndarray:
    """A point well inside a cone."""
    if cone.kind == "orthant" or cone.length == 1:
        return rng.uniform(0.5, 2.0, cone.n)
    if cone.kind == "second-order":
        tail = rng.standard_normal(cone.n - 1)
        return np.concatenate([[np.linalg.norm(tail) + 1.0], tail])
    if cone.kind == "free":
        return rng.standard_normal(cone.n)
    root = rng.standard_normal((cone.n, cone.n))
    return _coordinates(cone, root @ root.T + np.eye(cone.n))


def _coordinates(cone: Cone, full: np.ndarray) -> np.ndarray:
    """The coordinates of a matrix of the cone."""
    if not cone.packed:
        return full.ravel()
    cols, rows = np.triu_indices(cone.n)
    return full[rows, cols] * np.where((rows != cols) & cone.doubled, 2.0, 1.0)


def _complementary(rng, cone: Cone) -> tuple[np.ndarray, np.ndarray]:
    """x and z in the cone and its dual with <x, z> = 0."""
    if cone.kind == "free":
        return rng.standard_normal(cone.n), np.zeros(cone.n)
    if cone.kind == "orthant" or cone.length == 1:
        on = rng.random(cone.n) < 0.5
        return np.where(on, 1.0 + rng.random(cone.n), 0.0), np.where(on, 0.0, 1.0)
    if cone.kind == "second-order":
        tail = rng.standard_normal(cone.n - 1)
        tail /= np.linalg.norm(tail)
        return np.concatenate([[1.0], tail]), 2.0 * np.concatenate([[1.0], -tail])
    Q = np.linalg.qr(rng.standard_normal((cone.n, cone.n)))[0]
    r = max(1, cone.n // 2)
    X = Q[:, :r] @ np.diag(rng.uniform(1, 2, r)) @ Q[:, :r].T
    Z = Q[:, r:] @ Q[:, r:].T
    return _coordinates(cone, X), _coordinates(cone.dual, Z)


def _rows(rng, cone: Cone, m: int) -> np.ndarray:
    if cone.kind != "psd":
        return rng.standard_normal((m, cone.length))
    each = rng.standard_normal((m, cone.n, cone.n))
    return np.array([_coordinates(cone.dual, a + a.T) for a in each])


def planted(cones: tuple[Cone, ...], m: int, seed: int = 0) -> Planted:
    """A program with a known pair: z = c - A'y, and complementary x."""
    rng = np.random.default_rng(seed)
    pairs = [_complementary(rng, cone) for cone in cones]
    x, z = (np.concatenate(part) for part in zip(*pairs, strict=True))
    A = np.hstack([_rows(rng, cone, m) for cone in cones])
    y = rng.standard_normal(m)
    c = z + A.T @ y
    return Planted(ConicForm(c, sp.csr_array(A), A @ x, cones), x, float(c @ x))


CONES = {
    "orthant": (Cone("orthant", 9),),
    "second-order": (Cone("second-order", 5), Cone("second-order", 3)),
    "stacked second-order": tuple(Cone("second-order", 4) for _ in range(4)),
    "psd": (Cone("psd", 6),),
    "packed": (Cone("psd", 6, packed=True),),
    "doubled": (Cone("psd", 6, packed=True, doubled=True),),
    "stacked psd": tuple(Cone("psd", 3) for _ in range(4)),
    "large psd": (Cone("psd", 70),),
    "numbers": (Cone("psd", 1), Cone("second-order", 1), Cone("orthant", 6)),
    "free": (Cone("free", 2), Cone("orthant", 8)),
    "all": (
        Cone("free", 2),
        Cone("psd", 4, packed=True),
        Cone("second-order", 4),
        Cone("orthant", 4),
        Cone("psd", 4),
    ),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", CONES)
def test_it_reaches_a_planted_optimum(kind, seed):
    case = planted(CONES[kind], 5, seed)
    form = case.form
    proposal = proposed(form)
    assert proposal.outcome == "solution"
    assert proposal.error <= 1e-8
    assert form.c @ proposal.x == pytest.approx(case.optimum, rel=1e-6, abs=1e-6)
    assert form.b @ proposal.y == pytest.approx(case.optimum, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(form.A @ proposal.x, form.b, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [kind for kind in CONES if kind not in ("free", "all")])
def test_its_deep_multipliers_lead_to_a_proof(kind, seed):
    rng = np.random.default_rng(seed)
    cones, m = CONES[kind], 5
    A = np.hstack([_rows(rng, cone, m) for cone in cones])
    x = np.concatenate([_inside(rng, cone) for cone in cones])
    z = np.concatenate([_inside(rng, cone.dual) for cone in cones])
    form = ConicForm(z + A.T @ rng.standard_normal(m), sp.csr_array(A), A @ x, cones)
    proposal = proposed(form)
    optimum, y = float(form.c @ proposal.x), proposal.y
    near, deep = (proved_lower_bound(form, y + t * (proposal.deep - y)) for t in (1e-3, 1.0))
    assert near == pytest.approx(optimum, rel=1e-5, abs=1e-5)
    assert -np.inf < deep <= near <= optimum + 1e-7 * (1 + abs(optimum))


@pytest.mark.parametrize("kind", [kind for kind in CONES if kind not in ("free", "all")])
def test_an_infeasible_program_ends_with_a_separator(kind):
    """<e, x> = -1 for an e inside the dual cone."""
    rng = np.random.default_rng(3)
    cones = CONES[kind]
    e = np.concatenate([_inside(rng, cone.dual) for cone in cones])
    A = np.vstack([e, *(np.hstack([_rows(rng, cone, 2) for cone in cones]))])
    form = ConicForm(
        rng.standard_normal(e.size), sp.csr_array(A), np.array([-1.0, 0.3, 0.1]), cones
    )
    proposal = proposed(_symmetrised(form))
    assert proposal.outcome == "separator"
    assert proves_infeasible(_symmetrised(form), proposal.y)


@pytest.mark.parametrize("kind", [kind for kind in CONES if kind not in ("free", "all")])
def test_an_unbounded_program_ends_with_a_direction(kind):
    """A direction inside the cone that the rows do not constrain, and that lowers the objective."""
    rng = np.random.default_rng(4)
    cones = CONES[kind]
    ray = np.concatenate([_inside(rng, cone) for cone in cones])
    A = np.hstack([_rows(rng, cone, 3) for cone in cones])
    A -= np.outer(A @ ray, ray) / (ray @ ray)
    form = _symmetrised(ConicForm(-ray, sp.csr_array(A), A @ ray, cones))
    proposal = proposed(form)
    assert proposal.outcome == "direction"
    assert form.c @ proposal.x < 0
    assert falls_along(form, proposal.x)
    assert any(proves_feasible(form, ray + step * proposal.x) for step in (1.0, 1e3))


def _symmetrised(form: ConicForm) -> ConicForm:
    """The form with symmetric psd parts of c."""
    c = form.c.copy()
    for cone, place in zip(form.cones, form.places, strict=True):
        if cone.kind == "psd" and not cone.packed:
            full = c[place].reshape(cone.n, cone.n)
            c[place] = (0.5 * (full + full.T)).ravel()
    return ConicForm(c, form.A, form.b, form.cones)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 2.0**20])
def test_units_of_rows_and_costs_change_nothing(scale):
    case = planted(CONES["all"], 5)
    form, rows = case.form, np.array([1.0, scale, 1.0, 1 / scale, 1.0])
    A = sp.csr_array(rows[:, None] * form.A)
    proposal = propose(scale * form.c, A, rows * form.b, form.cones)
    assert form.c @ proposal.x == pytest.approx(case.optimum, rel=1e-6, abs=1e-6)


def test_a_program_without_rows():
    cones = (Cone("orthant", 2), Cone("psd", 2))
    no_rows = sp.csr_array((0, 6))
    inside = propose(np.array([1.0, 2.0, 1.0, 0.0, 0.0, 1.0]), no_rows, np.zeros(0), cones)
    assert inside.outcome == "solution"
    assert np.abs(inside.x).max() < 1e-6
    outside = propose(np.array([1.0, -2.0, 1.0, 0.0, 0.0, 1.0]), no_rows, np.zeros(0), cones)
    assert outside.outcome == "direction"


def test_the_first_step_lowers_every_residual_at_the_rate_of_mu():
    form = planted(CONES["all"], 5).form
    at = Embedded.first(Scaled.of(form.c, form.A, form.b, form.cones).program)
    for _ in range(5):
        moved = at.advanced()
        before, after = at._residuals, moved._residuals
        rates = [np.linalg.norm(b) / np.linalg.norm(a) for a, b in zip(before, after, strict=True)]
        np.testing.assert_allclose(rates, rates[0], rtol=1e-6)
        assert moved.mu < at.mu
        at = moved


def test_a_time_limit_ends_it_with_what_there_is():
    form = planted(CONES["psd"], 5).form
    with TimeLimit(1e-9).on():
        proposal = proposed(form)
    assert proposal.iterations == 0
    assert np.isfinite(proposal.x).all()
