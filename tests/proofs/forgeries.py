"""Forged proof files: whatever is done to a proof, no checker may accept a false bound.

Each forgery is a random change of an honest proof of a problem with a known optimum. The checker
may refuse it, or accept it with a bound that holds; then exact arithmetic must accept it as well.
What condal would write, both must accept. A changed problem must be the same for all three readers.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from condal.errors import FormatError
from condal.io.formats import numerals
from condal.io.formats.coordinate import read_rudy
from condal.problems.conic.files import read_sdpa
from condal.problems.graphs import adjacency
from condal.problems.proof_files import _is_inside, _program_of_cut, slack
from locations import ROOT
from soak.pool import going_on
from soak.table import Row

EACH = 500  # forgeries of a row
WORDS = (
    *("nan", "inf", "-inf", "NaN", "1e308", "-1e308", "1e309", "1e5000", "5e-324", "1e-400", "0"),
    *("-0x0.0p+0", "0x1p99999", "0x1.8p+1023", "-0x1.8p+1023", "0x", "0xg", "", " ", "1 1", "1_0"),
    *("+1", "--1", "1e", "\u0661", "1/3", "1.", ".5", "1" * 64, "1" * 100_000, "0" * 60 + "1"),
)
PIECES = (
    *(" ", "\n", "\t", "\r\n", ",", "{", ")", "-", "+", "--", "+-", "1", "0", ".", "e", "d5"),
    *("1_0", "\v", "\x1c", "\xa0", "\ufeff", "\u0663", '"', "* 2\n", "nan", "0x1p+0", "= 3"),
    *("1e400", "e-300"),
)
HEADERS = (
    *("condal proof 2", "condal proof 1 ", "problem sdpa", "problem max-cut", "problem qp"),
    *("claim infeasible", "claim bound", "claim optimum", "bound -inf", "bound nan", "bound -1e9"),
    *("bound 1e308", "numbers 0", "numbers -1", "numbers 3", "numbers 99999999999999999999", "end"),
    *("sha256 " + "0" * 64, "sha256", "numbers 1e1", "", "y", "numbers \u0663"),
    *(f"bound {word}" for word in WORDS),
)


def load(name: str) -> Any:
    """Return a checker as a module."""
    spec: Any = importlib.util.spec_from_file_location(name, ROOT / f"checker/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECK, EXACT = load("check"), load("exact")


class Known(NamedTuple):
    """A problem in the text of its file, its kind, a number at most its optimum, and duals: their
    slack is psd and singular, or positive definite."""

    kind: str
    text: str
    optimum: float
    duals: tuple[Any, ...]


def complete(n: int) -> Known:
    """Return max-cut of a complete graph, whose optimum is n^2 / 4."""
    pairs = [(i, j) for i in range(1, n + 1) for j in range(1, i)]
    text = "\n".join([f"{n} {len(pairs)}", *(f"{i} {j} 1" for i, j in pairs), ""])
    return Known("max-cut", text, n * n / 4, (np.full(n, n / 4), np.full(n, n / 4 + 1e-9)))


def ring(n: int) -> Known:
    """Return max-cut of an even ring with edges of weight 0.1, which is not a double."""
    edges = [f"{i + 1} {(i + 1) % n + 1} 0.1" for i in range(n)]
    text = "\n".join([f"{n} {n}", *edges, ""])
    optimum = math.nextafter(0.1 * n, 0.0)
    return Known("max-cut", text, optimum, (np.full(n, 0.1), np.full(n, 0.1 + 1e-12)))


def lovasz(n: int) -> Known:
    """Return theta of an even ring, n / 2, as an SDPA program: 1 on the trace, 0 on the edges."""
    ends = [sorted((i, (i + 1) % n)) for i in range(n)]
    entries = [f"0 1 {i} {j} 1" for j in range(1, n + 1) for i in range(1, j + 1)]
    entries += [f"1 1 {i} {i} 1" for i in range(1, n + 1)]
    entries += [f"{k} 1 {i + 1} {j + 1} 1" for k, (i, j) in enumerate(ends, 2)]
    text = "\n".join([f"{n + 1}", "1", f"{n}", "1" + " 0" * n, *entries, ""])
    y = np.array([n / 2] + [n / 4] * n)  # n/2 I + n/4 A - J, where A has the eigenvalues -2 to 2
    deeper = y + np.eye(1, n + 1).ravel() * 1e-9
    return Known("sdpa", text, n / 2, (y, deeper) if n == 4 else (deeper + np.eye(1, n + 1)[0],))


def mixed() -> Known:
    """Return a program with a psd and a diagonal block: maximise x_12, x_11 = 1, x_22 + s = 2."""
    text = "2\n2\n2 -1\n1 2\n0 1 1 2 0.5\n1 1 1 1 1\n2 1 2 2 1\n2 2 1 1 1\n"
    y = np.array([0.7072, 0.3536])  # y_1 y_2 >= 1/4, so y_1 + 2 y_2 >= sqrt(2)
    return Known("sdpa", text, math.sqrt(2) * (1 - 1e-15), (np.array([1.0, 0.25]), y))


KNOWN = (complete(3), complete(6), ring(4), ring(60), lovasz(4), lovasz(8), mixed())


def honest(known: Known, y: Any) -> list[str]:
    """Return the lines of a proof whose claim leaves everything to y."""
    digest = hashlib.sha256(known.text.encode()).hexdigest()
    header = ["condal proof 1", f"problem {known.kind}", f"sha256 {digest}", "claim bound"]
    return [*header, "bound 1e305", f"numbers {len(y)}", *map(float.hex, map(float, y)), "end", ""]


def forged(known: Known, rng: np.random.Generator) -> tuple[bytes, Any]:
    """Return a random forgery, and y if nothing else was changed; some are honest."""
    y = known.duals[rng.integers(len(known.duals))].copy()
    k, size = int(rng.integers(y.size)), 10.0 ** -rng.integers(0, 18)
    how = rng.integers(13)
    if how < 4:
        y -= size * (y, np.ones(y.size), np.eye(y.size)[k], rng.standard_normal(y.size))[how]
    elif how == 4:
        y[k] = np.nextafter(y[k], -np.inf)
    elif how == 5:
        y = rng.permutation(y)
    elif how == 6:
        y[k] *= rng.choice([-1.0, 0.0, 0.5, 2.0, 1e10, 1e150, 1e-150, 1e300])
    elif how == 12:
        y = rng.random(y.size) * (rng.random(y.size) < 0.8)
        y[k] -= y.sum() * (1 + size)
    lines = honest(known, y)
    if how == 7:
        lines[int(rng.integers(6, 6 + y.size))] = str(rng.choice(np.array(WORDS, dtype=object)))
    elif how == 8:
        lines[int(rng.integers(0, 7))] = str(rng.choice(np.array(HEADERS, dtype=object)))
    elif how == 12:
        lines[3] = "claim infeasible"
    elif how == 9:
        at = int(rng.integers(len(lines)))
        lines = (
            lines[:at] + lines[at + 1 :] if rng.random() < 0.5 else [*lines[:at], *lines[at - 1 :]]
        )
    data = "\n".join(lines).encode()
    if how == 10:
        data = data[: int(rng.integers(len(data)))]
    elif how == 11:
        changed = bytearray(data)
        for _ in range(int(rng.integers(1, 4))):
            changed[int(rng.integers(len(data)))] = int(rng.integers(256))
        data = bytes(changed)
    return data, y if how < 7 else None


def misread(known: Known, rng: np.random.Generator, path: Path) -> str:
    """Change the text of a problem, and return what its readers disagree about; "" for nothing.

    A checker may refuse what condal reads, as it does numbers below 1e-280.
    """
    text = known.text
    for _ in range(int(rng.integers(1, 4))):
        lines, at = text.split("\n"), int(rng.integers(len(text)))
        k, piece, how = (
            int(rng.integers(len(lines))),
            PIECES[rng.integers(len(PIECES))],
            rng.random(),
        )
        if how < 0.1:
            text = "\n".join([*lines[:k], *lines[k - 1 : k], *lines[k:]])
        else:
            text = text[:at] + piece * (how < 0.8) + text[at + (how > 0.5) :]
    path.write_bytes(text.encode())
    with mock.patch.object(numerals, "BLOCK_BYTES", int(2.0 ** rng.integers(0, 23))):
        found = {name: reading(known.kind, path) for name, reading in READERS.items()}
    told = {name: program for name, program in found.items() if program is not None}
    same = all(program == next(iter(told.values())) for program in told.values())
    return "" if same and (not told or "condal" in told) else f"{text!r:.300} is read as {found}"


def _entries(b: Any, places: Any, values: Any) -> Any:
    """Return a program in a form that can be compared, with values to 12 digits."""
    total: dict[tuple[int, ...], float] = {}
    for (k, i, j), value in zip(places, values, strict=True):
        place = int(k), max(int(i), int(j)), min(int(i), int(j))
        total[place] = total.get(place, 0.0) + float(value)
    kept = {place: f"{value:.12g}" for place, value in total.items() if value}
    return [f"{float(value) + 0.0:.12g}" for value in b], kept


def _by_check(kind: str, path: Path) -> Any:
    read = CHECK.read_rudy if kind == "max-cut" else CHECK.read_sdpa
    try:
        program = read(CHECK.contents(path))
        b = CHECK.column(program.b, CHECK.number, "b")
    except CHECK.RefusedError:
        return None
    places = zip(program.matrices, program.rows, program.cols, strict=True)
    return _entries(b, places, program.values * program.shares)


def _by_exact(kind: str, path: Path) -> Any:
    read = EXACT.read_graph if kind == "max-cut" else EXACT.read_program
    try:
        b, entries = read(EXACT.text_of(EXACT.unpacked(path)))
        scale = 4 if kind == "max-cut" else 1
        return _entries(b, entries, (value / scale for value in entries.values()))
    except (EXACT.RefusedError, *EXACT.FAULTS):
        return None


def program_of(kind: str, path: Path) -> Any:
    """Return the program that condal reads."""
    return _program_of_cut(adjacency(read_rudy(path))) if kind == "max-cut" else read_sdpa(path)


def _by_condal(kind: str, path: Path) -> Any:
    try:
        sdp = program_of(kind, path)
    except FormatError:
        return None
    begins = np.cumsum([0, *map(abs, sdp.sizes)])[sdp.blocks]
    places = zip(sdp.matrices, begins + sdp.rows, begins + sdp.cols, strict=True)
    return _entries(sdp.b, places, sdp.values)


READERS = {"condal": _by_condal, "check": _by_check, "exact": _by_exact}


def accepted(checker: Any, problem: Path, proof: Path) -> tuple[bool, str]:
    """Return whether a checker accepts, and what it prints; it raises nothing."""
    with redirect_stdout(StringIO()) as output:
        status = checker.main([str(problem), str(proof)])
    text = output.getvalue()
    assert ("ACCEPTED" in text, "REFUSED" in text) == (status == 0, status == 1), text
    return status == 0, text


def fault_of(known: Known, problem: Path, proof: Path, y: Any = None) -> tuple[bool, str]:
    """Return whether the checker accepts a proof, and what is wrong with that; "" for nothing."""
    good, output = accepted(CHECK, problem, proof)
    slow = len(known.text) > 500 and not good  # in exact arithmetic
    exactly, shown = (False, "") if slow else accepted(EXACT, problem, proof)
    for yes, text in ((good, output), (exactly, shown)):
        line = next((line for line in text.splitlines() if line.startswith("proved")), "")
        if yes and (line.endswith("feasible") or float(line.split()[-1]) < known.optimum):
            return good, f"accepted beyond the optimum {known.optimum}: {text}"
    if good and not exactly:
        return good, f"accepted what exact arithmetic refuses: {output}{shown}"
    if not good and y is not None and _is_inside(*slack(program_of(known.kind, problem), y, 1.0)):
        return good, f"refused what condal would write: {output}{shown}"
    return good, ""


def run(seconds: float, seed: int) -> Iterator[Row]:
    """Yield rows of forgeries for as long, or until there are COUNT."""
    goes_on, tried = going_on(seconds), 0
    while goes_on(tried):
        yield forge(EACH, seed)
        tried, seed = tried + EACH, seed + 1


def forge(count: int, seed: int) -> Row:
    """Return what came of some forgeries."""
    rng, good, faults = np.random.default_rng(seed), 0, []
    with tempfile.TemporaryDirectory() as folder:
        problem, proof = Path(folder) / "problem", Path(folder) / "proof"
        for _ in range(count):
            known = KNOWN[rng.integers(len(KNOWN))]
            problem.write_text(known.text)
            data, y = forged(known, rng)
            proof.write_bytes(data)
            yes, fault = fault_of(known, problem, proof, y)
            good += yes
            fault = fault or misread(known, rng, problem)
            faults += [f"seed {seed}: {fault}"] if fault else []
    return Row("proofs", count, count, good, len(faults), faults=tuple(faults), resume=seed + 1)
