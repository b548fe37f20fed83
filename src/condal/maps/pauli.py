r"""Probabilities of the outcomes of qubits that are measured in Pauli bases.

With :math:`r_P = \operatorname{tr}(P x)` for each product P of Pauli matrices, the probabilities of
a basis are a Walsh-Hadamard transform of the :math:`r_P` whose letters are I or those of the basis.
All of them cost a few additions per outcome and qubit, whatever the rank of x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.lifting import complex_vectors, hermitian_point, real_matrix
from condal.linalg.points import Array, Indices, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import BasicMap

LETTERS = "XYZ"
MAX_QUBITS = 11  # the real form of x then has a side of 4,096


@dataclass(frozen=True, eq=False)
class PauliProbabilities(BasicMap):
    r"""The probabilities :math:`\langle o | x | o \rangle` of all outcomes o of some Pauli bases.

    Each basis measures every qubit along X, Y or Z and has :math:`2^q` outcomes. The bits of an
    outcome belong to the qubits, the first qubit first, and 0 stands for the eigenvalue 1. x is a
    density matrix: Hermitian, psd, of trace 1.

    Parameters
    ----------
    bases : sequence of str
        One letter X, Y or Z per qubit, such as "XZY"; no basis twice.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import PauliProbabilities
    >>> A = PauliProbabilities(["X", "Z"])
    >>> A.probabilities(np.array([[1.0, 0.0], [0.0, 0.0]]))
    array([0.5, 0.5, 1. , 0. ])
    """

    bases: Sequence[str]

    def __post_init__(self) -> None:
        words = tuple([self.bases] if isinstance(self.bases, str) else self.bases)
        _check(words)
        object.__setattr__(self, "bases", words)

    @property
    def qubits(self) -> int:
        """The number of qubits."""
        return len(self.bases[0])

    @property
    def side(self) -> int:
        """The side of x: 2^qubits."""
        return int(2**self.qubits)

    @property
    def size(self) -> int:
        return len(self.bases) * self.side

    @property
    def norm(self) -> float:
        """The image of I is the largest: A A* has a 1 for each basis; sqrt(2) for the real form."""
        return float(np.sqrt(2.0 * len(self.bases)))

    @property
    def terms(self) -> int:
        """Each stage of a transform rounds once; a coefficient sums over the bases."""
        return len(self.bases) + 4 * self.qubits + 8

    def row_norms(self) -> Array:
        return np.full(self.size, np.sqrt(2.0))

    def as_matrix(self) -> Any | None:
        return None

    def __call__(self, x: Point) -> Array:
        return self.probabilities(_hermitian(x))

    def probabilities(self, rho: Any) -> Array:
        """Return the probabilities of a Hermitian matrix, basis by basis."""
        each = self.coefficients(rho)[self._strings]
        return np.asarray(_walsh_hadamard(each).ravel() / self.side)

    def coefficients(self, rho: Any) -> Array:
        """Return tr(P rho) for each product P of I, X, Y and Z, the first qubit first."""
        return _pauli_coefficients(np.asarray(rho, dtype=np.complex128))

    @cached_property
    def measured(self) -> Indices:
        """The number of bases that measure each product of I, X, Y and Z."""
        return np.bincount(self._strings.ravel(), minlength=self.side**2)

    def adjoint(self, y: Array) -> Symmetric:
        return _adjoint(self._sums(y) / self.side)

    @property
    def compressed(self) -> CompressedProbabilities:
        """A map whose images have the same inner products, with a row per measured product."""
        return CompressedProbabilities(self.qubits, self.measured)

    def compress(self, y: Array) -> Array:
        """Return the image c of `compressed` for which |Ax - y|^2 - |compressed(x) - c|^2 is least.

        The difference does not depend on x: it is the squared distance from y to the range of A.
        """
        measured = self.measured[self.measured > 0]
        means = self._sums(y)[self.measured > 0] / measured
        return np.asarray(means * np.sqrt(measured / self.side))

    def _sums(self, y: Array) -> Array:
        """Return, for each product of Paulis, the sum of its means over the bases, one per basis.

        y holds the frequencies of the outcomes, and the mean of a product of Paulis is that of its
        eigenvalue, 1 or -1.
        """
        d = self.side
        means = _walsh_hadamard(y.reshape(-1, d))
        sums = np.bincount(self._strings.ravel(), means.ravel(), minlength=d * d)
        return np.asarray(sums, dtype=np.float64)

    @cached_property
    def _strings(self) -> Indices:
        """For each basis and set of qubits, the product of its letters on them, in base 4."""
        powers = 4 ** np.arange(self.qubits)[::-1]
        letters = np.array([[1 + LETTERS.index(c) for c in word] for word in self.bases])
        subsets = (np.arange(self.side)[:, None] >> np.arange(self.qubits)[::-1]) & 1
        return np.asarray((letters * powers) @ subsets.T)


@dataclass(frozen=True, eq=False)
class CompressedProbabilities(BasicMap):
    r"""The map :math:`x \mapsto \sqrt{n_P / d} \operatorname{tr}(P x)` over measured products P.

    With :math:`n_P` bases that measure P, its images have the inner products of those of
    `PauliProbabilities`, but all bases of 8 qubits have 65,536 products for 1,679,616 outcomes.

    Parameters
    ----------
    qubits : int
        The number of qubits.
    measured : ndarray of int
        For each of the 4^qubits products, the number of bases that measure it.
    """

    qubits: int
    measured: Indices

    @property
    def size(self) -> int:
        return self._products.size

    @property
    def norm(self) -> float:
        """As of the probabilities: the image of I is the largest; sqrt(2) for the real form."""
        return float(np.sqrt(2.0 * self.measured.max()))

    @property
    def terms(self) -> int:
        return 4 * self.qubits + 8

    def row_norms(self) -> Array:
        return np.asarray(np.sqrt(2.0 * self.measured[self._products]))

    def as_matrix(self) -> Any | None:
        return None

    def __call__(self, x: Point) -> Array:
        coefficients = _pauli_coefficients(_hermitian(x))
        return np.asarray(self._factors * coefficients[self._products])

    def adjoint(self, y: Array) -> Symmetric:
        coefficients = np.zeros(self.measured.size)
        coefficients[self._products] = self._factors * y
        return _adjoint(coefficients)

    @cached_property
    def _products(self) -> Indices:
        return np.flatnonzero(self.measured)

    @cached_property
    def _factors(self) -> Array:
        return np.sqrt(self.measured[self._products] / 2.0**self.qubits)


def _hermitian(x: Point) -> Any:
    """Return the complex matrix of a point of a real form."""
    if isinstance(x, LowRank):
        U = complex_vectors(x.U)
        return (U * x.weights) @ U.conj().T
    return hermitian_point(x)


def _adjoint(coefficients: Array) -> Symmetric:
    """Return the sum of c_P P, as an operator on the real form."""
    matrix = real_matrix(_matrix_of(coefficients))
    return Symmetric(len(matrix), dense=matrix)


def _walsh_hadamard(rows: Array) -> Array:
    """Return the sum over j of (-1)^popcount(i & j) rows[:, j], for each i."""
    count, d = rows.shape
    half = 1
    while half < d:
        pairs = rows.reshape(count, -1, 2, half)
        rows = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
        half *= 2
    return rows.reshape(count, d)


def _pauli_coefficients(rho: Any) -> Array:
    q = int(rho.shape[0]).bit_length() - 1
    blocks = rho.reshape((2,) * (2 * q)).transpose([k + q * s for k in range(q) for s in (0, 1)])
    blocks = blocks.reshape(-1)
    for k in range(q):
        a = blocks.reshape(4**k, 4, -1)
        letters = [
            a[:, 0] + a[:, 3],
            a[:, 1] + a[:, 2],
            1j * (a[:, 1] - a[:, 2]),
            a[:, 0] - a[:, 3],
        ]
        blocks = np.stack(letters, axis=1)
    return np.ascontiguousarray(blocks.real).ravel()


def _matrix_of(coefficients: Array) -> Any:
    """Return the sum of c_P P: for d times the coefficients, its inverse."""
    q = (coefficients.size.bit_length() - 1) // 2
    blocks = coefficients.astype(np.complex128)
    for k in range(q):
        c = blocks.reshape(4**k, 4, -1)
        turned = 1j * c[:, 2]
        entries = [c[:, 0] + c[:, 3], c[:, 1] - turned, c[:, 1] + turned, c[:, 0] - c[:, 3]]
        blocks = np.stack(entries, axis=1)
    pairs = blocks.reshape((2,) * (2 * q)).transpose([*range(0, 2 * q, 2), *range(1, 2 * q, 2)])
    return pairs.reshape(2**q, 2**q)


def _check(bases: tuple[str, ...]) -> None:
    if not bases:
        raise ProblemError("there is no basis: give at least one, such as 'XZY'")
    for word in bases:
        if not isinstance(word, str) or not word or set(word) - set(LETTERS):
            raise ProblemError(f"a Pauli basis has one letter X, Y or Z per qubit; got {word!r}")
        if len(word) != len(bases[0]):
            raise ProblemError(
                f"all bases must have one letter per qubit; got {bases[0]!r} and {word!r}"
            )
    if len(bases[0]) > MAX_QUBITS:
        raise ProblemError(f"at most {MAX_QUBITS} qubits fit in memory; got {len(bases[0])}")
    if len(set(bases)) < len(bases):
        twice = next(word for k, word in enumerate(bases) if word in bases[:k])
        raise ProblemError(f"the basis {twice} is given twice: add its counts up")
