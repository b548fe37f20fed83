"""A result as it was kept: the answer, and what it is the answer to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from condal.result import Result

FORMAT, VERSION = "condal result", 1
TEXT = "U"  # a kind of dtype that pictures may have beside numbers
TIME = "%Y-%m-%dT%H:%M:%SZ"

# The files of a folder, by what they hold.
RECORD, X, Y, HISTORY = "result.json", "x.npz", "y.npy", "history.csv"
TANGENT, SEPARATOR, PICTURE, README = "tangent.npy", "separator.npy", "picture.npz", "README.txt"
NAMES = (RECORD, X, Y, TANGENT, HISTORY, SEPARATOR, PICTURE, README)


@dataclass(frozen=True, eq=False)
class Saved:
    """A result from its folder: what the files say, which is proved by `condal.saved.verify`.

    Parameters
    ----------
    result : x, y, status, certificate, history and counts, as they were.
    application : what `condal solve --as` calls it; None for a problem of one's own.
    file, digest : the name of the problem's file, and the SHA-256 of its contents, unpacked.
    options : of the application, those that the model chose by itself as it chose them.
    settings : of the solve: tol, method, seed, storage, limits.
    answer, figures : what the result means, for a person and for a machine.
    versions : of condal, python, numpy and scipy.
    created : when it was saved, in UTC, such as 2024-02-29T12:00:00Z.
    picture : arrays to draw the answer by.
    """

    result: Result
    application: str | None = None
    file: str | None = None
    digest: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    answer: list[tuple[str, str]] = field(default_factory=list)
    figures: dict[str, float | None] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    created: str = ""
    picture: dict[str, Any] = field(default_factory=dict)
