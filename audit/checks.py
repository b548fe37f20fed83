"""The checks: each gives what is wrong, a line each, and nothing where all is well."""

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

from audit.lock import DEMO, LOCK, ROOT, Locked, here, read

OURS = "condal"
TOOLS = {"pip", "setuptools", "wheel"}  # what a new environment has of itself
BETWEEN = re.compile(r"\s+(?:AND|OR)\s+|[()]")


def digests(locked: list[Locked]) -> Iterator[str]:
    """Every package has the digest of a file, and none is there twice for one system."""
    for one in locked:
        if not one.digests:
            yield f"{one.name} {one.version} has no digest"
    names = [one.name for one in locked if one.here]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{name} is locked twice for this system"


def hosts(text: str) -> Iterator[str]:
    """The lock names no place that packages come from: that is each user's own to say."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"://|@ |--(?:extra-)?index|--find-links|--trusted", line):
            yield f"line {number} names a place: {line.strip()[:60]}"


def satisfied(locked: list[Locked], project: dict[str, Any]) -> Iterator[str]:
    """What pyproject.toml asks for, the lock has."""
    versions = here(locked)
    for wanted in _required(project, extra="all", group="dev"):
        version = versions.get(canonicalize_name(wanted.name))
        if version is None:
            yield f"{wanted} is not in the lock: make lock"
        elif not wanted.specifier.contains(version, prereleases=True):
            yield f"{wanted} is wanted, and {version} is locked: make lock"


def _required(project: dict[str, Any], extra: str, group: str) -> Iterator[Requirement]:
    """Requirements of the project, an extra and a group on this system, with what they include."""
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
            yield f"{entry.name} {entry.version} is not in the lock as it stands here: make lock"


def withdrawn(locked: list[Locked], listed: str) -> Iterator[str]:
    """No release of the list is in the lock."""
    bad = {line.strip() for line in listed.splitlines() if not line.startswith("#")}
    for one in locked:
        if f"{one.name}=={one.version}" in bad:
            yield f"{one.name} {one.version} was withdrawn by its authors: make lock"


def found() -> dict[str, Distribution]:
    """What is installed, by its name."""
    return {canonicalize_name(one.metadata["Name"]): one for one in distributions()}


def installed(locked: list[Locked], packages: dict[str, Distribution]) -> Iterator[str]:
    """What is locked is installed, in that version."""
    for name, version in sorted(here(locked).items()):
        if name not in packages:
            yield f"{name} is locked at {version}, and not installed: make"
        elif Version(packages[name].version) != version:
            yield f"{name} is locked at {version}; installed: {packages[name].version}"


def besides(locked: list[Locked], packages: dict[str, Distribution]) -> list[str]:
    """What else is installed, by somebody's own hand."""
    return sorted(packages.keys() - here(locked).keys() - TOOLS - {OURS})


def licences(packages: dict[str, Distribution], allowed: dict[str, Any]) -> Iterator[str]:
    """Each package says a licence that is allowed."""
    for name, one in packages.items():
        if name in allowed["known"]:
            continue
        said = _licences(one)
        spelt = [allowed["spelt"].get(word, word) for word in said]
        strange = [word for word in spelt if word not in allowed["licences"]]
        if strange or not spelt:
            yield f"{name} has the licence {', '.join(strange) or 'of no name'}: is it allowed?"


def _licences(package: Distribution) -> list[str]:
    """By the expression; else the classifiers; else the first line of the field."""
    stated: Any = package.metadata
    expression = stated.get("License-Expression")
    if expression:
        return [word for word in BETWEEN.split(expression) if word]
    classifiers = stated.get_all("Classifier") or []
    named = [one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License ::")]
    return named or (stated.get("License") or "").strip().splitlines()[:1]


def agreeing() -> Iterator[str]:
    """`pip check`: what is installed fits together."""
    ended = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "check"],
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        yield from (ended.stdout + ended.stderr).strip().splitlines()


def offline() -> Iterator[tuple[str, list[str]]]:
    """Every check that needs no network, by what it says, and what is wrong."""
    text, folder = LOCK.read_text(), Path(__file__).parent
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    allowed = tomllib.loads((folder / "allowed.toml").read_text())
    locked, packages = read(text), found()
    ours = {name: packages[name] for name in here(locked) if name in packages}
    yield "the lock names no host", list(hosts(text))
    yield f"each of {len(locked)} entries has digests, and is there once", list(digests(locked))
    yield "the lock has what pyproject.toml asks for", list(satisfied(locked, project))
    yield "requirements-demo.lock is a part of it", list(included(read(DEMO.read_text()), locked))
    listed = (folder / "withdrawn.txt").read_text()
    yield "no release in it is known to be withdrawn", list(withdrawn(locked, listed))
    yield "what is locked is installed", list(installed(locked, packages))
    yield "what is installed fits together (pip check)", list(agreeing())
    yield (
        f"the licences of {len(ours)} installed packages are allowed",
        list(licences(ours, allowed)),
    )
