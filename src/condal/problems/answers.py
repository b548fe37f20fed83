"""What the answers of all models share: pictures, and text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from condal.errors import ProblemError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from condal.report.pictures import Picture


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


def preview(values: Any, most: int = 12) -> str:
    """Return the first `most` values as text for a repr: [3, 1, ...]."""
    return "[" + ", ".join(map(str, values[:most])) + ", ..." * (len(values) > most) + "]"
