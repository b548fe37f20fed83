"""The gallery: the directive `example` shows a script of `examples`, `cards` links to its pages.

    ```{example} 01_max_cut
    ```

    ```{cards}
    max_cut: split a graph in two
    ```

A page of the gallery has the name of its script, without the number. `make gallery` runs every
script and stores what it prints and draws beside the page; the tests compare. Each script can be
downloaded as it is and as a notebook.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

DOCS = Path(__file__).parents[1]
EXAMPLES = DOCS.parent / "examples"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives and the copies for downloading."""
    app.add_directive("example", Example)
    app.add_directive("cards", Cards)
    app.connect("build-finished", _write_downloads)
    return {"parallel_read_safe": True}


def page_name(script: Path) -> str:
    """Return the name of the page of a script: without the number."""
    return script.stem.partition("_")[2]


class Example(SphinxDirective):
    """The downloads, the code and the output of a script."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the nodes."""
        script = EXAMPLES / f"{self.arguments[0]}.py"
        name = page_name(script)
        output = DOCS / "gallery" / f"{name}.txt"
        for file in (script, output):
            if not file.exists():
                raise self.error(f"{file.name} is missing: run make gallery")
            self.env.note_dependency(str(file))
        code = script.read_text(encoding="utf-8")
        return [
            *self.parse_text_to_nodes("## The example", allow_section_headings=True),
            _downloads(name),
            nodes.literal_block(code, code, language="python"),
            nodes.paragraph("", "It prints:"),
            nodes.literal_block(text := output.read_text(encoding="utf-8"), text, language="text"),
        ]


def _downloads(name: str) -> nodes.Node:
    line = nodes.paragraph(classes=["downloads"])
    line += nodes.Text("Download as a ")
    line += nodes.reference("", "script", refuri=f"{name}.py")
    line += nodes.Text(" or as a ")
    line += nodes.reference("", "notebook", refuri=f"{name}.ipynb")
    line += nodes.Text(".")
    return line


class Cards(SphinxDirective):
    """A picture, the title and a line about each page of the gallery, as links."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return one container."""
        cards = nodes.container(classes=["cards"])
        for entry in self.content:
            name, _, line = entry.partition(": ")
            page = DOCS / "gallery" / f"{name}.md"
            if not page.exists():
                raise self.error(f"docs/gallery has no page {name}")
            title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
            cards += self._card(name, title, line)
        return [cards]

    def _card(self, name: str, title: str, line: str) -> nodes.Node:
        uri = directives.uri(f"gallery/{name}.html")
        link = nodes.reference(internal=True, refuri=uri, classes=["card"])
        link += nodes.image(uri=f"gallery/{name}.png", alt="", loading="lazy")
        link += nodes.inline("", title, classes=["card-title"])
        link += nodes.inline("", line, classes=["card-line"])
        card = nodes.paragraph()
        card += link
        return card


def _write_downloads(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        folder = Path(app.outdir) / "gallery"
        for script in sorted(EXAMPLES.glob("[0-9]*.py")):
            code = script.read_text(encoding="utf-8")
            name = page_name(script)
            (folder / f"{name}.py").write_text(code, encoding="utf-8")
            text = json.dumps(notebook(name, code), indent=1)
            (folder / f"{name}.ipynb").write_text(f"{text}\n", encoding="utf-8")


def notebook(name: str, code: str) -> dict[str, Any]:
    """Return a script as a notebook: its docstring and the comments between its parts as text."""
    cells = [*_cells(code), ("code", f'from IPython.display import Image\n\nImage("{name}.png")')]
    return {
        "cells": [_cell(number, kind, text) for number, (kind, text) in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cells(code: str) -> Iterator[tuple[str, str]]:
    docstring, code = re.fullmatch(r'"""(.*?)"""\n+(.*)', code, re.DOTALL).groups()
    title, _, rest = docstring.partition("\n")
    yield "markdown", f"# {title.rstrip('.')}\n{rest}".rstrip()
    # A part begins where a comment at the margin follows an empty line.
    for part in re.split(r"\n\n+(?=# )", code.rstrip()):
        lines = part.split("\n")
        length = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
        comment = " ".join(line.removeprefix("#").strip() for line in lines[:length])
        if comment:
            yield "markdown", comment
        if rest := "\n".join(lines[length:]).strip("\n"):
            yield "code", rest


def _cell(number: int, kind: str, text: str) -> dict[str, Any]:
    cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})
