r"""Render LaTeX formulas as MathML, which browsers draw without a script, a font or the network.

Formulas are written $...$ and $$...$$ on pages, :math: and `.. math::` in docstrings. The converter
is that of docutils: the arguments of a command need braces (\tfrac{1}{2}, not \tfrac12), and
commands it does not know are warnings.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

THIN_SPACE = '<mspace width="0.17em"></mspace>'
# Browsers leave no space around the name of a function, and too much around a vertical bar.
SPACING = (
    (r"(</m[in]>\s*)(<mi[^>]*>\w+</mi>\s*<mo>&ApplyFunction;</mo>)", rf"\1{THIN_SPACE}\2"),
    (r"<mo>&ApplyFunction;</mo>(?!\s*<mo)", THIN_SPACE),
    (r"<mo[^>]*>\|</mo>", '<mo lspace="0" rspace="0">|</mo>'),
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer, which `html_math_renderer` selects."""
    app.add_html_math_renderer("mathml", (_visit, None), (_visit, None))
    return {"parallel_read_safe": True}


def _visit(self: Any, node: nodes.math | nodes.math_block) -> None:
    displayed = isinstance(node, nodes.math_block)
    latex = re.sub(r"\\dots(?![a-zA-Z])", r"\\ldots", node.astext())
    try:
        formula = tex2mathml(latex, as_block=displayed)
    except MathError as error:
        logger.warning("%s: %s", latex, error, location=node)
        formula = f"<code>{self.encode(latex)}</code>"
    for pattern, replacement in SPACING:
        formula = re.sub(pattern, replacement, formula)
    self.body.append(f'<div class="math">{formula}</div>\n' if displayed else formula)
    raise nodes.SkipNode
