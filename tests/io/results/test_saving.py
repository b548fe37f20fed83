"""A folder appears whole or not at all, and nothing of the user's is lost."""

import errno
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import condal
from condal.errors import FormatError, ProblemError
from condal.io.results import load, save
from condal.io.results import writing as writing_module


@pytest.fixture(scope="module")
def result():
    return condal.solve(condal.problems.max_cut(np.ones((4, 4)) - np.eye(4)))


def refused(text, result, folder, **options):
    before = sorted(Path(folder).parent.rglob("*")) if Path(folder).parent.is_dir() else None
    with pytest.raises((FormatError, ProblemError), match=text):
        save(result, folder, **options)
    if before is not None:
        assert sorted(Path(folder).parent.rglob("*")) == before


def test_an_earlier_result_is_overwritten_only_if_asked(result, tmp_path):
    folder = save(replace(result, problem_name="first"), tmp_path / "run")
    refused("holds an earlier result; give a new folder, or overwrite", result, folder)
    assert load(folder).result.problem_name == "first"
    save(replace(result, problem_name="second"), folder, overwrite=True)
    assert load(folder).result.problem_name == "second"
    assert list(tmp_path.iterdir()) == [folder]


def test_what_is_no_result_is_never_overwritten(result, tmp_path):
    for name in ("empty", "others", "fake", "more"):
        (tmp_path / name).mkdir()
    (tmp_path / "others" / "thesis.tex").write_text("all of it")
    (tmp_path / "fake" / "result.json").write_text('{"format": "another"}')
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("empty", "others", "fake"):
        text = "exists and is not a saved result; give a new folder"
        refused(text, result, tmp_path / name, overwrite=True)
    for name in ("file", "link", "dangling"):
        refused("exists and is not a folder", result, tmp_path / name, overwrite=True)
    folder = save(result, tmp_path / "mine")
    (folder / "notes.txt").write_text("keep")
    refused("holds 'notes.txt' beside an earlier result", result, folder, overwrite=True)
    assert (folder / "notes.txt").read_text() == "keep"


@pytest.mark.parametrize("folder", ["missing/run", "file/run", "bad\0name"])
def test_folders_that_cannot_be_made(result, tmp_path, folder):
    (tmp_path / "file").write_text("text")
    refused("cannot be written: ", result, tmp_path / folder)


def test_a_read_only_folder(result, tmp_path, monkeypatch):
    def denied(self, *_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", denied)
    refused("cannot be written: Permission denied; check the folder", result, tmp_path / "run")


@pytest.mark.parametrize("at", range(5))
def test_a_full_disk_leaves_nothing(result, tmp_path, monkeypatch, at):
    calls, true = [], os.fsync

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) > at:
            raise OSError(errno.ENOSPC, "No space left on device")
        true(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    refused("cannot be written: No space left on device", result, tmp_path / "run")


def test_an_earlier_result_survives_a_failure(result, tmp_path, monkeypatch):
    folder, true = save(replace(result, problem_name="first"), tmp_path / "run"), Path.rename

    def broken(self, target):
        if not (self / "result.json").exists() or load(self).result.problem_name != "first":
            raise OSError(errno.EIO, "Input/output error")
        return true(self, target)

    monkeypatch.setattr(Path, "rename", broken)
    refused("Input/output error", result, folder, overwrite=True)
    assert load(folder).result.problem_name == "first"


def test_an_interrupt_between_two_renames_keeps_the_earlier_result(result, tmp_path, monkeypatch):
    folder, true = save(replace(result, problem_name="first"), tmp_path / "run"), Path.rename
    moved = []

    def interrupted(self, target):
        moved.append(target)
        if len(moved) == 2:
            raise KeyboardInterrupt
        return true(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(result, folder, overwrite=True)
    assert load(folder).result.problem_name == "first"
    assert list(tmp_path.iterdir()) == [folder]


def test_what_came_meanwhile_is_not_overwritten(result, tmp_path, monkeypatch):
    folder, true = tmp_path / "run", writing_module.readme

    def slow(record):
        monkeypatch.undo()
        save(replace(result, problem_name="another's"), folder)
        return true(record)

    monkeypatch.setattr(writing_module, "readme", slow)
    with pytest.raises(FormatError, match="run: holds an earlier result; give a new folder"):
        save(result, folder)
    assert load(folder).result.problem_name == "another's"


def test_an_interrupt_leaves_nothing(result, tmp_path, monkeypatch):
    def interrupted(record):
        raise KeyboardInterrupt

    monkeypatch.setattr(writing_module, "readme", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(result, tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "options", "text"),
    [
        (
            {"x": np.array([object()])},
            {},
            "saved as arrays of numbers; got ndarray in x, of object",
        ),
        ({"x": (np.ones(2), "x")}, {}, "saved as arrays of numbers; got str in x"),
        ({}, {"options": {"a": np.ones(2)}}, "options must be values of JSON.* got ndarray"),
        ({}, {"options": {"a": float("nan")}}, "options must be values of JSON.* got float nan"),
        ({}, {"settings": {1: 2}}, "settings must be values of JSON"),
        ({}, {"picture": {"../x": np.ones(2)}}, "by names of letters, digits and _; got '../x'"),
        ({}, {"picture": {"x": np.array([{}])}}, "numbers or text .* got 'x' of object"),
        ({}, {"picture": {f"x{i}": np.ones(1) for i in range(65)}}, "at most 64 arrays; got 65"),
        ({}, {"file": "absent.txt"}, "absent.txt: cannot be read"),
    ],
)
def test_what_cannot_be_saved(result, tmp_path, changes, options, text):
    refused(text, replace(result, **changes), tmp_path / "run", **options)


def test_what_could_not_be_read_again_is_not_saved(result, tmp_path, monkeypatch):
    monkeypatch.setattr(writing_module, "MAX_BYTES", 64)
    refused("more than the 64 that can be read again", result, tmp_path / "run")
