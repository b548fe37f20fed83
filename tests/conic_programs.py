"""Small conic programs with known answers."""

import numpy as np
import scipy.sparse as sp

from condal.problems.conic import Block, Program


def matrix(n: int, entries: dict[tuple[int, int], float]) -> np.ndarray:
    """Return a flattened symmetric matrix from its upper triangle."""
    found = np.zeros((n, n))
    for (i, j), value in entries.items():
        found[i, j] = found[j, i] = value
    return found.ravel()


def program(c, rows, b, blocks, **more) -> Program:
    """Build a program from rows, each a list of one part per block."""
    A = np.array([np.concatenate([np.ravel(part) for part in row]) for row in rows])
    cost = np.concatenate([np.ravel(part) for part in c])
    return Program(cost, sp.csr_array(A), np.array(b, dtype=float), tuple(blocks), **more)


def max_cut_of_the_pentagon() -> tuple[Program, float]:
    """maximise 1/4 <L, x>, diag x = 1: the optimum of an odd cycle is n (1 + cos(pi / n)) / 2."""
    n = 5
    L = 2 * np.eye(n) - np.roll(np.eye(n), 1, axis=0) - np.roll(np.eye(n), -1, axis=0)
    rows = [[matrix(n, {(i, i): 1.0})] for i in range(n)]
    found = program([L / 4], rows, np.ones(n), [Block("psd", n)], maximise=True, name="pentagon")
    return found, n * (1 + np.cos(np.pi / n)) / 2


def slack_program() -> tuple[Program, float]:
    """maximise x_12, x_11 = 1, x_22 + s = 2, s >= 0: sqrt(2)."""
    rows = [[matrix(2, {(0, 0): 1.0}), [0.0]], [matrix(2, {(1, 1): 1.0}), [1.0]]]
    c = [matrix(2, {(0, 1): 0.5}), [0.0]]
    blocks = [Block("psd", 2), Block("orthant", 1)]
    return program(c, rows, [1.0, 2.0], blocks, maximise=True), float(np.sqrt(2))


def level_program() -> tuple[Program, float]:
    """minimise x_11 + x_22, x_12 = 1: 2. Only the objective bounds the trace."""
    rows = [[matrix(2, {(0, 1): 0.5})]]
    return program([np.eye(2)], rows, [1.0], [Block("psd", 2)], offset=3.0), 2.0


def cone_program() -> tuple[Program, float]:
    """minimise t, |u| <= t, u_1 + 2 u_2 = 5, with an entry of a psd block in addition: sqrt(5)."""
    rows = [[[0.0, 1.0, 2.0], [0.0] * 4], [[0.0] * 3, np.eye(2)]]
    c = [[1.0, 0.0, 0.0], [0.0] * 4]
    return program(c, rows, [5.0, 1.0], [Block("second-order", 3), Block("psd", 2)]), np.sqrt(5)


def several_blocks() -> tuple[Program, float]:
    """minimise <C, x> + <D, y> + u_1 + 2 u_2, tr x + tr y + u_1 + u_2 = 1, u_1 = 0.5: the rest
    goes where it costs least."""
    C, D = np.diag([1.0, 2.0]), np.diag([-3.0, 0.0, 5.0])
    rows = [[np.eye(2), np.eye(3), [1.0, 1.0]], [np.zeros(4), np.zeros(9), [1.0, 0.0]]]
    blocks = [Block("psd", 2), Block("psd", 3), Block("orthant", 2)]
    return program([C, D, [1.0, 2.0]], rows, [1.0, 0.5], blocks), 0.5 - 1.5


def infeasible() -> Program:
    """x psd with x_11 + x_22 = -1, written less obviously: infeasible."""
    rows = [[np.array([[2.0, 1.0], [1.0, 1.0]])], [np.array([[1.0, 1.0], [1.0, 0.0]])]]
    return program([np.eye(2)], rows, [0.0, 1.0], [Block("psd", 2)])


def unbounded() -> Program:
    """minimise -x_11 with x_11 = x_22 and x_12 = 1: unbounded along x + t I."""
    rows = [[np.diag([1.0, -1.0])], [matrix(2, {(0, 1): 0.5})]]
    return program([np.diag([-1.0, 0.0])], rows, [0.0, 1.0], [Block("psd", 2)])
