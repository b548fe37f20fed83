"""Where a command writes its result: the terminal, JSON, lines and a folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from condal.cli import result_text
from condal.cli.application import Application, Chosen, Figures, Rows, option
from condal.errors import FormatError
from condal.result import Result, Status
from condal.runtime.text import escape_terminal

if TYPE_CHECKING:
    from condal.problems.answers import Answer

STDOUT = "-"
RESUMABLE = (Status.INTERRUPTED, Status.MAX_ITERS, Status.MAX_SECONDS)


@dataclass(frozen=True)
class Outputs:
    """Where the result goes, and what is shown during the solve."""

    json_target: str | None
    out_target: str | None
    folder: str | None
    overwrite: bool
    quiet: bool
    verbose: int = 0
    proof: str | None = None


OPTIONS = (
    option("--json json_target FILE", "Write the result as JSON; - for stdout."),
    option("--out out_target FILE", "Write the answer; - for stdout."),
    option("--save folder DIR", "Save the whole result in a new folder."),
    option("--overwrite", "Let --save replace an earlier result."),
    option(
        "--proof FILE",
        "Write a proof of the bound for checker/check.py; with --as max-cut or --as sdp.",
    ),
    option("-q --quiet", "Print errors only, and JSON if requested."),
    option(
        "-v --verbose",
        "Also print the methods that are tried, and why; -vv also prints every iteration.",
        count=True,
    ),
)


def outputs_in(options: dict[str, Any]) -> Outputs:
    """Return the values of these options, and take them out of those of a command."""
    return Outputs(**{field.name: options.pop(field.name) for field in fields(Outputs)})


@dataclass(frozen=True, eq=False)
class Outcome:
    """A result, what the application makes of it, and how it was made."""

    application: Application
    model: Any
    result: Result
    answer: Answer | None
    rows: Rows
    figures: Figures
    picture: dict[str, Any]
    chosen: Chosen
    settings: dict[str, Any]

    @property
    def about(self) -> dict[str, Any]:
        """What is saved with the result."""
        return {
            "application": self.application.name,
            "options": self.application.saved_options(self.model, self.chosen),
            "settings": self.settings,
            "answer": self.rows,
            "figures": self.figures,
            "picture": self.picture,
            "labels": None if self.answer is None else self.answer.integers,
        }


class Sinks:
    """The outputs of a command, refused by the constructor if one could not be written at the end.

    `inputs` maps descriptions to the files that the command reads.
    """

    def __init__(
        self, outputs: Outputs, file: str, inputs: Mapping[str, str], checkpoint: str | None
    ) -> None:
        self._outputs, self._file = outputs, file
        json_target, out_target = outputs.json_target, outputs.out_target
        if json_target == out_target == STDOUT:
            raise click.UsageError("only one of --json and --out can go to stdout")
        if outputs.quiet and outputs.verbose:
            raise click.UsageError("--quiet and --verbose exclude each other")
        targets = {"--checkpoint": checkpoint, "--json": json_target, "--out": out_target}
        _check_all({**targets, "--proof": outputs.proof}, inputs)
        if outputs.folder is not None:
            others = {**inputs, "the --json file": json_target, "the --out file": out_target}
            self._digest = _check_folder(outputs.folder, file, outputs.overwrite, others)
        elif outputs.overwrite:
            raise click.UsageError("--overwrite needs --save DIR")

    def write(self, outcome: Outcome, checkpoint: str | None) -> None:
        """Write the outcome to every output, and say how to resume from the checkpoint."""
        json_target, out_target = self._outputs.json_target, self._outputs.out_target
        result, answer = outcome.result, outcome.answer
        self._show(result_text.page(result, Path(self._file).name, outcome.rows))
        if json_target is not None:
            write_record(json_target, result_text.record(result, outcome.figures))
        if out_target is not None and answer is not None:
            _write(out_target, outcome.application.lines(outcome.model, answer))
        if self._outputs.folder is not None:
            self._save(outcome, self._outputs.folder)
        if self._outputs.proof is not None:
            self._prove(outcome, self._outputs.proof)
        if checkpoint is not None and result.status in RESUMABLE and Path(checkpoint).exists():
            command = _command(outcome.application.resume_command, checkpoint, self._file)
            self._show(f"To resume:\n\n  {command}")

    def _show(self, text: str) -> None:
        """Print a paragraph: on stdout, if that holds no other output."""
        taken = STDOUT in (self._outputs.json_target, self._outputs.out_target)
        if not self._outputs.quiet:
            click.echo(f"\n{text}", err=taken)

    def _prove(self, outcome: Outcome, path: str) -> None:
        """Write a proof file, for FILE if the checker can read that."""
        from condal.problems.proof_files import checkable

        file = self._file if checkable(outcome.model, self._file) else None
        problem = outcome.result.save_proof(path, outcome.model, file)
        command = _command("python checker/check.py", problem, path)
        self._show(f"Wrote {escape_terminal(path)}. To check it without condal:\n\n  {command}")

    def _save(self, outcome: Outcome, folder: str) -> None:
        """Save the result with the application, its options and the answer."""
        from condal.io.results.writing import save

        save(
            outcome.result,
            folder,
            file=self._file,
            digest=self._digest,
            overwrite=self._outputs.overwrite,
            **outcome.about,
        )
        command = _command("condal certify", self._file, folder)
        self._show(f"Saved in {escape_terminal(folder)}. To verify it:\n\n  {command}")


def _command(*words: str) -> str:
    """Return a command of the shell and its arguments, as a person may copy them."""
    import shlex

    command, *paths = words
    return escape_terminal(" ".join([command, *map(shlex.quote, paths)]))


def _check_folder(folder: str, file: str, overwrite: bool, others: Mapping[str, str | None]) -> str:
    """Refuse a folder that could not be written or holds another file; return the digest of FILE
    before the solve."""
    from condal.io.formats.signatures import digest_of
    from condal.io.results.record import check_target

    path = check_target(folder, overwrite=overwrite)
    for what, other in others.items():
        if other is not None and other != STDOUT and _within(other, path):
            raise FormatError(f"contains {what}; give --save another folder", path=folder)
    return digest_of(file)


def _check_all(targets: Mapping[str, str | None], inputs: Mapping[str, str]) -> None:
    """Refuse a target that cannot be written, is an input, or stands twice.

    `targets` maps options to paths, and `inputs` descriptions to the files that are read.
    """
    taken = dict(inputs)
    for name, target in targets.items():
        if target is None or target == STDOUT:
            continue
        check_target(target, name)
        for what, path in taken.items():
            if _same(target, path):
                raise FormatError(f"is {what}; give {name} another path", path=target)
        taken[f"the {name} file"] = target


def check_target(target: str, name: str, *, outside: Iterable[str] = ()) -> None:
    """Refuse a path that is not a writable file outside these folders of saved results."""
    path = Path(target)
    try:
        if path.exists():
            if not path.is_file():
                raise FormatError(f"is not a regular file; give {name} another path", path=target)
            if not os.access(path, os.W_OK):
                raise PermissionError(None, "Permission denied")
        with tempfile.TemporaryFile(dir=path.resolve().parent):
            pass
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise FormatError(
            f"cannot be written: {reason}; give {name} a file in a folder that you can write to",
            path=target,
        ) from error
    for folder in outside:
        if _within(target, folder):
            raise FormatError(f"is in the result {folder}; give {name} another path", path=target)


def _within(path: str | Path, folder: str | Path) -> bool:
    """Return whether a path is inside a folder; neither needs to exist."""
    try:
        return Path(path).resolve().is_relative_to(Path(folder).resolve())
    except (OSError, RuntimeError, ValueError):  # opening it will fail with a message
        return False


def _same(target: str, other: str) -> bool:
    """Return whether two paths lead to the same file; neither needs to exist."""
    try:
        first, second = Path(target), Path(other)
        if first.exists() and second.exists():
            return first.samefile(second)
        return first.resolve() == second.resolve()
    except (OSError, RuntimeError, ValueError):  # opening it will fail with a message
        return False


def write_record(target: str, record: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Write a record as a JSON object, or several as a list."""
    import json

    _write(target, [json.dumps(record, indent=2, allow_nan=False)])


def _write(target: str, lines: Iterable[str]) -> None:
    """Write lines to stdout, or to a file that is written completely or not at all."""
    text = "".join(f"{line}\n" for line in lines)
    if target == STDOUT:
        click.echo(text, nl=False)
    else:
        from condal.io.formats.writing import write_text

        write_text(target, [text])
