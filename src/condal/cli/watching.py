"""--watch: the page of a solve as it runs, whose button is a Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from condal.result import Row

if TYPE_CHECKING:
    from condal.report.live import Watch


class Port(click.IntRange):
    """A port, or 0 for any that is free."""

    name = "port"

    def __init__(self) -> None:
        super().__init__(0, 65535)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; an error that knows what else may stand there."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(
                f"{value!r} is no port, a number up to 65535; FILE goes before --watch", param, ctx
            )


@contextmanager
def watching(port: int, title: str) -> Iterator[Watch]:
    """A page that is served until the command ends, and told of at once."""
    from condal.report.live import Watch  # here, for a server is seldom needed

    with Watch(port, title=title, on_stop=partial(signal.raise_signal, signal.SIGINT)) as watch:
        click.echo(f"watch it at {watch.address}", err=True)
        yield watch


def told(*listeners: Callable[[Row], Any] | None) -> Callable[[Row], bool]:
    """All of them, with each row; true if one asks to stop."""
    heard = [listener for listener in listeners if listener is not None]

    def tell(row: Row) -> bool:
        answers = [listener(row) for listener in heard]  # each is told, whatever another says
        return any(answers)

    return tell
