"""Commands that take the options of the application that --as names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from condal.cli.app import HELP
from condal.cli.application import Application
from condal.cli.applications import APPLICATIONS
from condal.runtime.text import did_you_mean

KIND = "kind"  # the name of the parameter of --as
JOINING_HYPHEN = "\u2011"  # at which no line is broken


class Name(click.Choice):  # type: ignore[type-arg]  # click 8.1 has no type argument
    """One of several names; an error suggests the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            text = error.message.rstrip(".") + did_you_mean(value, self.choices)
            raise click.BadParameter(text, ctx, param) from None


class _UnbrokenNames(click.HelpFormatter):
    """Help that breaks no line within a name such as primal-dual."""

    def write_dl(self, rows: Iterable[tuple[str, str]], *args: Any, **options: Any) -> None:
        joined = [(first, second.replace("-", JOINING_HYPHEN)) for first, second in rows]
        super().write_dl(joined, *args, **options)

    def getvalue(self) -> str:
        return super().getvalue().replace(JOINING_HYPHEN, "-")


class _Context(click.Context):
    formatter_class = _UnbrokenNames


class ApplicationCommand(click.Command):
    """A command with --as, followed by the options of the application it names."""

    context_class = _Context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse with the options of the application."""
        name = kind_in(args)
        application = ctx.meta[__name__] = APPLICATIONS.get(name)
        if application is not None:
            ctx.meta[HELP] = f"{ctx.command_path} --as {application.name} --help"
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            kind = next(each for each in self.params if each.name == KIND)
            if name:
                kind.type.convert(name, kind, ctx)  # an unknown application has no options
            _explain(error, ctx)
            raise

    def implied(self, args: list[str]) -> list[str]:
        """Return --as and a name if --as is not given and the name of a file implies it."""
        if kind_in(args):
            return []
        every = [*self.params, *(o for each in APPLICATIONS.values() for o in each.options)]
        options = [each for each in every if isinstance(each, click.Option) and not each.is_flag]
        with_value = {name for option in options for name in option.opts}
        for before, word in zip(["", *args], args, strict=False):
            stem = word.lower().removesuffix(".gz").removesuffix(".xz")
            for application in APPLICATIONS.values():
                if before not in with_value and stem.endswith(application.suffixes):
                    return ["--as", application.name]
        return []

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the common parameters, with those of the application after --as."""
        common, application = super().get_params(ctx), application_of(ctx)
        if application is None:
            return common
        after = 1 + [parameter.name for parameter in common].index(KIND)
        return [*common[:after], *application.options, *common[after:]]


def application_of(ctx: click.Context) -> Application | None:
    """Return the application that --as names."""
    return ctx.meta.get(__name__)


def kind_in(args: list[str]) -> str:
    """Return the value of --as in arguments that are not parsed yet."""
    name = ""
    for i, word in enumerate(args):
        if word == "--as" and i + 1 < len(args):
            name = args[i + 1]
        elif word.startswith("--as="):
            name = word.removeprefix("--as=")
    return name


def _explain(error: click.NoSuchOption, ctx: click.Context) -> None:
    """Raise a better error for an option of another application."""
    owners = [
        each.name
        for each in APPLICATIONS.values()
        if any(error.option_name in option.opts for option in each.options)
    ]
    application = application_of(ctx)
    if owners:
        advice = (
            "say what FILE is with --as"
            if application is None
            else f"--as {application.name} does not take it"
        )
        raise click.UsageError(
            f"{error.option_name} belongs to --as {' or '.join(owners)}; {advice}", ctx
        ) from None
