"""The lines of each room and the modules of condal, which may only shrink.

A number that a change passes on its way down is lowered here, so that it stays down.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from locations import ROOT

PACKAGES = {"lab/src/condal_lab": "condal_lab", "mpi/src/condal_mpi": "condal_mpi"}
TESTS = ("tests", "lab/tests", "mpi/tests")
MODULES = 480  # of condal
LINES = {
    "condal/certificates": 4_182,
    "condal/cli": 4_372,
    "condal/cvxpy": 3_660,
    "condal/domains": 2_219,
    "condal/driver": 3_357,
    "condal/io": 8_143,
    "condal/linalg": 5_081,
    "condal/maps": 2_688,
    "condal/methods": 11_703,
    "condal/nonsmooth": 775,
    "condal/problems": 11_797,
    "condal/report": 1_871,
    "condal/runtime": 1_039,
    "condal/sets": 911,
    "condal/sklearn": 927,
    "condal/smooth": 817,
    "condal/storage": 832,
    "condal/top": 1_322,
    "condal_lab": 17_190,
    "condal_mpi": 6_743,
    "tests": 68_019,
}


def measured() -> Counter[str]:
    lines = Counter[str]()
    for path, within in _modules("src/condal"):
        room = within.parts[0] if len(within.parts) > 1 else "top"
        lines[f"condal/{room}"] += _lines(path)
    for home, name in (PACKAGES | dict.fromkeys(TESTS, "tests")).items():
        lines[name] += sum(_lines(path) for path, _ in _modules(home))
    return lines


def _modules(home: str) -> list[tuple[Path, Path]]:
    return [(path, path.relative_to(ROOT / home)) for path in (ROOT / home).rglob("*.py")]


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def test_no_room_grows(capsys):
    lines = measured()
    rows = [f"{room:22} {lines[room]:7,} of {most:7,}" for room, most in LINES.items()]
    with capsys.disabled():
        print("\n" + "\n".join(rows))
    assert not lines - Counter(LINES)


def test_there_are_no_more_modules():
    assert len(_modules("src/condal")) <= MODULES
