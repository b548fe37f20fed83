"""Phase retrieval: signals found again, the trace, refused input."""

from dataclasses import replace

import numpy as np
import pytest

import condal
from condal.problems import Signal, phase_retrieval


def random_numbers(shape, *, real=False, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + (0 if real else 1j) * rng.standard_normal(shape)


@pytest.mark.parametrize("real", [True, False], ids=["real", "complex"])
def test_a_signal_without_noise_is_found_again(real):
    n = 12
    u, a = random_numbers(n, real=real, seed=5), random_numbers((8 * n, n), real=real, seed=6)
    model = phase_retrieval(np.abs(a @ u) ** 2, a)
    result = condal.solve(model, tol=1e-5)
    found = model.signal(result)
    assert result.status is condal.Status.SOLVED
    assert result.objective <= 1e-5
    assert np.iscomplexobj(found.values) is not real
    assert found.error(u) < 1e-2
    assert found.residual < 1e-2
    assert model.residual(u) == pytest.approx(0.0, abs=1e-12)


def test_an_image_is_found_again_from_coded_diffraction():
    rng = np.random.default_rng(7)
    image = random_numbers((6, 5), seed=8)
    masks = rng.choice([1, -1, 1j, -1j], (8, 6, 5))
    b = np.abs(np.fft.fft2(masks * image, norm="ortho")) ** 2
    model = phase_retrieval(b, masks=masks)
    found = model.signal(condal.solve(model, tol=1e-5))
    assert found.error(image) < 1e-2
    assert found.values.shape == (30,)


def test_noise_spoils_a_signal_no_more_than_its_measure():
    n, rng = 10, np.random.default_rng(9)
    u, a = random_numbers(n, seed=10), random_numbers((12 * n, n), seed=11)
    clean = np.abs(a @ u) ** 2
    b = np.maximum(clean + 0.02 * clean.mean() * rng.standard_normal(clean.size), 0.0)
    model = phase_retrieval(b, a)
    found = model.signal(condal.solve(model, tol=1e-4))
    assert found.error(u) < 0.05
    assert found.residual < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_the_trace_taken_from_the_intensities_is_room_for_the_signal(seed):
    u, a = random_numbers(6, seed=seed), random_numbers((30, 6), seed=seed + 20)
    b = np.abs(a @ u) ** 2
    energy = float(np.sum(np.abs(u) ** 2))
    model = phase_retrieval(b, a)
    least = np.linalg.eigvalsh(a.conj().T @ a)[0]
    assert energy <= model.trace <= 1.1 * b.sum() / least
    assert phase_retrieval(b, a, trace=7).trace == 7.0
    assert phase_retrieval(b, a, trace=7).problem.X.trace == 7.0


def test_the_error_of_a_signal_is_up_to_a_factor_of_modulus_one():
    u = random_numbers(5, seed=12)
    signal = Signal(u, 0.0)
    for turn in (1.0, -1.0, np.exp(0.7j)):
        assert signal.error(turn * u) == pytest.approx(0.0, abs=1e-12)
    assert Signal(2 * u, 0.0).error(1j * u) == pytest.approx(1.0)
    v = random_numbers(5, seed=13)
    tried = [np.linalg.norm(u - np.exp(1j * t) * v) for t in np.linspace(0, 2 * np.pi, 2001)]
    assert signal.error(v) == pytest.approx(min(tried) / np.linalg.norm(v), rel=1e-5)
    assert Signal(np.array([1.0, 0.0]), 0.0).error([0.0, 2.0]) == pytest.approx(np.sqrt(5) / 2)
    assert repr(Signal(np.ones(3), 0.25)) == "Signal(size=3, residual=0.25)"


def test_the_signal_of_a_dense_point_is_its_leading_eigenvector():
    a, u = random_numbers((20, 4), seed=14), random_numbers(4, seed=15)
    model = phase_retrieval(np.abs(a @ u) ** 2, a)
    result = condal.solve(model, tol=1e-3)
    other = model.signal(replace(result, x=condal.dense(result.x)))
    assert other.error(model.signal(result).values) < 1e-6
    values, vectors = np.linalg.eigh(condal.dense(result.x))
    assert other.error(np.sqrt(values[-1]) * vectors[:, -1]) < 1e-6


A = random_numbers((6, 2), seed=16)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "give the measurements either as the matrix a= or as masks="),
        ({"a": A, "masks": np.ones((3, 1, 2))}, "either as the matrix a= or as masks="),
        ({"a": A[:5]}, "there are 5 measurements, but 6 intensities: there must be one for each"),
        ({"a": A, "intensities": -np.ones(6)}, "none may be negative.*the smallest is -1"),
        ({"a": A, "intensities": np.zeros(6)}, "not all may be 0; the smallest is 0"),
        ({"a": 0 * A}, "a is 0: its measurements say nothing"),
        ({"a": A * [1, 0]}, r"do not bound the signal \(a has nearly dependent columns\): pass"),
        (
            {"masks": np.ones((3, 1, 2)), "intensities": np.ones((1, 2, 3))},
            r"shape \(1, 2, 3\) are not those of masks of shape \(3, 1, 2\): both are \(L, h, w\)",
        ),
        ({"masks": np.ones(6)}, r"masks must have the shape \(L, h, w\)"),
    ],
)
def test_bad_models_are_refused(given, text):
    with pytest.raises(condal.ProblemError, match=text):
        phase_retrieval(**{"intensities": np.ones(6), **given})


def test_bad_questions_are_refused():
    model = phase_retrieval(np.ones(6), A)
    result = condal.solve(model, tol=1e-1)
    with pytest.raises(condal.ProblemError, match=r"a signal has 2 values here; got shape \(3,\)"):
        model.residual(np.ones(3))
    with pytest.raises(condal.ProblemError, match="wanted a signal of 2 numbers, not all 0"):
        model.signal(result).error(np.zeros(2))


def test_the_residual_of_a_complex_signal_under_real_measurements():
    rng = np.random.default_rng(30)
    a, u = rng.standard_normal((20, 4)), rng.standard_normal(4) + 1j * rng.standard_normal(4)
    model = phase_retrieval(np.abs(a @ u) ** 2, a)
    assert model.residual(u) < 1e-12


def test_the_trace_never_excludes_the_signal():
    rng = np.random.default_rng(31)
    a = rng.standard_normal((100, 50))
    u = np.linalg.eigh(a.T @ a)[1][:, 0]  # the weakest direction
    assert phase_retrieval((a @ u) ** 2, a).trace >= 1.0


def test_pixels_that_are_measured_unequally_are_scaled():
    rng = np.random.default_rng(0)
    masks = rng.choice([0.2, 3.0], (10, 6, 5)) * rng.choice([1, -1, 1j, -1j], (10, 6, 5))
    u = rng.standard_normal(30) + 1j * rng.standard_normal(30)
    b = np.abs(condal.CodedDiffraction(masks).matvec(u)) ** 2
    model = phase_retrieval(b, masks=masks)
    np.testing.assert_allclose(model.A.a.of.frame, 1.0)
    energy = float(np.sum(np.abs(model.scale * u) ** 2))
    assert energy <= model.trace <= 1.06 * energy  # all of the intensity is in s u
    assert model.residual(u) < 1e-12
    assert model.signal(condal.solve(model, tol=1e-7)).error(u) < 1e-2
    assert phase_retrieval(b, masks=masks, trace=99.0).scale is None
