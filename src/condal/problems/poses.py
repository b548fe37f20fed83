"""Relative poses, as they are measured, and poses, as they are estimated."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.problems.answers import Answer, Figures, Picture, Rows, bounded_text
from condal.runtime.arguments import describe, finite_array, whole_numbers
from condal.runtime.text import number

PAIRS = "pairs (i, j) of vertices, whole numbers from 0, one for each measurement"
ROTATION_TOLERANCE = 1e-4  # how far R'R may be from the identity


@dataclass(frozen=True, eq=False)
class RelativePoses:
    r"""Noisy measurements of the poses of vertices relative to each other, in SE(2) or SE(3).

    Measurement k says that vertex j has the rotation :math:`\tilde R` and the translation
    :math:`\tilde t` in the frame of vertex i: :math:`R_j \approx R_i \tilde R` and
    :math:`t_j \approx t_i + R_i \tilde t`.

    Parameters
    ----------
    edges : array_like of int, of shape (m, 2)
        The vertices i and j of each measurement, from 0.
    rotations : array_like of shape (m, d, d)
        The measured rotations, with d = 2 or 3.
    translations : array_like of shape (m, d), optional
        The measured translations; without them only rotations are measured.
    kappa : array_like of shape (m,) or float, optional
        The concentration of each rotation, positive; 1 by default.
    tau : array_like of shape (m,) or float, optional
        The precision of each translation, positive; 1 by default.
    """

    edges: Any
    rotations: Any = field(repr=False)
    translations: Any = field(default=None, repr=False)
    kappa: Any = field(default=1.0, repr=False)
    tau: Any = field(default=1.0, repr=False)

    def __post_init__(self) -> None:
        edges, rotations = _edges(self.edges), finite_array(self.rotations, "rotations", ndim=3)
        m, d = len(edges), rotations.shape[-1]
        if rotations.shape not in ((m, 2, 2), (m, 3, 3)):
            raise ProblemError(
                f"rotations must have the shape ({m}, 2, 2) or ({m}, 3, 3), one matrix for each of "
                f"the {m} edges; got {rotations.shape}"
            )
        _require_rotations(rotations)
        checked: dict[str, Any] = {"edges": edges, "rotations": rotations}
        checked["kappa"] = _weights(self.kappa, m, "kappa")
        if self.translations is not None:
            translations = finite_array(self.translations, "translations", ndim=2)
            if translations.shape != (m, d):
                raise ProblemError(
                    f"translations must have the shape ({m}, {d}), as the rotations have; got "
                    f"{translations.shape}"
                )
            checked |= {"translations": translations, "tau": _weights(self.tau, m, "tau")}
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        _require_connected(edges, self.n)

    def __repr__(self) -> str:
        return f"RelativePoses(d={self.d}, n={self.n}, m={self.m})"

    @property
    def d(self) -> int:
        """2 in the plane, 3 in space."""
        return int(self.rotations.shape[-1])

    @property
    def m(self) -> int:
        """The number of measurements."""
        return len(self.edges)

    @cached_property
    def n(self) -> int:
        """The number of vertices."""
        return int(self.edges.max()) + 1

    def cost(self, rotations: Array, translations: Array | None = None) -> float:
        r"""Return the cost of rotations and translations of the vertices.

        .. math:: \sum \kappa |R_j - R_i \tilde R|_F^2 + \tau |t_j - t_i - R_i \tilde t|^2
        """
        i, j = self.edges.T
        R = rotations
        total = float(self.kappa @ _squares(R[j] - R[i] @ self.rotations))
        if self.translations is not None and translations is not None:
            moved = np.einsum("kab,kb->ka", R[i], self.translations)
            total += float(self.tau @ _squares(translations[j] - translations[i] - moved))
        return total


@dataclass(frozen=True, eq=False)
class Poses(Answer):
    """Poses of the vertices, determined up to one motion of all, with a proved bound.

    The first vertex is at the origin, and its axes are the coordinate axes.

    Attributes
    ----------
    cost : float
        The cost of the poses, as `RelativePoses.cost` defines it.
    bound : float
        A proved lower bound on the cost of all poses.
    rotations : ndarray of shape (n, d, d)
        The rotation of each vertex.
    translations : ndarray of shape (n, d) or None
        The position of each vertex; None where only rotations were measured.
    """

    cost: float
    bound: float
    rotations: Array
    translations: Array | None = None
    model: Any = None

    none_text = "no poses cost less"

    def picture(self) -> Picture:
        from condal.report import pictures

        if self.translations is None:
            raise ProblemError("these poses are rotations without positions: nothing to draw")
        return pictures.trajectory(
            self.translations,
            self.model.measurements.edges,
            "The trajectory: the positions of all poses, and the measurements between them.",
        )

    def rows(self) -> Rows:
        measured = self.model.measurements
        kind = f"SE({measured.d}), from {measured.m:,} relative poses"
        cost = f"{number(self.cost)}, the weighted squares of the residuals"
        return [("poses", f"{measured.n:,} in {kind}"), ("cost", cost)]

    def proved(self) -> Rows:
        gap = f"within {self.optimality_gap:.2g} of the global optimum, relative to the cost"
        return [*super().proved(), ("quality", f"the cost is {gap}")]

    def figures(self) -> Figures:
        gap = self.optimality_gap if np.isfinite(self.bound) else None
        return {"cost": self.cost, "poses": len(self.rotations), "optimality_gap": gap}

    @property
    def optimality_gap(self) -> float:
        """(cost - bound) / max(1, cost): how far the poses can be from optimal."""
        return max(self.cost - self.bound, 0.0) / max(1.0, self.cost)

    def rotation_error(self, rotations: Any) -> float:
        """Return the root mean square angle to other rotations, in radians, after the best turn.

        Parameters
        ----------
        rotations : array_like of shape (n, d, d)
            The other rotations, such as the true ones.

        Returns
        -------
        float
            0 for rotations that differ by one rotation from the left.
        """
        others = finite_array(rotations, "rotations", ndim=3)
        if others.shape != self.rotations.shape:
            wanted = self.rotations.shape
            raise ProblemError(f"wanted rotations of the shape {wanted}; got {others.shape}")
        turn = nearest_rotations(np.einsum("kab,kcb->ac", others, self.rotations)[None])[0]
        # In the plane and in space, |R - S|_F^2 = 8 sin^2 of half the angle between them.
        sines = np.sqrt(_squares(turn @ self.rotations - others) / 8)
        angles = 2 * np.arcsin(np.minimum(sines, 1.0))
        return float(np.sqrt(np.mean(angles**2)))

    def __repr__(self) -> str:
        return bounded_text(self, f"n={len(self.rotations)}")


def nearest_rotations(matrices: Array) -> Array:
    """Return the nearest rotation to each matrix, of determinant 1."""
    U, _, Vt = np.linalg.svd(matrices)
    U[..., -1] *= np.where(np.linalg.det(U @ Vt) < 0, -1.0, 1.0)[..., None]
    return np.asarray(U @ Vt)


def _edges(given: Any) -> Indices:
    edges = whole_numbers(given, "edges", PAIRS, shape=(None, 2), below=np.inf)
    if len(edges) == 0:
        raise ProblemError(f"edges must be {PAIRS}; got none")
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if loops.size:
        raise ProblemError(
            f"measurement {loops[0]} is of vertex {edges[loops[0], 0]} relative to itself; leave "
            "it out"
        )
    return edges


def _weights(given: Any, m: int, name: str) -> Array:
    weights = finite_array(given, name)
    weights = np.full(m, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (m,) or not np.all(weights > 0):
        raise ProblemError(
            f"{name} must be a positive number, or one for each of the {m} measurements; got "
            f"{describe(given)}"
        )
    return weights


def _require_rotations(rotations: Array) -> None:
    d = rotations.shape[-1]
    off = np.abs(rotations @ rotations.transpose(0, 2, 1) - np.eye(d)).max(axis=(1, 2))
    wrong = np.flatnonzero((off > ROTATION_TOLERANCE) | (np.linalg.det(rotations) < 0))
    if wrong.size:
        raise ProblemError(
            f"rotations[{wrong[0]}] is not a rotation: its columns must be orthonormal and its "
            "determinant 1; project it, for example with scipy.spatial.transform.Rotation"
        )


def _require_connected(edges: Indices, n: int) -> None:
    ones = np.ones(len(edges))
    graph = sp.coo_array((ones, (edges[:, 0], edges[:, 1])), (n, n))
    count, labels = connected_components(graph, directed=False)
    if count > 1:
        apart = int(np.flatnonzero(labels != labels[0])[0])
        raise ProblemError(
            f"the measurements must connect all vertices; got {count} connected components: "
            f"nothing relates vertex {apart} to vertex 0; solve each component by itself, or add a "
            "measurement between them"
        )


def _squares(a: Array) -> Array:
    return np.asarray((a * a).reshape(len(a), -1).sum(axis=1))
