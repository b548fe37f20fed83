"""The command `experiment`: repeat the experiments of the CGAL paper and check its claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from condal.errors import ProblemError
from condal.runtime.text import escape_terminal, table
from condal_lab.commands.workers import resumable, workers

if TYPE_CHECKING:
    from condal_lab.experiments.catalogue import ExperimentReport
    from condal_lab.experiments.claims import PaperClaim

OUT = "condal-experiments"


@click.command()
@click.argument("name", required=False)
@click.option("--list", "listing", is_flag=True, help="List the experiments and exit.")
@click.option(
    "--quick", is_flag=True, help="Use small generated instances; takes minutes, needs no data."
)
@click.option("--out", default=OUT, metavar="DIR", help="The folder of the results.")
@click.option("--data", metavar="DIR", help="The folder of the public data.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="A time limit per trial, if shorter than planned.",
)
@click.option(
    "--iterations",
    type=click.IntRange(min=10),
    metavar="K",
    help="The iterations of a run of rates, kept apart from others.",
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
    iterations: int | None,
    workers: int | str | None,
) -> None:
    """Repeat an experiment of the CGAL paper, or all of them.

    \b
    Examples:
      condal experiment --list
      condal experiment --quick
      condal experiment maxcut-small --out results

    Every method is tuned and every trial is kept. Results in DIR are not
    computed again: after Ctrl-C, repeat the command to resume. DIR/NAME holds
    the figures and claims.md, the paper's claims with the measured values.

    Data come from --data, $CONDAL_DATA or the user's cache, else they are
    downloaded. NAME is `all` for all experiments, as is --quick alone.
    """
    from condal_lab.experiments.catalogue import EXPERIMENTS, named, produce, require_data
    from condal_lab.experiments.folder import ExperimentFolder
    from condal_lab.sweeps.progress import Lines
    from condal_lab.sweeps.workers import Workers

    if listing:
        rows = [(e.name, e.title) for e in EXPERIMENTS.values()]
        click.echo(table([*rows, ("all", "all of these")]))
        return
    if name is None and not quick:
        raise ProblemError(
            "which experiment? There are "
            f"{', '.join(EXPERIMENTS)}; all of them take about an hour: "
            "condal experiment all, or condal experiment --quick for a taste"
        )
    if iterations is not None and name != "rates":
        raise ProblemError("--iterations is a parameter of the experiment rates")
    chosen = named(name or "all")
    folder = ExperimentFolder(out)
    if not quick:
        for selected in chosen:
            require_data(selected, folder, data)
    with resumable(context, out), Workers.of(workers) as pool:
        for selected in chosen:
            click.echo(f"\n{selected.name}: {selected.title}\n")
            with Lines() as watch:
                report = produce(
                    selected,
                    folder,
                    quick=quick,
                    data=data,
                    workers=pool,
                    watch=watch,
                    seconds=seconds,
                    iterations=iterations,
                )
            click.echo(summary(report))


def summary(report: ExperimentReport) -> str:
    """Return one verdict per claim, over all instances, and the paths of the files."""
    groups: dict[str, list[PaperClaim]] = {}
    for claim in report.claims:
        groups.setdefault(claim.text, []).append(claim)
    verdicts = table(_verdict(claims) for claims in groups.values())
    figures = [path for path in report.figures if path.suffix == ".png"]
    return "\n".join(
        [verdicts, "", *(f"  {escape_terminal(str(path))}" for path in [*figures, report.page])]
    )


def _verdict(claims: list[PaperClaim]) -> tuple[str, str]:
    """Return the verdict of a claim and its text, with the value or where it does not hold."""
    first = claims[0]
    if len(claims) == 1:
        return first.verdict.value, f"{first.text} ({first.measured})"
    if len({claim.verdict for claim in claims}) == 1:
        return first.verdict.value, f"{first.text} (all {len(claims)} instances)"
    from condal_lab.experiments.claims import ClaimVerdict

    others = [claim for claim in claims if claim.verdict is not ClaimVerdict.HOLDS]
    where = ", ".join(f"{claim.verdict.value} on {claim.instance}" for claim in others)
    return "partly", f"{first.text} ({where})"
