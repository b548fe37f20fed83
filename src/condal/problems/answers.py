"""What answers begin with and end with: the point of a result, and what its bound proves."""

from __future__ import annotations

from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.problems.inputs import described
from condal.result import Result
from condal.runtime.arguments import require_whole

FEWEST, VERTICES = 4, 10**7  # trials, and vertices of all of them, where nobody says how many
ROUNDING = 1e-6  # of a cost or a bound: more is a contradiction


def point_of(result: Any, n: int) -> Any:
    """The point of a result of a model whose x is n x n; ProblemError if it is another's."""
    return _point(result, (n, n), f"{n} x {n}")


def rectangle_of(result: Any, shape: tuple[int, int]) -> Any:
    """The same for a model whose x is m x n."""
    return _point(result, shape, f"{shape[0]} x {shape[1]}")


def vector_of(result: Any, n: int) -> Array:
    """The same for a model whose x is a vector of length n."""
    return np.asarray(_point(result, (n,), f"length {n}"))


def parts_of(result: Any, sizes: Indices) -> list[Array]:
    """The same for a model whose x is a vector of parts of these sizes, or a tuple of them."""
    if isinstance(result, Result) and isinstance(result.x, tuple):
        if [np.shape(part) for part in result.x] != [(size,) for size in sizes.tolist()]:
            raise ProblemError(
                f"the result is of another model: its point has {len(result.x)} blocks, and this "
                f"model needs {sizes.size}, of its own sizes"
            )
        return [np.asarray(part) for part in result.x]
    return np.split(vector_of(result, int(sizes.sum())), np.cumsum(sizes)[:-1])


def trials_of(trials: int | None, most: int, n: int) -> int:
    """The trials of a rounding that were asked for; else `most`, or fewer of a large graph, whose
    roundings differ the less the larger it is."""
    return max(FEWEST, min(most, VERTICES // n)) if trials is None else trials


def generator(trials: Any, seed: Any) -> np.random.Generator:
    """What the trials of a rounding draw from; ProblemError unless both are whole numbers."""
    require_whole(trials, "trials")
    require_whole(seed, "seed", least=0)
    return np.random.default_rng(int(seed))


def excess(cost: float, bound: float, what: str) -> float:
    """cost / bound - 1: what costs so much is proved to cost at most this much too much.

    inf where the bound is not positive, and so proves nothing of a ratio. ProblemError if the cost
    is below the bound by more than rounding: the bound is then of another model.
    """
    if cost < bound - ROUNDING * max(abs(cost), abs(bound)):
        raise ProblemError(
            f"the {what} costs {cost:.6g}, less than the {bound:.6g} that is proved for every one: "
            "the result is of another model; solve this one"
        )
    if cost <= bound:
        return 0.0
    return cost / bound - 1 if bound > 0 else float("inf")


def _point(result: Any, wanted: tuple[int, ...], text: str) -> Any:
    if not isinstance(result, Result):
        raise ProblemError(f"wanted a result, as condal.solve returns it; got {described(result)}")
    if result.x is None:
        raise ProblemError("the result has no point to round: the solve ended too early")
    shape = getattr(result.x, "shape", None)
    if shape != wanted:
        raise ProblemError(
            f"the result is of another model: its point has shape {shape}, and this model needs "
            f"one of {text}"
        )
    return result.x
