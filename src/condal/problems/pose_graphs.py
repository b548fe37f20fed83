"""Rotation synchronisation and pose graph optimisation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.schur import Eliminated, SchurTerm
from condal.linalg.sparse import diagonal_matrix
from condal.linalg.symmetric import Symmetric
from condal.linalg.terms import SparseTerm
from condal.maps.matrices import BlockDiagonal
from condal.problem import Problem
from condal.problems.models import Model, factor_of, leading_factor, point_of
from condal.problems.poses import Poses, RelativePoses, nearest_rotations
from condal.result import Result
from condal.runtime.arguments import describe
from condal.sets.boxes import Equal
from condal.smooth.objectives import Linear

if TYPE_CHECKING:
    from condal.io.formats.g2o import Measurements

EXTRA_RANK = 2  # columns beyond d of the first factor: fewer local minima


@dataclass(frozen=True, eq=False, repr=False)
class PoseGraph(Model):
    r"""The semidefinite relaxation of pose graph optimisation, or of rotation synchronisation [1]_.

    .. math::

        \min_x \; \langle C, x \rangle
        \quad \text{subject to} \quad x_{ii} = I_d, \; x \succeq 0,

    with a d x d block for each pair of vertices. It relaxes: minimise

    .. math:: \sum \kappa |R_j - R_i \tilde R|_F^2 + \tau |t_j - t_i - R_i \tilde t|^2

    over rotations :math:`R_i` and translations :math:`t_i`, with :math:`x_{ij} = R_i^T R_j` and the
    translations eliminated. Its optimum bounds the cost of all poses, and for moderate noise its
    solution has rank d and gives optimal poses. `pose_graph` and `rotation_synchronisation` build
    the model.

    Parameters
    ----------
    measurements : RelativePoses
        The measurements.

    References
    ----------
    .. [1] D. M. Rosen, L. Carlone, A. S. Bandeira and J. J. Leonard, "SE-Sync: a certifiably
       correct algorithm for synchronization over the special Euclidean group", *International
       Journal of Robotics Research* 38, 2019.
    """

    measurements: RelativePoses
    name: str = "pose graph"

    @property
    def n(self) -> int:
        """The number of vertices."""
        return self.measurements.n

    @property
    def d(self) -> int:
        """2 in the plane, 3 in space."""
        return self.measurements.d

    @cached_property
    def problem(self) -> Problem:
        """The relaxation; its domain is tr x = n d."""
        n, d = self.n, self.d
        C = Symmetric(n * d, [SparseTerm(self._rotational), SchurTerm(self._eliminated)])
        identity = np.eye(d)[np.triu_indices(d)]
        return Problem.of(
            f=Linear(C),
            X=Spectrahedron(n * d, float(n * d)),
            A=BlockDiagonal(n, d),
            K=Equal(np.tile(identity, n)),
            repair=self._repair,
            name=self.name,
            rank=d + EXTRA_RANK,
        )

    @cached_property
    def _lever(self) -> Any:
        """The map of rotations to the measured translations: row k is the t' of R_i t'."""
        measured = self.measurements
        return self._blocks(measured.translations[:, None, :], measured.edges[:, 0])

    @cached_property
    def _incidence(self) -> Any:
        """The map of translations to their differences along edges; vertex 0 is at the origin."""
        m, (i, j) = self.measurements.m, self.measurements.edges.T
        signs, rows = np.repeat([1.0, -1.0], m), np.tile(np.arange(m), 2)
        whole = sp.csc_array((signs, (rows, np.concatenate([j, i]))), (m, self.n))
        return sp.csr_array(whole[:, 1:])

    @cached_property
    def _rotational(self) -> Any:
        """The matrix of what does not depend on the translations."""
        measured, d = self.measurements, self.d
        i, j = measured.edges.T
        turned = self._blocks(measured.rotations.transpose(0, 2, 1), i)
        ends = self._blocks(np.repeat(np.eye(d)[None], measured.m, axis=0), j)
        total = _gram(ends - turned, np.repeat(measured.kappa, d))
        if measured.translations is not None:
            total = total + _gram(self._lever, measured.tau)
        return sp.csr_array(0.5 * (total + total.T))

    @cached_property
    def _eliminated(self) -> Eliminated:
        """The rows of the translations, all but that of vertex 0."""
        measured = self.measurements
        if measured.translations is None:
            return Eliminated(sp.csc_array((0, 0)), sp.csc_array((0, self.n * self.d)))
        D = _gram(self._incidence, measured.tau)
        weighted = diagonal_matrix(measured.tau) @ self._lever
        return Eliminated(sp.csc_array(D), sp.csc_array(-(self._incidence.T @ weighted)))

    def _blocks(self, blocks: Array, vertices: Any) -> Any:
        """Return the matrix whose k-th block of rows is the k-th block, at that vertex."""
        m, rows, d = blocks.shape
        whole = sp.bsr_array((blocks, vertices, np.arange(m + 1)), shape=(m * rows, self.n * d))
        return sp.csr_array(whole)

    def _repair(self, x: Point) -> Point:
        """R R' with the polar factors of the blocks of a factor of x."""
        R = factor_of(x)
        R = R if R.shape[1] >= self.d else np.pad(R, ((0, 0), (0, self.d - R.shape[1])))
        U, _, Vt = np.linalg.svd(R.reshape(self.n, self.d, -1), full_matrices=False)
        return LowRank((U @ Vt).reshape(R.shape), np.ones(R.shape[1]))

    def translations(self, rotations: Array) -> Array | None:
        """Return the best translations for the rotations of the vertices, 0 for the first."""
        if self.measurements.translations is None:
            return None
        rows = rotations.transpose(0, 2, 1).reshape(-1, self.d)
        best = self._eliminated.solve(np.asarray(self._eliminated.B @ rows))
        return np.vstack([np.zeros(self.d), -best])

    def round(self, result: Result) -> Poses:
        """Round a solution to poses.

        The blocks of the best factor of rank d become the nearest rotations, and the translations
        are the best ones for these.
        """
        factor = leading_factor(point_of(result, self.n * self.d, self.n * self.d), self.d)
        factor = np.pad(factor, ((0, 0), (0, self.d - factor.shape[1])))
        blocks = factor.reshape(self.n, self.d, self.d)
        if np.linalg.det(blocks).sum() < 0:  # a factor is determined up to a reflection
            blocks = blocks * np.append(np.ones(self.d - 1), -1.0)
        rotations = nearest_rotations(blocks.transpose(0, 2, 1))
        rotations = rotations[0].T @ rotations
        translations = self.translations(rotations)
        cost = self.measurements.cost(rotations, translations)
        return Poses(cost, float(result.bound), rotations, translations, self)


def _gram(a: Any, weights: Array) -> Any:
    """a' Diag(weights) a."""
    return sp.csr_array(a.T @ (diagonal_matrix(weights) @ a))


def pose_graph(
    measurements: RelativePoses | Measurements, *, name: str = "pose graph"
) -> PoseGraph:
    """Return the model of poses from noisy relative poses.

    Parameters
    ----------
    measurements : RelativePoses or Measurements
        The measurements, such as `condal.formats.read_g2o(file).measurements`.

    Raises
    ------
    ProblemError
        If the translations are missing.

    Examples
    --------
    >>> import condal, numpy as np
    >>> turns = np.array([[[0.0, -1.0], [1.0, 0.0]]] * 4)
    >>> edges = [(0, 1), (1, 2), (2, 3), (3, 0)]
    >>> square = condal.problems.RelativePoses(edges, turns, [[1.0, 0.0]] * 4)
    >>> model = condal.problems.pose_graph(square)
    >>> poses = model.round(condal.solve(model, tol=1e-6))
    >>> np.round(poses.translations, 3) + 0.0
    array([[0., 0.],
           [1., 0.],
           [1., 1.],
           [0., 1.]])
    """
    if isinstance(measurements, tuple) and hasattr(measurements, "_fields"):
        measurements = RelativePoses(*measurements)
    if not isinstance(measurements, RelativePoses):
        raise ProblemError(f"wanted RelativePoses; got {describe(measurements)}")
    if measurements.translations is None:
        raise ProblemError(
            "the measurements have no translations: give them, or call rotation_synchronisation"
        )
    return PoseGraph(measurements, name)


def rotation_synchronisation(
    edges: Any, rotations: Any, weights: Any = 1.0, *, name: str = "rotation synchronisation"
) -> PoseGraph:
    r"""Return the model of rotations from noisy relative rotations, in SO(2) or SO(3).

    Parameters
    ----------
    edges : array_like of int, of shape (m, 2)
        The vertices i and j of each measurement, from 0.
    rotations : array_like of shape (m, d, d)
        The measured :math:`R_i^T R_j`, with d = 2 or 3.
    weights : array_like of shape (m,) or float, optional
        The weight of each measurement, positive; 1 by default.

    Raises
    ------
    ProblemError
        If the measurements do not fit each other, or do not connect all vertices.

    Examples
    --------
    >>> import condal, numpy as np
    >>> turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    >>> model = condal.problems.rotation_synchronisation([(0, 1), (1, 2)], [turn, turn])
    >>> poses = model.round(condal.solve(model, tol=1e-6))
    >>> np.round(poses.rotations[2], 3) + 0.0
    array([[-1.,  0.],
           [ 0., -1.]])
    """
    return PoseGraph(RelativePoses(edges, rotations, kappa=weights), name)
