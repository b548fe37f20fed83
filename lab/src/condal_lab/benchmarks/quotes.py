"""`python -m condal_lab.benchmarks.quotes`: tables of results, quoted where pages ask for them.

A table under the comment `<!-- bench gset -->` has a column per solver and a row per instance. Its
cells are the CPU seconds in `lab/results/bench-gset.md`; several sets may be named.
"""

from __future__ import annotations

import re

from condal_lab.benchmarks.runner import RESULTS, ROOT

PAGES = ("README.md", "docs/comparison.md", "docs/index.md", "paper/paper.md")
QUOTED = re.compile(r"(<!-- bench ([\w ]+) -->\n+)(\|.*\n)(\|[-|]+\|\n)((?:\|.*\n)+)")


def times(name: str) -> dict[tuple[str, str], str]:
    """Return the CPU seconds of a set by instance and solver, as its page prints them."""
    instance, measured = "", {}
    for line in (RESULTS / f"bench-{name}.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            instance = line[3:].partition(":")[0]
        elif line.startswith("|"):
            solver, seconds, *_ = _cells(line)
            measured[instance, solver] = seconds
    return measured


def refreshed(text: str) -> str:
    """Return a page with the times that are stored now."""
    return QUOTED.sub(_table, text)


def _table(match: re.Match[str]) -> str:
    mark, names, head, rule, rows = match.groups()
    measured: dict[tuple[str, str], str] = {}
    for name in names.split():
        measured |= times(name)
    solvers = _cells(head)[1:]
    lines = []
    for row in rows.splitlines():
        instance = _cells(row)[0]
        lines.append([instance, *(measured[instance, solver] for solver in solvers)])
    return f"{mark}{head}{rule}" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip()[1:-1].split("|")]


def main() -> None:
    """Rewrite the tables."""
    for page in PAGES:
        path = ROOT / page
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
