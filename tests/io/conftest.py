"""What is written is not put on disk: processes are killed in these tests, and no power is lost."""

import os

import pytest


@pytest.fixture(autouse=True)
def no_sync(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
