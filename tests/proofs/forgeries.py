"""Forged proof files: whatever is done to a proof, no checker may accept a false bound.

Each forgery is a random change of an honest proof of a problem with a known optimum. The checker
may refuse it, or accept it with a bound that holds; then exact arithmetic must accept it as well.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from locations import ROOT
from soak.table import Row

EACH = 500  # forgeries of a row
WORDS = (
    *("nan", "inf", "-inf", "NaN", "1e308", "-1e308", "1e309", "1e5000", "5e-324", "1e-400", "0"),
    *("-0x0.0p+0", "0x1p99999", "0x1.8p+1023", "-0x1.8p+1023", "0x", "0xg", "", " ", "1 1", "1_0"),
    *(
        "+1",
        "--1",
        "1e",
        "\u0661",
        "1" * 100_000,
        "1" * 64,
        "0." + "0" * 60 + "1",
        "1/3",
        "1.",
        ".5",
    ),
)
HEADERS = (
    *("condal proof 2", "condal proof 1 ", "problem sdpa", "problem max-cut", "problem qp"),
    *("claim infeasible", "claim bound", "claim optimum", "bound -inf", "bound nan", "bound -1e9"),
    *("bound 1e308", "numbers 0", "numbers -1", "numbers 3", "numbers 99999999999999999999", "end"),
    *("sha256 " + "0" * 64, "sha256", "numbers 1e1", "", "y", "numbers \u0663"),
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
    return [*header, "bound 1e300", f"numbers {len(y)}", *map(float.hex, map(float, y)), "end", ""]


def forged(known: Known, rng: np.random.Generator) -> bytes:
    """Return a random forgery; some are honest."""
    y = known.duals[rng.integers(len(known.duals))].copy()
    k, size = int(rng.integers(y.size)), 10.0 ** -rng.integers(0, 18)
    how = rng.integers(12)
    if how < 4:
        y -= size * (y, np.ones(y.size), np.eye(y.size)[k], rng.standard_normal(y.size))[how]
    elif how == 4:
        y[k] = np.nextafter(y[k], -np.inf)
    elif how == 5:
        y = rng.permutation(y)
    elif how == 6:
        y[k] *= rng.choice([-1.0, 0.0, 0.5, 2.0, 1e10, 1e150, 1e-150, 1e300])
    lines = honest(known, y)
    if how == 7:
        lines[int(rng.integers(6, 6 + y.size))] = str(rng.choice(np.array(WORDS, dtype=object)))
    elif how == 8:
        lines[int(rng.integers(0, 7))] = str(rng.choice(np.array(HEADERS, dtype=object)))
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
    return data


def accepted(checker: Any, problem: Path, proof: Path) -> tuple[bool, str]:
    """Return whether a checker accepts, and what it prints; it raises nothing."""
    with redirect_stdout(StringIO()) as output:
        status = checker.main([str(problem), str(proof)])
    text = output.getvalue()
    assert ("ACCEPTED" in text, "REFUSED" in text) == (status == 0, status == 1), text
    return status == 0, text


def fault_of(known: Known, problem: Path, proof: Path) -> tuple[bool, str]:
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
    return good, ""


def run(seconds: float, seed: int) -> Iterator[Row]:
    """Yield rows of forgeries for as long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield forge(EACH, seed)
        seed += 1


def forge(count: int, seed: int) -> Row:
    """Return what came of some forgeries."""
    rng, good, faults = np.random.default_rng(seed), 0, []
    with tempfile.TemporaryDirectory() as folder:
        problem, proof = Path(folder) / "problem", Path(folder) / "proof"
        for _ in range(count):
            known = KNOWN[rng.integers(len(KNOWN))]
            problem.write_text(known.text)
            proof.write_bytes(forged(known, rng))
            yes, fault = fault_of(known, problem, proof)
            good += yes
            faults += [f"seed {seed}: {fault}"] if fault else []
    return Row("proofs", count, count, good, len(faults), faults=tuple(faults), resume=seed + 1)
