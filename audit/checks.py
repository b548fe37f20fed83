"""The checks: each yields one line per error, and nothing if all is well."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from audit.lock import DEMO, LOCK, ROOT, Locked, on_this_system, read

OURS = "condal"
TOOLS = {"pip", "setuptools", "wheel"}  # installed in every new environment
LICENCE_SEPARATOR = re.compile(r"\s+(?:AND|OR)\s+|[()]")


def digests(locked: list[Locked]) -> Iterator[str]:
    """Every package has the digest of a file, and none is locked twice for one system."""
    for package in locked:
        if not package.digests:
            yield f"{package.name} {package.version} has no digest"
    names = [package.name for package in locked if package.for_this_system]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{name} is locked twice for this system"


def hosts(text: str) -> Iterator[str]:
    """The lock names no package source: each user chooses their own."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"://|@ |--(?:extra-)?index|--find-links|--trusted", line):
            yield f"line {number} names a package source: {line.strip()[:60]}"


def satisfied(locked: list[Locked], project: dict[str, Any]) -> Iterator[str]:
    """The lock satisfies the requirements of pyproject.toml."""
    versions = on_this_system(locked)
    for wanted in _required(project, extra="all", group="dev"):
        version = versions.get(canonicalize_name(wanted.name))
        if version is None:
            yield f"{wanted} is not in the lock: run make lock"
        elif not wanted.specifier.contains(version, prereleases=True):
            yield f"{wanted} is required, but {version} is locked: run make lock"


def _required(project: dict[str, Any], extra: str, group: str) -> Iterator[Requirement]:
    """Yield the requirements of the project, an extra and a group, with those they include."""
    table = project["project"]
    waiting: list[Any] = [*table["dependencies"], f"{OURS}[{extra}]"]
    waiting += [*project["build-system"]["requires"], {"include-group": group}]
    seen = set[str]()
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, dict):
            waiting += project["dependency-groups"][entry["include-group"]]
            continue
        wanted = Requirement(entry)
        if canonicalize_name(wanted.name) == OURS:
            fresh = wanted.extras - seen
            seen |= fresh
            for name in fresh:
                waiting += table["optional-dependencies"][name]
        elif wanted.marker is None or wanted.marker.evaluate():
            yield wanted


def included(fewer: list[Locked], locked: list[Locked]) -> Iterator[str]:
    """Every package of a smaller lock is in the lock: the same version, the same digests."""
    digests = {(entry.name, entry.version): set(entry.digests) for entry in locked}
    for entry in fewer:
        if set(entry.digests) != digests.get((entry.name, entry.version)):
            yield f"{entry.name} {entry.version} differs from the lock: run make lock"


def withdrawn(locked: list[Locked], listed: str) -> Iterator[str]:
    """The lock contains no release on the list of withdrawn ones."""
    bad = {line.strip() for line in listed.splitlines() if not line.startswith("#")}
    for package in locked:
        if f"{package.name}=={package.version}" in bad:
            yield f"{package.name} {package.version} was withdrawn by its authors: run make lock"


def installed_packages() -> dict[str, Distribution]:
    """Return the installed packages by name."""
    return {canonicalize_name(package.metadata["Name"]): package for package in distributions()}


def installed(locked: list[Locked], packages: dict[str, Distribution]) -> Iterator[str]:
    """Every locked package is installed, in the locked version."""
    for name, version in sorted(on_this_system(locked).items()):
        if name not in packages:
            yield f"{name} is locked at {version}, but not installed: run make"
        elif Version(packages[name].version) != version:
            yield f"{name} is locked at {version}, but {packages[name].version} is installed"


def not_locked(locked: list[Locked], packages: dict[str, Distribution]) -> list[str]:
    """Return the names of installed packages that the lock does not contain."""
    return sorted(packages.keys() - on_this_system(locked).keys() - TOOLS - {OURS})


def licences(packages: dict[str, Distribution], allowed: dict[str, Any]) -> Iterator[str]:
    """Each package states an allowed licence."""
    for name, package in packages.items():
        if name in allowed["known"]:
            continue
        stated = [allowed["spelt"].get(licence, licence) for licence in _licences(package)]
        unknown = [licence for licence in stated if licence not in allowed["licences"]]
        if unknown or not stated:
            yield f"{name} states {', '.join(unknown) or 'no licence'}: is it allowed?"


def _licences(package: Distribution) -> list[str]:
    """Return the licences: the expression, else the classifiers, else the field's first line."""
    stated: Any = package.metadata
    expression = stated.get("License-Expression")
    if expression:
        return [word for word in LICENCE_SEPARATOR.split(expression) if word]
    classifiers = stated.get_all("Classifier") or []
    named = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    return named or (stated.get("License") or "").strip().splitlines()[:1]


def agreeing() -> Iterator[str]:
    """The installed packages are compatible, by `pip check`."""
    ended = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "check"],
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        yield from (ended.stdout + ended.stderr).strip().splitlines()


def offline() -> Iterator[tuple[str, list[str]]]:
    """Yield the title and the errors of every check that needs no network."""
    text, folder = LOCK.read_text(), Path(__file__).parent
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    allowed = tomllib.loads((folder / "allowed.toml").read_text())
    locked, packages = read(text), installed_packages()
    ours = {name: packages[name] for name in on_this_system(locked) if name in packages}
    yield "the lock names no host", list(hosts(text))
    yield f"each of {len(locked)} entries has digests and occurs once", list(digests(locked))
    yield "the lock satisfies pyproject.toml", list(satisfied(locked, project))
    yield "requirements-demo.lock is a part of it", list(included(read(DEMO.read_text()), locked))
    listed = (folder / "withdrawn.txt").read_text()
    yield "no locked release is known to be withdrawn", list(withdrawn(locked, listed))
    yield "the locked packages are installed", list(installed(locked, packages))
    yield "the installed packages are compatible (pip check)", list(agreeing())
    yield (
        f"the licences of {len(ours)} installed packages are allowed",
        list(licences(ours, allowed)),
    )
