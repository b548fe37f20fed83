"""The memory of this machine, and sizes as people write and read them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import TypeAlias

from condal.errors import ProblemError

Bytes: TypeAlias = int | float | str | None

FLOAT_BYTES = 8
TRIANGLE_MATRICES = 3  # n x n, at least, that a solve holds of images and duals of all entries
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {f"{unit}I": 1024**power for power, unit in enumerate("KMGT", 1)}
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?I?)B?\s*")


def bytes_of(size: Bytes, name: str = "max_memory") -> float:
    """Return the bytes of a number or a text such as "4 GB" or "512 MiB"; inf for None."""
    if size is None:
        return inf
    match = _SIZE.fullmatch(size.upper()) if isinstance(size, str) else None
    if match is not None and match[2] in UNITS:
        size = float(match[1]) * UNITS[match[2]]
    if isinstance(size, bool | str) or not isinstance(size, int | float) or not 0 < size < inf:
        raise ProblemError(
            f"{name} must be a number of bytes, or a text such as '4 GB' or '512 MiB'; got {size!r}"
        )
    return float(size)


def size(count: float) -> str:
    """Format a number of bytes to two digits, in the unit that fits."""
    from decimal import Decimal

    value, units = Decimal(f"{count:.1e}"), ["bytes", "kB", "MB", "GB", "TB", "PB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value.normalize():f} {units[0]}"


def physical() -> int | None:
    """Return the memory of the machine in bytes; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def available(root: Path = Path("/")) -> int | None:
    """Return the bytes that this process may use: the memory of the machine, or the limit of the
    process's control group (cgroup v1 or v2) where that is less."""
    machine = physical()
    limits = [*([] if machine is None else [machine]), *_cgroup_limits(root)]
    return min(limits, default=None)


def _cgroup_limits(root: Path) -> Iterator[int]:
    """Yield the limits of the control groups of this process and of those above them.

    A container may see its own group at the top of the tree, whatever /proc says of its path.
    """
    mount = root / "sys/fs/cgroup"
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        _, _, controllers_and_path = line.partition(":")
        controllers, _, path = controllers_and_path.partition(":")
        if not controllers:
            top, name = mount, "memory.max"
        elif "memory" in controllers.split(","):
            top, name = mount / "memory", "memory.limit_in_bytes"
        else:
            continue
        group = Path(path.strip().lstrip("/"))
        for level in {Path(), group, *group.parents}:
            try:
                text = (top / level / name).read_text(encoding="utf-8").strip()
            except (OSError, ValueError):
                continue
            if text.isdecimal():  # no limit is "max"
                yield int(text)


def require_matrices(count: float, side: int, what: str, *, advice: str) -> None:
    """Raise ProblemError if dense matrices of this side need more memory than there is.

    `count` is the least number of matrices that `what` holds at the same time, so that what cannot
    be solved is refused before the first of them is made.
    """
    needed, limit = count * FLOAT_BYTES * float(side) ** 2, available()
    if limit is not None and needed > limit:
        raise ProblemError(
            f"{what} needs at least {size(needed)} of memory, for {count:g} matrices of {side} x "
            f"{side}, and this machine allows {size(limit)}: {advice}"
        )
