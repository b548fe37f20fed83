"""The figures of a page, as inline SVG with a text alternative each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from condal.report import drawn
from condal.report.curves import panels, style
from condal.report.curves.panels import Trace
from condal.report.curves.style import COLOURS, DASHES, Against, drawing
from condal.report.spectrum import Spectrum
from condal.report.svg import inline
from condal.report.words import count, number

PANEL = (4.4, 2.9)  # inches
SHOWN = 60  # values of a spectrum that are marked one by one
FLOOR = 1e-14  # of the largest value of a spectrum: what is below is rounding


@dataclass(frozen=True)
class Drawing:
    """An <svg> and what stands below it."""

    svg: str
    caption: str
    wide: bool = False


def of_solve(trace: Trace, name: str) -> list[Drawing]:
    """Objective and bound; gap and infeasibility; what an iteration costs, twice."""
    k = trace.columns["k"]
    last = f"{count(k[-1])} iterations" if k.size else "no iterations"
    ended = f"objective {number(trace.objective)}, bound {number(trace.bound)}"
    return [
        _panel(
            lambda axes: panels.objective(axes, [trace], "iterations"),
            f"{name}-objective",
            f"Objective and bound over {last}; in the end {ended}.",
            "The bound along the way is estimated; the diamond is proved.",
        ),
        _panel(
            lambda axes: panels.errors(axes, trace, "iterations"),
            f"{name}-errors",
            f"Gap and infeasibility over {last}, logarithmic; the proved gap is {trace.gap:.2g}.",
            "Both are relative, of the iterates before any repair.",
        ),
        *(_cost(trace, column, name, last) for column in ("matvecs", "seconds")),
    ]


def _cost(trace: Trace, column: str, name: str, last: str) -> Drawing:
    total, unit = _total(trace, column), 1e3 if column == "seconds" else 1.0
    return _panel(
        lambda axes: panels.cost(axes, [trace], "iterations", column, unit),
        f"{name}-{column}",
        f"{_unit(column)} an iteration over {last}; {total}.",
        f"{total[0].upper()}{total[1:]}.",
    )


def of_several(traces: Sequence[Trace]) -> list[Drawing]:
    """Objective, gap, infeasibility and cost of all, overlaid, against time."""
    against: Against = "seconds"
    names = "; ".join(trace.label for trace in traces)
    drawings: list[tuple[str, str, str, Callable[[Any], None]]] = [
        (
            "objective",
            "Objectives and bounds",
            "Dots and diamonds are the objectives and the bounds that were certified in the end.",
            lambda axes: panels.objective(axes, traces, against),
        ),
        (
            "gap",
            "Estimated gaps",
            "Relative; estimates along the way.",
            lambda axes: panels.one_error(axes, traces, "gap", against),
        ),
        (
            "infeasibility",
            "Infeasibilities",
            "Relative, of the iterates before any repair.",
            lambda axes: panels.one_error(axes, traces, "infeasibility", against),
        ),
        (
            "cost",
            "Matrix products an iteration",
            "Means over the iterations between two points.",
            lambda axes: panels.cost(axes, traces, against),
        ),
    ]
    return [
        _panel(draw, f"all-{name}", f"{what} of {names} against seconds.", caption)
        for name, what, caption, draw in drawings
    ]


def of_spectrum(spectra: Sequence[Spectrum], name: str) -> Drawing | None:
    """The values of the largest blocks, in falling order, logarithmic."""
    listed = sorted((one for one in spectra if one.values.size), key=lambda one: -one.values.size)
    listed = [one for one in listed if one.values.max() > 0][:4]
    if not listed:
        return None

    def draw(axes: Any) -> None:
        for one, colour, dashes in zip(listed, COLOURS, DASHES, strict=False):
            seen = one.values > FLOOR * one.values.max()
            index = np.flatnonzero(seen) + 1
            marks = {"marker": "o", "markersize": 3.5} if index.size <= SHOWN else {}
            x, y = style.thinned(index.astype(float), one.values[seen], logarithmic=False)
            label = " x ".join(map(count, one.shape))
            axes.plot(x, y, color=colour, linestyle=dashes, linewidth=1.2, label=label, **marks)
        style.decades(axes)
        axes.set_title(f"{listed[0].what}, in falling order")
        axes.set_xlabel("number")
        axes.xaxis.get_major_locator().set_params(integer=True)
        if len(listed) > 1:
            axes.legend(fontsize=8)

    said = "; ".join(_ranks(one) for one in listed)
    left = len(spectra) - len(listed)
    more = f" {left} smaller blocks are not shown." if left > 0 else ""
    return _panel(draw, f"{name}-spectrum", f"Spectrum of x. {said}.", f"{said}.{more}")


def of_picture(picture: Mapping[str, Any], name: str) -> Drawing | None:
    """The problem's own picture."""
    said = drawn.caption(picture)
    try:
        figure = drawn.draw(picture)
        if figure is None:
            return None
        return Drawing(inline(figure, name=f"{name}-picture", alternative=said), said, wide=True)
    except (IndexError, KeyError, TypeError, ValueError):  # arrays of a file that do not fit
        return None


def _panel(draw: Callable[[Any], None], name: str, alternative: str, caption: str) -> Drawing:
    from matplotlib.figure import Figure

    with drawing():
        figure = Figure(figsize=PANEL, layout="constrained")
        draw(figure.subplots())
        return Drawing(inline(figure, name=name, alternative=alternative), caption)


def _ranks(one: Spectrum) -> str:
    most, trace = number(float(one.values.max())), number(float(one.values.sum()))
    rank = f"{one.rank:,} of {min(one.shape):,} {one.what}"
    return f"{rank} above 1e-6 of the largest, which is {most}; their sum is {trace}"


def _unit(column: str) -> str:
    return "Matrix products" if column == "matvecs" else "Milliseconds"


def _total(trace: Trace, column: str) -> str:
    values = trace.columns[column]
    total = float(values[-1]) if values.size else 0.0
    if column == "matvecs":
        return f"{count(total)} products in all"
    return f"{total:.3g} seconds until the last iteration"
