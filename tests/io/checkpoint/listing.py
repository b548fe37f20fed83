"""What is in a folder."""

from pathlib import Path


def names(folder: Path) -> list[str]:
    """The names of its files, in order."""
    return sorted(each.name for each in folder.iterdir())
