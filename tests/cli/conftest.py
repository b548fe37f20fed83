"""Every command runs in a folder with a file for each application."""

from __future__ import annotations

import pytest

from commands import enter


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    return enter(tmp_path, monkeypatch)
