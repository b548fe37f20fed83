"""Generated programs of the families of SDPLIB that are hard: truss, arch, control and hinf.

Each program is minimise b'z subject to sum_i z_i F_i - F_0 psd, as in SDPA's format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import block_diag
from scipy.optimize import linprog, minimize_scalar

from condal.problems.conic.files import SdpaProblem


@dataclass(frozen=True, eq=False)
class Ground:
    """A ground structure: bars with `directions` (rows, over the free nodes), `lengths`, a load."""

    directions: Any = field(repr=False)
    lengths: Any = field(repr=False)
    load: Any = field(repr=False)

    def compliance(self) -> float:
        """Return the least compliance of volume 1, the square of a linear program's optimum."""
        bars, rows = self.lengths, self.directions.T
        forces = linprog(
            np.concatenate([bars, bars]), A_eq=np.hstack([rows, -rows]), b_eq=self.load
        )
        return float(forces.fun) ** 2


def ground_structure(columns: int, rows: int, *, seed: int | None = None) -> Ground:
    """Bars between nodes at most 2 apart; the left side is fixed, a load pulls at the right.

    A seed moves the nodes and turns the load.
    """
    nodes = np.array([(x, y) for x in range(columns) for y in range(rows)], dtype=float)
    load = np.array([0.0, -1.0])
    if seed is not None:
        rng = np.random.default_rng(seed)
        nodes += rng.uniform(-0.2, 0.2, nodes.shape)
        load = rng.standard_normal(2)
    bars, lengths = [], []
    for i in range(len(nodes)):
        for j in range(i):
            (xi, yi), (xj, yj) = divmod(i, rows), divmod(j, rows)
            near = max(abs(xi - xj), abs(yi - yj)) <= 2 and np.gcd(xi - xj, yi - yj) == 1
            if near and max(i, j) >= rows:
                length = float(np.linalg.norm(nodes[i] - nodes[j]))
                bar = np.zeros((len(nodes), 2))
                bar[i], bar[j] = (nodes[i] - nodes[j]) / length, (nodes[j] - nodes[i]) / length
                bars.append(bar[rows:].ravel())
                lengths.append(length)
    force = np.zeros((len(nodes) - rows, 2))
    force[-1 - rows // 2] = load / np.linalg.norm(load)
    return Ground(np.array(bars), np.array(lengths), force.ravel())


def truss(columns: int, rows: int, *, seed: int) -> SdpaProblem:
    """The displacement form of a truss of volume 1: one block [w, e_i'u / l_i; ., 1] per bar.

    Minimise w - 2 f'u. Its optimum is minus the least compliance.
    """
    ground = ground_structure(columns, rows, seed=seed)
    count, size = ground.directions.shape
    corner, unit = np.diag([1.0, 0.0]), np.diag([0.0, -1.0])
    off = np.array([[0.0, 1.0], [1.0, 0.0]])
    bars = ground.directions / ground.lengths[:, None]
    F = [[unit] * count, [corner] * count]
    F += [[bars[i, k] * off for i in range(count)] for k in range(size)]
    return sdpa_problem(np.concatenate([[1.0], -2 * ground.load]), F, name="truss")


def arch(columns: int, rows: int, *, seed: int) -> SdpaProblem:
    """The lightest truss whose compliance is at most twice the least, with bounds on the bars."""
    ground = ground_structure(columns, rows, seed=seed)
    count = len(ground.lengths)
    f, limit = ground.load[:, None], 2 * ground.compliance()
    stiffness = [
        np.outer(bar, bar) / length**2
        for bar, length in zip(ground.directions, ground.lengths, strict=True)
    ]
    constant = -np.block([[np.array([[limit]]), f.T], [f, np.zeros((f.size, f.size))]])
    bounds = np.concatenate([np.zeros(count), np.full(count, -0.1)])  # t >= 0 and -t >= -0.1
    F: list[list[Any]] = [[constant, bounds]]
    for i, K in enumerate(stiffness):
        e = np.eye(count)[i]
        F.append([block_diag(np.zeros((1, 1)), K), np.concatenate([e, -e])])
    return sdpa_problem(np.ones(count), F, name="arch")


def control(n: int, *, seed: int) -> SdpaProblem:
    """The largest s with [-PA - A'P - C'DC, -PB; -B'P, D] - sI psd and I - P psd, D diagonal."""
    rng = np.random.default_rng(seed)
    A, B, C = (rng.standard_normal((n, n)) for _ in range(3))
    A -= (1 + np.linalg.eigvals(A).real.max()) * np.eye(n)
    C *= 0.5 / peak_gain(A, B, C)  # a gain below 1 makes a positive s feasible
    zero = np.zeros((n, n))
    F: list[list[Any]] = [[np.zeros((2 * n, 2 * n)), -np.eye(n)], [-np.eye(2 * n), zero]]
    for i in range(n):
        for j in range(i, n):
            P = zero.copy()
            P[i, j] = P[j, i] = 1.0
            F.append([np.block([[-P @ A - A.T @ P, -P @ B], [-B.T @ P, zero]]), -P])
    for i in range(n):
        D = np.diag(np.eye(n)[i])
        F.append([block_diag(-C.T @ D @ C, D), zero])
    cost = np.zeros(len(F) - 1)
    cost[0] = -1.0
    return sdpa_problem(cost, F, name="control")


def h_infinity(n: int, *, seed: int) -> SdpaProblem:
    """The least g with [-A'P - PA - C'C, -PB; -B'P, gI] psd and P psd: the peak gain squared."""
    A, B, C = stable_system(n, 2, seed=seed)
    zero, p = np.zeros((n, n)), B.shape[1]
    F: list[list[Any]] = [[block_diag(C.T @ C, np.zeros((p, p))), zero]]
    F.append([block_diag(zero, np.eye(p)), zero])
    for i in range(n):
        for j in range(i, n):
            P = zero.copy()
            P[i, j] = P[j, i] = 1.0
            lemma = np.block([[-A.T @ P - P @ A, -P @ B], [-B.T @ P, np.zeros((p, p))]])
            F.append([lemma, P])
    return sdpa_problem(np.eye(1, len(F) - 1).ravel(), F, name="hinf")


def stable_system(n: int, inputs: int, *, seed: int) -> tuple[Any, Any, Any]:
    """Return A, B, C of a random stable system with poles near the imaginary axis."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    A -= (0.1 + np.linalg.eigvals(A).real.max()) * np.eye(n)
    return A, rng.standard_normal((n, inputs)), rng.standard_normal((inputs, n))


def peak_gain(A: Any, B: Any, C: Any) -> float:
    """Return the largest gain of C (iwI - A)^-1 B over all frequencies w."""
    eye = np.eye(len(A))

    def loss(w: float) -> float:
        return -float(np.linalg.norm(C @ np.linalg.solve(1j * w * eye - A, B), 2))

    grid = np.concatenate([[0.0], np.geomspace(1e-3, 1e3, 4000)])
    losses = np.array([loss(w) for w in grid])
    k = int(np.argmin(losses))
    between = float(grid[max(k - 1, 0)]), float(grid[min(k + 1, len(grid) - 1)])
    best = minimize_scalar(loss, bounds=between, method="bounded", options={"xatol": 1e-12})
    return -min(float(best.fun), float(losses[k]))


def sdpa_problem(b: Any, F: Sequence[Sequence[Any]], *, name: str) -> SdpaProblem:
    """Return the program of matrices F_0, F_1, ..., given block by block; a vector is diagonal."""
    entries: list[tuple[int, int, int, int, float]] = []
    for number, blocks in enumerate(F):
        for place, block in enumerate(blocks):
            full = np.diag(block) if np.ndim(block) == 1 else np.triu(block)
            for i, j in zip(*np.nonzero(full), strict=True):
                entries.append((number, place, int(i), int(j), float(full[i, j])))
    matrices, places, rows, cols, values = map(np.array, zip(*entries, strict=True))
    sizes = tuple(-len(block) if np.ndim(block) == 1 else len(block) for block in F[0])
    cost = np.asarray(b, dtype=float)
    return SdpaProblem(cost, sizes, matrices, places, rows, cols, values, name)
