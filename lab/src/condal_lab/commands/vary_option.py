"""--vary NAME=VALUES: several values of an option, each checked as if it were typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import click

_RANGE = re.compile(r"(-?[0-9]{1,9}):(-?[0-9]{1,9})(?::([1-9][0-9]{0,8}))?")
MAX_VALUES = 1_000_000  # of a range A:B


def grid(words: Iterable[str], options: Sequence[click.Option]) -> dict[str, list[Any]]:
    """Return the values of each option by its name, in the given order."""
    values_of: dict[str, list[Any]] = {}
    for word in words:
        given, _, values = word.partition("=")
        option = named(given, options)
        if option is None or not values:
            known = ", ".join(each.opts[0].removeprefix("--") for each in options)
            raise click.BadParameter(
                f"{word!r} is not NAME=VALUES, such as seed=0:10 or tol=1e-2,1e-3; NAME is one of "
                f"{known}",
                param_hint="--vary",
            )
        name = str(option.name)
        if name in values_of:
            raise click.BadParameter(
                f"{given} is varied twice; give all values at once", param_hint="--vary"
            )
        values_of[name] = [_cast(option, value) for value in split(values)]
    return values_of


def split(values: str) -> list[str]:
    """Split at commas; A:B gives the integers from A to B - 1, and A:B:S every S-th of them."""
    if match := _RANGE.fullmatch(values):
        numbers = range(int(match[1]), int(match[2]), int(match[3] or 1))
        if not 0 < len(numbers) <= MAX_VALUES:
            raise click.BadParameter(
                f"{values} has {len(numbers)} numbers: A:B goes from A to B - 1",
                param_hint="--vary",
            )
        return [f"{number}" for number in numbers]
    return values.split(",")


def named(given: str, options: Iterable[click.Option]) -> click.Option | None:
    """Return the option with a name, such as max-iters or max_iters."""
    wanted = "--" + given.replace("_", "-")
    return next((option for option in options if wanted in option.opts), None)


def words_of(args: Sequence[str]) -> list[str]:
    """Return the values of --vary in arguments that are not parsed yet."""
    after = [word for before, word in pairwise(args) if before == "--vary"]
    return after + [word.removeprefix("--vary=") for word in args if word.startswith("--vary=")]


def _cast(option: click.Option, word: str) -> Any:
    """Convert a word with the option's own type and callback."""
    try:
        if option.is_flag:
            return click.BOOL.convert(word, option, None)
        command = click.Command("vary", params=[option])
        return command.make_context("vary", [f"{option.opts[0]}={word}"]).params[str(option.name)]
    except click.BadParameter as error:
        text = f"{option.opts[0]}: {error.message}"
        raise click.BadParameter(text, param_hint="--vary") from None
