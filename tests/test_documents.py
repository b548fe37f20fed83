"""What the README and the examples show runs as it stands."""

from __future__ import annotations

import re
import runpy
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import condal
from known import torus

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


def test_the_readme_runs():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    W = torus(5, 8)
    n = W.shape[0]
    names = {"W": W, "n": n, "C": W.toarray(), "np": np, "k": 2}
    names["points"] = np.repeat([[0.0, 0.0], [9.0, 0.0]], 10, axis=0) + np.eye(20, 2)
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert len(blocks) == 3
    assert names["cut"].weight == condal.problems.max_cut(W).weight(names["cut"].signs)
    assert names["clustering"].cost == names["model"].cost(names["clustering"].labels)
    assert names["result"].status.name == "SOLVED"


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples_run_and_draw_one_picture(path, capsys, monkeypatch, tmp_path):
    """In their quick mode: a PNG of the example's own name, without its number."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path), "--quick"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(path))
    assert "solved" in capsys.readouterr().out
    name = path.stem.split("_", 1)[1]
    assert [file.name for file in tmp_path.iterdir()] == [f"{name}.png"]
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_examples_are_numbered_each_once():
    numbers = [path.stem.split("_", 1)[0] for path in EXAMPLES]
    assert all(re.fullmatch(r"\d\d", number) for number in numbers)
    assert len(set(numbers)) == len(numbers)


def test_every_make_target_of_the_documents_is_there():
    makefile = (ROOT / "Makefile").read_text()
    for document in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"^ {4}make (\w+)", (ROOT / document).read_text(), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
