"""Models with a known truth, and the methods that are written for them alone: ratings with a test
set, signals from intensities, quantum states, and pose graphs that robots recorded."""

from __future__ import annotations

import csv
import lzma
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import condal
from condal.io.formats import read_g2o
from condal.maps import PauliProbabilities
from condal.maps.diffraction import CodedDiffraction
from condal.problem import Problem
from condal.problems import pose_graph, state_tomography
from condal.problems.completed import Completed
from condal.problems.completion import MatrixCompletion, matrix_completion
from condal.problems.models import factor_of
from condal.problems.phases import PhaseRetrieval, Signal, phase_retrieval
from condal.problems.tomography import StateTomography
from condal.result import Result
from condal_lab.bench import written
from condal_lab.bench.cases import BenchCase, Quality, Written
from condal_lab.bench.peers.peer import Refusal
from condal_lab.bench.specialised import (
    projected_least_squares,
    r_rho_r,
    soft_impute,
    wirtinger_flow,
)

if TYPE_CHECKING:
    from condal_lab.bench.peers.peer import PeerAnswer

TEST_SHARE = 0.1
MASKS = 12  # of a coded diffraction
LOST = 0.05  # of the copies of a state: they are in the mixed state
POSES = 1e-6  # the gap to be proved, as roboticists ask for
GRAPHS = ("CSAIL", "intel", "manhattan", "sphere2500", "torus3D", "parking-garage")
SPECIAL = "against methods for the application"


@dataclass(frozen=True, eq=False)
class Ratings:
    """Known entries, split into a training and a test set.

    The model of the training set is built when its problem is first needed, so the time of a solve
    includes the choice of the radius.
    """

    shape: tuple[int, int]
    train: tuple[Any, Any, Any] = field(repr=False)
    test: tuple[Any, Any, Any] = field(repr=False)

    @classmethod
    def split(cls, shape: tuple[int, int], i: Any, j: Any, v: Any) -> Ratings:
        """Hold out a tenth as a test set."""
        out = np.random.default_rng(1).random(v.size) < TEST_SHARE
        return cls(shape, (i[~out], j[~out], v[~out]), (i[out], j[out], v[out]))

    @cached_property
    def model(self) -> MatrixCompletion:
        """The model of the training set, with the radius that predicts best."""
        return matrix_completion(*self.train, shape=self.shape)

    @property
    def problem(self) -> Problem:
        return self.model.problem

    def test_error(self, answer: PeerAnswer) -> float:
        """Return the root-mean-square error of an answer's predictions of the test set."""
        i, j, v = self.test
        predicted, x = answer.recovered, cast(Any, answer.x)
        if predicted is None:
            predicted = Completed(x, self.model.effects).entries(i, j)
        return float(np.sqrt(np.mean((predicted - v) ** 2)))


@dataclass(frozen=True, eq=False)
class KnownSignal:
    """A phase retrieval whose signal is known."""

    model: PhaseRetrieval
    masks: Any = field(repr=False)
    truth: Any = field(repr=False)

    @property
    def problem(self) -> Problem:
        return self.model.problem

    def signal_error(self, answer: PeerAnswer) -> float:
        """Return the relative distance of the leading eigenvector of x from the signal."""
        found = answer.recovered
        if found is None:
            found = self.model.leading(answer.x)
        elif np.ndim(found) == 2:
            values, vectors = np.linalg.eigh(found)
            found = vectors[:, -1] * np.sqrt(max(values[-1], 0.0))
        return Signal(np.asarray(found), 0.0).error(self.truth)


@dataclass(frozen=True, eq=False)
class KnownState:
    """A tomography of a state that is nearly pure."""

    model: StateTomography
    target: Any = field(repr=False)

    @property
    def problem(self) -> Problem:
        return self.model.problem

    def fidelity(self, answer: PeerAnswer) -> float:
        """Return the fidelity of the density matrix of an answer to the pure state."""
        rho = answer.recovered
        if rho is None:
            R = factor_of(cast(Any, answer.x))
            rho = R @ R.conj().T / np.linalg.norm(R) ** 2
        return float(np.vdot(self.target, rho @ self.target).real)


def star_ratings(m: int, n: int, known: int, rank: int = 10) -> tuple[Any, ...]:
    """Draw ratings in half stars: user and item effects, low rank and noise, none twice."""
    rng = np.random.default_rng(0)
    users, items = rng.gamma(0.7, size=m), rng.gamma(0.5, size=n)
    drawn = np.zeros(0, dtype=np.int64)
    while drawn.size < known:
        i = rng.choice(m, 2 * known, p=users / users.sum())
        drawn = np.union1d(drawn, i * n + rng.choice(n, 2 * known, p=items / items.sum()))
    i, j = np.divmod(np.sort(rng.choice(drawn, known, replace=False)), n)
    U, V = (
        rng.standard_normal((m, rank)) * np.geomspace(1, 0.3, rank),
        rng.standard_normal((n, rank)),
    )
    v = 3.5 + 0.4 * rng.standard_normal(m)[i] + 0.5 * rng.standard_normal(n)[j]
    v += 0.25 * np.einsum("kr,kr->k", U[i], V[j]) + 0.8 * rng.standard_normal(known)
    return (m, n), i, j, np.clip(np.rint(2 * v) / 2, 0.5, 5)


def noisy_entries(n: int, known: int, rank: int = 10, noise: float = 0.5) -> MatrixCompletion:
    """Draw entries of an n x n matrix of low rank and variance 1, plus noise.

    The radius is the nuclear norm of the matrix.
    """
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((2, n, rank)) / rank**0.25
    i, j = np.divmod(np.sort(rng.choice(n * n, known, replace=False)), n)
    v = np.einsum("kr,kr->k", U[i], V[j]) + noise * rng.standard_normal(known)
    cores = np.linalg.qr(U)[1] @ np.linalg.qr(V)[1].T
    radius = float(np.linalg.svd(cores, compute_uv=False).sum())
    return matrix_completion(i, j, v, shape=(n, n), radius=radius, effects=False)


def diffraction(side: int, noise: float = 0.0) -> KnownSignal:
    """Draw a complex image seen through random octanary masks; noise is relative."""
    rng = np.random.default_rng(0)
    n, many = side * side, (MASKS, side, side)
    turns = np.array([1, -1, 1j, -1j])[rng.integers(0, 4, many)]
    masks = turns * np.where(rng.random(many) < 0.8, np.sqrt(0.5), np.sqrt(3))
    u = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    b = np.abs(CodedDiffraction(masks).matvec(u)) ** 2
    if noise:
        b = np.maximum(0.0, b * (1 + noise * rng.standard_normal(b.size)))
    return KnownSignal(phase_retrieval(b, masks=masks), masks, u)


def movielens(path: Path) -> tuple[Any, ...]:
    """Read ml-latest-small."""
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        rows = [line[:3] for line in csv.reader(file)][1:]
    table = np.array(rows, dtype=np.float64)
    users, i = np.unique(table[:, 0], return_inverse=True)
    films, j = np.unique(table[:, 1], return_inverse=True)
    return (users.size, films.size), i, j, table[:, 2]


def simulated(qubits: int, shots: int, bases: int, loss: Any) -> KnownState:
    """Draw counts of (|0...0> + |1...1>) / sqrt(2) in some Pauli bases; 0 for all."""
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
    counts = rng.multinomial(shots, p / p.sum(axis=1, keepdims=True))
    return KnownState(state_tomography(counts, words, loss=loss), target)


def projected(model: StateTomography) -> Any:
    """Return the nearest state to the matrix whose means of products of Paulis were measured."""
    A: Any = model.A
    measured = A.measured[A.measured > 0]
    means = A.compress(model.counts / model.shots) / measured
    return projected_least_squares(_complex(A.compressed.adjoint(means).dense))


def iterated(model: StateTomography, tol: float) -> Any:
    """Return the state of the iteration R rho R."""
    A: Any = model.A
    background = model.background / model.dimension
    return r_rho_r(
        tol,
        A.probabilities,
        lambda y: _complex(A.adjoint(y).dense),
        model.counts,
        background,
        model.dimension,
    )


def _complex(real: Any) -> Any:
    return real[::2, ::2] + 1j * real[1::2, ::2]


def _phase(side: int) -> Written:
    known = diffraction(side)
    b, a = known.model.b, CodedDiffraction(known.masks)
    trace = known.model.trace / float(a.frame.min())
    solvers = {"Wirtinger flow": lambda model, tol: wirtinger_flow(a, b, known.truth)}
    solvers |= written.engines(("SCS",), written.lifted_signal, a, b, trace)
    return Written(known, solvers, True)


def ratings(known: Ratings) -> Written:
    """Return ratings with soft-impute, which chooses its penalty as condal its radius."""
    predict = partial(soft_impute, known.shape, known.train, known.test[:2])
    return Written(known, {"soft-impute": lambda model, tol: predict()}, True)


def _state(qubits: int, shots: int, bases: int, loss: Any) -> Written:
    known = simulated(qubits, shots, bases, loss)
    if loss == "squares":
        return Written(
            known, {"projected least squares": lambda _, tol: projected(known.model)}, True
        )

    def from_squares(model: Any, tol: float) -> Result:
        """Start the likelihood from the squares."""
        first = condal.solve(known.model.least_squares)
        return condal.solve(known.model, tol=tol, warm_start=first)

    solvers = {"R rho R": lambda _, tol: iterated(known.model, tol), "condal": from_squares}
    return Written(known, solvers, True)


def _poses(path: Path) -> Written:
    def se_sync(model: Any, tol: float) -> float:
        program = os.environ.get("SE_SYNC")
        if program is None:
            raise Refusal("SE_SYNC does not name a program built from se_sync.cpp")
        with tempfile.NamedTemporaryFile(suffix=".g2o") as unpacked:
            unpacked.write(lzma.decompress(path.read_bytes()))
            unpacked.flush()
            done = subprocess.run([program, unpacked.name], capture_output=True, check=True)
        return float(done.stdout)

    return Written(pose_graph(read_g2o(path).measurements), {"SE-Sync": se_sync})


def case(
    name: str, title: str, tol: float, *solvers: str, group: str = SPECIAL, **settings: Any
) -> BenchCase:
    """Return an instance that brings its solvers."""
    facts = {"build": None, **settings}
    return BenchCase(name, title, tol, peers=(), yardsticks=solvers, group=group, **facts)


SIGNAL = Quality("distance from the signal", lambda model, answer: model.signal_error(answer))
TEST_ERROR = Quality("test RMSE", Ratings.test_error)
FIDELITY = Quality("fidelity", KnownState.fidelity)
CASES = (
    *(
        case(
            f"phase-{n}",
            f"phase retrieval, n = {n:,}",
            1e-3,
            "Wirtinger flow",
            "SCS",
            build=partial(_phase, round(n**0.5)),
            quality=SIGNAL,
        )
        for n in (64, 256, 10_000)
    ),
    case(
        "ratings",
        "ratings, 1,000 x 1,700",
        1e-3,
        "soft-impute",
        build=lambda: ratings(Ratings.split(*star_ratings(1000, 1700, 100_000))),
        quality=TEST_ERROR,
    ),
    case(
        "movielens",
        "ml-latest-small, 610 x 9,724",
        1e-3,
        "soft-impute",
        needs="MovieLens",
        read=lambda path: ratings(Ratings.split(*movielens(path))),
        quality=TEST_ERROR,
    ),
    *(
        case(name, f"pose graph {name}", POSES, "SE-Sync", needs=name, read=_poses)
        for name in GRAPHS
    ),
    *(
        case(
            name,
            f"{loss}, {qubits} qubits, {bases or 3**qubits:,} bases",
            1e-3,
            solver,
            build=partial(_state, qubits, 100, bases, loss),
            quality=FIDELITY,
        )
        for name, qubits, bases, loss, solver in (
            ("state-8", 8, 0, "squares", "projected least squares"),
            ("state-8-random", 8, 1000, "squares", "projected least squares"),
            ("state-8-likelihood", 8, 1000, "likelihood", "R rho R"),
            ("state-10", 10, 2000, "squares", "projected least squares"),
        )
    ),
)
