"""What condal is made of and what it does not do: the lock, few packages, no network, no pickle."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from email.message import Message
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from audit import checks
from audit.lock import LOCK, read

import commands
from locations import ROOT, SOURCE, TESTS

LOCKED = Path(sys.prefix).resolve() == (ROOT / ".venv").resolve()  # as `make test` makes it
AS_LOCKED = ("installed", "licence")
DIGEST = "--hash=sha256:" + "0" * 64


def test_the_audit_finds_nothing():
    for said, found in checks.offline():
        if LOCKED or not any(word in said for word in AS_LOCKED):
            assert found == [], said


def lock(*entries: str) -> Any:
    return read("".join(f"{entry} \\\n    {DIGEST}\n    # via somebody\n" for entry in entries))


def test_a_lock_is_read_with_its_markers():
    one, two = lock("numpy==2.0", "Colorama==0.4.6 ; sys_platform == 'beos'".lower())
    assert (one.name, f"{one.version}", one.digests, one.for_this_system) == (
        "numpy",
        "2.0",
        ("0" * 64,),
        True,
    )
    assert not two.for_this_system


@pytest.mark.parametrize(
    "entry",
    [
        "numpy>=2.0",
        "numpy @ https://example.com/numpy.whl",
        "--index-url https://example.com",
        "-e .",
        "numpy==2.0 --hash=md5:00",
    ],
)
def test_a_line_that_is_no_package_is_refused(entry):
    with pytest.raises(ValueError, match="expected name==version and sha256 digests, got: "):
        read(f"{entry}\n")


def test_every_check_can_fail():
    project = {
        "project": {
            "dependencies": ["numpy>=3"],
            "optional-dependencies": {"all": ["condal[more]"], "more": ["absent"]},
        },
        "dependency-groups": {"dev": [{"include-group": "test"}], "test": ["missing"]},
        "build-system": {"requires": ["hatchling"]},
    }
    found = set(checks.satisfied(lock("numpy==2.0", "hatchling==1.0"), project))
    assert found == {
        "numpy>=3 is required, but 2.0 is locked: run make lock",
        "absent is not in the lock: run make lock",
        "missing is not in the lock: run make lock",
    }
    assert list(checks.digests([*read("numpy==2.0\n"), *lock("numpy==2.1")])) == [
        "numpy 2.0 has no digest",
        "numpy is locked twice for this system",
    ]
    assert list(checks.included(lock("numpy==2.0"), lock("numpy==2.1"))) == [
        "numpy 2.0 differs from the lock: run make lock"
    ]
    assert list(checks.hosts("x==1\n--index-url https://example.com\n")) == [
        "line 2 names a package source: --index-url https://example.com"
    ]
    listed = "# why\nclick==8.2.2\n"
    assert list(checks.withdrawn(lock("click==8.2.2", "click==8.2.1"), listed)) == [
        "click 8.2.2 was withdrawn by its authors: run make lock"
    ]
    wanted = lock("pytest==1.0", "absent==1.0")
    assert list(checks.installed(wanted, checks.installed_packages())) == [
        "absent is locked at 1.0, but not installed: run make",
        f"pytest is locked at 1.0, but {pytest.__version__} is installed",
    ]
    assert "numpy" in checks.not_locked(wanted, checks.installed_packages())


@pytest.mark.parametrize(
    ("stated", "wrong"),
    [
        ({"License-Expression": "MIT AND (Apache-2.0 OR BSD-3-Clause)"}, []),
        (
            {"License-Expression": "MIT OR GPL-3.0-only"},
            ["x states GPL-3.0-only: is it allowed?"],
        ),
        ({"Classifier": "License :: OSI Approved :: MIT License"}, []),
        ({"License": "MIT\nand a page more"}, []),
        ({}, ["x states no licence: is it allowed?"]),
    ],
)
def test_licences(stated, wrong):
    metadata = Message()
    for key, value in {"Name": "x", **stated}.items():
        metadata[key] = value
    allowed = tomllib.loads((ROOT / "audit" / "allowed.toml").read_text())
    assert list(checks.licences({"x": SimpleNamespace(metadata=metadata)}, allowed)) == wrong


def test_the_lock_is_for_other_systems_too():
    """The digests of all files, not only of the one that was installed here."""
    found = {one.name: one for one in read(LOCK.read_text())}
    assert len(found["scipy"].digests) > 20
    assert not found["colorama"].for_this_system or sys.platform == "win32"


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
    "cvxpy": ("cvxpy/", "condal_lab/bench/conic/"),
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
    "runtime/signals.py": {"socket"},  # a pair of sockets within the process, which a signal wakes
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
    "condal_lab/bench/measure.py": "each peer runs in its own process, started by a list of words",
    "condal_lab/bench/peers/files.py": "peers that are programs, started by a list of words",
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
    """`safe` stands once in the templates: for drawings, which `condal.report.svg` makes."""
    templates = list((SOURCE / "report" / "templates").glob("*.html"))
    assert sum(path.read_text().count("| safe") for path in templates) == 1
    assert not [path for path in templates if "autoescape" in path.read_text()]
