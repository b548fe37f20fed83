"""The command `experiment`: run the paper's experiments, and say what holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from condal.cli.report import STOPPED
from condal.cli.text import table
from condal.cli.workers import workers
from condal.errors import ProblemError
from condal.runtime.text import escape_terminal

if TYPE_CHECKING:
    from condal.lab.experiments.claims import PaperClaim as Claim
    from condal.lab.experiments.report import ExperimentReport as Report

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
@workers
@click.pass_context
def experiment(
    context: click.Context,
    name: str | None,
    listing: bool,
    quick: bool,
    out: str,
    data: str | None,
    seconds: float | None,
    workers: int | str | None,
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
    from condal.lab import experiments  # takes a second, which the other commands do not owe
    from condal.sweeps.watch import Lines
    from condal.sweeps.workers import Workers

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
    folder = experiments.ExperimentFolder(out)
    if not quick:
        for one in chosen:
            experiments.require_data(one, folder, data)
    try:
        with Workers.of(workers) as pool:
            for one in chosen:
                click.echo(f"\n{one.name}: {one.title}\n")
                with Lines() as watch:
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
            f"\nstopped; finished runs are in {escape_terminal(out)}: repeat the command to resume"
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
        [verdicts, "", *(f"  {escape_terminal(str(path))}" for path in [*figures, report.page])]
    )


def _verdict(claims: list[Claim]) -> tuple[str, str]:
    """The verdict of a claim and its text, with the number, or with where it does not hold."""
    first = claims[0]
    if len(claims) == 1:
        return first.verdict.value, f"{first.text} ({first.measured})"
    if len({claim.verdict for claim in claims}) == 1:
        return first.verdict.value, f"{first.text} (all {len(claims)} instances)"
    from condal.lab.experiments.claims import ClaimVerdict

    others = [claim for claim in claims if claim.verdict is not ClaimVerdict.HOLDS]
    where = ", ".join(f"{claim.verdict.value} on {claim.instance}" for claim in others)
    return "partly", f"{first.text} ({where})"
