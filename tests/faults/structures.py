"""Problems of awkward structure with known answers, one for each line of the fault list."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from shapes import agreeing, blocks, cut, cycle, cycle_value, sdp

import condal
from condal import Box, Diagonal, Entries, Equal, Inner, Linear, Matrix, Problem, Simplex


@dataclass(frozen=True)
class Structure:
    """A problem and its optimum; None where nothing is feasible. `apart` is then how far A(X) is
    from K, as far as it is known. Without a dual solution it is not `regular`: an objective that is
    infeasible by a little may be below the optimum by much more."""

    make: Callable[[], Problem]
    optimum: float | None
    apart: float = np.inf
    regular: bool = True


DIAGONAL = np.diag([1.0, 2.0, 3.0])
FIRST = np.diag([1.0, 0.0, 0.0])
OFF = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
RANDOM = np.random.default_rng(7).standard_normal((6, 6))
RANDOM = RANDOM + RANDOM.T

ones = np.ones
POINT = condal.domains.Box([1.0, 2.0], [1.0, 2.0])

STRUCTURES = {
    # Sizes.
    "n = 1": Structure(lambda: sdp([[2.0]], trace=3.0), 6.0),
    "n = 1, at most": Structure(lambda: sdp([[2.0]], trace=3.0, at_most=True), 0.0),
    "n = 1, constrained": Structure(
        lambda: sdp([[-2.0]], Diagonal(1), Box([0.5], [1.5]), trace=3.0, at_most=True), -3.0
    ),
    "n = 1, simplex": Structure(
        lambda: Problem.of(Linear([2.0]), Simplex(1), Matrix([[3.0]]), Equal([3.0])), 2.0
    ),
    "n = 1, Hermitian": Structure(lambda: Problem.of(Linear([[2 + 0j]]), condal.Hermitian(1)), 2.0),
    "n = 1, hull": Structure(lambda: Problem.of(Linear([3.0]), condal.Hull([[2.0]])), 6.0),
    "n = 2": Structure(
        lambda: sdp([[0.0, 1.0], [1.0, 0.0]], Diagonal(2), Equal(ones(2)), trace=2.0), -2.0
    ),
    "n = 2, an edge": Structure(lambda: cut([[0, 1], [1, 0]]), 1.0),
    "n = 2, simplex": Structure(
        lambda: Problem.of(Linear([2.0, -1.0]), Simplex(2), Matrix([[1.0, 0.0]]), Equal([0.25])),
        -0.25,
    ),
    "a point": Structure(lambda: Problem.of(Linear([3.0, 4.0]), POINT), 11.0),
    **{
        f"a point {name}": Structure(
            lambda K=K: Problem.of(Linear([3.0, 4.0]), POINT, Matrix(ones((1, 2))), K), *known
        )
        for name, K, known in (
            ("on K", Equal([3.0]), (11.0,)),
            ("in K", Box([2.0], [5.0]), (11.0,)),
            ("off K", Equal([4.0]), (None, 1.0)),
            ("outside of K", Box([4.0], [5.0]), (None, 1.0)),
        )
    },
    # Empty inputs.
    "no constraints": Structure(lambda: sdp(np.diag([1.0, -2.0, 5.0])), -2.0),
    "no constraints, maximised": Structure(lambda: sdp(DIAGONAL, maximise=True), 3.0),
    "no constraints, simplex": Structure(
        lambda: Problem.of(Linear([3.0, 1.0, 2.0]), Simplex(3, 2.0)), 2.0
    ),
    "C = 0": Structure(lambda: sdp(np.zeros((5, 5)), Diagonal(5), Equal(ones(5)), trace=5.0), 0.0),
    "C = 0, no constraints": Structure(lambda: sdp(np.zeros((3, 3))), 0.0),
    "C = 0, simplex": Structure(
        lambda: Problem.of(
            Linear(np.zeros(3)), Simplex(3), Matrix([[1.0, 2.0, 3.0]]), Equal([2.5])
        ),
        0.0,
    ),
    "A = 0": Structure(lambda: sdp(DIAGONAL, Inner([np.zeros((3, 3))] * 2), Equal([0, 0])), 1.0),
    "A = 0, a box": Structure(
        lambda: sdp(DIAGONAL, Inner([np.zeros((3, 3))]), Box([-1.0], [np.inf])), 1.0
    ),
    "A = 0, simplex": Structure(
        lambda: Problem.of(Linear([1.0, 2.0]), Simplex(2), Matrix(np.zeros((1, 2))), Equal([0.0])),
        1.0,
    ),
    "A = 0 in one row": Structure(
        lambda: sdp(DIAGONAL, Inner([np.zeros((3, 3)), FIRST]), Equal([0.0, 0.4])), 1.6
    ),
    "zero row with b != 0": Structure(
        lambda: sdp(DIAGONAL, Inner([np.zeros((3, 3)), FIRST]), Equal([1.0, 0.4])), None, 1.0
    ),
    "zero row with b != 0 but tiny": Structure(
        lambda: sdp(DIAGONAL, Inner([np.zeros((3, 3)), FIRST]), Equal([0.01, 0.4])), None, 0.01
    ),
    "zero row with b != 0, simplex": Structure(
        lambda: Problem.of(
            Linear([1.0, 2.0]), Simplex(2), Matrix([[0.0, 0.0], [1.0, 0.0]]), Equal([1.0, 0.5])
        ),
        None,
        1.0,
    ),
    "A = 0 and b != 0": Structure(
        lambda: sdp(DIAGONAL, Inner([np.zeros((3, 3))]), Equal([-2.0])), None, 2.0
    ),
    "b = 0": Structure(
        lambda: sdp(-np.ones((3, 3)), Entries(3, [0, 0], [1, 2]), Equal([0.0, 0.0])), -2.0
    ),
    "b = 0, simplex": Structure(
        lambda: Problem.of(
            Linear([-1.0, 1.0, 0.0]), Simplex(3), Matrix([[1.0, -1.0, 0.0]]), Equal([0.0])
        ),
        0.0,
    ),
    # Repeated and contradictory rows.
    "duplicate constraints": Structure(  # 2 x_01 = 0.6: 0.3 of x_00 and of x_11, the rest of x_00
        lambda: sdp(DIAGONAL, Inner([OFF, OFF, OFF]), Equal([0.6] * 3)), 1 + 0.1
    ),
    "duplicate constraints, a diagonal": Structure(
        lambda: sdp(
            DIAGONAL,
            condal.Stack(Diagonal(3), Diagonal(3)),
            condal.Separable(Equal(ones(3)), Equal(ones(3))),
            trace=3.0,
        ),
        6.0,
    ),
    "contradictory constraints": Structure(
        lambda: sdp(DIAGONAL, Inner([FIRST, FIRST]), Equal([0.2, 0.7])), None, 0.5 / np.sqrt(2)
    ),
    "contradictory constraints, by little": Structure(
        lambda: sdp(DIAGONAL, Inner([FIRST, FIRST]), Equal([0.5, 0.51])), None, 0.01 / np.sqrt(2)
    ),
    "contradictory constraints, simplex": Structure(
        lambda: Problem.of(
            Linear([1.0, 2.0]), Simplex(2), Matrix([[1.0, 0.0], [2.0, 0.0]]), Equal([0.2, 1.0])
        ),
        None,
    ),
    "contradictory constraints, a negative diagonal": Structure(
        lambda: sdp(DIAGONAL, Diagonal(3), Box([-np.inf] * 3, [-0.1, 5.0, 5.0])), None, 0.1
    ),
    "contradictory constraints, an entry": Structure(  # |x_01| <= 1/2 of the trace
        lambda: sdp(DIAGONAL, Entries(3, [0], [1]), Equal([0.6])), None, 0.1
    ),
    "dependent rows": Structure(
        lambda: sdp(
            DIAGONAL,
            Inner([FIRST, np.diag([0, 1.0, 0]), np.diag([1.0, 1.0, 0]), np.diag([2.0, -1.0, 0])]),
            Equal([0.2, 0.3, 0.5, 0.1]),
        ),
        0.2 + 0.6 + 1.5,
    ),
    "dependent rows, simplex": Structure(
        lambda: Problem.of(
            Linear([1.0, 2.0, 3.0]),
            Simplex(3),
            Matrix([[1.0, 0, 0], [0, 1.0, 1.0], [2.0, 1.0, 1.0]]),
            Equal([0.2, 0.8, 1.2]),
        ),
        0.2 + 1.6,
    ),
    "a constraint equal to the trace": Structure(
        lambda: sdp(DIAGONAL, Inner([np.eye(3), FIRST]), Equal([1.0, 0.5])), 1.5
    ),
    "a constraint equal to the trace, alone": Structure(
        lambda: sdp(DIAGONAL, Inner([np.eye(3)]), Equal([1.0])), 1.0
    ),
    "a constraint equal to the trace, at most": Structure(
        lambda: sdp(DIAGONAL, Inner([np.eye(3)]), Equal([1.0]), at_most=True), 1.0
    ),
    "a constraint equal to the trace, simplex": Structure(
        lambda: Problem.of(Linear([1.0, 2.0]), Simplex(2), Matrix([[1.0, 1.0]]), Equal([1.0])), 1.0
    ),
    "infeasible trace": Structure(
        lambda: sdp(DIAGONAL, Inner([np.eye(3)]), Equal([3.0])), None, 2.0
    ),
    "infeasible trace of a diagonal": Structure(
        lambda: sdp(DIAGONAL, Diagonal(3), Equal(ones(3))), None, 2 / np.sqrt(3)
    ),
    "infeasible trace, at most": Structure(
        lambda: sdp(DIAGONAL, Diagonal(3), Equal(ones(3)), trace=2.9, at_most=True),
        None,
        0.1 / np.sqrt(3),
    ),
    "infeasible trace, simplex": Structure(
        lambda: Problem.of(Linear([1.0, 2.0]), Simplex(2), Matrix([[1.0, 1.0]]), Equal([1.5])),
        None,
        0.5,
    ),
    # Degenerate.
    "feasible only on the boundary": Structure(  # x_00 = 0 makes the first row of x vanish
        lambda: sdp(-np.ones((3, 3)), Inner([FIRST]), Equal([0.0])), -2.0, regular=False
    ),
    "feasible only on the boundary, one point": Structure(
        lambda: sdp(RANDOM[:2, :2], Diagonal(2), Equal([1.0, 0.0])), RANDOM[0, 0], regular=False
    ),
    # x_01 is at its limit: x = 1/2 (1, 1)(1, 1)'.
    "feasible only on the boundary, one point of an entry": Structure(
        lambda: sdp(np.diag([1.0, 3.0]), Entries(2, [0], [1]), Equal([0.5])),
        2.0,
        regular=False,
    ),
    "feasible only on the boundary, simplex": Structure(
        lambda: Problem.of(
            Linear([-5.0, 1.0, 2.0]), Simplex(3), Matrix([[1.0, 0.0, 0.0]]), Equal([0.0])
        ),
        1.0,
    ),
    "lambda_min exactly 0, at most": Structure(
        lambda: sdp(np.diag([0.0, 1.0, 2.0]), trace=5.0, at_most=True), 0.0
    ),
    "lambda_min exactly 0, at most, of a Laplacian": Structure(
        lambda: sdp(
            np.diag(cycle(5).sum(axis=0)) - cycle(5),
            Inner([np.eye(5)]),
            Box([1.0], [np.inf]),
            trace=4.0,
            at_most=True,
        ),
        0.0,
    ),
    "lmo ties": Structure(lambda: sdp(np.eye(4), trace=2.0), 2.0),
    "lmo ties, constrained": Structure(
        lambda: sdp(np.eye(4), Diagonal(4), Equal([0.1, 0.2, 0.3, 0.4])), 1.0
    ),
    "lmo ties, simplex": Structure(
        lambda: Problem.of(Linear(ones(4)), Simplex(4), Matrix(np.eye(4)), Equal([0.25] * 4)), 1.0
    ),
    # Graphs.
    "isolated vertices": Structure(lambda: cut(blocks(cycle(5), np.zeros((3, 3)))), cycle_value(5)),
    "disconnected graph": Structure(
        lambda: cut(blocks(cycle(5), cycle(7))), cycle_value(5) + cycle_value(7)
    ),
    "negative weights": Structure(lambda: cut(-cycle(6)), 0.0),
    "negative weights, and others": Structure(
        lambda: cut(blocks(cycle(5), -3.0 * cycle(4))), cycle_value(5)
    ),
    "self-loops": Structure(
        lambda: cut(cycle(5) + np.diag([3.0, 0, -7.0, 0, 1e9])), cycle_value(5)
    ),
    "multi-edges": Structure(
        lambda: (
            condal.problems.max_cut(
                sp.coo_array(
                    (np.tile(sp.coo_array(cycle(5)).data, 3), np.tile(np.nonzero(cycle(5)), 3)),
                    shape=(5, 5),
                )
            ).problem
        ),
        3 * cycle_value(5),
    ),
    # Blocks that must agree.
    "n = 1, blocks": Structure(lambda: agreeing([2.0], Simplex(1)), 2.0),
    "n = 2, blocks": Structure(lambda: agreeing([2.0, -1.0], condal.LinfBall(2)), -1.0),
    "C = 0, blocks": Structure(lambda: agreeing(np.zeros(3), Simplex(3)), 0.0),
    "b = 0, blocks": Structure(lambda: agreeing([3.0, 1.0, 2.0], condal.L1Ball(3, 2.0)), 1.0),
    "duplicate constraints, blocks": Structure(lambda: agreeing([3.0, 1.0], Simplex(2), 2), 1.0),
    "lmo ties, blocks": Structure(lambda: agreeing(ones(3), Simplex(3)), 1.0),
    "contradictory constraints, blocks": Structure(
        lambda: agreeing(ones(3), condal.LinfBall(3, 0.2)), None
    ),
    # Scales.
    "far eigenvalues": Structure(lambda: sdp(np.diag([1.0, 1e6])), 1.0),
    "equal costs": Structure(lambda: Problem.of(Linear(np.full(4, 1e12)), Simplex(4)), 1e12),
    "no bound": Structure(
        lambda: sdp(np.diag([3.0, 1.0]), Entries(2), Box([-np.inf] * 4, [np.inf] * 4)), 1.0
    ),
    "row norms 1e8 apart": Structure(
        lambda: sdp(DIAGONAL, Inner([1e4 * FIRST, 1e-4 * OFF]), Equal([4e3, 2e-5])), 1.6
    ),
    "row norms 1e8 apart, simplex": Structure(
        lambda: Problem.of(
            Linear([1.0, 2.0, 3.0]),
            Simplex(3),
            Matrix([[1e-4, 0, 0], [0, 0, 1e4]]),
            Equal([0.3e-4, 0.2e4]),
        ),
        0.3 + 1.0 + 0.6,
    ),
}
