"""The errors a user can meet; each text says what was got, what was wanted, and what to do."""

from __future__ import annotations

from typing import Any


class CondalError(Exception):
    """Any error that condal raises on purpose."""


class ProblemError(CondalError, ValueError):
    """The data, the options or the method do not make a problem that can be solved."""


class FormatError(CondalError, ValueError):
    """A file is not what its format says; the text names the file and, where known, the line."""

    def __init__(self, message: str, *, path: str | None = None, line: int | None = None) -> None:
        place = "" if path is None else (f"{path}: " if line is None else f"{path}, line {line}: ")
        super().__init__(place + message)
        self.path = path
        self.line = line


class MissingExtra(CondalError, ImportError):
    """A library that only a part of condal needs is not there; the text says how to install it."""


class PieceError(CondalError):
    """A piece of the problem, the user's own, raised or gave what it must not.

    `piece` is its letter in the template: f, M, X, A, K, B, g, or repair or propose; that of the
    argument, as the C of `Linear`, for an operator that goes wrong when something is made of it.
    `result` is the best that the solve had by then; None where there was no solve. What the piece
    raised, if it did, is the cause.
    """

    def __init__(self, message: str, *, piece: str, result: Any = None) -> None:
        super().__init__(message)
        self.piece = piece
        self.result = result
