"""The lines of each room and the modules of condal, which may only shrink.

A number that a change passes on its way down is lowered here, so that it stays down.
"""

from collections import Counter
from pathlib import Path

from locations import ROOT

PACKAGES = {
    "checker": "checker",
    "lab/src/condal_lab": "condal_lab",
    "mpi/src/condal_mpi": "condal_mpi",
}
TESTS = ("tests", "lab/tests", "mpi/tests")
MODULES = 317  # of condal
LINES = {
    "checker": 600,
    "condal/certificates": 3_763,
    "condal/cli": 3_304,
    "condal/cvxpy": 2_757,
    "condal/domains": 2_203,
    "condal/driver": 3_194,
    "condal/io": 6_598,
    "condal/linalg": 5_047,
    "condal/maps": 2_497,
    "condal/methods": 11_061,
    "condal/nonsmooth": 744,
    "condal/problems": 10_402,
    "condal/report": 1_700,
    "condal/runtime": 1_167,
    "condal/sets": 895,
    "condal/sklearn": 729,
    "condal/smooth": 792,
    "condal/storage": 661,
    "condal/top": 1_226,
    "condal_lab": 13_263,
    "condal_mpi": 5_794,
    "tests": 59_431,
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
