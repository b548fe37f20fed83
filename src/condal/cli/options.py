"""The options of an application as a result keeps them: what is typed to make its model again."""

from __future__ import annotations

from typing import Any

import click

from condal.cli.application import Application, Chosen
from condal.errors import FormatError


def kept(application: Application, model: Any, chosen: Chosen) -> dict[str, Any]:
    """The options by name, those that the model chose by itself as it chose them. Files that they
    name are none of the problem, and are left out."""
    own = {name: _typed(chosen[name]) for name in _of_problem(application)}
    return own | application.resolved(model)


def restored(application: Application, options: dict[str, Any], path: str) -> dict[str, Any]:
    """The values of the options that a file holds, checked as those that are typed."""
    known = _of_problem(application)
    words = []
    for name, value in options.items():
        option = known.get(name)
        if option is None:
            raise FormatError(f"options: {application.name} has no {name[:40]!a}", path=path)
        if option.is_flag and isinstance(value, bool):
            words += [option.opts[0]] * value
        elif value is not None:
            words.append(f"{option.opts[0]}={value}")
    command = click.Command(application.name, params=list(application.options))
    try:
        return command.make_context(application.name, words).params
    except click.ClickException as error:
        text = " ".join(error.format_message().split())
        raise FormatError(f"options: {text}", path=path) from None


def _of_problem(application: Application) -> dict[str, click.Option]:
    """The options that the problem depends on, by name."""
    return {
        str(option.name): option
        for option in application.options
        if option.name not in application.inputs
    }


def _typed(value: Any) -> Any:
    return ",".join(value) if isinstance(value, list) else value
