"""--save: the result of a solve in a folder, checked for before the solve begins."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from condal.cli.output_paths import STDOUT, within
from condal.errors import FormatError
from condal.io.formats.contents import digest_of
from condal.io.results import save
from condal.io.results.folder import check_target
from condal.result import Result
from condal.runtime.text import escape_terminal


@dataclass(frozen=True)
class Keep:
    """A folder that can be written, and the problem's file as it was before the solve."""

    folder: str
    file: str
    digest: str
    overwrite: bool

    @classmethod
    def of(
        cls, folder: str | None, file: str, overwrite: bool, others: Mapping[str, str | None]
    ) -> Keep | None:
        """What --save asks for, refused now if it could not be written; `others` are the files that
        are read and written beside it, by what they are: none may be in the folder."""
        if folder is None:
            if overwrite:
                raise click.UsageError("--overwrite goes with --save DIR")
            return None
        path = check_target(folder, overwrite=overwrite)
        for what, other in others.items():
            if other is not None and other != STDOUT and within(other, path):
                raise FormatError(f"{what} is in it; give --save another folder", path=folder)
        return cls(folder, file, digest_of(file), overwrite)

    def write(self, result: Result, **about: Any) -> None:
        """Save the result and what it is `about`: the application, its options, the answer."""
        save(
            result,
            self.folder,
            file=self.file,
            digest=self.digest,
            overwrite=self.overwrite,
            **about,
        )

    @property
    def told(self) -> str:
        """Where it is, and what to type next."""
        file, folder = (shlex.quote(path) for path in (self.file, self.folder))
        return (
            f"Saved in {escape_terminal(self.folder)}. To prove it again:\n\n"
            f"  {escape_terminal(f'condal certify {file} {folder}')}"
        )
