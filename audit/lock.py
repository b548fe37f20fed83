"""requirements-dev.lock: every package, for every system, with the digests of its files."""

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
    """name == version, where the marker holds; the digests of the files that may be it."""

    name: str
    version: Version
    marker: Marker | None
    digests: tuple[str, ...]

    @property
    def here(self) -> bool:
        """Whether it is for this system and this Python."""
        return self.marker is None or self.marker.evaluate()


def read(text: str) -> list[Locked]:
    """The packages of a lock; ValueError for a line that is neither a package nor a digest."""
    found: list[Locked] = []
    for entry in re.sub(r"\\\n", "", re.sub(r"(?m)^\s*#.*\n?", "", text)).splitlines():
        if not entry.strip():
            continue
        stated, *digests = re.split(r"\s+(?=--)", entry.strip())
        package, hashes = ENTRY.fullmatch(stated), [HASH.fullmatch(one) for one in digests]
        if package is None or not all(hashes):
            raise ValueError(f"neither name==version nor the digest of a file: {entry[:80]}")
        name, version, marker = package.groups()
        found.append(
            Locked(
                canonicalize_name(name),
                Version(version),
                None if marker is None else Marker(marker),
                tuple(one[1] for one in hashes if one is not None),
            )
        )
    return found


def here(locked: list[Locked]) -> dict[str, Version]:
    """What is to be installed on this system, by its name."""
    return {one.name: one.version for one in locked if one.here}
