"""A saved result: the result, and what is known of the problem and the solve."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from condal.io.container.manifest import FolderKind, Kind
from condal.result import Result

RESULT = Kind(
    "condal result",
    remedy="save the result again",
    other_version="solve and save again, or use condal {writer} to read it",
)
OWNER = "a saved result"  # in error messages
TEXT_DTYPE = "U"  # a kind of dtype that pictures may have besides numbers
TIME = "%Y-%m-%dT%H:%M:%SZ"

# The files of a folder, by what they hold.
RECORD, X, Y, HISTORY = "result.json", "x.npz", "y.npy", "history.csv"
TANGENT, SEPARATOR, LABELS = "tangent.npy", "separator.npy", "labels.npy"
PICTURE, README = "picture.npz", "README.txt"
RECONSTRUCTION = "reconstruction"  # the field of a record that only sketched points have
# The fields of the objects of a record and their types, as `Fields` has them.
CERTIFICATE = {
    **dict.fromkeys(("objective", "bound", "infeasibility", "price"), "number"),
    **dict.fromkeys(("distance_to_X", "size_of_X"), "number"),
    "unit": "positive",
    "inside": "flag",
    "bracket": "flag",
    "how": "text",
    "failure": "number",
    "dimacs": "numbers",
}
PROOF = {"value": "number", "how": "text", "failure": "number"}
ACCURACY = {
    "R": "whole",
    "rank": "whole",
    "missing_trace": "number",
    "image_error": "number",
}
WORK = {
    **dict.fromkeys(("oracle_calls", "matvecs", "first_k"), "whole"),
    **dict.fromkeys(("seconds", "oracle_cpu_seconds", "cpu_seconds"), "number"),
}
NAMES = (RECORD, X, Y, TANGENT, HISTORY, SEPARATOR, LABELS, PICTURE, README)


@dataclass(frozen=True, eq=False)
class Saved:
    """A result as its folder states it; `condal.saved.verify` proves or refutes it.

    Parameters
    ----------
    result : Result
        x, y, status, certificate, history and counts.
    application : str or None
        Name of the application for `condal solve --as`; None for a problem of one's own.
    file, digest : str or None
        Name of the problem's file, and SHA-256 of its unpacked contents.
    options : dict
        Options of the application, with those that the model chose by itself.
    settings : dict
        Settings of the solve: tol, method, seed, storage, limits.
    answer : list of (str, str)
        What the result means, for a person.
    figures : dict
        What the result means, for a program.
    versions : dict
        Versions of condal, python, numpy and scipy.
    created : str
        When it was saved, in UTC, such as 2024-02-29T12:00:00Z.
    picture : dict
        Arrays to draw the answer from.
    labels : array of int or None
        The answer itself, if it was rounded: a sign, group, place or membership for each vertex.
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
    labels: Any = None


RESULT_FOLDER = FolderKind(RESULT, RECORD, "result", OWNER, NAMES.__contains__)
check_target = RESULT_FOLDER.check_target
check_earlier = RESULT_FOLDER.check_earlier
