"""The settings of a solve on the command line: limits, storage, and the method's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from condal.cli import memory
from condal.driver.run_record import Stop
from condal.methods import registry
from condal.runtime.memory import bytes_of
from condal.types import Method

SETTINGS = ("tol", "method", "max_iters", "max_seconds", "storage", "seed")
PARAMETERS = ("lam0", "D_Y", "eps", "rho", "normalise")  # of the method


def settings_of(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a solve, and the parameters of its method that are given."""
    given = {name: chosen[name] for name in PARAMETERS if chosen.get(name) is not None}
    return {**{name: chosen[name] for name in SETTINGS}, **given}


def method_in(settings: Mapping[str, Any]) -> Method | None:
    """Build the method of the settings, None for auto; UsageError for a parameter of another."""
    name = settings["method"]
    given = {each: settings[each] for each in PARAMETERS if each in settings}
    method = None if name == registry.AUTOMATIC else registry.METHODS[name]
    for each in given:
        if method is None or each not in method.options:
            owners = [other for other, named in registry.METHODS.items() if each in named.options]
            advice = f"add --method {owners[0]}"
            if method is not None:
                taken = ", ".join(map(_option, method.options)) or "none"
                advice = f"--method {name} takes {taken}"
            text = f"{_option(each)} is a parameter of {', '.join(owners)}; {advice}"
            raise click.UsageError(text)
    return None if method is None else method(**given)


def _option(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


def check_settings(settings: Mapping[str, Any], max_memory: str | None) -> None:
    """Refuse bad limits and parameters before the file is read."""
    Stop(settings["tol"], settings["max_iters"], settings["max_seconds"])
    method_in(settings)
    bytes_of(max_memory, "--max-memory")
    memory.check_storage(settings["storage"])
