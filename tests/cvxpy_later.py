"""CVXPY as `cp`, imported when it is first used: laws read the same records without it."""

from importlib import import_module
from typing import Any


class _Later:
    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("cvxpy"), name)


cp = _Later()
