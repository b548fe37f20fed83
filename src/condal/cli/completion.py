"""The command `completion`: complete commands and options in a shell."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from condal.errors import FormatError
from condal.runtime.text import escape_terminal

VARIABLE = "_CONDAL_COMPLETE"  # by which the shell asks the command for completions
SHELLS = ("bash", "zsh", "fish")
# Where a shell looks for completions of a command, below the home folder. zsh has no such place.
PLACES = {
    "bash": ".local/share/bash-completion/completions/condal",
    "fish": ".config/fish/completions/condal.fish",
    "zsh": ".zshrc",
}
ZSH_LINE = f'eval "$({VARIABLE}=zsh_source condal)"  # completion of condal\n'


@click.command()
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@click.option("--install", is_flag=True, help="Install the script for this user.")
@click.pass_context
def completion(context: click.Context, shell: str | None, install: bool) -> None:
    """Print or install the completion of commands and options.

    \b
    Examples:
      condal completion --install
      condal completion fish > ~/.config/fish/completions/condal.fish

    SHELL is bash, zsh or fish; default: the one that $SHELL names. --install
    writes the script where bash (with bash-completion) or fish looks for it, or
    adds a line to ~/.zshrc. It works in the next shell that is started.
    """
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise click.UsageError(f"no completion for the shell {shell!r}; give one: bash, zsh, fish")
    script = _script(context.find_root().command, shell)
    if not install:
        click.echo(script)
        return
    path = Path.home() / PLACES[shell]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if shell != "zsh":
            path.write_text(script, encoding="utf-8")
        elif not path.exists() or ZSH_LINE not in path.read_text(errors="replace"):
            with path.open("a", encoding="utf-8") as file:
                file.write(f"\n{ZSH_LINE}")
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror}", path=str(path)) from error
    click.echo(f"{escape_terminal(str(path))}: completion for {shell}; start a new shell to use it")


def _script(command: click.Command, shell: str) -> str:
    made = get_completion_class(shell)
    assert made is not None
    return made(command, {}, "condal", VARIABLE).source()
