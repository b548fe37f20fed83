"""Docstrings as they are written here, plain text with `names` and formulas, as reStructuredText.

    tol : SOLVED means |bound - objective| <= tol max(1, |objective|)

is neither a type nor a substitution: signs that mean something to reStructuredText are escaped, a
name in backticks becomes a link where the site has a page for it, else code, an indented paragraph
is a formula, and a section `Parameters` is a list of names and what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from public_names import public_path
from sphinx.application import Sphinx

ITEM = re.compile(r"(\*?\w[\w*, ]*) : (.*)")
SPECIAL = re.compile(r"([\\*_|<>])")
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
LIST = re.compile(r"([*-]|\d+\.) ")


def setup(app: Sphinx) -> dict[str, Any]:
    """Every docstring passes through `converted`."""
    app.connect("autodoc-process-docstring", _convert)
    return {"parallel_read_safe": True}


def _convert(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = converted(lines)


def converted(lines: list[str]) -> list[str]:
    """The lines of a plain docstring as reStructuredText."""
    made: list[str] = []
    for block in _blocks(lines):
        if len(block) > 1 and set(block[1]) == {"-"}:
            made += _section(block)
        elif all(line.startswith("  ") for line in block):
            made += ["::", "", *(f"    {line}" for line in block), ""]
        elif LIST.match(block[0]):
            made += [*_listed(block), ""]
        else:
            made += [inline(" ".join(block)), ""]
    return made


def inline(text: str) -> str:
    """Plain text with `names`, its other signs escaped."""
    parts, end = [], 0
    for span in CODE.finditer(text):
        parts += [_escaped(text[end : span.start()]), _code(span[2])]
        end = span.end()
    return "".join([*parts, _escaped(text[end:])])


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines between empty ones."""
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line.rstrip())
        elif block:
            yield block
            block = []


def _section(block: list[str]) -> list[str]:
    made = [f".. rubric:: {block[0]}", ""]
    names, text = "", ""
    for line in [*block[2:], ": "]:
        item = ITEM.fullmatch(line)
        if item or line == ": ":
            if names:
                code = ", ".join(f"``{name.strip()}``" for name in names.split(","))
                made += [code, f"    {inline(text)}", ""]
            if item:
                names, text = item[1], item[2]
        else:
            text += f" {line.strip()}"
    return made


def _listed(block: list[str]) -> list[str]:
    made: list[str] = []
    for line in block:
        mark = LIST.match(line)
        if mark:
            made.append(f"{mark[0]}{inline(line[mark.end() :])}")
        else:
            made.append(f"{' ' * (len(line) - len(line.lstrip()))}{inline(line.strip())}")
    return made


def _escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)


def _code(text: str) -> str:
    """A link to a public name, whole or at the head of a call or an attribute; else code."""
    head = re.match(r"[A-Za-z_.]+", text)
    names = head[0].strip(".").split(".") if head else []
    for length in range(len(names), 0, -1):
        target = public_path(".".join(names[:length]))
        if target is not None:
            shown = text.replace("<", r"\<")
            return f":py:obj:`{shown} <{target}>`"
    return f"``{text}``"
