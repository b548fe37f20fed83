"""The files by which condal is published agree with the project's metadata."""

import tomllib

import yaml

import condal
from locations import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_conda_recipe_has_the_version_and_the_requirements():
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())
    assert recipe["context"]["version"] == condal.__version__
    wanted = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["cli"]
    run = [line.replace(" ", "") for line in recipe["requirements"]["run"]]
    assert sorted(run) == sorted([*wanted, "python" + PROJECT["requires-python"]])
    (command,) = recipe["build"]["python"]["entry_points"]
    assert dict([command.split(" = ")]) == PROJECT["scripts"]
    assert recipe["about"]["summary"] == PROJECT["description"]


def test_read_the_docs_builds_the_site_from_the_lock():
    settings = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text())
    assert (ROOT / settings["sphinx"]["configuration"]).is_file()
    assert "requirements-dev.lock" in settings["build"]["jobs"]["install"][0]
