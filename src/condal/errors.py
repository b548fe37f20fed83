"""The errors that condal raises; each text says what was got, what was wanted, what to do."""

from __future__ import annotations

from typing import Any

# What code raises for values that it is not made for, such as those of a stranger's file.
MISFITS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


class CondalError(Exception):
    """Base class of the errors that condal raises."""


class ProblemError(CondalError, ValueError):
    """The data, the options or the method do not form a problem that can be solved."""


class FormatError(CondalError, ValueError):
    """A file does not follow its format.

    Parameters
    ----------
    message : str
        What is wrong.
    path : str, optional
        The file.
    line : int, optional
        The line.
    """

    def __init__(self, message: str, *, path: str | None = None, line: int | None = None) -> None:
        place = "" if path is None else (f"{path}: " if line is None else f"{path}, line {line}: ")
        super().__init__(place + message)
        self.path = path
        self.line = line


class MissingExtra(CondalError, ImportError):
    """An optional library is not installed; the text says how to install it."""


class PieceError(CondalError):
    """A user-supplied piece of the problem raised an exception or returned an invalid value.

    Parameters
    ----------
    message : str
        What went wrong. The exception of the piece, if it raised one, is the cause.
    piece : str
        The letter of the piece in the template: f, M, X, A, K, B, g, or repair or propose; the name
        of the argument, such as the C of `Linear`, for an operator that fails while it is used to
        construct something.
    result : Result, optional
        The best result of the solve so far; None outside a solve.
    """

    def __init__(self, message: str, *, piece: str, result: Any = None) -> None:
        super().__init__(message)
        self.piece = piece
        self.result = result
