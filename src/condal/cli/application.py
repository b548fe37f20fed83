"""`Application`: what `condal solve --as NAME` needs to know, in one record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

import condal
from condal.errors import FormatError
from condal.result import Result
from condal.runtime.limits import TimeLimit

if TYPE_CHECKING:
    from condal.io.results.record import Saved
    from condal.problems.answers import Answer

Chosen: TypeAlias = Mapping[str, Any]  # values of options by name
Rows: TypeAlias = list[tuple[str, str]]  # names and values to print
Figures: TypeAlias = dict[str, float | None]  # the same numbers for --json

POSITIVE = click.FloatRange(min=0, min_open=True)
SEED = click.IntRange(min=0)
BUILD_SHARE = 0.5  # of the time limit, at most, for bounds and parameters before the solve
ANSWER_SHARE = 0.1  # of it, at least, for the answer after the solve


def option(usage: str, text: str, kind: Any = None, **more: Any) -> click.Option:
    """Return an option from its usage and help text.

    "--plus" is a flag, "--groups -k K" takes a value of this kind, which a function gets under the
    first name unless there is one without hyphens, and "--loss squares|huber" takes one of these
    words, by default the first.
    """
    *names, value = usage.split()
    if value.startswith("-"):
        return click.Option([*names, value], is_flag="count" not in more, help=text, **more)
    if "|" in value and not value.startswith("["):
        words = value.split("|")
        return click.Option(names, type=click.Choice(words), default=words[0], help=text)
    return click.Option(names, metavar=value, type=kind, help=text, **more)


def stored_seed(settings: Mapping[str, Any], path: str) -> int:
    """Return the seed among the settings in a file; FormatError unless it is one."""
    seed = settings.get("seed") or 0
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise FormatError(
            f"settings: the seed is {seed!r:.20}, not a non-negative integer", path=path
        )
    return seed


def rounded(model: Any, result: Result, chosen: Chosen) -> Any:
    """Round the result --trials times, or while there is time, and return the best answer."""
    limit: TimeLimit = chosen["limit"]
    options = {"trials": chosen["trials"], "seed": chosen["seed"] or 0}
    return model.round(result, **options, max_seconds=limit.max_seconds)


@dataclass(frozen=True, eq=False)
class Application:
    """An application, from its file to its answer, which describes itself (`Answer`).

    Parameters
    ----------
    name : the name that --as takes.
    title : what the application does, in a few words.
    about : its help text: what FILE is, and what is proved.
    example : a command that runs.
    noun : what the unknowns stand for, such as vertices.
    build : make the model from a file and the chosen options: the application's own, `seed`,
        `limit`, the time limit of the whole command, and `say`, a function of a line, or None.
    out : what --out writes.
    keys : the names of the figures of an answer to a model, for a result without an answer; the
        first is the headline of a page.
    answer : interpret the result, as a cut or a clustering; None where there is none.
    none : what is said then.
    restore : the answer of a saved result with labels, which are the integers of the answer.
    lines : the lines of --out.
    options : the application's own options.
    inputs : names of options that are files to read and do not change the problem.
    resolved : values that the model chose for options that were not given, by name; with these
        values given, the problem is the same.
    solve, resume : functions to use instead of condal.solve and condal.resume.
    resume_command : the command that resumes from a checkpoint.
    suffixes : file name suffixes that select this application without --as.
    """

    name: str
    title: str
    about: str
    example: str
    noun: str
    build: Callable[[str, Chosen], Any]
    out: str
    keys: Callable[[Any], tuple[str, ...]]
    answer: Callable[[Any, Result, Chosen], Answer | None] = rounded
    none: tuple[tuple[str, str], ...] = ()
    restore: Callable[[Any, Saved], Any] = lambda model, saved: model.answer_of(
        saved.labels, saved.result
    )
    lines: Callable[[Any, Any], Iterable[str]] = lambda model, answer: answer.lines()
    options: tuple[click.Option, ...] = ()
    inputs: tuple[str, ...] = ()
    resolved: Callable[[Any], dict[str, Any]] = lambda model: {}
    solve: Callable[..., Result] = lambda *given, **options: condal.solve(*given, **options)
    resume: Callable[..., Result] = lambda *given, **options: condal.resume(*given, **options)
    resume_command: str = "condal resume"
    suffixes: tuple[str, ...] = ()

    def describe(self, result: Result, answer: Answer | None) -> Rows:
        """Return the answer and what is proved about it, as names and values."""
        if answer is None:
            return list(self.none)
        return answer.rows() if result.status.excludes_optimum else answer.described()

    def figures(self, model: Any, answer: Answer | None) -> Figures:
        """Return the figures of the answer; the same names without one."""
        return dict.fromkeys(self.keys(model)) if answer is None else answer.figures()

    def saved_options(self, model: Any, chosen: Chosen) -> dict[str, Any]:
        """Return the options by name, with the values that the model chose for those not given:
        enough to build the model again."""
        own = {name: chosen[name] for name in self._of_problem}
        typed = {n: ",".join(v) if isinstance(v, list) else v for n, v in own.items()}
        return typed | self.resolved(model)

    def restored_options(self, options: dict[str, Any], path: str) -> dict[str, Any]:
        """Return the values of the options stored in a file, checked as if they were typed."""
        words = []
        for name, value in options.items():
            option = self._of_problem.get(name)
            if option is None:
                raise FormatError(f"options: {self.name} has no {name[:40]!a}", path=path)
            if option.is_flag and isinstance(value, bool):
                words += [option.opts[0]] * value
            elif value is not None:
                words.append(f"{option.opts[0]}={value}")
        try:
            command = click.Command(self.name, params=list(self.options))
            return command.make_context(self.name, words).params
        except click.ClickException as error:
            text = " ".join(error.format_message().split())
            raise FormatError(f"options: {text}", path=path) from None

    def heading(self, problem: str, chosen: Chosen) -> str:
        """Return the application, the file and the options that the problem is built with."""
        words = []
        for name, option in self._of_problem.items():
            value = chosen.get(name)
            if value not in (None, False) and value != option.default:
                value = ",".join(value) if isinstance(value, list) else value
                words.append(option.opts[0] if option.is_flag else f"{option.opts[0]} {value}")
        with_options = f" with {' '.join(words)}" if words else ""
        return f"{self.name} of {Path(problem).name}{with_options}"

    @property
    def _of_problem(self) -> dict[str, click.Option]:
        """The options that the problem depends on, by name."""
        named = {str(option.name): option for option in self.options}
        return {name: option for name, option in named.items() if name not in self.inputs}
