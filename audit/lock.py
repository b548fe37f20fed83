"""Read requirements-dev.lock: every package, for every system, with the digests of its files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import Marker
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements-dev.lock"
DEMO = ROOT / "requirements-demo.lock"  # what `make demo` needs of it
ENTRY = re.compile(r"([a-z0-9][a-z0-9.-]*)==(\S+)(?: ; (.+?))?")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True)
class Locked:
    """A locked release, the marker of its systems, and the digests of its files."""

    name: str
    version: Version
    marker: Marker | None
    digests: tuple[str, ...]

    @property
    def for_this_system(self) -> bool:
        """Whether the marker holds on this system and this Python."""
        return self.marker is None or self.marker.evaluate()


def read(text: str) -> list[Locked]:
    """Return the packages of a lock; ValueError for a line that is not a package with digests."""
    locked: list[Locked] = []
    for entry in re.sub(r"\\\n", "", re.sub(r"(?m)^\s*#.*\n?", "", text)).splitlines():
        if not entry.strip():
            continue
        stated, *digests = re.split(r"\s+(?=--)", entry.strip())
        package, hashes = ENTRY.fullmatch(stated), [HASH.fullmatch(digest) for digest in digests]
        if package is None or not all(hashes):
            raise ValueError(f"expected name==version and sha256 digests, got: {entry[:80]}")
        name, version, marker = package.groups()
        locked.append(
            Locked(
                canonicalize_name(name),
                Version(version),
                None if marker is None else Marker(marker),
                tuple(match[1] for match in hashes if match is not None),
            )
        )
    return locked


def on_this_system(locked: list[Locked]) -> dict[str, Version]:
    """Return the versions to install on this system, by name."""
    return {package.name: package.version for package in locked if package.for_this_system}
