"""Calls with time limits, and without them until a signal comes, each in a forked process.

CPU time takes the place of wall time. A limit is kept within 10% and a second, a signal is obeyed
within AFTER_SIGNAL seconds, and no call takes more than MOST_BYTES.
"""

import gzip
import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir, suppress
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import condal
from condal.cli.app import cli
from condal_lab.bench import truths
from condal_lab.bench.applications import poses, small_completion
from condal_lab.generated import separated_blobs
from in_cvxpy.test_cvxpy_limits import nearest_correlation, seconds_of
from known import random_graph
from soak.table import Row

MOST_BYTES, AFTER_SIGNAL, UNLIMITED = 3.5e9, 2.0, 1e4
CODES = (0, 1, 2, 143)
Call = Callable[[float], Any]  # of a time limit


def command(*words: Any) -> Call:
    """Return a command that is imported already."""
    cli.get_command(None, words[0])
    return lambda limit: cli.main([*map(str, words), "--max-seconds", f"{limit}", "--quiet"])


def solving(name: str, lines: Iterable[str], *words: Any) -> Call:
    """Return a solve to an accuracy that is out of reach."""
    Path(name).write_text("".join(f"{line}\n" for line in lines))
    return command("solve", name, "--tol", 1e-9, *words)


def graph(n: int, kind: str) -> Call:
    condal.formats.write_rudy("graph.txt", random_graph(n, 8))
    return command("solve", "graph.txt", "--as", kind, "--tol", 1e-9)


def sdpa(blocks: int) -> Call:
    """As many blocks of one number, in 20 rows with random coefficients."""
    numbers = enumerate(np.random.default_rng(0).random((blocks, 2)).tolist())
    entries = (f"0 {k + 1} 1 1 {c}\n{k % 20 + 1} {k + 1} 1 1 {a}" for k, (c, a) in numbers)
    head = ("20", str(blocks), " ".join(["1"] * blocks), " ".join(["1"] * 20))
    return solving("blocks.dat-s", chain(head, entries))


def conic() -> Call:
    """3,000 sparse random rows of side 150, of which no sum is the identity."""
    rng, n = np.random.default_rng(0), 150
    A = sp.random_array((3000, n * n), density=0.02, random_state=rng, format="csr")
    A += A[:, np.arange(n * n).reshape(n, n).T.ravel()]
    C, block = np.diag(rng.standard_normal(n)), condal.conic.Block("psd", n)
    program = condal.conic.Program(C.ravel(), A, A @ np.eye(n).ravel(), [block])
    return lambda limit: condal.conic.conic_model(program, max_seconds=limit)


def blanks() -> Call:
    """A file of a few MB that unpacks to 1 GB."""
    with gzip.open("blanks.txt.gz", "wb", compresslevel=1) as file:
        file.writelines(chain([b"3 2\n1 2 1\n"], repeat(b" " * 999_999 + b"\n", 1000)))
    return command("solve", "blanks.txt.gz", "--as", "max-cut")


def assignment(n: int) -> Call:
    numbers = np.random.default_rng(0).integers(0, 9, (2 * n, n)).tolist()
    return solving("a.dat", [str(n), *(" ".join(map(str, row)) for row in numbers)], "--as", "qap")


def clusters(n: int) -> Call:
    lines = (",".join(map(str, row)) for row in separated_blobs(n).tolist())
    return solving("points.csv", lines, "--as", "k-means", "--clusters", 10)


def written(n: int) -> Call:
    def call(limit: float) -> None:
        _, error = seconds_of(problem, limit)
        assert not error

    problem = nearest_correlation(n, weighted=True)
    return call


def of(model: Any) -> Call:
    return lambda limit: condal.solve(model, tol=1e-9, max_seconds=limit)


def rounding(n: int) -> Call:
    model = condal.problems.max_cut(random_graph(n, 8))
    result = condal.solve(model, max_seconds=5.0)
    return lambda limit: model.round(result, trials=10_000, max_seconds=limit)


def after(*words: str, keeping: str) -> Call:
    """Return a command on what a solve of a graph kept."""
    graph(100_000, "max-cut")
    with suppress(SystemExit):
        command("solve", "graph.txt", "--as", "max-cut", "--tol", 1e-9, keeping, "kept")(5.0)
    return command(*words)


CALLS: dict[str, tuple[float, Callable[[], Call]]] = {
    "SDPA, 1e5 blocks": (5, partial(sdpa, 100_000)),
    "SDPA, 1e6 blocks": (5, partial(sdpa, 1_000_000)),
    "conic_model": (5, conic),
    "conic_model, longer": (12, conic),
    "gzip of blanks": (5, blanks),
    "QAPLIB, n = 3,000": (5, partial(assignment, 3000)),
    "a number of 134 MB": (
        5,
        lambda: solving("long.txt", ["2 1", f"1 2 {'1' * 134_000_000}"], "--as", "max-cut"),
    ),
    "k-means, n = 3,000": (12, partial(clusters, 3000)),
    "max-cut, n = 2e5": (5, partial(graph, 200_000, "max-cut")),
    "rounding, n = 2e5": (2, partial(rounding, 200_000)),
    "theta, n = 2e4": (3, partial(graph, 20_000, "theta")),
    "CVXPY": (15, partial(written, 60)),
    "CVXPY, shorter": (3, partial(written, 50)),
    "pose graph": (3, lambda: of(poses(1000).model)),
    "tomography": (3, lambda: of(truths.simulated(7, 500, 0, "likelihood").model)),
    "completion": (3, lambda: of(small_completion(3000, 2000, 200_000).model)),
    "phase retrieval": (3, lambda: of(truths.diffraction(200).model)),
    "certify": (3, lambda: after("certify", "graph.txt", "kept", keeping="--save")),
    "resume": (3, lambda: after("resume", "kept", "graph.txt", keeping="--checkpoint")),
}


def run(seconds: float, seed: int) -> Iterator[Row]:
    """Yield a row per call of the table, and then one per signal to one of them, for `seconds`."""
    until, rng = time.monotonic() + seconds, np.random.default_rng(seed)
    for name in CALLS:
        yield from trials(name, [None])
    while time.monotonic() < until:
        name = str(rng.choice(list(CALLS)))
        yield from trials(name, rng.uniform(0.0, CALLS[name][0], 4))


def trials(name: str, moments: Iterable[float | None]) -> Iterator[Row]:
    """Make a call with its limit, or without it and a signal after so many seconds of CPU time."""
    limit, prepare = CALLS[name]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        call = prepare()
        for k, moment in enumerate(moments):
            number = (signal.SIGTERM, signal.SIGINT)[k % 2]
            child = os.fork()
            if child == 0:
                _work(partial(call, UNLIMITED if moment else limit), moment or 0.0, number)
            _, _, usage = os.wait4(child, 0)
            seconds = usage.ru_utime + usage.ru_stime - (moment or 0.0)
            memory = 1024 * usage.ru_maxrss
            most = 1.1 * limit + 1.0 if moment is None else AFTER_SIGNAL
            fault = Path("fault").read_text() if Path("fault").exists() else ""
            kept = seconds <= most and memory <= MOST_BYTES and not fault
            text = f"{name}, {moment}: {seconds:.2f} of {most:g} s, {memory / 1e6:.0f} MB {fault}"
            what = "limits" if moment is None else number.name
            yield Row(f"{what}: {name}", 1, 1, kept, not kept, 0, seconds, () if kept else (text,))


def _work(call: Callable[[], Any], moment: float, number: signal.Signals) -> None:
    """Call in this process, which gets the signal after so many seconds of CPU time, and end it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in the background
    signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(number))
    signal.setitimer(signal.ITIMER_PROF, moment)
    time.perf_counter = time.process_time
    try:
        call()
    except BaseException as error:
        if getattr(error, "code", 70) not in CODES and not isinstance(error, KeyboardInterrupt):
            Path("fault").write_text(traceback.format_exc())
    finally:
        os._exit(0)
