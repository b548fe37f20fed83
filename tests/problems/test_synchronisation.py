"""Synchronisation of signs and of angles: recovery, certificates, rounding."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import condal
from condal.problems import Phases, Signs, angular_synchronisation, sign_synchronisation
from condal.problems.models import leading_factor, unit_diagonal


def measured_signs(n, degree, wrong, seed=0):
    """Signs, and products of pairs of them, of which a share is wrong."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], n)
    C = np.triu(rng.random((n, n)) < degree / n, 1) * np.outer(signs, signs)
    C = C * np.where(rng.random((n, n)) < wrong, -1.0, 1.0)
    return sp.csr_array(C + C.T), signs


def measured_angles(n, degree, noise, seed=0):
    """Angles, and differences of pairs of them with Gaussian noise, as phases."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(-np.pi, np.pi, n)
    differences = angles[:, None] - angles + noise * rng.standard_normal((n, n))
    C = np.triu(rng.random((n, n)) < degree / n, 1) * np.exp(1j * differences)
    return sp.csr_array(C + C.conj().T), angles


@dataclass(frozen=True)
class Kind:
    """`little` is an error of the measurements; `changed` alters one of the true values."""

    measured: Callable[..., Any]
    synchronised: Callable[[Any], Any]
    little: float
    changed: Callable[[float], float]
    refused: str


KINDS = {
    "signs": Kind(
        measured_signs,
        sign_synchronisation,
        0.05,
        lambda sign: -sign,
        "signs must be 5 numbers, each",
    ),
    "angles": Kind(
        measured_angles,
        angular_synchronisation,
        0.1,
        lambda angle: angle + 1.0,
        "wanted 5 complex numbers of modulus 1, or",
    ),
}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@kinds
def test_what_is_not_the_best_does_not_certify_itself(kind):
    C, truth = kind.measured(60, 20.0, kind.little)
    model = kind.synchronised(C)
    truth[0] = kind.changed(truth[0])
    certificate = model.certificate(truth)
    assert certificate.gap > 1e-3
    assert certificate.bound >= condal.solve(model).objective


@kinds
def test_the_diagonal_and_zeros_say_nothing(kind):
    C, _ = kind.measured(12, 6.0, kind.little)
    full = C.toarray() + 3 * np.eye(12)
    a, b = (condal.solve(kind.synchronised(M)) for M in (C, full))
    assert a.bound == b.bound
    with pytest.raises(condal.ProblemError, match="C has no measurements"):
        kind.synchronised(np.eye(3))


@kinds
def test_only_signs_and_phases_have_a_value(kind):
    model = kind.synchronised(np.ones((5, 5)))
    wrong = [np.zeros(5) + 0j, np.ones(4), np.full(5, 0.5 + 0j), ["a"] * 5, [np.nan] * 5]
    for given in (*wrong, [np.inf] * 5):
        for ask in (model.value, model.dual, model.certificate):
            with pytest.raises(condal.ProblemError, match=kind.refused):
                ask(given)


# Signs.


def test_few_wrong_measurements_are_all_found_and_it_is_proved():
    C, signs = measured_signs(200, 40.0, 0.1)
    model = sign_synchronisation(C)
    result = condal.solve(model, tol=1e-6)
    found = model.round(result)
    assert found.agreement(signs) == 1.0
    assert model.value(-found.signs) == found.value
    assert result.bound - found.value <= 1e-6 * found.value
    certificate = model.certificate(found.signs)
    assert certificate.bound - found.value < 4.0  # less than what a flip changes: none is better
    assert certificate.infeasibility == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_no_flip_of_a_sign_helps(seed):
    model = sign_synchronisation(measured_signs(80, 8.0, 0.35, seed)[0])
    found = model.round(condal.solve(model, tol=1e-2), trials=5)
    assert np.min(found.signs * (model.C @ found.signs)) >= 0.0
    assert "positive=" in repr(found)


def test_agreement_is_up_to_one_sign():
    signs = Signs(1.0, 2.0, np.array([1.0, 1.0, -1.0, -1.0]))
    assert signs.agreement([-1, -1, 1, 1]) == 1.0
    assert signs.agreement([1, 1, 1, -1]) == 0.75
    for wrong in ([1, 1, 1], ["a"] * 4, [[1], [1, 1]]):
        with pytest.raises(condal.ProblemError, match="signs must be 4 numbers, each"):
            signs.agreement(wrong)


def test_tables_and_graphs_are_taken():
    C, _ = measured_signs(12, 6.0, 0.1)
    graph = nx.from_scipy_sparse_array(C)
    for given in (pd.DataFrame(C.toarray()), graph):
        assert (sign_synchronisation(given).C != C).nnz == 0


# Angles.


def test_without_noise_the_angles_come_back():
    C, angles = measured_angles(40, 10.0, 0.0)
    model = angular_synchronisation(C)
    found = model.round(condal.solve(model))
    assert found.error(angles) <= 1e-6
    assert found.value == pytest.approx(C.nnz)
    assert model.value(angles) == pytest.approx(C.nnz)


def test_moderate_noise_is_solved_exactly_and_it_is_proved():
    C, angles = measured_angles(120, 30.0, 0.5)
    model = angular_synchronisation(C)
    result = condal.solve(model, tol=1e-6)
    found = model.round(result)
    assert found.value >= model.value(angles)  # it explains the measurements better than the truth
    assert found.error(angles) <= 2 * 0.5 / np.sqrt(30)
    assert result.bound - found.value <= 1e-6 * found.value
    certificate = model.certificate(found.phases)
    assert certificate.gap <= 1e-6
    assert certificate.infeasibility <= 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_the_rounding_is_a_point_that_no_power_iteration_improves(seed):
    model = angular_synchronisation(measured_angles(60, 10.0, 1.2, seed)[0])
    found = model.round(condal.solve(model, tol=1e-2), trials=4)
    np.testing.assert_allclose(np.abs(found.phases), 1.0)
    pull = model.C @ found.phases
    # stationary: each phase is that of what pulls at it
    assert np.mean(np.abs(pull / np.abs(pull) - found.phases)) <= 1e-2
    assert found.value == pytest.approx(model.value(found.phases))
    assert "n=60" in repr(found)


def test_power_iterations_never_lose():
    model = angular_synchronisation(measured_angles(30, 10.0, 2.0)[0])
    rng = np.random.default_rng(0)
    Z = np.exp(2j * np.pi * rng.random((30, 5)))
    better = model._powers(Z)
    for before, after in zip(Z.T, better.T, strict=True):
        assert model.value(after) >= model.value(before)


def test_real_measurements_are_those_of_signs():
    """Between signs, the best phases are no worse than the best signs."""
    rng = np.random.default_rng(2)
    C = np.sign(rng.standard_normal((10, 10)))
    C = np.triu(C, 1) + np.triu(C, 1).T
    signs = condal.problems.sign_synchronisation(C)
    best = signs.round(condal.solve(signs)).value
    model = angular_synchronisation(C)
    result = condal.solve(model, tol=1e-5)
    assert model.round(result).value >= best * (1 - 1e-9)
    real = condal.solve(signs, tol=1e-5)
    assert result.objective == pytest.approx(real.objective, rel=1e-4)  # one relaxation for both


def test_the_error_is_up_to_one_factor():
    z = np.exp(1j * np.array([0.0, 1.0, 2.0]))
    phases = Phases(1.0, 3.0, z)
    np.testing.assert_allclose(phases.angles, [0.0, 1.0, 2.0])
    assert phases.error(1j * z) <= 1e-12
    assert phases.error([5.0, 6.0, 7.0]) <= 1e-12
    assert phases.error(np.array([1.0, 1.0, -1.0]) * z) == pytest.approx(
        np.sqrt(2 - 2 * 1 / 3), rel=1e-12
    )
    np.testing.assert_allclose(phases.aligned(1j * z), 1j * z)
    across = np.exp(2j * np.pi * np.arange(3) / 3) * z
    assert phases.error(across) == pytest.approx(np.sqrt(2.0))
    with pytest.raises(condal.ProblemError, match="wanted 3 complex numbers of modulus 1, or"):
        phases.error([1.0, 1.0])


def test_what_the_advice_says_is_what_works():
    t = np.random.default_rng(8).uniform(-3, 3, 9)
    differences = t[:, None] - t
    with pytest.raises(condal.ProblemError, match="real differences of angles"):
        angular_synchronisation(differences)
    for given in (np.exp(1j * differences), pd.DataFrame(np.exp(1j * differences))):
        model = angular_synchronisation(given)
        result = condal.solve(model)
        found = model.round(result)
        assert found.error(t) <= 1e-6
        assert found.value == pytest.approx(72.0)
        assert found.bound == result.bound


def test_tables_of_objects_are_tables_of_numbers():
    C = np.array([[0, 1j, 1], [-1j, 0, 1], [1, 1, 0]])
    for given in (C, C.real):
        table = pd.DataFrame(given).astype(object)
        np.testing.assert_array_equal(angular_synchronisation(table).C.toarray(), given)


def test_vertices_that_nothing_was_measured_of_are_left_as_they_are():
    C = np.zeros((4, 4), dtype=complex)
    C[0, 1], C[1, 0] = 1j, -1j
    model = angular_synchronisation(C)
    result = condal.solve(model, tol=1e-6)
    assert result.objective == pytest.approx(2.0, rel=1e-6)
    assert model.round(result).value == pytest.approx(2.0)


@pytest.mark.parametrize("kind", ["low rank", "dense"])
def test_complex_points_are_scaled_to_a_diagonal_of_ones(kind):
    rng = np.random.default_rng(3)
    U = rng.standard_normal((6, 2)) + 1j * rng.standard_normal((6, 2))
    U[4] = 0.0
    x = condal.LowRank(U, np.array([1.0, 0.3]))
    repaired = np.asarray(unit_diagonal(x if kind == "low rank" else np.asarray(x)))
    np.testing.assert_allclose(np.diagonal(repaired), 1.0)
    np.testing.assert_allclose(repaired, repaired.conj().T)
    assert np.linalg.eigvalsh(repaired)[0] >= -1e-12
    np.testing.assert_allclose(np.asarray(unit_diagonal(repaired)), repaired, atol=1e-14)
    top = leading_factor(x, 1)[:, 0]
    values, vectors = np.linalg.eigh(np.asarray(x))
    assert np.linalg.norm(top) ** 2 == pytest.approx(values[-1])
    assert abs(np.vdot(top, vectors[:, -1])) == pytest.approx(np.linalg.norm(top))


@pytest.mark.parametrize(
    ("C", "text"),
    [
        (np.zeros((3, 3)), "C has no measurements"),
        ("angles", "C must be a SciPy sparse matrix or a NumPy array; got str"),
        ([[0], [0, 1]], "C must be a matrix of numbers, with rows of one length; got a list"),
        (pd.DataFrame([["a", "b"], ["b", "a"]], dtype=object), "C must be a matrix of numbers"),
        (nx.path_graph(3), r"from which end its angle is measured: .*networkx\.to_numpy_array"),
        (np.array([[0, 0.3], [-0.3, 0]]), r"pass numpy\.exp\(1j \* C\), with 0 where nothing"),
        (sp.csr_array([[0, 1], [-1, 0]]), r"pass numpy\.exp\(1j \* C\), with 0 where nothing"),
        ([[0, 0.3], [-0.3, 0]], r"pass numpy\.exp\(1j \* C\), with 0 where nothing"),
    ],
)
def test_bad_measurements_are_refused(C, text):
    with pytest.raises(condal.ProblemError, match=text):
        angular_synchronisation(C)
