"""Commands that have the options of the application that --as names."""

from __future__ import annotations

import click

from condal.cli.application import Application
from condal.cli.applications import APPLICATIONS
from condal.cli.group import HELP

KIND = "kind"  # what the parameter of --as is called


class OfApplication(click.Command):
    """A command with --as, and after it the options of what that names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As ever, once it is known which options there are."""
        application = ctx.meta[__name__] = APPLICATIONS.get(kind_in(args))
        if application is not None:
            ctx.meta[HELP] = f"{ctx.command_path} --as {application.name} --help"
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            _explain(error, ctx)
            raise

    def told(self, args: list[str]) -> list[str]:
        """--as and its name where it is left out, and a file's name says it; else nothing."""
        if kind_in(args):
            return []
        every = [*self.params, *(o for one in APPLICATIONS.values() for o in one.options)]
        options = [one for one in every if isinstance(one, click.Option) and not one.is_flag]
        valued = {name for option in options for name in option.opts}
        for before, word in zip(["", *args], args, strict=False):
            stem = word.lower().removesuffix(".gz").removesuffix(".xz")
            for application in APPLICATIONS.values():
                if before not in valued and stem.endswith(application.suffixes):
                    return ["--as", application.name]
        return []

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Those of all applications, with those of this one after --as."""
        common, application = super().get_params(ctx), application_of(ctx)
        if application is None:
            return common
        after = 1 + [parameter.name for parameter in common].index(KIND)
        return [*common[:after], *application.options, *common[after:]]


def application_of(ctx: click.Context) -> Application | None:
    """What --as names."""
    return ctx.meta.get(__name__)


def kind_in(args: list[str]) -> str:
    """What --as names, before anything is parsed."""
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
        application.name
        for application in APPLICATIONS.values()
        if any(error.option_name in option.opts for option in application.options)
    ]
    here = application_of(ctx)
    if owners and here is not None:
        raise click.UsageError(
            f"{error.option_name} belongs to --as {' or '.join(owners)}; --as {here.name} does "
            "not take it",
            ctx,
        ) from None
