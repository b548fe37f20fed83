"""The pages of the documentation, and what of them runs: blocks of Python, commands, outputs."""

from __future__ import annotations

import doctest
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from locations import ROOT

# What the fences of a page may be: `text` after a block is what the block prints.
RUN, SHOWN = ("python", "sh"), ("text", "{toctree}", "{names}", "{commands}", "{include}")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d*)?(?:e[-+]?\d+)?(?!\w)")
COUNTS = re.compile(r"\s*(seconds|iterations|oracle calls)\b")  # lines whose numbers are free
TINY = 2e-3  # gaps and infeasibilities below a tolerance: any of them will do
COMMAND = re.compile(r" {4}(?:\.venv/bin/)?(?:condal|make|pip|python)\b.*")


def all_pages() -> list[str]:
    """The README and every page of the site, by its path in the project."""
    found = [path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")]
    return ["README.md", *sorted(str(path) for path in found if "_build" not in path.parts)]


def has_cvxpy() -> bool:
    """Whether there is a CVXPY that `condal.cvxpy` can do with; with NumPy 1 there is none."""
    try:
        importlib.import_module("condal.cvxpy")
    except ImportError:
        return False
    return True


@dataclass(frozen=True)
class Step:
    """A block that runs: Python, or lines of a shell; `output` is what it is said to print."""

    page: str
    line: int
    language: str
    text: str
    output: str | None = None

    @property
    def commands(self) -> list[str]:
        """The lines of a shell, without empty ones; a backslash at the end joins two."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line.strip() for line in lines if line.strip()]


@dataclass(frozen=True)
class Fence:
    """A fenced block as it stands, or, with the language `sh`, a command in an indented line."""

    line: int
    language: str
    text: str
    indented: bool = False


def fences(page: str) -> Iterator[Fence]:
    """The fenced blocks of a page, and its indented commands, in order."""
    language, begin, inside = None, 0, []
    for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
        if line.startswith("```"):
            if language is None:
                language, begin, inside = line[3:].split(" ")[0], number, []
            else:
                yield Fence(begin, language, "".join(f"{one}\n" for one in inside))
                language = None
        elif language is not None:
            inside.append(line)
        elif COMMAND.fullmatch(line):
            yield Fence(number, "sh", f"{line.strip()}\n", indented=True)
    assert language is None, f"{page}: the block of line {begin} does not end"


def steps(page: str) -> list[Step]:
    """What of a page runs, in order."""
    found: list[Step] = []
    last: Fence | None = None
    for fence in fences(page):
        if fence.language in RUN:
            found.append(Step(page, fence.line, fence.language, fence.text))
        elif fence.language == "text" and last is not None and _follows(page, last, fence):
            step = found.pop()
            found.append(Step(page, step.line, step.language, step.text, fence.text))
        last = fence if fence.language in RUN and not fence.indented else None
    return found


def blocks_of(page: str) -> list[str]:
    """The Python blocks of a page, in order."""
    return [step.text for step in steps(page) if step.language == "python"]


def _follows(page: str, one: Fence, other: Fence) -> bool:
    """Whether there is nothing but an empty line between two blocks."""
    return other.line == one.line + one.text.count("\n") + 3


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed: the same words, and numbers within 1%; `...` stands
    for any words, and then the numbers are not looked at."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    words = [f"{NUMBER.sub('#', text.strip())}\n" for text in (shown, printed)]
    if not doctest.OutputChecker().check_output(words[0], words[1], flags):
        return False
    return "..." in shown or all(map(_near, _numbers(shown), _numbers(printed)))


def _numbers(text: str) -> list[float]:
    lines = [line for line in text.splitlines() if not COUNTS.match(line)]
    return [float(number) for number in NUMBER.findall("\n".join(lines))]


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= 0.01 * abs(a) or max(abs(a), abs(b)) <= TINY
