"""--watch: a live page of the running solve, with a button that acts as Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from condal.report.live.page import Watch


class Port(click.IntRange):
    """A port, or 0 for any free one."""

    name = "port"

    def __init__(self) -> None:
        super().__init__(0, 65535)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(
                f"{value!r} is not a port, an integer up to 65535; FILE goes before --watch",
                param,
                ctx,
            )


@contextmanager
def watching(port: int, title: str) -> Iterator[Watch]:
    """Serve a page until the command ends, and print its address."""
    from condal.report.live.page import Watch

    with Watch(port, title=title, on_stop=partial(signal.raise_signal, signal.SIGINT)) as watch:
        click.echo(f"watch the solve at {watch.address}", err=True)
        yield watch
