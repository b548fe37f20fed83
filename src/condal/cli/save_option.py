"""--save: the folder for a result, checked before the solve begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from condal.cli.output_paths import STDOUT, within
from condal.errors import FormatError
from condal.result import Result
from condal.runtime.text import escape_terminal


@dataclass(frozen=True)
class SaveTarget:
    """A writable folder, and the digest of the problem's file before the solve."""

    folder: str
    file: str
    digest: str
    overwrite: bool

    @classmethod
    def of(
        cls, folder: str, file: str, overwrite: bool, others: Mapping[str, str | None]
    ) -> SaveTarget:
        """Return the target of --save, or refuse a folder that could not be written.

        `others` maps descriptions to the files that the command reads and writes; none of them may
        be in the folder.
        """
        from condal.io.formats.signatures import digest_of
        from condal.io.results.record import check_target

        path = check_target(folder, overwrite=overwrite)
        for what, other in others.items():
            if other is not None and other != STDOUT and within(other, path):
                raise FormatError(f"contains {what}; give --save another folder", path=folder)
        return cls(folder, file, digest_of(file), overwrite)

    def write(self, result: Result, **about: Any) -> None:
        """Save the result with the application, its options and the answer."""
        from condal.io.results.writing import save

        save(
            result,
            self.folder,
            file=self.file,
            digest=self.digest,
            overwrite=self.overwrite,
            **about,
        )

    @property
    def message(self) -> str:
        """Where the result is, and how to verify it."""
        import shlex

        command = f"condal certify {shlex.quote(self.file)} {shlex.quote(self.folder)}"
        return (
            f"Saved in {escape_terminal(self.folder)}. To verify it:\n\n"
            f"  {escape_terminal(command)}"
        )
