"""Quantum states and pose graphs: counts that are simulated, files that robots recorded."""

from __future__ import annotations

import lzma
import os
import subprocess
import tempfile
from itertools import product
from typing import Any

import numpy as np

import condal
from condal.maps import PauliProbabilities
from condal.problems import pose_graph, state_tomography
from condal.problems.poses import Poses
from condal.problems.tomography import StateTomography
from condal_lab.bench.peers.peer import Refusal
from condal_lab.benchmarks import programs
from condal_lab.benchmarks.instance import DATA, Instance, modelled
from condal_lab.benchmarks.programs import engines
from condal_lab.benchmarks.rivals import projected_least_squares, r_rho_r

LOST = 0.05  # of the copies: they are in the mixed state
POSES = 1e-6  # the gap to be proved, as roboticists ask for
GRAPHS = ("CSAIL", "intel", "manhattan", "sphere2500", "torus3D", "parking-garage")


def recorded_poses(name: str) -> Instance:
    """A public pose graph, from its file to the poses."""
    file = DATA / "g2o" / f"{name}.g2o.xz"
    if not file.is_file():
        raise FileNotFoundError(file)

    def ours(tol: float, max_seconds: float | None = None) -> tuple[Any, Any]:
        model = pose_graph(condal.formats.read_g2o(file).measurements)
        result = condal.solve(model, tol=POSES, max_seconds=max_seconds)
        return model.round(result), result

    def se_sync(eps: float) -> float:
        program = os.environ.get("SE_SYNC")
        if program is None:
            raise Refusal("SE_SYNC does not name a program built from se_sync.cpp")
        with tempfile.NamedTemporaryFile(suffix=".g2o") as unpacked:
            unpacked.write(lzma.decompress(file.read_bytes()))
            unpacked.flush()
            done = subprocess.run([program, unpacked.name], capture_output=True, check=True)
        return float(done.stdout)

    def judge(x: Any) -> dict[str, float]:
        if isinstance(x, Poses):
            return {"value": x.cost, "error": x.optimality_gap}
        return {"value": x}

    title = f"pose graph {name}"
    return Instance(title, ours, {"SE-Sync": se_sync}, judge, POSES, "cost")


def simulated(qubits: int, shots: int, bases: int) -> tuple[Any, list[str], Any]:
    """Return counts, bases and the target (|0...0> + |1...1>) / sqrt(2); 0 for all bases."""
    rng, d = np.random.default_rng(0), 2**qubits
    if bases:
        words = ["".join(word) for word in rng.choice([*"XYZ"], (2 * bases, qubits))]
        words = list(dict.fromkeys(words))[:bases]
    else:
        words = ["".join(word) for word in product("XYZ", repeat=qubits)]
    target = np.zeros(d)
    target[[0, -1]] = np.sqrt(0.5)
    rho = (1 - LOST) * np.outer(target, target) + LOST * np.eye(d) / d
    p = np.maximum(PauliProbabilities(words).probabilities(rho).reshape(-1, d), 0.0)
    return rng.multinomial(shots, p / p.sum(axis=1, keepdims=True)), words, target


def state(qubits: int, shots: int, loss: Any) -> Instance:
    """All Pauli bases of a few qubits, judged by the objective."""
    counts, bases, _ = simulated(qubits, shots, 0)
    model = state_tomography(counts, bases, loss=loss)
    rivals = engines(programs.state(model), "SCS")
    if loss == "likelihood":
        rivals = {"R rho R": lambda eps: r_rho_r(eps, *_likelihood(model)), **rivals}
    title = f"tomography, {qubits} qubits, {loss}"
    return modelled(title, lambda: state_tomography(counts, bases, loss=loss), rivals)


def fidelity(
    qubits: int, shots: int, bases: int, loss: Any = "squares", seconds: float = 120.0
) -> Instance:
    """Many qubits, judged by the fidelity to the target; the likelihood starts from the squares."""
    counts, words, target = simulated(qubits, shots, bases)

    def ours(tol: float, max_seconds: float | None = None) -> tuple[Any, Any]:
        model = state_tomography(counts, words, loss=loss)
        first = condal.solve(model.least_squares) if loss == "likelihood" else None
        result = condal.solve(model, tol=tol, max_seconds=max_seconds, warm_start=first)
        return model.state(result).rho, result

    def projected(eps: float) -> Any:
        return projected_least_squares(_inverted(state_tomography(counts, words)))

    def iterated(eps: float) -> Any:
        return r_rho_r(eps, *_likelihood(state_tomography(counts, words, loss=loss)))

    likelihood = loss == "likelihood"
    return Instance(
        f"{loss}, {qubits} qubits, {bases or 3**qubits:,} bases",
        ours,
        {"R rho R": iterated} if likelihood else {"projected least squares": projected},
        lambda rho: {"value": float(np.vdot(target, rho @ target).real)},
        what="fidelity",
        seconds=seconds,
    )


def _inverted(model: StateTomography) -> Any:
    """Return the matrix, not psd, whose means of products of Paulis are the measured ones."""
    A: Any = model.A
    measured = A.measured[A.measured > 0]
    return _complex(A.compressed.adjoint(A.compress(model.counts / model.shots) / measured).dense)


def _likelihood(model: StateTomography) -> tuple[Any, ...]:
    """Return what R rho R needs: two maps, the counts, the background, and the side of rho."""
    A: Any = model.A
    background = model.background / model.dimension

    def adjoint(y: Any) -> Any:
        return _complex(A.adjoint(y).dense)

    return A.probabilities, adjoint, model.counts, background, model.dimension


def _complex(real: Any) -> Any:
    return real[::2, ::2] + 1j * real[1::2, ::2]
