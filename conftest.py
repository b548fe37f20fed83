"""One thread for BLAS, set before NumPy is imported, Hypothesis, the marker `fast`, permissions,
and the system's entropy."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import rights
from fast import FAST

# Several threads would make matrices of this size a hundred times slower.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

settings.register_profile("condal", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("condal")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """For `-m fast`, import only the fast files: imports take longer than the tests."""
    other = collection_path.suffix == ".py" and collection_path.stem not in FAST
    return True if other and config.option.markexpr == "fast" else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests of the fast files."""
    if item.path.stem in FAST:
        item.add_marker("fast")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Keep gzip bytes out of test names: they contain the time, and workers must agree."""
    return argname if isinstance(val, bytes) and val.startswith(b"\x1f\x8b") else None


@pytest.fixture(scope="session", autouse=True)
def known_entropy() -> Iterator[None]:
    """Let a seed that would be drawn be 0, so that tests have the same numbers in every run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("condal.runtime.arguments.urandom", bytes)
        yield


@pytest.fixture
def system_entropy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw such seeds as a user's solve does."""
    monkeypatch.setattr("condal.runtime.arguments.urandom", os.urandom)


@pytest.fixture
def processor_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let limits count processor time, so that they mean the same on a busy machine."""
    monkeypatch.setattr(time, "perf_counter", time.process_time)


@pytest.fixture
def permissions() -> Iterator[None]:
    """Make file permissions apply to root as well."""
    if getattr(os, "geteuid", int)() != 0:
        yield
    elif sys.platform == "linux":
        with rights.laid_down():
            yield
    else:
        pytest.skip("nothing is forbidden here: Windows, or root where it has no capabilities")
