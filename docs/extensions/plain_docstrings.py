"""Convert docstrings, plain text in numpydoc sections with `names`, to reStructuredText.

    tol : float
        SOLVED means |bound - objective| <= tol max(1, |objective|).

Characters that are special in reStructuredText are escaped: |objective| stays as it is. A
name in backticks becomes a link if the site has a page for it, and code otherwise. An indented
paragraph is shown as it is. Roles (:math:), directives (`.. math::`) and doctests pass unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import takewhile
from textwrap import dedent
from typing import Any

from public_names import public_path
from sphinx.application import Sphinx

ITEM = re.compile(r"(\*{0,2}\w[\w*, ]*) : (.*)")
SPECIAL = re.compile(r"(?<!\w)(\*\w[^*]*\w\*)(?!\w)|([\\*_|<>])")  # *emphasis* is kept
CODE = re.compile(r"(:[\w:-]+:)?(`+)(.+?)\2", re.DOTALL)
LIST = re.compile(r"([*-]|\d+\.) ")
DIRECTIVE = re.compile(r"\.\. [\w:-]+::")
REFERENCE = re.compile(r"\.\. (\[\w+\] .*)")
CITED = re.compile(r"(\[\w+\])_(?!\w)")
DEFINING = {"Parameters", "Other Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns"}
FULL_LINE = 84  # a first line this long runs on in the next: it is prose and not a type


def setup(app: Sphinx) -> dict[str, Any]:
    """Pass every docstring through `converted`."""
    app.connect("autodoc-process-docstring", _convert)
    return {"parallel_read_safe": True}


def _convert(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = converted(lines)


def converted(lines: list[str]) -> list[str]:
    """Return the lines of a docstring as reStructuredText."""
    made: list[str] = []
    section, in_directive = "", False
    for block in _blocks(lines):
        indented = all(line.startswith("  ") for line in block)
        in_directive = bool(DIRECTIVE.match(block[0])) or (in_directive and indented)
        if len(block) > 1 and set(block[1]) == {"-"}:
            section, *block = block[0], *block[2:]
            made += [f".. rubric:: {section}", ""]
            made += _definitions(block) if section in DEFINING else converted(block)
        elif in_directive or block[0].startswith(">>> "):
            made += [*block, ""]
        elif section in DEFINING and block[0].startswith("  "):  # more of a description, then items
            more = list(takewhile(lambda line: line.startswith("  "), block))
            made += [f"    {line}" for line in converted(_dedented(more))]
            made += _definitions(block[len(more) :])
        elif indented:
            made += ["::", "", *(f"    {line}" for line in block), ""]
        elif section in DEFINING and len(block) > 1 and ITEM.fullmatch(block[0]):
            made += _definitions(block)
        elif REFERENCE.match(block[0]):
            made += _listed([REFERENCE.sub(r"* \1", line) for line in block])
        elif LIST.match(block[0]):
            made += _listed(block)
        else:
            section = ""
            made += [inline(" ".join(block)), ""]
    return made


def inline(text: str) -> str:
    """Return plain text with its `names` linked, its roles kept and its other signs escaped."""
    parts, end = [], 0
    for span in CODE.finditer(text):
        parts += [_escaped(text[end : span.start()]), span[0] if span[1] else _code(span[3])]
        end = span.end()
    return "".join([*parts, _escaped(text[end:])])


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Yield the runs of lines between empty ones."""
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line.rstrip())
        elif block:
            yield block
            block = []


def _dedented(block: list[str]) -> list[str]:
    return dedent("\n".join(block)).split("\n")


def _definitions(block: list[str]) -> list[str]:
    """Return a list of terms (`name : type`, or a type alone), each with its description."""
    made: list[str] = []
    for head, *description in _items(block, lambda line: not line.startswith(" ")):
        item = ITEM.fullmatch(head)
        term = ", ".join(f"``{name.strip()}``" for name in item[1].split(",")) if item else ""
        words = item[2] if item else head
        if not description or len(f"{head} {description[0].split()[0]}") > FULL_LINE:
            description = [words, *(line.strip() for line in description)]
        elif item:
            term = f"{term} : {inline(words)}"
        else:
            term = _code(words)
        margin = "    " if term else ""
        made += [term, *(margin + line for line in converted(_dedented(description)))]
    return made


def _listed(block: list[str]) -> list[str]:
    items = _items(block, lambda line: bool(LIST.match(line)))
    joined = [" ".join(line.strip() for line in item) for item in items]
    return [*(LIST.match(line)[0] + inline(LIST.sub("", line, count=1)) for line in joined), ""]


def _items(block: list[str], begins: Callable[[str], bool]) -> list[list[str]]:
    """Split a block before each line that begins an item."""
    items: list[list[str]] = []
    for line in block:
        if begins(line) or not items:
            items.append([])
        items[-1].append(line)
    return items


def _escaped(text: str) -> str:
    return SPECIAL.sub(lambda sign: sign[1] or f"\\{sign[2]}", CITED.sub(r"\1", text))


def _code(text: str) -> str:
    """Return a link to a public name, whole or at the head of a call or attribute; else code."""
    head = re.match(r"[A-Za-z_.]+", text)
    names = head[0].strip(".").split(".") if head else []
    for length in range(len(names), 0, -1):
        target = public_path(".".join(names[:length]))
        if target is not None:
            shown = text.replace("<", r"\<")
            return f":py:obj:`{shown} <{target}>`"
    return f"``{text}``"
