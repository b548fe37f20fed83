"""A planted problem as a `Problem`, a `Program`, a file or a CVXPY problem, without rounding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import condal
from condal.certificates.cones import Cone, ConicForm
from condal.problems.conic import Block as ProgramBlock
from condal.problems.conic import Program
from planted.cones import Block
from planted.problem import Planted


def as_problem(planted: Planted) -> condal.Problem:
    """Return the problem over domains of bounded trace; every block has a cap."""
    assert len(planted.caps) == len(planted.blocks)
    caps = {cap.block: cap.row for cap in planted.caps}
    sense = planted.sense
    domains, maps, costs = [], [], []
    rows = free_rows(planted)
    for k, (block, place) in enumerate(zip(planted.blocks, planted.places, strict=True)):
        trace, at_most = float(planted.b[caps[k]]), bool(planted.loose[caps[k]])
        domains.append(_domain(block, trace, at_most))
        part, cost = planted.A[rows, place], sense * planted.c[place]
        if block.kind == "psd":
            matrices = [_full(block, row) for row in part]
            maps.append(condal.Inner(matrices) if matrices else None)
            costs.append(_full(block, cost))
        else:
            maps.append(condal.Matrix(part) if rows.size else None)
            costs.append(cost)
    single = len(domains) == 1
    A = None if not rows.size else maps[0] if single else condal.Across(*maps)
    return condal.Problem.of(
        f=condal.Linear(costs[0] if single else tuple(costs)),
        X=domains[0] if single else condal.Product(*domains),
        A=A,
        K=_bounds(planted.b[rows], planted.loose[rows]) if rows.size else None,
        maximise=planted.maximise,
    )


def free_rows(planted: Planted) -> np.ndarray:
    """Return the rows that are no caps."""
    caps = [cap.row for cap in planted.caps]
    return np.array([i for i in range(planted.b.size) if i not in caps], dtype=int)


def _domain(block: Block, trace: float, at_most: bool) -> Any:
    if block.kind == "psd":
        return condal.Spectrahedron(block.n, trace=trace, at_most=at_most)
    if block.kind == "second-order":
        assert at_most
        return condal.CutCone(block.n, trace)
    return (condal.CutOrthant if at_most else condal.Simplex)(block.n, trace)


def _bounds(b: np.ndarray, loose: np.ndarray) -> Any:
    return condal.Box(np.where(loose, -np.inf, b), b) if loose.any() else condal.Equal(b)


def _full(block: Block, row: np.ndarray) -> np.ndarray:
    """Return the symmetric matrix whose inner product with X is <row, v>."""
    full = np.zeros((block.n, block.n))
    for (i, j), value in zip(block.pairs, row, strict=True):
        full[i, j] += value / 2
        full[j, i] += value / 2
    return full


def as_program(planted: Planted) -> Program:
    """Return the program in standard form: free variables are differences, inequalities have
    slacks."""
    parts, blocks = [], []
    rows = np.vstack([planted.c, planted.A])
    for block, place in zip(planted.blocks, planted.places, strict=True):
        part = rows[:, place]
        if block.kind == "psd":
            part = np.array([_full(block, row).ravel() for row in part])
        if block.kind == "free":
            part, block = np.hstack([part, -part]), Block("orthant", 2 * block.n)
        parts.append(part)
        blocks.append(ProgramBlock(block.kind, block.n))
    _add_slacks(planted, parts, blocks)
    data = planted.sense * np.hstack(parts)[:1], np.hstack(parts)[1:]
    return Program(
        data[0],
        sp.csr_array(data[1]),
        planted.b,
        blocks,
        offset=planted.sense * planted.offset,
        maximise=planted.maximise,
        name="planted",
    )


def _add_slacks(planted: Planted, parts: list[Any], blocks: list[Any]) -> None:
    count = int(planted.loose.sum())
    if count:
        slacks = np.zeros((planted.b.size + 1, count))
        slacks[1 + np.flatnonzero(planted.loose), np.arange(count)] = 1.0
        parts.append(slacks)
        blocks.append(ProgramBlock("orthant", count))


def as_form(planted: Planted) -> ConicForm:
    """Return the form that proofs take, with free variables as they are."""
    parts, cones = [], []
    rows = np.vstack([planted.c, planted.A])
    for block, place in zip(planted.blocks, planted.places, strict=True):
        part = rows[:, place]
        if block.kind == "psd":
            part = np.array([_full(block, row).ravel() for row in part])
        parts.append(part)
        cones.append(Cone(block.kind, block.n))
    blocks: list[Any] = []
    _add_slacks(planted, parts, blocks)
    cones += [Cone("orthant", block.n) for block in blocks]
    data = np.hstack(parts)
    return ConicForm(data[0], sp.csr_array(data[1:]), planted.b, tuple(cones))


def point_of_program(planted: Planted, v: np.ndarray, *, ray: bool = False) -> list[np.ndarray]:
    """Return v, a point or a ray, as the blocks of `as_program`."""
    blocks = []
    for block, place in zip(planted.blocks, planted.places, strict=True):
        part = v[place]
        if block.kind == "psd":
            part = _matrix(block, part)
        elif block.kind == "free":
            part = np.concatenate([np.maximum(part, 0.0), np.maximum(-part, 0.0)])
        blocks.append(part)
    if planted.loose.any():
        blocks.append(_slack(planted, v, ray=ray))
    return blocks


def point_of_form(planted: Planted, v: np.ndarray, *, ray: bool = False) -> np.ndarray:
    """Return v, a point or a ray, in the coordinates of `as_form`, with its slacks."""
    parts = []
    for block, place in zip(planted.blocks, planted.places, strict=True):
        part = v[place]
        if block.kind == "psd":
            part = _matrix(block, part).ravel()
        parts.append(part)
    return np.concatenate([*parts, _slack(planted, v, ray=ray)])


def _matrix(block: Block, part: np.ndarray) -> np.ndarray:
    """Return the symmetric matrix with these entries at the pairs of a psd block."""
    full = np.zeros((block.n, block.n))
    for (i, j), value in zip(block.pairs, part, strict=True):
        full[i, j] = full[j, i] = value
    return full


def _slack(planted: Planted, v: np.ndarray, *, ray: bool) -> np.ndarray:
    """Return the slack of the inequalities at a point v, or along a ray."""
    loose = planted.loose
    return (0.0 if ray else planted.b[loose]) - planted.A[loose] @ v


# ---- files ---------------------------------------------------------------------------------------


def write_sdpa(planted: Planted, path: Path) -> None:
    """Write max <F_0, X>, <F_i, X> = b_i, with F_0 = -C; second-order cones are 2 x 2 matrices."""
    program = as_program(planted)
    sizes = [_sdpa_size(block) for block in program.blocks]
    lines = [str(program.b.size), str(len(sizes)), " ".join(map(str, sizes))]
    lines.append(" ".join(repr(float(value)) for value in program.b))
    c = program.c.toarray() * (1.0 if program.maximise else -1.0)
    for i, row in enumerate(np.vstack([c, program.A.toarray()])):
        for k, block in enumerate(program.blocks):
            full = _sdpa_part(block, row[program.place(k)])
            for r, s in zip(*np.nonzero(np.triu(full)), strict=True):
                lines.append(f"{i} {k + 1} {r + 1} {s + 1} {float(full[r, s])!r}")
    path.write_text("\n".join(lines) + "\n")


def _sdpa_size(block: ProgramBlock) -> int:
    if block.kind == "second-order":
        return 2
    return block.n if block.kind == "psd" else -block.n


def _sdpa_part(block: ProgramBlock, part: np.ndarray) -> np.ndarray:
    if block.kind == "psd":
        return part.reshape(block.n, block.n)
    if block.kind == "orthant":
        return np.diag(part)
    t, p, q = part  # (t, p, q) is in the cone if [[t + p, q], [q, t - p]] is psd
    return np.array([[t + p, q], [q, t - p]]) / 2


def write_sedumi(planted: Planted, path: Path) -> None:
    """Write A, b, c and K, with the orthants first."""
    from scipy.io import savemat

    program = as_program(planted)
    order = {"orthant": 0, "second-order": 1, "psd": 2}
    blocks = sorted(range(len(program.blocks)), key=lambda k: order[program.blocks[k].kind])
    places = [program.place(k) for k in blocks]
    columns = np.concatenate([np.arange(place.start, place.stop) for place in places])
    K: dict[str, Any] = {}
    for k in blocks:
        block = program.blocks[k]
        field = {"orthant": "l", "second-order": "q", "psd": "s"}[block.kind]
        K.setdefault(field, []).append(float(block.n))
    K["l"] = [sum(K["l"])] if "l" in K else [0.0]
    sense = -1.0 if program.maximise else 1.0
    contents = {
        "A": sp.csc_matrix(program.A[:, columns]),
        "b": program.b[:, None],
        "c": (sense * program.c.toarray().ravel())[columns, None],
        "K": K,
    }
    savemat(path, contents)


# ---- CVXPY ---------------------------------------------------------------------------------------


def as_cvxpy(planted: Planted) -> Any:
    """Return the problem for CVXPY, one expression per row."""
    import cvxpy as cp

    parts: list[Any] = []
    limits: list[Any] = []
    for block in planted.blocks:
        if block.kind == "psd":
            X = cp.Variable((block.n, block.n), PSD=True)
            parts += [cp.reshape(X[i, j], (1,), order="F") for i, j in block.pairs]
            continue
        parts.append(cp.Variable(block.n))
        if block.kind == "orthant":
            limits.append(parts[-1] >= 0)
        elif block.kind == "second-order":
            limits.append(cp.SOC(parts[-1][0], parts[-1][1:]))
    v = cp.hstack(parts)
    for row, right, loose in zip(planted.A, planted.b, planted.loose, strict=True):
        limits.append(row @ v <= right if loose else row @ v == right)
    cost = planted.sense * planted.c @ v + planted.sense * planted.offset
    return cp.Problem(cp.Maximize(cost) if planted.maximise else cp.Minimize(cost), limits)
