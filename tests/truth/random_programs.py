"""Small random conic programs with all kinds of difficulties."""

import numpy as np
import scipy.sparse as sp

from condal.problems.conic import Block, Program

KINDS = ("psd", "orthant", "second-order")
TROUBLES = (
    "the trace is a row",
    "b is off, and may be infeasible",
    "the dual has a point",
    "a row twice over",
    "b = 0",
    "nothing more",
)


def random_program(seed: int, wide: int = 3) -> Program:
    """One to three blocks of side 1 to 4, up to six rows, slacks of either sign or a cone of them;
    rows are up to 10^wide apart, the objective is as large or as small."""
    rng = np.random.default_rng(seed)
    blocks = tuple(
        Block(KINDS[rng.integers(3)], int(rng.integers(1, 5))) for _ in range(rng.integers(1, 4))
    )
    m, whole, degenerate = int(rng.integers(7)), rng.random() < 0.6, rng.random() < 0.5
    filled = rng.choice([0.3, 0.7, 1.0])
    length = sum(block.length for block in blocks)
    A = np.array([_row(blocks, rng, filled, whole) for _ in range(m)]).reshape(m, length)
    x = np.concatenate([_member(block, rng, degenerate) for block in blocks])
    b, c = A @ x, _row(blocks, rng, filled, whole)
    trouble = TROUBLES[rng.integers(len(TROUBLES))]
    if trouble == "the trace is a row":
        trace = np.concatenate([_trace(block) for block in blocks])
        A, b = np.vstack([A, trace]), np.append(b, trace @ x)
    elif trouble == "b is off, and may be infeasible":
        b += rng.standard_normal(m) * rng.choice([1e-3, 1.0, 10.0])
    elif trouble == "the dual has a point":
        z = np.concatenate([_member(block, rng, degenerate) for block in blocks])
        c = z + A.T @ rng.standard_normal(m)
    elif trouble == "a row twice over":
        A, b = np.vstack([A, 2 * A[:1]]), np.append(b, 2 * b[:1])
    elif trouble == "b = 0":
        b *= 0.0
    if b.size and rng.random() < 0.5:
        S, kind = _slacks(b, rng)
        A, c = np.hstack([A, S]), np.append(c, np.zeros(S.shape[1]))
        blocks = (*blocks, Block(kind, S.shape[1]))
    rows = 10.0 ** rng.integers(-wide, wide + 1, b.size) if rng.random() < 0.2 else 1.0
    size = rng.choice([1.0, 1.0, 1.0, 10.0**wide, 10.0**-wide])
    return Program(
        size * c,
        sp.csr_array(A * np.reshape(rows, (-1, 1))),
        rows * b,
        blocks,
        maximise=seed % 3 == 0,
    )


def _row(blocks, rng, filled, whole):
    """Return numbers for each block, some of them 0; some blocks have none."""

    def numbers(shape):
        some = rng.integers(-2, 3, shape).astype(float) if whole else rng.standard_normal(shape)
        return some * (rng.random(shape) < filled) * 1.0

    parts = []
    for block in blocks:
        there = float(rng.random() < 0.7)
        if block.kind == "psd":
            upper = np.triu(numbers((block.n, block.n)))
            upper = np.diag(np.diag(upper)) if rng.random() < 0.4 else upper
            parts.append(there * (upper + np.triu(upper, 1).T).ravel())
        else:
            parts.append(there * numbers(block.n))
    return np.concatenate(parts)


def _member(block, rng, degenerate):
    """Return a point of the cone, possibly on its boundary if it shall be degenerate."""
    n = block.n
    if block.kind == "psd":
        g = rng.standard_normal((n, rng.integers(n + 1) if degenerate else n))
        return (g @ g.T).ravel()
    if block.kind == "orthant":
        return np.abs(rng.standard_normal(n)) * (rng.random(n) < (0.6 if degenerate else 2.0))
    u = rng.standard_normal(n)
    u[0] = np.linalg.norm(u[1:]) + rng.random() * (not degenerate)
    return u * (rng.random() < 0.7 if degenerate else 1.0)


def _trace(block):
    if block.kind == "psd":
        return np.eye(block.n).ravel()
    return np.ones(block.n) if block.kind == "orthant" else np.eye(1, block.n).ravel()


def _slacks(b, rng):
    """Return columns of one entry each: numbers, or a cone in its own rows with b = 0."""
    m, q = b.size, int(rng.integers(1, b.size + 1))
    S = np.zeros((m, q))
    if rng.random() < 0.6:
        S[rng.integers(m, size=q), np.arange(q)] = rng.choice([-1.0, 1.0, 2.0, -3.0], q)
        return S, "orthant"
    rows = rng.permutation(m)[:q]
    S[rows, np.arange(q)] = rng.choice([-1.0, 1.0, 2.0, -3.0], q)
    b[rows] *= rng.random() < 0.3
    return S, "second-order"
