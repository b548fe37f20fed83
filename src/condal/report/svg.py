"""A matplotlib figure as inline SVG that uses the colours of the page."""

from __future__ import annotations

import re
import warnings
from io import StringIO
from typing import TYPE_CHECKING, Any

from condal.report.curves import COLOURS, FAINT, GRID, INK, drawing
from condal.runtime.text import escape_controls, escape_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
