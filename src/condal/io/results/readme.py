"""README.txt: what the files of a result hold, and how to read them without condal."""

from __future__ import annotations

import textwrap
from typing import Any

from condal.io.results.points import FORMULAS
from condal.io.results.record import HISTORY, LABELS, PICTURE, RECORD, SEPARATOR, TANGENT, X, Y

LINE_WIDTH = 80
_READ = """\
  import json, pathlib, numpy as np
  record = json.loads(pathlib.Path("result.json").read_text())
  y = np.load("y.npy")
  arrays = np.load("x.npz")            # arrays["U"], arrays["weights"], ...
  history = np.genfromtxt("history.csv", delimiter=",", names=True)
"""


def readme(record: dict[str, Any]) -> str:
    """Return one screen of text for the record of a result."""
    x = record["x"]
    texts = {
        RECORD: "status, certificate, settings, SHA-256 of the files",
        X: "" if x is None else f"the point x, {x['kind']}: {FORMULAS[x['kind']]}",
        Y: "the dual y, which proves the bound",
        TANGENT: "the image Mx at which the bound takes the tangent of the objective",
        SEPARATOR: "the dual that proves that no point is feasible",
        HISTORY: "a row per iteration; bound and gap are estimates; 1e999 stands for infinity",
        LABELS: "the answer: a sign, group, place or membership for each vertex",
        PICTURE: "arrays to draw the answer from",
    }
    files = [
        textwrap.fill(text, LINE_WIDTH, initial_indent=f"  {name:<15}", subsequent_indent=" " * 17)
        for name, text in texts.items()
        if name == RECORD or name in record["files"]
    ]
    arguments = "x, y, tangent=tangent" if TANGENT in record["files"] else "x, y"
    certify = f"condal.certify(problem, {arguments})"
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
            f"  {certify}   proves or refutes it",
            "",
        ]
    )
