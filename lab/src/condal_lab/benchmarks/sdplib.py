"""SDPLIB and sparse SDPs: condal from the file to a proved answer, against CSDP and the tables.

Each run has its own process and one thread. `--only=maxG11,theta1` reruns some instances and keeps
the records of the others; `--seconds=120` is the limit of each.
"""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from math import isfinite
from pathlib import Path
from typing import Any

from condal_lab.benchmarks.record import DATA, RESULTS, write
from condal_lab.benchmarks.timed import alone
from condal_lab.markdown import markdown
from condal_lab.sweeps.processes import ONE_THREAD

TOL = 1e-5
GOAL = 1e-4
SECONDS = 120.0
HEAD = (
    "name",
    "m",
    "n",
    "trace",
    "status",
    "objective",
    "bound",
    "table",
    "rel. diff.",
    "CPU s",
    "CSDP s",
)
HOW = f"""\
`table` is the optimum of SDPLIB's table, or that of SDPA-GMP, which has more digits, if the two
agree; SDPLIB's value for maxG51 is wrong. For the sparse SDPs it is CSDP's objective. `rel. diff.`
is the difference between condal's objective and this value, relative to the larger of 1 and the
value; * marks more than {GOAL:g}. The bound is proved: no feasible X has a larger objective. CPU
seconds run from the file to the answer at tol = {TOL:g}, including the search for a bound on the
trace, on one thread of a busy machine. CSDP's seconds are those of its process, with its own
tolerances."""
# Values that are wrong in the table of SDPLIB.
CORRECTED = {"maxG51": 4006.2555217}
WORDS = ("dual infeasible", "primal infeasible")
AGREE = 2e-3  # relative: the tables have at least three digits


def instances() -> dict[str, Path]:
    """Return the files by name, smallest first."""
    paths = [*DATA.glob("sdplib/*.dat-s.xz"), *DATA.glob("sparse_sdp/*.dat-s.gz")]
    return {path.name.split(".")[0]: path for path in sorted(paths, key=lambda p: p.stat().st_size)}


def table() -> dict[str, Any]:
    """Return the published optima, or words such as "dual infeasible"."""
    with (DATA / "sdplib" / "sdplib.csv").open(encoding="utf-8") as file:
        return {row["name"]: _optimum(row) for row in csv.DictReader(file)} | CORRECTED


def _optimum(row: dict[str, str]) -> Any:
    if row["optimum_SDPLIB_table"] in WORDS:
        return row["optimum_SDPLIB_table"]
    try:
        known, digits = float(row["optimum_SDPLIB_table"]), float(row["optimum_SDPA_GMP"])
    except ValueError:
        return float(row["optimum_SDPLIB_table"])
    return digits if abs(known - digits) <= AGREE * max(1.0, abs(known)) else known


def ours(path: str, limit: float) -> dict[str, Any]:
    """Solve a file with condal and return the record."""
    import condal.conic as conic
    from condal.errors import CondalError
    from condal.io.formats.sdpa import read_sdpa

    began, cpu = time.perf_counter(), time.process_time()
    program = read_sdpa(path).program
    record: dict[str, Any] = {"m": int(program.b.size), "n": sum(b.n for b in program.blocks)}
    try:
        model = conic.conic_model(program, max_seconds=limit / 4)
    except CondalError as error:
        return record | {"status": "refused", "said": str(error)}
    trace: Any = None if model.settled is not None else model.trace  # not searched for in vain
    record |= {
        "how": trace.how if trace else "none needed",
        "search_cpu": time.process_time() - cpu,
    }
    left = max(limit - (time.perf_counter() - began), 1.0)
    result = model.solve(tol=TOL, max_seconds=left)
    record |= {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - began}
    record |= {"status": result.status.name.lower(), "method": result.method}
    record |= {"objective": result.objective, "bound": result.bound}
    record |= {"infeasibility": result.infeasibility, "gap": result.gap}
    return {
        key: None if isinstance(value, float) and not isfinite(value) else value
        for key, value in record.items()
    }


def measured(path: Path, limit: float) -> dict[str, Any]:
    """Run `ours` in its own process."""
    try:
        done = alone("condal_lab.benchmarks.sdplib", "--one", path, limit, timeout=3 * limit + 60)
    except subprocess.TimeoutExpired:
        return {"status": "no answer", "said": f"none in {3 * limit + 60:g} s"}
    if done.returncode:
        return {"status": "failed", "said": done.stderr[-300:]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def csdp(path: Path, limit: float) -> dict[str, Any]:
    """Return CSDP's objective and CPU seconds, if it is installed."""
    program = shutil.which("csdp")
    if program is None:
        return {}
    unpack = lzma.open if path.suffix == ".xz" else gzip.open
    with tempfile.TemporaryDirectory() as folder:
        with unpack(path, "rb") as file:
            Path(folder, "p.dat-s").write_bytes(file.read())
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            done = subprocess.run(
                [program, "p.dat-s", "p.sol"],
                env={**os.environ, **ONE_THREAD},
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=3 * limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"csdp_said": f"none in {3 * limit:g} s of wall time"}
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    objective = re.search(r"Primal objective value: (\S+)", done.stdout)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"csdp_cpu": spent, "csdp": float(objective[1]) if objective else None}


def row(name: str, path: Path, limit: float, optima: dict[str, Any]) -> dict[str, Any]:
    """Return one instance: condal, CSDP, and the difference from the table."""
    record = {"name": name, **measured(path, limit), **csdp(path, limit)}
    record["table"] = optima.get(name, record.get("csdp"))
    wanted, value = record["table"], record.get("objective")
    if isinstance(wanted, float) and isinstance(value, float) and isfinite(value):
        record["difference"] = abs(value - wanted) / max(1.0, abs(wanted))
    return record


def cells(record: dict[str, Any]) -> tuple[str, ...]:
    """Return a line of the table."""
    difference = record.get("difference")
    far = "*" if difference is not None and difference > GOAL else ""
    return (
        record["name"],
        f"{record.get('m', '')}",
        f"{record.get('n', '')}",
        record.get("how", record.get("said", ""))[:60],
        record["status"],
        _number(record.get("objective")),
        _number(record.get("bound")),
        _number(record["table"]),
        "" if difference is None else f"{difference:.1e}{far}",
        "" if "cpu" not in record else f"{record['cpu']:.2f}",
        record.get("csdp_said", "") or f"{record.get('csdp_cpu', float('nan')):.2f}",
    )


def _number(value: Any) -> str:
    return f"{value:.7g}" if isinstance(value, float) else str(value or "")


def main() -> None:
    """Run the instances, print each row, and record all."""
    options = [word.removeprefix("--") for word in sys.argv[1:] if word.startswith("--")]
    chosen = dict(option.split("=", 1) for option in options)
    limit = float(chosen.get("seconds", SECONDS))
    files, optima = instances(), table()
    path = RESULTS / "sdplib.json"
    known: dict[str, Any] = {}
    if path.is_file() and "only" in chosen:
        known = {record["name"]: record for record in json.loads(path.read_text("utf-8"))["rows"]}
    for name in chosen.get("only", ",".join(files)).split(","):
        known[name] = row(name, files[name], limit, optima)
        print("  ".join(cells(known[name])), flush=True)
    rows = [known[name] for name in sorted(known)]
    write("sdplib", rows)
    text = markdown(HEAD, [cells(record) for record in rows])
    (RESULTS / "sdplib.md").write_text(f"# SDPLIB\n\n{text}\n\n{HOW}\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(ours(sys.argv[2], float(sys.argv[3]))))
    else:
        main()
