"""What stands in two files agrees: versions in the citation, the hooks and the locks."""

from __future__ import annotations

import re
import tomllib

import pytest
from audit.lock import LOCK, read

import condal
from fast import FAST
from locations import ROOT, TESTS


def test_the_citation_has_the_version():
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"(?m)^version: (.+)$", citation)[1] == condal.__version__


def test_pyproject_reads_the_version_where_condal_has_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    source = ROOT / project["tool"]["hatch"]["version"]["path"]
    assert f'\n__version__ = "{condal.__version__}"\n' in source.read_text()


@pytest.mark.parametrize("tool", ["ruff", "typos"])
def test_a_hook_has_the_version_of_the_lock(tool):
    """`make lock` gives a new version: write it into .pre-commit-config.yaml as well."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    revision = re.search(rf"/{tool}(?:-pre-commit)?\n +rev: v(\S+)\n", hooks)[1]
    assert revision == str({entry.name: entry.version for entry in read(LOCK.read_text())}[tool])


def test_every_fast_file_exists():
    assert FAST - {path.stem for path in TESTS.rglob("test_*.py")} == set()
