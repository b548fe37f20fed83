"""The METIS (.graph) format: a line `n m [fmt [ncon]]`, then a line of neighbours for each vertex.

Every edge stands in the lines of both its ends. fmt is up to three digits: 1 in the last place for
edges with weights, in the one before for vertices with ncon weights, in the first for vertices with
sizes. What vertices weigh is checked and not used. METIS itself asks for positive whole weights;
here an edge may have any finite one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.errors import ProblemError
from condal.io.formats.adjacency import from_edges, mirror, same, sum_entries, upper_triangle
from condal.io.formats.coordinate import blocks
from condal.io.formats.faults import index_fault, weight_fault
from condal.io.formats.header import Layout, check_claims, read_count
from condal.io.formats.numerals import spell
from condal.io.formats.pairs import Entries, pair_fault
from condal.io.formats.text import Text, quote, read_text
from condal.io.formats.words import IN_REALS, WORD, cut, digits, numbers
from condal.io.formats.writing import write_text
from condal.io.safe_files import PathLike

MOST_WEIGHTS = 1000  # of a vertex

_COMMENT = re.compile(rb"^[ \t]*%[^\n]*(?:\n|\Z)", re.MULTILINE)
_HEADER = "'n m', 'n m fmt' or 'n m fmt ncon', the numbers of vertices and edges first"


@dataclass(frozen=True)
class Plan:
    """What the header, on line `line`, says of the lines after it, which begin at `start`.

    A line has `own` numbers of its vertex, then a neighbour in every `step` numbers.
    """

    layout: Layout
    own: int
    step: int
    start: int
    line: int


def read_metis(path: PathLike) -> sparse.csr_array:
    """W = W^T; without weights an edge has 1. A blank line is a vertex without neighbours."""
    return parse_metis(read_text(path))


def parse_metis(text: Text) -> sparse.csr_array:
    """`read_metis` for a file already read."""
    plan = plan_of(text)
    n = plan.layout.n
    # Nothing is allocated on the word of m, and at the end more can be said of a wrong one.
    check_claims(text, replace(plan.layout, m=0), plan.start, plan.line)
    # Comments are no vertices; only an error needs their lines.
    body = without_comments(text.data[plan.start :])
    require_lines(text, plan, body.count(b"\n"))
    found = neighbours(body, plan)
    if found is None or (plan.own and found.full < n):
        refuse(text, plan)
    i, j, w = found.entries
    del found
    if w.all():
        W = sum_entries(text, n, i, j, w)
        if W.nnz == i.size == 2 * plan.layout.m and same(W, W.T.tocsr()):
            return W
    if (fault := pair_fault(n, (i, j, w), (j, i, w))) is not None:
        raise text.error(fault.text, line_of_vertex(text, plan, fault.vertex))
    require_edges(text, plan, i.size)
    once = i < j
    return from_edges(text, n, i[once], j[once], w[once])


def without_comments(data: bytes) -> bytes:
    """The lines that are no comments."""
    return _COMMENT.sub(b"", data)


def require_lines(text: Text, plan: Plan, ends: int) -> None:
    """Refuse fewer lines than vertices, of so many ends of lines."""
    lines = ends + 1  # the last, which may be blank, need not end
    if lines < plan.layout.n:
        raise text.error(
            f"the header says {plan.layout.n} vertices, but {lines} lines follow; a vertex without "
            "neighbours has a blank line: the file is truncated or the header is wrong",
            plan.line,
        )


def require_edges(text: Text, plan: Plan, ends: int) -> None:
    """Refuse another number of edges, each of two ends, than the header says."""
    if ends != 2 * plan.layout.m:
        raise text.error(
            f"the header says {plan.layout.m} edges, but the lines hold {ends // 2}, each twice; "
            "correct the header",
            plan.line,
        )


def write_metis(path: PathLike, W: sparse.csr_array | npt.ArrayLike) -> None:
    """Write W = W^T so that `read_metis` gives it back exactly; packed if named .gz or .xz.

    The file appears whole or not at all. The format has no self-loops: W must have a zero diagonal.
    """
    upper = upper_triangle(W)
    if (loops := np.flatnonzero(upper.row == upper.col)).size:
        raise ProblemError(
            f"W has a self-loop at vertex {upper.row[loops[0]] + 1}, which METIS files cannot "
            "hold; remove the diagonal, or use write_rudy"
        )
    write_text(path, _lines(sparse.csr_array(upper)))


def plan_of(text: Text) -> Plan:
    """What the header says."""
    found = text.header()
    if found is None:
        raise text.error(f"holds comments alone; wanted a header, {_HEADER}")
    content, after, number = found
    words = content.split(None, 4)
    if len(words) not in (2, 3, 4):
        raise text.error(f"the header must be {_HEADER}; got {quote(content)}", number)
    n = read_count(text, words[0], number, "vertices")
    m = read_count(text, words[1], number, "edges")
    fmt = words[2] if len(words) > 2 else b"0"
    if not re.fullmatch(rb"[01]{1,3}", fmt):
        raise text.error(
            f"fmt must be up to three digits 0 or 1, as in 1, 11 or 100; got {quote(fmt)}", number
        )
    sizes, weights, edges = (digit == "1" for digit in fmt.decode().zfill(3))
    ncon = read_count(text, words[3], number, "weights of a vertex") if len(words) > 3 else 1
    if len(words) > 3 and not weights:
        raise text.error(
            f"the header says {ncon} weights a vertex, but fmt {fmt.decode()} says none; write "
            f"{'1' if sizes else '0'}1{int(edges)}, or leave out the number",
            number,
        )
    if not 1 <= ncon <= MOST_WEIGHTS:
        raise text.error(
            f"the header says {ncon} weights a vertex; wanted 1 to {MOST_WEIGHTS}", number
        )
    layout = Layout(n, m, "edges", (2,))
    return Plan(layout, int(sizes) + ncon * int(weights), 1 + int(edges), after, number)


class Neighbours(NamedTuple):
    """i, j (from 0) and w of what the lines of vertices say, and how many of these are not
    blank."""

    entries: Entries
    full: int


def neighbours(body: bytes, plan: Plan, before: int = 0) -> Neighbours | None:
    """What lines without comments say, after those of the `before` first vertices; None if any is
    at fault."""
    columns: tuple[list[Any], ...] = (
        [np.zeros(0, np.int64)],
        [np.zeros(0, np.int64)],
        [np.zeros(0)],
    )
    full = 0
    for begin, end in blocks(body, 0):
        found = _bulk(body, begin, end, plan, before)
        if found is None:
            return None
        for column, part in zip(columns, found[0], strict=True):
            column.append(part)
        full += found[1]
        before += body.count(b"\n", begin, end)
    whole = []
    for column in columns:
        whole.append(np.concatenate(column))
        column.clear()  # one after the other, so that no two columns are there twice
    i, j, w = whole
    return Neighbours((i, j, w), full)


def _bulk(data: bytes, begin: int, end: int, plan: Plan, before: int) -> tuple[Entries, int] | None:
    """i, j (from 0) and w of the lines of data[begin:end], and how many are not blank; None if any
    is at fault."""
    a = np.frombuffer(data, np.uint8, end - begin, begin)
    if not IN_REALS[a].all():
        return None
    starts, ends, first, width = cut(a)
    vertex = before + np.searchsorted(np.flatnonzero(a == ord("\n")), starts[first])
    rest = width - plan.own
    if (vertex >= plan.layout.n).any() or (rest < 0).any() or (rest % plan.step).any():
        return None
    place = np.arange(starts.size) - np.repeat(first, width) - plan.own
    its = [place < 0, (place >= 0) & (place % plan.step == 0)]
    own, j = (digits(a, starts[one], ends[one]) for one in its)
    weighs = ~(its[0] | its[1])
    w = numbers(a, starts[weighs], ends[weighs]) if plan.step == 2 else np.ones(int(its[1].sum()))
    i = np.repeat(vertex, rest // plan.step)
    if own is None or j is None or w is None:
        return None
    if j.size and (j.min() < 1 or j.max() > plan.layout.n or (i == j - 1).any()):
        return None
    return (i, j - 1, w), first.size


def _vertices(text: Text, plan: Plan) -> Iterator[tuple[int, bytes]]:
    """The lines that are no comments, with their numbers: one for each vertex, and what is more."""
    for number, (content, _) in enumerate(text.lines(plan.start), plan.line + 1):
        if not content.lstrip(b" \t").startswith(b"%"):
            yield number, content


def line_of_vertex(text: Text, plan: Plan, vertex: int) -> int:
    """The line of a vertex, counted from 0, of those that begin at `plan.start`."""
    return next(islice(_vertices(text, plan), vertex, None))[0]


def refuse(text: Text, plan: Plan, before: int = 0) -> NoReturn:
    """Raise the error of the first line at fault, after those of the `before` first vertices."""
    n = plan.layout.n
    for vertex, (number, content) in enumerate(_vertices(text, plan), before + 1):
        words = WORD.findall(content)
        if vertex > n:
            if words:
                raise text.error(
                    f"the header says {n} vertices, but after their lines stands "
                    f"{quote(content)}; correct the header or remove what is too much",
                    number,
                )
            continue
        fault = _fault(words, vertex, plan)
        if fault is not None:
            raise text.error(fault, number)
    raise text.error(
        f"the line of vertex {n} is missing: wanted the {plan.own} numbers of its own",
        text.line_at(len(text.data) - 1),
    )


def _fault(words: list[bytes], vertex: int, plan: Plan) -> str | None:
    """What is wrong with the line of a vertex, or None."""
    own, rest = words[: plan.own], words[plan.own :]
    if len(own) < plan.own:
        return (
            f"got {len(own)} numbers for vertex {vertex}; by the header its line begins with "
            f"{plan.own} of its own, sizes and weights"
        )
    for word in own:
        if not word.isdigit() or len(word) > 18:
            return f"what a vertex weighs must be a whole number without sign, got {quote(word)}"
    if len(rest) % plan.step:
        return (
            f"the last neighbour of vertex {vertex} has no weight: by the header they are pairs "
            "'neighbour weight'"
        )
    for k, word in enumerate(rest):
        fault = weight_fault(word) if k % plan.step else index_fault(word, plan.layout)
        if fault is None and k % plan.step == 0 and int(word) == vertex:
            fault = f"vertex {vertex} is its own neighbour; METIS files have no self-loops"
        if fault is not None:
            return fault
    return None


def _lines(upper: sparse.csr_array) -> Iterator[str]:
    """The header, and a line a vertex."""
    weighted = not (upper.data == 1.0).all()
    yield f"{upper.shape[0]} {upper.nnz}{' 1' if weighted else ''}\n"
    W = mirror(upper)
    for begin, end in pairwise(W.indptr.tolist()):
        row = (W.indices[begin:end] + 1).tolist()
        if weighted:
            weights = map(spell, W.data[begin:end].tolist())
            yield " ".join(f"{j} {w}" for j, w in zip(row, weights, strict=True)) + "\n"
        else:
            yield " ".join(map(str, row)) + "\n"
