"""The figures of a page, as inline SVG with text alternatives."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.linalg.points import Array, LowRank, Outer
from condal.report import curves, drawn
from condal.report.curves import COLOURS, DASHES, FAINT, GRID, INK, Against, Trace, drawing
from condal.report.words import count, number, outwards
from condal.runtime.text import escape_controls, escape_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANEL = (4.4, 2.9)  # inches
MAX_DENSE_SIDE = 3000  # above it the eigenvalues of a dense matrix take too long
RANK_TOL = 1e-6  # relative to the largest value; the rank does not count smaller ones
MAX_MARKED_VALUES = 60  # of a spectrum
SPECTRUM_FLOOR = 1e-14  # relative to the largest value; smaller values are rounding
# The variables of style.css with the light and the dark version of each colour.
VARIABLES = {
    INK: "--ink",
    FAINT: "--faint",
    GRID: "--grid",
    **{colour: f"--c{i}" for i, colour in enumerate(COLOURS, start=1)},
}
UNUSED = r"<metadata>.*?</metadata>|<style\b.*?</style>|<!--.*?-->"
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "condal",
    "savefig.transparent": True,
}


@dataclass(frozen=True)
class Drawing:
    """An <svg> and its caption."""

    svg: str
    caption: str
    wide: bool = False


def of_solve(trace: Trace, name: str) -> list[Drawing]:
    """Draw objective and bound, gap and infeasibility, and the cost per iteration, twice."""
    k = trace.columns["k"]
    last = f"{count(k[-1])} iterations" if k.size else "no iterations"
    objective = outwards(trace.objective, up=not trace.upper)  # the optimum may be between the two
    ended = f"objective {objective}, bound {outwards(trace.bound, up=trace.upper)}"
    return [
        _panel(
            lambda axes: curves.objective(axes, [trace], "iterations"),
            f"{name}-objective",
            f"Objective and bound over {last}; final {ended}.",
            "The bound during the solve is an estimate; the diamond is proved.",
        ),
        _panel(
            lambda axes: curves.errors(axes, trace, "iterations"),
            f"{name}-errors",
            f"Gap, infeasibility and its price over {last}, logarithmic; the proved gap is "
            f"{trace.gap:.2g}.",
            "All are relative and belong to the iterates before any repair.",
        ),
        *(_cost(trace, column, name, last) for column in ("matvecs", "seconds")),
    ]


def _cost(trace: Trace, column: str, name: str, last: str) -> Drawing:
    values = trace.columns[column]
    total = float(values[-1]) if values.size else 0.0
    unit, what, text = 1e3, "Milliseconds", f"{total:.3g} seconds until the last iteration"
    if column == "matvecs":
        unit, what, text = 1.0, "Matrix products", f"{count(total)} products in total"
    return _panel(
        lambda axes: curves.cost(axes, [trace], "iterations", column, unit),
        f"{name}-{column}",
        f"{what} per iteration over {last}; {text}.",
        f"{text[0].upper()}{text[1:]}.",
    )


def of_several(traces: Sequence[Trace]) -> list[Drawing]:
    """Draw the objectives, gaps, infeasibilities and costs of several solves against time."""
    against: Against = "seconds"
    names = "; ".join(trace.label for trace in traces)
    at_objective = "Dots and diamonds are the final objectives and the proved bounds."
    at_errors = {
        "gap": ("Estimated gaps", "Relative; estimates during the solve."),
        "infeasibility": ("Infeasibilities", "Relative; of the iterates before any repair."),
        "price": ("Prices of infeasibility", "Relative; at the dual of the best bound."),
    }
    draw_objective = partial(curves.objective, traces=traces, against=against)
    draw_cost = partial(curves.cost, traces=traces, against=against)
    drawings: list[tuple[str, str, str, Callable[[Any], None]]] = [
        ("objective", "Objectives and bounds", at_objective, draw_objective),
        *(
            (name, *texts, partial(curves.one_error, traces=traces, column=name, against=against))
            for name, texts in at_errors.items()
        ),
        (
            "cost",
            "Matrix products per iteration",
            "Each value is a mean over several iterations.",
            draw_cost,
        ),
    ]
    return [
        _panel(draw, f"all-{name}", f"{what} of {names} against seconds.", caption)
        for name, what, caption, draw in drawings
    ]


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Values of a block in decreasing order, what they are, and the shape of the block."""

    values: Array
    what: str
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The number of values above RANK_TOL times the largest."""
        return int(np.count_nonzero(self.values > RANK_TOL * self.values.max(initial=0.0)))


def spectra(x: Any) -> list[Spectrum]:
    """Return one spectrum per block of a point; none for a block that would take too long."""
    if isinstance(x, tuple):
        return [spectrum for block in x for spectrum in spectra(block)]
    if isinstance(x, LowRank):
        return [Spectrum(_of_factor(x), "eigenvalues", x.shape)]
    if isinstance(x, Outer):
        return [Spectrum(x.singular_values(), "singular values", x.shape)]
    array = np.asarray(x) if x is not None else np.zeros(0, dtype=object)
    if array.dtype.kind not in "fc" or not array.size or not np.isfinite(array).all():
        return []
    if array.ndim == 1:
        return [Spectrum(-np.sort(-np.abs(array)), "absolute values of the entries", array.shape)]
    if array.ndim != 2 or min(array.shape) > MAX_DENSE_SIDE:
        return []
    asymmetry = 1e-9 * float(np.abs(array).max())
    if array.shape[0] == array.shape[1] and np.allclose(
        array, array.conj().T, rtol=0, atol=asymmetry
    ):
        return [Spectrum(np.linalg.eigvalsh(array)[::-1], "eigenvalues", array.shape)]
    return [Spectrum(np.linalg.svd(array, compute_uv=False), "singular values", array.shape)]


def _of_factor(x: LowRank) -> Array:
    """Return the r possibly nonzero eigenvalues of U diag(w) U*: those of R diag(w) R*, U = QR."""
    if not x.weights.size:
        return np.zeros(0)
    R: Any = np.linalg.qr(x.U, mode="r")
    values = np.linalg.eigvalsh((R * x.weights) @ R.conj().T)
    return np.asarray(values[::-1])


def of_spectrum(spectra: Sequence[Spectrum], name: str) -> Drawing | None:
    """Draw the values of the largest blocks in decreasing order, logarithmic."""
    listed = sorted((s for s in spectra if s.values.size), key=lambda s: -s.values.size)
    listed = [s for s in listed if s.values.max() > 0][:4]
    if not listed:
        return None

    def draw(axes: Any) -> None:
        for spectrum, colour, dashes in zip(listed, COLOURS, DASHES, strict=False):
            visible = spectrum.values > SPECTRUM_FLOOR * spectrum.values.max()
            index = np.flatnonzero(visible) + 1
            marks = {"marker": "o", "markersize": 3.5} if index.size <= MAX_MARKED_VALUES else {}
            x, y = curves.thinned(index.astype(float), spectrum.values[visible], logarithmic=False)
            label = " x ".join(map(count, spectrum.shape))
            axes.plot(x, y, color=colour, linestyle=dashes, linewidth=1.2, label=label, **marks)
        curves.decades(axes)
        axes.set_title(f"{listed[0].what}, in decreasing order")
        axes.set_xlabel("index")
        axes.xaxis.get_major_locator().set_params(integer=True)
        if len(listed) > 1:
            axes.legend(fontsize=8)

    text = "; ".join(map(_ranks, listed))
    left = len(spectra) - len(listed)
    more = f" {left} smaller blocks are not shown." if left > 0 else ""
    return _panel(draw, f"{name}-spectrum", f"Spectrum of x. {text}.", f"{text}.{more}")


def of_picture(picture: Mapping[str, Any], name: str) -> Drawing | None:
    """Draw the picture of the answer."""
    caption = drawn.caption(picture)
    try:
        figure = drawn.draw(picture)
        if figure is None:
            return None
        return Drawing(
            inline(figure, name=f"{name}-picture", alternative=caption), caption, wide=True
        )
    except (IndexError, KeyError, TypeError, ValueError):  # inconsistent arrays in a file
        return None


def _panel(draw: Callable[[Any], None], name: str, alternative: str, caption: str) -> Drawing:
    from matplotlib.figure import Figure

    with drawing():
        figure = Figure(figsize=PANEL, layout="constrained")
        draw(figure.subplots())
        return Drawing(inline(figure, name=name, alternative=alternative), caption)


def _ranks(spectrum: Spectrum) -> str:
    most, total = number(float(spectrum.values.max())), number(float(spectrum.values.sum()))
    rank = f"{spectrum.rank:,} of {min(spectrum.shape):,} {spectrum.what}"
    return f"{rank} are above 1e-6 of the largest, which is {most}; the sum is {total}"


# ---- SVG ---------------------------------------------------------------------------------------


def inline(figure: Figure, *, name: str, alternative: str) -> str:
    """Return a figure as an <svg> element with a text alternative; `name` prefixes its ids."""
    stream = StringIO()
    with drawing(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the browser's fonts decide
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    text = escape_controls(stream.getvalue())
    text = text[text.index("<svg") :]
    text = re.sub(UNUSED, "", text, flags=re.DOTALL)
    text = _own_ids(text, name)
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, f"var({variable})")
    text = re.sub(r"font: (?:\w+ )*?([\d.]+px) [^;\"]*", r"font-size: \1", text)
    text = re.sub(r"font-family: [^;\"]*;? ?", "", text)  # the page has its own
    text = re.sub(r' transform="rotate\(-0 [^"]*"', "", text)
    text = rounded_coordinates(text)
    text = re.sub(r"\s*\n\s*", "\n", text).strip()
    box = re.search(r'viewBox="[^"]*"', text)
    assert box is not None
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {box[0]} role="img" '
    return f'{opening}aria-label="{escape_html(alternative)}"{text[text.index(">") :]}'


def rounded_coordinates(svg: str) -> str:
    """Round coordinates, but no text, to hundredths of a point: half the size, and invisible."""
    return re.sub(r"<[a-z][^>]*>", _rounded, svg)


def _rounded(tag: re.Match[str]) -> str:
    return re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", tag[0])


def _own_ids(text: str, name: str) -> str:
    """Remove unused ids and prefix the others with the name."""
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))

    def own_id(match: re.Match[str]) -> str:
        return f' id="{name}-{match[1]}"' if match[1] in used else ""

    text = re.sub(r'\sid="([^"]*)"', own_id, text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    return re.sub(r'xlink:href="#', f'href="#{name}-', text).replace("xlink:href=", "href=")
