"""Every line of the fault list has a test with a matching name."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from lines import LINES

from locations import TESTS

PHRASES = [(group, phrase) for group, lines in LINES.items() for phrase in lines]


def path_of(name: str) -> Path:
    """Return the path of a file in this folder or in one beside it."""
    return next(path for path in (TESTS / "faults" / name, TESTS / name) if path.is_file())


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def functions(path: Path) -> set[str]:
    return {node.name for node in tree(path).body if isinstance(node, ast.FunctionDef)}


@cache
def words(path: Path) -> set[str]:
    """Return the strings in a file and in the files of its folder that it imports."""
    nodes = list(ast.walk(tree(path)))
    strings = {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    for node in nodes:
        beside = path.parent / f"{getattr(node, 'module', None)}.py"
        if isinstance(node, ast.ImportFrom) and beside.is_file():
            strings |= words(beside)
    return strings


def exists(test: str) -> bool:
    """Return whether the function exists, and its case if one is named."""
    file, name, case = re.fullmatch(r"(.+?)::(\w+)(?:\[(.+)\])?", test).groups()
    path = path_of(file)
    if name not in functions(path):
        return False
    return case is None or any(text.startswith(case) for text in words(path))


@pytest.mark.parametrize(("group", "phrase"), PHRASES, ids=[f"{g}: {p}" for g, p in PHRASES])
def test_every_line_has_its_tests(group, phrase):
    tests = LINES[group][phrase]
    assert tests
    assert [test for test in tests if not exists(test)] == []


def test_the_groups_are_all_there():
    counts = {group: len(lines) for group, lines in LINES.items()}
    assert counts == {
        "input": 28,
        "structure": 26,
        "numerics": 14,
        "control": 15,
        "files": 26,
        "checkpoints": 9,
    }


@pytest.mark.parametrize(
    "test",
    [
        "test_input.py::test_of_nothing",
        "test_structure.py::test_it_is_solved_right[n = 1_000]",
        "io/checkpoint/test_about.py::test_input",
    ],
)
def test_a_test_that_is_not_there_is_missed(test):
    assert not exists(test)
