"""One run of one solver on one instance, and the file of a set: its runs, machine and versions."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import condal
from condal.errors import CondalError
from condal.io.formats.writing import write_text
from condal.runtime.limits import physical
from condal_lab.bench.process import finite
from condal_lab.sweeps.workers import cores

Outcome = Literal["solved", "short", "unproved", "wrong", "time", "refused", "failed"]
Key = tuple[str, str, float]

MAX_DISTANCE = 1e-6  # from X, over the size of X: a point farther away solves nothing


@dataclass(frozen=True)
class Job:
    """An instance and its file, a solver, a tolerance, and limits on time and memory.

    `eps` is the tolerance given to the solver, `tol` the one that its answer has to meet.
    `versions` are the versions of the solver and of the libraries below it.
    """

    set: str
    case: str
    solver: str
    tol: float
    eps: float
    seconds: float
    memory: int
    path: str | None = None
    stand_in: bool = False
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """Identify the job within its set."""
        return self.case, self.solver, self.tol

    def facts(self) -> dict[str, Any]:
        """Return the fields that every run of this job has, whatever its outcome."""
        return {
            "case": self.case,
            "solver": self.solver,
            "tol": self.tol,
            "eps": self.eps,
            "stand_in": self.stand_in,
            "max_seconds": self.seconds,
            "versions": self.versions,
        }


@dataclass(frozen=True)
class BenchRun:
    """The outcome of a job.

    solved: the certified error is at most tol. short: there is an answer with a larger error.
    unproved: nothing is proved about the answer. wrong: it contradicts what is known about the
    instance. time, refused, failed: there is no answer.
    `outside` is the distance of the answer from X over the size of X, `quality` what the instance
    measures of it. `repeats` lists the CPU times of all runs with this outcome, `spoilt` how the
    other runs ended. `setup` is the CPU time before and after the solve, where an instance counts
    it, and `whole` the sum of both.
    """

    case: str
    solver: str
    tol: float
    eps: float
    outcome: Outcome
    reason: str = ""
    cpu: float | None = None
    wall: float | None = None
    memory: int | None = None
    objective: float | None = None
    bound: float | None = None
    gap: float | None = None
    infeasibility: float | None = None
    certified: str = ""
    proof: str = ""
    stand_in: bool = False
    repeats: list[float] = field(default_factory=list)
    spoilt: list[str] = field(default_factory=list)
    outside: float | None = None
    price: float | None = None
    quality: float | None = None
    setup: float | None = None
    max_seconds: float = 600.0
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """The key of its job."""
        return self.case, self.solver, self.tol

    def like(self, job: Job) -> bool:
        """Return whether the job has the same key, data, time limit and versions."""
        made = self.stand_in, self.max_seconds, self.versions
        return self.key == job.key and made == (job.stand_in, job.seconds, job.versions)

    @property
    def error(self) -> float:
        """The largest of gap, infeasibility, price and distance from X; nan if unknown."""
        if self.gap is None or self.infeasibility is None:
            return float("nan")
        return max(self.gap, self.infeasibility, self.price or 0.0, self.outside or 0.0)

    @property
    def whole(self) -> float | None:
        """The CPU time of the solve and its setup; None if either is not measured."""
        return None if self.cpu is None or self.setup is None else self.cpu + self.setup

    @property
    def answered(self) -> bool:
        """Whether there is an answer, and therefore a time."""
        return self.outcome in ("solved", "short", "unproved", "wrong")

    def record(self) -> dict[str, Any]:
        """Return the fields for JSON, with None for numbers that are not finite."""
        return dict(finite(asdict(self)))


FORMAT = 1
OURS = "condal"
BASE_LIBRARIES = ("python", "numpy", "scipy")  # below every solver or its certificate


@dataclass(frozen=True)
class Results:
    """The runs of a set, the machine and the versions."""

    set: str
    max_seconds: float
    runs: Sequence[BenchRun]
    machine: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def ours(self, case: str, tol: float | None = None) -> BenchRun | None:
        """Return condal's run of an instance to that tolerance, or to the tightest."""
        return self._tightest(case, OURS, tol)

    def peer(self, case: str, name: str) -> BenchRun | None:
        """Return a peer's run of an instance to the tightest tolerance."""
        return self._tightest(case, name)

    def find(self, key: Key) -> BenchRun | None:
        """Return the run of that instance, solver and tolerance."""
        return next((run for run in self.runs if run.key == key), None)

    def of(self, case: str) -> list[BenchRun]:
        """Return all runs of an instance."""
        return [run for run in self.runs if run.case == case]

    @property
    def cases(self) -> list[str]:
        """The instances that were run, in order."""
        return list(dict.fromkeys(run.case for run in self.runs))

    def _tightest(self, case: str, solver: str, tol: float | None = None) -> BenchRun | None:
        runs = [run for run in self.of(case) if run.solver == solver and tol in (None, run.tol)]
        return min(runs, key=lambda run: run.tol, default=None)


def machine() -> dict[str, Any]:
    """Describe the processor, its cores and the memory, without the name of the machine."""
    return {
        "cpu": _processor(),
        "cores": cores(),
        "memory_gb": round((physical() or 0) / 1e9, 1),
        "system": platform.system(),
        "threads": 1,
    }


def versions(peers: dict[str, str]) -> dict[str, str]:
    """Return the versions of condal, Python, NumPy, SciPy and the peers."""
    ours = {"condal": condal.__version__, "python": platform.python_version()}
    return {**ours, **{name: metadata.version(name) for name in ("numpy", "scipy")}, **peers}


def versions_of(solver: str, known: dict[str, str]) -> dict[str, str]:
    """Select the versions that a run of the solver depends on."""
    return {name: known[name] for name in (solver, *BASE_LIBRARIES) if name in known}


def all_versions(runs: Iterable[BenchRun], today: dict[str, str]) -> dict[str, str]:
    """Join the versions of the runs and of today; a name may have several versions."""
    by_name: dict[str, dict[str, None]] = {name: {} for name in today}
    for known in (*(run.versions for run in runs), today):
        for name, version in known.items():
            by_name.setdefault(name, {})[version] = None
    return {name: " and ".join(distinct) for name, distinct in by_name.items()}


def save(folder: Path, results: Results) -> Path:
    """Write bench-SET.json in the folder atomically."""
    record = {
        "format": FORMAT,
        "set": results.set,
        "max_seconds": results.max_seconds,
        "machine": results.machine,
        "versions": results.versions,
        "runs": [run.record() for run in results.runs],
    }
    path = folder / file_name(results.set)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, [json.dumps(record, allow_nan=False, indent=1), "\n"])
    return path


def load(folder: Path, name: str) -> Results | None:
    """Read the results of a set, if the folder has them."""
    path = folder / file_name(name)
    if not path.is_file():
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            raise ValueError(f"format {record['format']}")
        runs = [BenchRun(**run) for run in record["runs"]]
        return Results(
            record["set"], record["max_seconds"], runs, record["machine"], record["versions"]
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CondalError(
            f"{path} cannot be read as results ({error}); delete it, or name another folder with"
            " --out"
        ) from error


def file_name(name: str) -> str:
    """Return the name of a set's file."""
    return f"bench-{name}.json"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or os.name
