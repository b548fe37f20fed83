"""--vary NAME=VALUES: options with several values each, checked as those that are typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import click

_RANGE = re.compile(r"(-?[0-9]{1,9}):(-?[0-9]{1,9})(?::([1-9][0-9]{0,8}))?")
MOST = 1_000_000  # values of a range


def grid(words: Iterable[str], options: Sequence[click.Option]) -> dict[str, list[Any]]:
    """The values of each option by its name, in the order in which they were given."""
    found: dict[str, list[Any]] = {}
    for word in words:
        given, _, values = word.partition("=")
        option = named(given, options)
        if option is None or not values:
            known = ", ".join(one.opts[0].removeprefix("--") for one in options)
            raise click.BadParameter(
                f"{word!r} is no NAME=VALUES, such as seed=0:10 or tol=1e-2,1e-3; NAME is one of "
                f"{known}",
                param_hint="--vary",
            )
        name = str(option.name)
        if name in found:
            raise click.BadParameter(
                f"{given} is varied twice; give all values at once", param_hint="--vary"
            )
        found[name] = [_cast(option, one) for one in split(values)]
    return found


def split(values: str) -> list[str]:
    """What commas part; A:B for the whole numbers from A on and below B, A:B:S every S-th."""
    if match := _RANGE.fullmatch(values):
        numbers = range(int(match[1]), int(match[2]), int(match[3] or 1))
        if not 0 < len(numbers) <= MOST:
            raise click.BadParameter(
                f"{values} is {len(numbers)} numbers: A:B goes from A on to below B",
                param_hint="--vary",
            )
        return [f"{number}" for number in numbers]
    return values.split(",")


def named(given: str, options: Iterable[click.Option]) -> click.Option | None:
    """The option of a name, as max-iters or max_iters."""
    wanted = "--" + given.replace("_", "-")
    return next((option for option in options if wanted in option.opts), None)


def words_of(args: Sequence[str]) -> list[str]:
    """What follows --vary, before anything is parsed."""
    after = [word for before, word in pairwise(args) if before == "--vary"]
    return after + [word.removeprefix("--vary=") for word in args if word.startswith("--vary=")]


def _cast(option: click.Option, word: str) -> Any:
    """The value of a word, by the option's own type and callback."""
    try:
        if option.is_flag:
            return click.BOOL.convert(word, option, None)
        command = click.Command("vary", params=[option])
        return command.make_context("vary", [f"{option.opts[0]}={word}"]).params[str(option.name)]
    except click.BadParameter as error:
        text = f"{option.opts[0]}: {error.message}"
        raise click.BadParameter(text, param_hint="--vary") from None
