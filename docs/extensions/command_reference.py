"""The directive `commands` documents every command of `condal` from its click definition.

    ```{commands}
    ```

The applications (`condal solve --as NAME`) follow their command, each with its own options.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

import click
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from condal.cli.app import cli
from condal.cli.application import Application
from condal.cli.applications import APPLICATIONS
from condal.cli.solve import Solve

SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}


class Commands(SphinxDirective):
    """All commands, one section per command."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        node = nodes.section()
        node.document = self.state.document
        lines = StringList(reference(cli, "condal"), source="condal --help")
        self.state.nested_parse(lines, 0, node, match_titles=True)
        return node.children


def reference(group: click.Group, program: str) -> list[str]:
    """Return the reference of a group of commands in Markdown."""
    with click.Context(group, info_name=program, **group.context_settings) as top:
        lines = _command(group, top, level=2)
        for name in group.list_commands(top):
            command = group.get_command(top, name)
            assert command is not None
            with click.Context(command, parent=top, info_name=name) as context:
                lines += _command(command, context, level=2)
                if isinstance(command, Solve):
                    for application in APPLICATIONS.values():
                        lines += _application(application, context)
    return lines


def _command(command: click.Command, context: click.Context, *, level: int) -> list[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    heading = f"{'#' * level} `{context.command_path}`"
    return [
        heading,
        "",
        *_fenced([usage]),
        *_text(command.help or ""),
        *_options(command.params, context),
    ]


def _application(application: Application, context: click.Context) -> list[str]:
    command = f"{context.command_path} --as {application.name}"
    return [
        f"### `{command}`",
        "",
        f"**{_plain(application.title)}.**",
        "",
        *_text(textwrap.dedent(application.about)),
        f"`--out` writes {_plain(application.out)}.",
        "",
        *_options(application.options, context),
        *_fenced([application.example]),
    ]


def _text(text: str) -> list[str]:
    """Return a help text as Markdown: paragraphs, and a code block after each \\b."""
    made: list[str] = []
    for block in textwrap.dedent(text).strip().split("\n\n"):
        lines = block.splitlines()
        if lines[0].strip() == "\b":
            head, *rest = lines[1:]
            made += [
                _plain(head.strip()),
                "",
                *_fenced(textwrap.dedent("\n".join(rest)).splitlines()),
            ]
        else:
            made += [_plain(" ".join(block.split())), ""]
    return made


def _options(params: Any, context: click.Context) -> list[str]:
    made: list[str] = []
    for param in params:
        record = param.get_help_record(context) if isinstance(param, click.Option) else None
        if record is not None:
            made += [f"`{record[0]}`", f": {_plain(record[1])}", ""]
    return made


def _fenced(lines: list[str]) -> list[str]:
    return ["```sh", *lines, "```", ""]


def _plain(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)
