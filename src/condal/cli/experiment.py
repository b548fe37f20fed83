"""The command `experiment`: run the paper's experiments, and say what holds."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any, TextIO

import click

from condal.cli.report import STOPPED
from condal.cli.text import table
from condal.errors import ProblemError
from condal.plain import printable
from condal.progress import clock

if TYPE_CHECKING:
    from condal.experiments.claims import Claim
    from condal.experiments.report import Report

OUT = "condal-experiments"


@click.command()
@click.argument("name", required=False)
@click.option("--list", "listing", is_flag=True, help="List the experiments, and do nothing else.")
@click.option("--quick", is_flag=True, help="Small generated instances, in minutes; no data.")
@click.option("--out", default=OUT, metavar="DIR", help="Where the results go, and come from.")
@click.option("--data", metavar="DIR", help="Where the public data are.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="The most that a trial may take, if less than planned.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to use; all cores if not given.",
)
@click.pass_context
def experiment(
    context: click.Context,
    name: str | None,
    listing: bool,
    quick: bool,
    out: str,
    data: str | None,
    seconds: float | None,
    workers: int | None,
) -> None:
    """Repeat an experiment of the CGAL paper, or all of them.

    Every method is tuned, every trial is kept, and what DIR holds is not
    computed again: after Ctrl-C the same command goes on. The figures and
    claims.md, the paper's claims with what was measured, are in DIR/NAME.

    Data are looked for in --data, $CONDAL_DATA and the user's cache, else
    downloaded. NAME is `all` for all experiments, as is --quick alone.

    \b
    Examples:
      condal experiment --list
      condal experiment --quick
      condal experiment maxcut-small --out results
    """
    from condal import experiments  # takes a second, which the other commands do not owe

    if listing:
        rows = [(e.name, e.title) for e in experiments.EXPERIMENTS.values()]
        click.echo(table([*rows, ("all", "every one of these")]))
        return
    if name is None and not quick:
        raise ProblemError(
            "which experiment? There are "
            f"{', '.join(experiments.EXPERIMENTS)}; all of them take about an hour: "
            "condal experiment all, or condal experiment --quick for a taste"
        )
    chosen = experiments.named(name or "all")
    experiments.require_matplotlib()
    folder = experiments.Folder(out)
    if not quick:
        for one in chosen:
            experiments.require_data(one, folder, data)
    count = workers or experiments.cores()
    try:
        with experiments.Workers(count) as pool:
            for one in chosen:
                click.echo(f"\n{one.name}: {one.title}\n")
                with Watch() as watch:
                    report = experiments.produce(
                        one,
                        folder,
                        quick=quick,
                        data=data,
                        workers=pool,
                        watch=watch,
                        seconds=seconds,
                    )
                click.echo(summary(report))
    except KeyboardInterrupt:
        click.echo(
            f"\nstopped; what is done is kept in {printable(out)}, and the same command goes on"
        )
        context.exit(STOPPED)


def summary(report: Report) -> str:
    """A verdict a claim, over all instances, and where everything is."""
    groups: dict[str, list[Claim]] = {}
    for claim in report.claims:
        groups.setdefault(claim.text, []).append(claim)
    verdicts = table(_verdict(claims) for claims in groups.values())
    figures = [path for path in report.figures if path.suffix == ".png"]
    return "\n".join(
        [verdicts, "", *(f"  {printable(str(path))}" for path in [*figures, report.page])]
    )


def _verdict(claims: list[Claim]) -> tuple[str, str]:
    """The verdict of a claim and its text, with the number, or with where it does not hold."""
    first = claims[0]
    if len(claims) == 1:
        return first.verdict.value, f"{first.text} ({first.measured})"
    if len({claim.verdict for claim in claims}) == 1:
        return first.verdict.value, f"{first.text} (all {len(claims)} instances)"
    from condal.experiments.claims import Verdict

    others = [claim for claim in claims if claim.verdict is not Verdict.HOLDS]
    where = ", ".join(f"{claim.verdict.value} on {claim.instance}" for claim in others)
    return "partly", f"{first.text} ({where})"


def _shortened(what: str, width: int) -> str:
    """The end of it, which tells trials apart, if all is too long."""
    return what if len(what) <= width else f"...{what[len(what) - width + 3 :]}"


class Watch:
    """One live line on a terminal, else a line a trial."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._status: Any = None
        self._wanted = self._made = self._kept = 0
        self._began = time.perf_counter()

    def __enter__(self) -> Watch:
        if self._stream.isatty() and os.environ.get("TERM") not in (None, "dumb", "unknown"):
            from rich.console import Console

            self._status = Console(file=self._stream).status("starting")
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
        if self._kept:
            self._write(f"  {self._kept} results were there already")

    def asked(self, what: str) -> None:
        """One more to compute."""
        self._wanted += 1
        if self._wanted == 1:
            self._write(f"  first: {what}; it may take minutes")
        self._draw()

    def done(self, what: str, seconds: float, score: float | None) -> None:
        """One less."""
        self._made += 1
        reached = "" if score is None else f"{score:.1e}"
        line = f"  {self._made:>4}/{self._wanted:<4} {_shortened(what, 47)}"
        self._write(f"{line:<60} {reached:>8} {clock(seconds):>8}")
        self._draw()

    def found(self, what: str) -> None:
        """Nothing to do."""
        self._kept += 1

    def _draw(self) -> None:
        if self._status is not None:
            elapsed = clock(time.perf_counter() - self._began)
            self._status.update(f"{self._made} of {self._wanted} so far, {elapsed}")

    def _write(self, line: str) -> None:
        if self._status is not None:
            self._status.console.print(line, highlight=False, markup=False)
        else:
            click.echo(line, file=self._stream)
