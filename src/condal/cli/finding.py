"""What `condal certify` found: lines to print, a verdict in words, and whether it is proved."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from condal.certificates.claims import Claim
from condal.certificates.verification import Verdict
from condal.cli.application import Lines
from condal.runtime.text import WIDTH, escape_terminal, table


@dataclass(frozen=True)
class Finding:
    """A heading, names and values, the verdict and its exit code."""

    heading: str
    rows: Lines
    verdict: str
    proved: bool

    @classmethod
    def of(cls, heading: str, verdict: Verdict) -> Finding:
        """Return the claims of a verdict and its headline."""
        rows = [(claim.name, str(claim)) for claim in verdict.claims]
        return cls(heading, rows, verdict.headline, verdict.proved)

    @property
    def text(self) -> str:
        """The page to print, 80 columns wide."""
        rows = [(name, escape_terminal(value)) for name, value in self.rows]
        sentences = (f"{line[:1].upper()}{line[1:]}" for line in self.verdict.splitlines())
        lines = [_wrapped(f"{sentence.rstrip('.')}.") for sentence in sentences]
        return "\n".join(["", _wrapped(self.heading), "", table(rows), "", *lines])


def not_within(within: Claim, proved: str) -> str:
    """Return the verdict on an answer that proves something, but not the claim to be within tol."""
    excess = within.text.partition(" is not within tol")[0]
    return f"not proved to within {within.name}: {excess} is too large\n{proved}"


def _wrapped(line: str) -> str:
    return textwrap.fill(escape_terminal(line), WIDTH, break_on_hyphens=False)
