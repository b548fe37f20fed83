"""The pages of the documentation and their runnable parts: Python blocks, commands, outputs."""

import doctest
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from locations import ROOT

# The languages of fenced blocks; `text` after a block is the output of the block.
RUN = ("python", "sh")
SHOWN = ("text", "{toctree}", "{names}", "{commands}", "{include}", "{cards}", "{example}")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d*)?(?:e[-+]?\d+)?(?!\w)")
COUNTS = re.compile(r"\s*(seconds|iterations|oracle calls)\b")  # lines whose numbers may differ
# The steps of a Lanczos run, and which of the plans of one cost is found, differ between machines.
VARIES = re.compile(r"\b\d+ steps\b|\bpermutation=\[[\d, ]*\]")
TINY = 2e-3  # gaps and infeasibilities below this all count as equal
COMMAND = re.compile(r" {4}(?:\.venv/bin/)?(?:condal|make|pip|python|mpirun|srun)\b.*")


def all_pages() -> list[str]:
    """Return the README and every page of the site, by path in the project."""
    found = [path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")]
    return ["README.md", *sorted(str(path) for path in found if "_build" not in path.parts)]


def has_cvxpy() -> bool:
    """Return whether `condal.cvxpy` supports the installed CVXPY; with NumPy 1 it supports none."""
    try:
        importlib.import_module("condal.cvxpy")
    except ImportError:
        return False
    return True


@dataclass(frozen=True)
class Step:
    """A runnable block of Python or shell lines, with its expected output."""

    page: str
    line: int
    language: str
    text: str
    output: str | None = None

    @property
    def commands(self) -> list[str]:
        """The non-empty shell lines; a backslash at the end joins two lines."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line.strip() for line in lines if line.strip()]


@dataclass(frozen=True)
class Fence:
    """A fenced block, or an indented command as a block of language `sh`."""

    line: int
    language: str
    text: str
    indented: bool = False


def fences(page: str) -> Iterator[Fence]:
    """Return the fenced blocks and indented commands of a page, in order."""
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
    """Return the runnable blocks of a page, in order."""
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
    """Return the Python blocks of a page, in order."""
    return [step.text for step in steps(page) if step.language == "python"]


def _follows(page: str, one: Fence, other: Fence) -> bool:
    """Return whether only empty lines separate two blocks."""
    return other.line == one.line + one.text.count("\n") + 3


def agrees(shown: str, printed: str, *, within: float = 0.01) -> bool:
    """Return whether a page shows the printed text: the same words, and numbers within 1%. `...`
    stands for any words; numbers are then not compared."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    words = [f"{NUMBER.sub('#', text.strip())}\n" for text in (shown, printed)]
    if not doctest.OutputChecker().check_output(words[0], words[1], flags):
        return False
    pairs = zip(_numbers(shown), _numbers(printed), strict=True)
    return "..." in shown or all(_near(a, b, within) for a, b in pairs)


def _numbers(text: str) -> list[float]:
    lines = [line for line in text.splitlines() if not COUNTS.match(line)]
    return [float(number) for number in NUMBER.findall(VARIES.sub("", "\n".join(lines)))]


def _near(a: float, b: float, within: float) -> bool:
    return abs(a - b) <= within * abs(a) or max(abs(a), abs(b)) <= TINY
