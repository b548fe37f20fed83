"""A folder to write small files in, and the folder of real data where there is one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from condal.errors import FormatError
from locations import DATA


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    """Write contents to a file of a given name and return its path."""

    def write(contents: str | bytes, name: str = "graph.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(contents.encode() if isinstance(contents, str) else contents)
        return path

    return write


@pytest.fixture
def refuses(put: Callable[..., Path]) -> Callable[..., None]:
    """Check that a reader refuses contents by a message that names the file and the line."""

    def check(read: Callable[[Path], Any], contents: str, message: str, line: int | None) -> None:
        path = put(contents)
        with pytest.raises(FormatError, match=message) as caught:
            read(path)
        assert (caught.value.path, caught.value.line) == (str(path), line)
        at = "" if line is None else f", line {line}"
        assert str(caught.value).startswith(f"{path}{at}: ")

    return check


@pytest.fixture
def data() -> Callable[[str], Path]:
    """The path of a real file; the test is skipped where the file is not."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(f"no real data: {path} is absent")
        return path

    return find
