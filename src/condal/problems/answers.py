"""Steps that the answers of all models share: the point of a result, random trials, ratios."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.problems.inputs import describe
from condal.result import Result
from condal.runtime.arguments import require_seconds, require_whole, seed_of
from condal.runtime.time_limit import TimeLimit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from condal.report.pictures import Picture

MIN_TRIALS, MAX_ROUNDED_VERTICES = 4, 10**7  # of all trials together, by default
BOUND_ROUNDING = 1e-6  # relative; a larger difference is a contradiction


def point_of(result: Any, n: int) -> Any:
    """Return the n x n point of a result; raise ProblemError if it has another shape."""
    return _point(result, (n, n), f"{n} x {n}")


def rectangle_of(result: Any, shape: tuple[int, int]) -> Any:
    """Return the m x n point of a result; raise ProblemError if it has another shape."""
    return _point(result, shape, f"{shape[0]} x {shape[1]}")


def vector_of(result: Any, n: int) -> Array:
    """Return the point of a result as a vector of length n, or raise ProblemError."""
    return np.asarray(_point(result, (n,), f"length {n}"))


def parts_of(result: Any, sizes: Indices) -> list[Array]:
    """Return the parts of a result's x: a vector that is split at these sizes, or a tuple."""
    if isinstance(result, Result) and isinstance(result.x, tuple):
        if [np.shape(block) for block in result.x] != [(size,) for size in sizes.tolist()]:
            raise ProblemError(
                f"the result belongs to another model: its point has {len(result.x)} blocks, and "
                f"this model needs {sizes.size}, of its own sizes"
            )
        return [np.asarray(block) for block in result.x]
    return np.split(vector_of(result, int(sizes.sum())), np.cumsum(sizes)[:-1])


def trials_of(trials: int | None, most: int, n: int) -> int:
    """Return the requested number of rounding trials, or a default of at most `most`.

    The default is lower for large graphs, whose roundings differ less.
    """
    return max(MIN_TRIALS, min(most, MAX_ROUNDED_VERTICES // n)) if trials is None else trials


def rounding_limit(max_seconds: Any) -> TimeLimit:
    """Return the time limit of a rounding that begins now, after checking `max_seconds`."""
    require_seconds(max_seconds)
    return TimeLimit(max_seconds)


def in_time(trials: int, limit: TimeLimit) -> Iterator[int]:
    """Yield 0, ..., trials - 1 until the time is up, but 0 in any case, for an answer."""
    for trial in range(trials):
        if trial > 0 and limit.is_over():
            return
        yield trial


def generator(trials: Any, seed: Any) -> np.random.Generator:
    """Return the random generator of a rounding, after checking `trials` and `seed`."""
    require_whole(trials, "trials")
    return np.random.default_rng(seed_of(seed))


def excess(cost: float, bound: float, what: str) -> float:
    """Return cost / bound - 1, the proved relative excess over the optimum.

    It is inf if the bound is not positive. A cost below the bound by more than rounding raises
    ProblemError: the result belongs to another model.
    """
    if cost < bound - BOUND_ROUNDING * max(abs(cost), abs(bound)):
        raise ProblemError(
            f"the {what} costs {cost:.6g}, below the proved lower bound {bound:.6g}: the result "
            "belongs to another model; solve this one"
        )
    if cost <= bound:
        return 0.0
    return cost / bound - 1 if bound > 0 else float("inf")


def _point(result: Any, wanted: tuple[int, ...], text: str) -> Any:
    if not isinstance(result, Result):
        raise ProblemError(f"wanted a result, as condal.solve returns it; got {describe(result)}")
    if result.x is None:
        raise ProblemError("the result has no point to round: the solve ended too early")
    shape = getattr(result.x, "shape", None)
    if shape != wanted:
        raise ProblemError(
            f"the result belongs to another model: its point has shape {shape}, and this model "
            f"needs {text}"
        )
    return result.x


class Drawn(ABC):
    """An answer that draws itself from the data of its model."""

    model: Any

    @abstractmethod
    def picture(self) -> Picture:
        """Return the arrays that `plot` draws."""

    def plot(self) -> Figure:
        """Draw the answer; this needs the extra `report`.

        Returns
        -------
        matplotlib.figure.Figure
            The figure: `figure.savefig("answer.png")` writes it, and a notebook shows it.
        """
        if self.model is None:
            raise ProblemError(
                f"this {type(self).__name__} was made without its model, so there is nothing to "
                "draw: take the answer that the model makes of a result"
            )
        from condal.report.drawn import plot

        return plot(self.picture())


def model_text(model: Any) -> str:
    """Return the repr of a model: its sizes, and the options that are not the default."""
    sizes = {name: getattr(model, name, None) for name in ("n", "shape", "k")}
    if hasattr(model, "W"):
        sizes["edges"] = model.W.nnz // 2
    options = {
        each.name: getattr(model, each.name)
        for each in fields(model)
        if each.repr and getattr(model, each.name) != each.default
    }
    values = {name: value for name, value in (sizes | options).items() if value is not None}
    listed = (
        f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value!r}"
        for name, value in values.items()
    )
    return f"{type(model).__name__}({', '.join(listed)})"


def preview(values: Any, most: int = 12) -> str:
    """Return the first `most` values as text for a repr: [3, 1, ...]."""
    return "[" + ", ".join(map(str, values[:most])) + ", ..." * (len(values) > most) + "]"
