"""One file for all ranks: what each of them sees of it is compared, in samples."""

from __future__ import annotations

import hashlib
import os
import random
from typing import BinaryIO

from condal.distributed.team import Team
from condal.io.safe_files import opened

END = 1 << 16  # bytes of the beginning, and of the end,
WINDOW, WINDOWS = 1 << 12, 64  # and of pieces between them, drawn by the length of the file


def require_same_file(team: Team, name: str) -> int:
    """The length of a file, which must be as long on all ranks, and the same wherever it is looked
    at; ProblemError if it is not. All of a file of up to 384 KiB is."""
    with team.together(), opened(name) as file:
        length = os.fstat(file.fileno()).st_size
        digest = _sampled(file, length)
    team.require_same(length, f"the bytes of {team.agreed(name)}")
    team.require_same(digest, f"what is in {name} (SHA-256 of samples of it)")
    return length


def _sampled(file: BinaryIO, length: int) -> str:
    digest, drawn = hashlib.sha256(), random.Random(length)
    each = max((length - 2 * END) // WINDOWS, 0)
    pieces = [(0, END), (max(length - END, 0), END)]
    for k in range(WINDOWS):
        place = END + k * each
        pieces.append((place + drawn.randint(0, max(each - WINDOW, 0)), min(each, WINDOW)))
    for place, count in pieces:
        file.seek(place)
        digest.update(file.read(count))
    return digest.hexdigest()[:16]
