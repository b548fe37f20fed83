"""The options of an application as a result stores them, enough to build its model again."""

from __future__ import annotations

from typing import Any

import click

from condal.cli.application import Application, Chosen
from condal.errors import FormatError


def options_to_save(application: Application, model: Any, chosen: Chosen) -> dict[str, Any]:
    """Return the options by name, with the values that the model chose for those not given.

    Options that name input files do not change the problem and are left out.
    """
    own = {name: _as_typed(chosen[name]) for name in _of_problem(application)}
    return own | application.resolved(model)


def restore_options(application: Application, options: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the values of the options stored in a file, checked as if they were typed."""
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
    """Return the options that the problem depends on, by name."""
    return {
        str(option.name): option
        for option in application.options
        if option.name not in application.inputs
    }


def _as_typed(value: Any) -> Any:
    return ",".join(value) if isinstance(value, list) else value
