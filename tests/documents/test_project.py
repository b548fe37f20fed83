"""What stands in two files agrees: versions, extras, requirements, references."""

import re
import tomllib

import pytest

import condal
from fast import FAST
from locations import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]


def test_the_citation_has_the_version_and_the_date_of_the_release():
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"(?m)^version: (.+)$", citation)[1] == condal.__version__
    released = re.search(r"(?m)^date-released: (.+)$", citation)[1]
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert f"\n## [{condal.__version__}] - {released}\n" in changelog


def test_the_extra_all_has_every_extra_of_users():
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    listed = re.fullmatch(r"condal\[(.+)\]", everything)[1].split(",")
    assert set(listed) == set(extras) - {"all"}


def test_the_paper_cites_every_reference_and_no_other():
    cited = set(re.findall(r"@(\w+)", (ROOT / "paper" / "paper.md").read_text()))
    references = re.findall(r"(?m)^@\w+\{(\w+),$", (ROOT / "paper" / "paper.bib").read_text())
    assert sorted(cited) == sorted(references)


def test_pyproject_reads_the_version_where_condal_has_it():
    source = ROOT / PYPROJECT["tool"]["hatch"]["version"]["path"]
    assert f'\n__version__ = "{condal.__version__}"\n' in source.read_text()


@pytest.mark.parametrize("tool", ["ruff", "typos"])
def test_a_hook_has_the_version_of_the_lock(tool):
    """`make lock` gives a new version: write it into .pre-commit-config.yaml as well."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    revision = re.search(rf"/{tool}(?:-pre-commit)?\n +rev: v(\S+)\n", hooks)[1]
    locked = re.search(rf"(?m)^{tool}==(\S+) ", (ROOT / "requirements-dev.lock").read_text())[1]
    assert revision == locked


def test_every_fast_file_exists():
    assert FAST - {path.stem for path in ROOT.glob("**/tests/**/test_*.py")} == set()
