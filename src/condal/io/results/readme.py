"""README.txt: what the files of a result hold, and how they are read without condal."""

from __future__ import annotations

import textwrap
from typing import Any

from condal.io.results.points import FORMULAS
from condal.io.results.record import HISTORY, PICTURE, RECORD, SEPARATOR, TANGENT, X, Y

WIDTH = 80
_READ = """\
  import json, pathlib, numpy as np
  record = json.loads(pathlib.Path("result.json").read_text())
  y = np.load("y.npy")
  arrays = np.load("x.npz")            # arrays["U"], arrays["weights"], ...
  history = np.genfromtxt("history.csv", delimiter=",", names=True)
"""


def readme(record: dict[str, Any]) -> str:
    """One screen of text for the record of a result."""
    x = record["x"]
    whats = {
        RECORD: "all that is no array: status, certificate, settings, SHA-256 of the files",
        X: "" if x is None else f"the point x, {x['kind']}: {FORMULAS[x['kind']]}",
        Y: "the dual y, which proves the bound",
        TANGENT: "the image Mx at which the bound takes the tangent of the objective",
        SEPARATOR: "the dual that proves that no point is feasible",
        HISTORY: "a row an iteration; 1e999 stands for infinity",
        PICTURE: "arrays to draw the answer by",
    }
    files = [
        textwrap.fill(what, WIDTH, initial_indent=f"  {name:<15}", subsequent_indent=" " * 17)
        for name, what in whats.items()
        if name == RECORD or name in record["files"]
    ]
    given = "x, y, tangent=tangent" if TANGENT in record["files"] else "x, y"
    certify = f"condal.certify(problem, {given})"
    if record["application"] is not None and record["file"] is not None:
        certify = "condal certify PROBLEM THIS-FOLDER"
    return "\n".join(
        [
            "A result of condal. Its files:",
            "",
            *files,
            "",
            "With NumPy alone:",
            "",
            _READ,
            "With condal:",
            "",
            "  condal show THIS-FOLDER",
            f"  {certify}   proves or refutes it anew",
            "",
        ]
    )
