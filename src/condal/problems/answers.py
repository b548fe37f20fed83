"""What the answers of all models share: words, figures, pictures, and how good they are."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from condal.errors import ProblemError
from condal.runtime.text import excess_text, number, pairs, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rows: TypeAlias = list[tuple[str, str]]  # names and values
Figures: TypeAlias = dict[str, float | None]
Picture: TypeAlias = dict[str, Any]  # arrays by name, as `condal.report.pictures` makes them

ZERO_BOUND = 1e-11  # share of the sum of all weights; a bound below it is 0 up to rounding
BOUND_ROUNDING = 1e-6  # relative; a larger difference is a contradiction


class Answer(ABC):
    """An answer that describes itself: on a terminal, on a page, in a notebook, in JSON, in a file.

    `bound` is the proved bound on its value, or on the objective of its relaxation, and `model` the
    model that it belongs to.
    """

    model: Any
    bound: float
    first_integer: ClassVar[int] = 0  # in a file
    bound_is_upper: ClassVar[bool] = False

    @abstractmethod
    def rows(self) -> Rows:
        """Return the answer as names and values."""

    def proved(self) -> Rows:
        """Return what the bound proves, if it is finite."""
        shown = number(self.bound, up=self.bound_is_upper, down=not self.bound_is_upper)
        return [("bound", f"{shown}, {self.none_text}")]

    @property
    def none_text(self) -> str:
        """What the bound says of other answers."""
        return "no x has a smaller objective"

    @abstractmethod
    def figures(self) -> Figures:
        """Return the same as numbers, the most important one first; None for an unknown one."""

    def lines(self) -> Iterable[str]:
        """Return the answer as the lines of a file."""
        return (f"{int(each) + self.first_integer}" for each in self.integers)

    @property
    def integers(self) -> Any:
        """An integer for each vertex or point, from which `answer_of` of the model makes the answer
        again; None for an answer that is a function of the solution."""
        return None

    @abstractmethod
    def picture(self) -> Picture:
        """Return the arrays that `plot` draws."""

    def described(self) -> Rows:
        """Return the answer and what is proved of it, as names and values."""
        proved = self.proved() if math.isfinite(self.bound) else [("bound", "none was proved")]
        return [*self.rows(), *proved]

    def _repr_html_(self) -> str | None:
        return None if self.model is None else pairs(type(self).__name__, self.described())

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


class RoundedAnswer(Answer):
    """An answer that was rounded. Its first fields are its value, the proved bound on the value of
    every answer, and the integers that make it."""

    bound_is_upper = True

    @property
    def integers(self) -> Any:
        return self._field(2)[1]

    @property
    @abstractmethod
    def sizes_text(self) -> str:
        """What a repr has beside the value and the bound."""

    def __repr__(self) -> str:
        return bounded_text(self, self.sizes_text, up=self.bound_is_upper)

    def _field(self, index: int) -> tuple[str, Any]:
        answer: Any = self
        name = fields(answer)[index].name
        return name, getattr(self, name)


class CostAnswer(RoundedAnswer):
    """A rounded answer whose value is a cost, which has a proved lower bound."""

    bound_is_upper = False
    noun: ClassVar[str] = "answer"
    figure: ClassVar[str] = "cost"

    @property
    def whole(self) -> bool:
        """Whether all costs are integers."""
        return False

    @property
    def none_text(self) -> str:
        return f"no {self.noun} costs less"

    def proved(self) -> Rows:
        return [*super().proved(), ("quality", excess_text(self._excess, self.noun))]

    def figures(self) -> Figures:
        return {self.figure: self._field(0)[1], "excess": finite(self._excess)}

    @property
    def _excess(self) -> float:
        return excess(self._field(0)[1], self.bound, self.noun, whole=self.whole)


class GainAnswer(RoundedAnswer):
    """A rounded answer whose value is to be large, which has a proved upper bound."""

    noun: ClassVar[str] = "answer"

    @property
    @abstractmethod
    def weights(self) -> Any:
        """Numbers whose sums and differences are all values: integers if these are."""

    @property
    def _most(self) -> float:
        """An upper bound on all values, rounded down if they are integers."""
        return float(math.floor(self.bound)) if whole(self.weights) else self.bound

    @property
    def _zero_bound(self) -> bool:
        """Whether the bound is 0 up to rounding."""
        return 0 < self.bound <= ZERO_BOUND * float(np.abs(self.weights).sum())

    @property
    def _best(self) -> bool:
        """Whether the value is proved to be optimal."""
        return whole(self.weights) and self._field(0)[1] == self._most

    @property
    def _share(self) -> float | None:
        """A lower bound on value / optimum; None if the bound gives none."""
        if not math.isfinite(self.bound):
            return None
        value, most = self._field(0)[1], self._most
        if self._best:
            return 1.0
        if most <= 0 or value < 0 or self._zero_bound:
            return None
        return float(min(value, most) / most)

    def proved(self) -> Rows:
        rows = super().proved()
        if self._zero_bound:
            shown = "0" if whole(self.weights) else "0 up to rounding"
            rows = [("bound", f"{shown}, {self.none_text}")]
        if self._best:
            return [*rows, ("quality", f"the best possible: {self.none_text}")]
        if self._share is None:
            return rows
        share = percent(self._share, 1.0)
        return [*rows, ("quality", f"at least {share} of the best possible {self.noun}")]

    def figures(self) -> Figures:
        return {self.noun: self._field(0)[1], "share": self._share}


def whole(weights: Any) -> bool:
    """Return whether all weights are integers."""
    return bool(np.all(weights == np.rint(weights)))


def finite(value: float) -> float | None:
    """Return a figure, None if it is not finite."""
    return float(value) if math.isfinite(value) else None


def excess(cost: float, bound: float, what: str, *, whole: bool = False) -> float:
    """Return cost / bound - 1, the proved relative excess over the optimum.

    It is inf if the bound is not positive. `whole` says that all costs are integers. A cost below
    the bound by more than rounding raises ProblemError: the result belongs to another model.
    """
    if whole and cost <= math.ceil(bound):
        return 0.0
    if cost < bound - BOUND_ROUNDING * max(abs(cost), abs(bound)):
        raise ProblemError(
            f"the {what} costs {cost:.6g}, below the proved lower bound {bound:.6g}: the result "
            "belongs to another model; solve this one"
        )
    if cost <= bound:
        return 0.0
    return cost / bound - 1 if bound > 0 else float("inf")


def bounded_text(answer: Any, sizes: str, *, up: bool = False) -> str:
    """Return the repr of an answer: its value, which is its first field, its bound, its sizes."""
    from condal.certificates.certificate import rounded_text

    name, bound = fields(answer)[0].name, rounded_text(answer.bound, up=up)
    return f"{type(answer).__name__}({name}={getattr(answer, name):.10g}, bound={bound}, {sizes})"


def complex_lines(values: Any) -> Iterable[str]:
    """Return the real and the imaginary part of each number as a line of a file."""
    numbers = np.asarray(values, dtype=np.complex128).ravel()
    return (f"{value.real:.17g},{value.imag:.17g}" for value in numbers)


def preview(values: Any, most: int = 12) -> str:
    """Return the first `most` values as text for a repr: [3, 1, ...]."""
    return "[" + ", ".join(map(str, values[:most])) + ", ..." * (len(values) > most) + "]"
