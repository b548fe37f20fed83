"""Models with a known truth: ratings with a test set, signals from noisy intensities."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from condal.maps.diffraction import CodedDiffraction
from condal.problem import Problem
from condal.problems.completed import Completed
from condal.problems.completion import MatrixCompletion, matrix_completion
from condal.problems.phases import PhaseRetrieval, Signal, phase_retrieval

if TYPE_CHECKING:
    from condal_lab.bench.peers.peer import PeerAnswer

TEST_SHARE = 0.1
MASKS = 12  # of a coded diffraction


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
        return Signal(self.model.leading(answer.x), 0.0).error(self.truth)


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
