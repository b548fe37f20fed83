"""State tomography: an independent solver, states found again, fidelities, refused input."""

from itertools import product

import cvxpy as cp
import numpy as np
import pytest

import condal
from condal.errors import ProblemError
from condal.maps import PauliProbabilities
from condal.problems import max_cut, state_tomography

BASES = ["".join(word) for word in product("XYZ", repeat=2)]


def ghz(q):
    t = np.zeros(2**q, dtype=complex)
    t[[0, -1]] = np.sqrt(0.5)
    return t


def noisy(t, share=0.1):
    return (1 - share) * np.outer(t, t.conj()) + share * np.eye(t.size) / t.size


def simulated(rho, bases, shots, seed=0):
    p = PauliProbabilities(bases).probabilities(rho).reshape(len(bases), -1)
    p = np.maximum(p, 0.0)
    return np.random.default_rng(seed).multinomial(shots, p / p.sum(axis=1, keepdims=True))


def by_cvxpy(model):
    """Return the optimum that Clarabel finds, with each effect as a matrix."""
    d = model.dimension
    rho = cp.Variable((d, d), hermitian=True)
    rows = [condal.dense(model.A.adjoint(e).dense) for e in np.eye(model.counts.size)]
    effects = [R[::2, ::2] + 1j * R[1::2, ::2] for R in rows]
    p = cp.hstack([cp.real(cp.trace(E @ rho)) for E in effects])
    if model.loss == "squares":
        frequencies = model.counts / model.shots
        flat = np.array([E.conj().view(float).ravel() for E in effects])
        nearest = flat @ np.linalg.lstsq(flat, frequencies, rcond=None)[0]
        nearest = frequencies if model.trace_penalty else nearest
        f = cp.sum_squares(p - nearest) / (2 * model.variance)
    else:
        rate = cp.multiply(model.shots, p) + model.background / d * model.shots
        f = cp.sum(cp.kl_div(model.counts, rate))
    trace = cp.real(cp.trace(rho))
    if model.l1:
        f += model.l1 * (cp.sum(cp.abs(rho)) - trace)
    if model.trace_penalty:
        f += model.trace_penalty * trace
    of_trace_1 = trace <= 1 if model.trace_penalty else trace == 1
    scale = model.variance if model.loss == "squares" else 1.0  # Clarabel's tolerances are absolute
    return cp.Problem(cp.Minimize(scale * f), [rho >> 0, of_trace_1]).solve(cp.CLARABEL) / scale


@pytest.mark.parametrize("loss", ["squares", "likelihood"])
def test_an_independent_solver_agrees(loss):
    counts = simulated(noisy(ghz(2)), BASES, 50)  # few shots: the optimum is on the boundary
    model = state_tomography(counts, BASES, loss=loss)
    value = by_cvxpy(model)
    result = condal.solve(model, tol=1e-6)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(value, abs=1e-5)
    assert result.bound <= value + 1e-7
    rho = model.state(result).rho
    assert np.allclose(rho, rho.conj().T)
    assert np.linalg.eigvalsh(rho)[0] > -1e-12
    assert np.trace(rho).real == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(("loss", "l1"), [("squares", 20.0), ("likelihood", 3.0)])
def test_an_independent_solver_agrees_on_sparse_coherences(loss, l1):
    counts = simulated(noisy(ghz(2)), BASES, 50)
    model = state_tomography(counts, BASES, loss=loss, l1=l1)
    value = by_cvxpy(model)
    result = condal.solve(model, tol=1e-6)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(value, rel=1e-5)
    if loss == "squares":  # the state has one coherence; noise has six
        moduli = np.abs(model.state(result).rho[np.triu_indices(4, 1)])
        assert (moduli < 1e-3).sum() >= 3


def test_an_independent_solver_agrees_on_the_trace_penalty():
    counts = simulated(noisy(ghz(2)), BASES, 50)
    penalty = 40.0
    model = state_tomography(counts, BASES, trace_penalty=penalty)
    result = condal.solve(model, tol=1e-8)
    x = condal.dense(result.x)
    value, missed = by_cvxpy(model), model.A.probabilities(x) - model.counts / model.shots
    trace = np.trace(x).real
    objective = missed @ missed / (2 * model.variance) + penalty * trace
    assert objective == pytest.approx(value, rel=1e-6)
    assert trace < 1 - 1e-3
    state = model.state(result)
    assert np.trace(state.rho).real == pytest.approx(1.0)
    free = state_tomography(counts, BASES)
    assert state.purity > free.state(condal.solve(free, tol=1e-6)).purity
    assert model.fidelity_bounds(result, ghz(2)) == (0.0, 1.0)
    nothing = state_tomography(counts, BASES, trace_penalty=1e6)
    with pytest.raises(ProblemError, match="make trace_penalty smaller"):
        nothing.state(condal.solve(nothing))


@pytest.mark.parametrize("loss", ["squares", "likelihood"])
def test_many_shots_find_the_state_again(loss):
    t = ghz(3)
    bases = ["".join(word) for word in product("XYZ", repeat=3)]
    counts = simulated(noisy(t), bases, 10**6)
    model = state_tomography(counts, bases, loss=loss, background=1e-6)
    first = condal.solve(model.least_squares, tol=1e-5)
    result = condal.solve(model, tol=1e-6, warm_start=first)
    state = model.state(result)
    assert np.abs(state.rho - noisy(t)).max() < 5e-3
    assert state.fidelity(t) == pytest.approx(0.9 + 0.1 / 8, abs=5e-3)
    assert state.purity == pytest.approx(np.vdot(noisy(t), noisy(t)).real, abs=1e-2)


@pytest.mark.parametrize("loss", ["squares", "likelihood"])
@pytest.mark.parametrize("shots", [10, 1000])
def test_the_default_tolerance_is_within_the_shot_noise(loss, shots):
    t, bases = ghz(3), ["".join(word) for word in product("XYZ", repeat=3)]
    model = state_tomography(simulated(noisy(t), bases, shots), bases, loss=loss)
    result, exact = condal.solve(model), condal.solve(model, tol=1e-7)
    assert result.objective - result.bound < 0.5  # a standard deviation, in any direction
    deviation = np.sqrt(model.variance * 2)  # of a fidelity, at most: `fidelity_bounds`
    apart = model.state(result).fidelity(t) - model.state(exact).fidelity(t)
    assert abs(apart) < deviation


@pytest.mark.parametrize("loss", ["squares", "likelihood"])
def test_the_objective_is_half_the_degrees_of_freedom(loss):
    """The mixed state is inside the set of states: all 4^q - 1 parameters are fitted."""
    counts = simulated(np.eye(4) / 4, BASES, 10**5)
    model = state_tomography(counts, BASES, loss=loss, background=1e-9)
    objective = condal.solve(model, tol=1e-6).objective
    free = 0 if loss == "squares" else 9 * 3 - 15  # the squares leave out what no matrix attains
    assert abs(objective - free / 2) < 4 * np.sqrt(free / 2) + 1e-3
    truth = model.problem.objective(np.eye(4) / 4)
    assert abs(truth - objective - 15 / 2) < 4 * np.sqrt(15 / 2)


def test_the_variance_is_that_of_the_frequencies():
    counts = simulated(noisy(ghz(2)), BASES, 10**6)
    p = PauliProbabilities(BASES).probabilities(noisy(ghz(2)))
    model = state_tomography(counts, BASES)
    assert model.variance == pytest.approx(np.mean(p * (1 - p)) / 10**6, rel=1e-2)
    assert state_tomography([[7, 0]], ["Z"]).variance > 0


def test_a_mapping_and_a_table_are_one_model():
    counts = simulated(noisy(ghz(2)), BASES, 100)
    words = [f"{k:02b}" for k in range(4)]
    mapping = {
        basis: {word: int(k) for word, k in zip(words, row, strict=True) if k}
        for basis, row in zip(BASES, counts, strict=True)
    }
    table, mapped = state_tomography(counts, BASES), state_tomography(mapping)
    assert np.array_equal(table.counts, mapped.counts)
    assert table.A.bases == mapped.A.bases


def test_equal_bases_add_their_counts_up():
    counts = simulated(noisy(ghz(2)), BASES, 100)
    twice = state_tomography(np.vstack([counts, counts]), BASES + BASES)
    assert np.array_equal(twice.counts, 2.0 * state_tomography(counts, BASES).counts)


def test_effects_and_the_bases_they_come_from_agree():
    counts = simulated(noisy(ghz(2)), BASES, 80)
    by_bases = state_tomography(counts, BASES)
    rows = [by_bases.A.adjoint(e).dense for e in np.eye(by_bases.A.size)]
    effects = np.array([R[::2, ::2] + 1j * R[1::2, ::2] for R in rows]).reshape(9, 4, 4, 4)
    by_effects = state_tomography(counts, effects)
    one, other = (condal.solve(model, tol=1e-6).objective for model in (by_bases, by_effects))
    assert one == pytest.approx(other, abs=2e-6)


def test_effects_of_any_rank_form_a_povm():
    E = np.diag([1.0, 1.0, 0.0]).astype(complex)
    model = state_tomography([30, 70], np.array([E, np.eye(3) - E]))
    state = model.state(condal.solve(model, tol=1e-8))
    assert np.trace(E @ state.rho).real == pytest.approx(0.3, abs=1e-3)


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-3])
@pytest.mark.parametrize("seed", range(3))
def test_bounds_on_the_fidelity_hold_the_fidelity_of_the_minimiser(tol, seed):
    t = ghz(2)
    model = state_tomography(simulated(noisy(t), BASES, 60, seed), BASES)
    low, high = model.fidelity_bounds(condal.solve(model, tol=tol), t)
    exact = model.state(condal.solve(model, tol=1e-9)).fidelity(t)
    assert low - 1e-4 <= exact <= high + 1e-4  # `exact` is so to sqrt(1e-9), about
    assert high - low < 1


def test_bases_that_do_not_determine_a_fidelity_bound_nothing():
    t = ghz(2)
    model = state_tomography(simulated(noisy(t), ["ZZ"], 60), ["ZZ"])
    result = condal.solve(model, tol=1e-3)
    assert model.fidelity_bounds(result, t) == (0.0, 1.0)
    low, high = model.fidelity_bounds(result, [1, 0, 0, 0])
    assert 0 < low < high < 1


def test_fidelities_of_known_states():
    model = state_tomography({"X": {"0": 1, "1": 1}, "Y": {"0": 1, "1": 1}, "Z": {"0": 1}})
    state = model.state(condal.solve(model, tol=1e-8))
    assert state.fidelity([1, 0]) == pytest.approx(1.0, abs=1e-3)
    assert state.fidelity([2, 0]) == pytest.approx(state.fidelity([1, 0]))
    assert state.fidelity(np.eye(2) / 2) == pytest.approx(0.5, abs=1e-2)
    assert state.fidelity(state.rho) == pytest.approx(1.0, abs=1e-6)
    assert repr(state) == f"State(dimension=2, purity={state.purity:.4g})"


TWO = np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])


@pytest.mark.parametrize(
    ("counts", "measurements", "message"),
    [
        ([[1, -2]], ["X"], r"negative; got -2 at \[0, 1\]"),
        ([[1, 2, 3]], ["X"], "a row for each of the 1 bases and a column for each of the 2"),
        ([[0, 0], [1, 1]], ["X", "Y"], "setting 0 has no counts"),
        ([[1, 1]], ["Q"], "one letter X, Y or Z"),
        ([1, 2], None, "a mapping from each basis"),
        ({"X": {"2": 1}}, None, "has 1 bits, such as '0'; got '2'"),
        ({"X": {"0": "many"}}, None, "is no number"),
        ({"X": 3}, None, "must be a mapping"),
        ({}, None, "no basis"),
        ([1, 2], TWO[:, :1], "an array of shape"),
        ([1, 2], 2 * TWO, "add up to the identity"),
        ([1, 2, 3], TWO, "a number for each of 1 x 2 effects"),
        ([1, 2], np.array([np.diag([2.0, 0.0]), np.diag([-1.0, 1.0])]), "positive semidefinite"),
    ],
)
def test_bad_input_is_refused(counts, measurements, message):
    with pytest.raises(ProblemError, match=message):
        state_tomography(counts, measurements)


def test_bad_options_and_targets_are_refused():
    with pytest.raises(ProblemError, match="'squares' or 'likelihood'; got 'l1'"):
        state_tomography([[1, 1]], ["X"], loss="l1")
    with pytest.raises(ProblemError, match="background"):
        state_tomography([[1, 1]], ["X"], background=0.0)
    with pytest.raises(ProblemError, match="l1 must be"):
        state_tomography([[1, 1]], ["X"], l1=-1.0)
    with pytest.raises(ProblemError, match="trace_penalty is for the loss 'squares'"):
        state_tomography([[1, 1]], ["X"], loss="likelihood", trace_penalty=1.0)
    model = state_tomography([[1, 1]], ["X"])
    result = condal.solve(model)
    with pytest.raises(ProblemError, match="a vector of 2 finite numbers"):
        model.state(result).fidelity([1, 2, 3])
    with pytest.raises(ProblemError, match="must not be 0"):
        model.state(result).fidelity([0, 0])
    with pytest.raises(ProblemError, match="takes a pure state"):
        model.fidelity_bounds(result, np.eye(2))
    with pytest.raises(ProblemError):
        model.state(condal.solve(max_cut(np.ones((3, 3)) - np.eye(3))))
