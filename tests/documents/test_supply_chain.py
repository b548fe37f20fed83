"""What condal is made of and what it does not do: the lock, few packages, no network, no pickle."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import commands
from locations import ROOT, SOURCE, TESTS

LOCK = ROOT / "requirements-dev.lock"
DEMO_LOCK = ROOT / "requirements-demo.lock"  # what `make demo` needs of it
LOCKED = Path(sys.prefix).resolve() == (ROOT / ".venv").resolve()  # as `make test` makes it
ENTRY = re.compile(r"([a-z0-9][a-z0-9.-]*)==(\S+)(?: ; (.+?))?((?:\s+--hash=sha256:[0-9a-f]{64})+)")
# Of the packages of the lock, as SPDX identifiers; another one needs a decision.
ALLOWED = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC"),
    *("MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Zlib"),
}
SPELT = {  # what older packages state in place of an identifier
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
KNOWN = {"docutils"}  # public domain but for a few files; it builds the pages and is not shipped


def locked(path: Path = LOCK) -> list[tuple[str, str, str | None, str]]:
    """The name, version, marker and digests of each package. Any other line, such as one that names
    an index, fails."""
    lines = re.sub(r"\\\n", "", re.sub(r"(?m)^\s*#.*\n?", "", path.read_text())).splitlines()
    return [ENTRY.fullmatch(line.strip()).groups() for line in lines if line.strip()]


def versions_here() -> dict[str, str]:
    """The locked versions for this system."""
    return {
        name: version
        for name, version, marker, _ in locked()
        if marker is None or Marker(marker).evaluate()
    }


def test_the_lock_satisfies_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    listed = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    listed += [entry for extra in extras.values() for entry in extra]
    listed += [entry for group in project["dependency-groups"].values() for entry in group]
    wanted = [Requirement(entry) for entry in listed if isinstance(entry, str)]
    locked_here = versions_here()
    for one in wanted:
        if one.name != "condal" and (one.marker is None or one.marker.evaluate()):
            version = locked_here.get(canonicalize_name(one.name))
            assert version is not None, f"{one} is not in the lock: run make lock"
            assert one.specifier.contains(version, prereleases=True), f"{one}, not {version}"


def test_the_lock_of_the_demo_is_a_part_of_the_lock_for_every_system():
    assert set(locked(DEMO_LOCK)) <= set(locked())
    digests = {name: digest.split() for name, _, _, digest in locked()}
    assert len(digests["scipy"]) > 20  # of all files, not only of the one for this system


@pytest.mark.skipif(not LOCKED, reason="not the environment of the lock: make test")
def test_the_locked_packages_are_installed_and_state_allowed_licences():
    for name, version in versions_here().items():
        package = distribution(name)
        assert package.version == version
        assert name in KNOWN or ((stated := licences(package.metadata)) and stated <= ALLOWED), name


def licences(metadata: Any) -> set[str]:
    """What a package states: the expression, else the classifiers, else the field's first line."""
    if expression := metadata.get("License-Expression"):
        return {word for word in re.split(r"\s+(?:AND|OR)\s+|[()]", expression) if word}
    lines = [line for line in metadata.get_all("Classifier") or [] if line.startswith("License ::")]
    stated = [line.rpartition(" :: ")[2] for line in lines]
    stated = stated or (metadata.get("License") or "").strip().splitlines()[:1]
    return {SPELT.get(licence, licence) for licence in stated}


def fresh(code: str, *, blocked: tuple[str, ...] = (), **env: str) -> Any:
    """What a new process prints, as JSON, in which the blocked packages are not to be had."""
    refuse = f"import sys\nfor name in {blocked!r}: sys.modules[name] = None\n"
    ended = subprocess.run(
        [sys.executable, "-c", refuse + code],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, **env},
    )
    return json.loads(ended.stdout.splitlines()[-1])


def test_import_condal_imports_numpy_and_scipy_alone():
    loaded = fresh(
        "before = set(sys.modules)\nimport condal, json\n"
        "new = [n for n in {*sys.modules} - before if getattr(sys.modules[n], '__file__', None)]\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in new})))"
    )
    theirs = {"numpy", "scipy", "charset_normalizer"}  # NumPy takes the last where it is there
    others = set(loaded) - sys.stdlib_module_names - theirs - {"condal"}
    assert {name for name in others if not name.startswith("_")} == set()


EXTRAS = {
    "filelock": ("io/container/lock.py",),  # no extra, but imported only where it is used
    "click": ("cli/", "condal_lab/commands/", "condal_mpi/commands/"),
    "rich": ("cli/", "report/progress.py", "condal_lab/", "condal_mpi/commands/"),
    "jinja2": ("report/",),
    "matplotlib": ("condal_lab/", "report/", "result.py", "problems/answers.py"),
    "pooch": ("condal_lab/experiments/data.py",),
    "cvxpy": ("cvxpy/", "condal_lab/bench/conic/", "condal_lab/bench/written.py"),
    "sklearn": ("sklearn/",),
    "pandas": ("certificates/history.py", "problems/completed.py", "condal_lab/sweeps/table.py"),
    "distributed": ("condal_lab/sweeps/cluster.py",),
    "networkx": ("problems/graphs.py",),
    **dict.fromkeys(("coptpy", "cvxopt", "pymanopt", "scs"), ("condal_lab/bench/peers/",)),
    "clarabel": ("cvxpy/interior.py", "condal_lab/bench/peers/"),
}


OURS = {"condal", "condal_lab", "condal_mpi", "numpy", "scipy"}


@dataclass(frozen=True)
class Source:
    """A file of condal: what it imports, and its calls by what they call."""

    place: str
    imported: frozenset[str]
    calls: tuple[tuple[str, ast.Call], ...]

    @property
    def tops(self) -> set[str]:
        return {name.partition(".")[0] for name in self.imported}


@cache
def sources() -> list[Source]:
    return [
        _source(path, home)
        for home in (SOURCE, ROOT / "lab/src/condal_lab", ROOT / "mpi/src/condal_mpi")
        for path in sorted(home.rglob("*.py"))
        if "benchmarks" not in path.parts  # they start programs, and ship with the clone only
    ]


def _source(path: Path, home: Path) -> Source:
    names, calls = set(), []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names |= {f"{node.module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.Call):
            calls.append((ast.unparse(node.func), node))
    within = home if home == SOURCE else home.parent
    return Source(path.relative_to(within).as_posix(), frozenset(names), tuple(calls))


def test_an_extra_is_imported_where_it_is_used_and_nowhere_else():
    seen = set()
    for one in sources():
        for name in one.tops - sys.stdlib_module_names - OURS:
            assert one.place.startswith(EXTRAS[name]), f"{one.place} imports {name}"
            seen.add(name)
    assert seen == set(EXTRAS)


def test_the_library_works_without_any_extra():
    """Solve, certify, save, load: with NumPy and SciPy, and nothing else that could be had."""
    blocked = (*EXTRAS, "IPython")
    code = (
        "import json, tempfile, numpy as np, condal\n"
        "W = np.ones((4, 4)) - np.eye(4)\n"
        "model = condal.problems.max_cut(W)\n"
        "result = condal.solve(model, callback=condal.Progress())\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    condal.save(result, folder + '/it')\n"
        "    again = condal.load(folder + '/it')\n"
        "condal.certify(model, again.result.x, again.result.y)\n"
        "print(json.dumps(result.status.name))"
    )
    assert fresh(code, blocked=blocked) == "SOLVED"


NETWORK = {"asyncio", "ftplib", "http", "pooch", "requests", "smtplib", "socket", "socketserver"}
NETWORK |= {"distributed", "ssl", "telnetlib", "urllib", "urllib3", "webbrowser", "xmlrpc"}
MAY_TALK = {
    "condal_lab/experiments/data.py": {"pooch"},  # the download of public files, by their digests
    "runtime/limits.py": {"socket"},  # a pair of sockets within the process, which a signal wakes
    "condal_lab/sweeps/cluster.py": {"distributed"},  # a Dask cluster at a given address
}


def test_only_named_modules_can_use_the_network():
    found = {one.place: one.tops & NETWORK for one in sources()}
    assert {place: names for place, names in found.items() if names} == MAY_TALK


OFFLINE = """
import json, sys
from pathlib import Path
REFUSED = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto",
           "socket.sendmsg", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn",
           "os.startfile", "pickle.find_class", "urllib.Request")
seen = []

def hook(event, arguments):
    local = event == "socket.bind" and arguments[1][0] == "127.0.0.1"
    if event in REFUSED or event == "socket.bind" and not local:
        seen.append(f"{event} {arguments}")
        raise RuntimeError(f"refused: {event} {arguments}")

import commands, condal
import condal.cli.app, condal.report
sys.addaudithook(hook)
codes = []
for arguments in json.loads(sys.argv[1]):
    ended = commands.run(*arguments)
    codes.append((arguments[0], ended.exit_code, ended.output[-400:] if ended.exit_code else ""))
print(json.dumps([seen, codes]))
"""


def test_no_command_and_no_solve_uses_the_network_or_another_process(tmp_path, monkeypatch):
    """All but the download: sockets, processes and pickles are refused by the interpreter."""
    commands.enter(tmp_path, monkeypatch)
    listed = [["info", "max-cut.txt"], ["--version"], ["--help"]]
    for name in commands.FILES:
        given = [f"{name}.txt", "--as", name, *commands.NEEDED.get(name, ())]
        listed.append(["solve", *given, "--tol", "0.1", "--save", f"{name}-result"])
        listed.append(["certify", f"{name}.txt", f"{name}-result"])
    listed += [
        ["show", "theta-result"],
        ["report", "theta-result", "--out", "theta.html"],
        ["experiment", "--list"],
    ]
    ended = subprocess.run(
        [sys.executable, "-c", OFFLINE, json.dumps(listed)],
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
    )
    seen, codes = json.loads(ended.stdout.splitlines()[-1])
    assert seen == []
    assert [code for code in codes if code[1] != 0] == []


CALLS = {  # never, whatever it is called by
    "eval",
    "exec",
    "__import__",
    "os.system",
    "os.popen",
    "tempfile.mktemp",
    "yaml.load",
    "extractall",
    "Markup",
}
PROCESSES = {
    "condal_lab/bench/process.py": "each peer runs in its own process, started by a list of words",
    "condal_lab/bench/truths.py": "SE-Sync, where a variable names it, by a list of words",
    "condal_lab/bench/peers/executables.py": "peers that are programs, started by a list of words",
    "condal_lab/sweeps/processes.py": "the workers of sweeps and experiments: condal itself",
}
PICKLES = {
    "condal_lab/sweeps/processes.py": "work that goes to workers by pipes, and by a "
    "folder of its own that nobody else may read, and that is gone afterwards",
}


def test_nothing_is_evaluated_unpickled_or_given_to_a_shell():
    processes, pickles = set(), set()
    for one in sources():
        place, names = one.place, one.tops
        processes |= {place} if names & {"subprocess", "multiprocessing"} else set()
        pickles |= {place} if names & {"pickle", "marshal", "shelve", "dill", "joblib"} else set()
        assert not names & {"yaml", "ctypes", "xml", "imp"}, place
        for name, call in one.calls:
            assert name not in CALLS, f"{place}: {name}"
            assert name.rpartition(".")[2] not in CALLS - {"eval", "exec"}, f"{place}: {name}"
            for word in call.keywords:
                value = word.value.value if isinstance(word.value, ast.Constant) else None
                assert not (word.arg in ("shell", "allow_pickle") and value is not False), place
    assert processes == set(PROCESSES)
    assert pickles == set(PICKLES)


def test_digests_are_sha256():
    for one in sources():
        names = {name for name in one.imported if name.startswith("hashlib.")}
        assert names <= {"hashlib.sha256"}, one.place
        for name, call in one.calls:
            other = name.startswith("hashlib.") and "sha256" not in ast.unparse(call)
            assert not other, f"{one.place}: {name}"


def test_markup_that_is_taken_as_it_is_is_our_own():
    """`safe` stands once in the templates: for drawings, which `condal.report.figures` makes."""
    templates = list((SOURCE / "report" / "templates").glob("*.html"))
    assert sum(path.read_text().count("| safe") for path in templates) == 1
    assert not [path for path in templates if "autoescape" in path.read_text()]
