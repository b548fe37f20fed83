"""Every method, its state and its storage can be kept, and go on from a checkpoint bit by bit."""

import inspect
import subprocess
import sys
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path

import numpy as np
import pytest
from bits import same

import condal
import condal_lab
from condal import methods, storage
from condal.certificates.history import Row
from condal.io.checkpoint import known
from condal.io.checkpoint.file import read, write
from condal.linalg.points import LowRank
from condal.methods import rules
from condal.methods.registry import class_paths
from condal.storage import Atoms, Blocks, Dense, Factor, Factored, Sketch


def classes_of(module) -> set[type]:
    return {
        each
        for each in (getattr(module, name) for name in dir(module))
        if inspect.isclass(each) and each.__module__.startswith(("condal.", "condal_lab."))
    }


def unknown(classes: set[type]) -> list[str]:
    """What to add to `METHODS` in methods/registry.py, or to `CLASSES` in known.py."""
    return sorted(
        f"{each.__module__}: {each.__name__}" for each in classes if not known.is_known(each)
    )


@pytest.mark.parametrize("module", [methods, condal_lab.methods], ids=lambda m: m.__name__)
def test_every_public_method_is_known(module):
    assert len(classes_of(module)) > 6
    assert unknown(classes_of(module)) == []


def test_every_rule_is_known():
    own = {each for each in classes_of(rules) if each.__module__ == rules.__name__}
    assert len(own) > 10
    assert unknown({each for each in own if is_dataclass(each)}) == []


def test_every_storage_is_known():
    assert len(classes_of(storage)) > 5
    assert unknown(classes_of(storage)) == []


def test_names_are_unique():
    classes = [name for names in known.CLASSES.values() for name in names.split()]
    # A name that is there twice would replace one.
    assert len(known.MODULES) == len(classes) + len(class_paths())


@pytest.mark.parametrize("name", known.MODULES)
def test_what_is_held_of_a_class_can_be_told(name):
    cls = known.class_of(name)
    assert known.name_of(cls) == name
    assert known.is_known(cls)
    if not issubclass(cls, Enum):
        names = known.attributes(cls)
        assert len(set(names)) == len(names)


def test_no_method_is_imported_before_a_file_names_it():
    script = (
        "import sys, condal.io.checkpoint.known as known\n"
        "methods = {name for name in sys.modules if name.startswith('condal.methods.')}\n"
        "assert methods == {'condal.methods.registry'}\n"
        "assert known.class_of('os.system') is None\n"
        "known.class_of('rules.Decr')\n"
        "assert 'condal.methods.rules' in sys.modules\n"
        "assert 'condal_lab.methods.upd' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def point(n: int, seed: int = 0) -> LowRank:
    U = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, 2)))[0]
    return LowRank(U, np.array([0.5, 0.5]))


STORAGES = {
    "atoms": (Atoms, lambda seed: np.arange(4.0) + seed),
    "atoms by block": (
        lambda: Atoms(by_block=True),
        lambda seed: (np.arange(4.0) + seed, point(5, seed)),
    ),
    "blocks": (lambda: Blocks(Dense(), Factored(5)), lambda seed: (np.ones(3), point(5, seed))),
    "dense": (Dense, lambda seed: np.arange(4.0) + seed),
    "factor": (Factor, lambda seed: point(5, seed)),
    "factored": (lambda: Factored(5), lambda seed: point(5, seed)),
    "sketch": (lambda: Sketch(5, 3, seed=1), lambda seed: point(5, seed)),
}


@pytest.mark.parametrize("name", STORAGES)
@pytest.mark.parametrize("steps", [0, 1, 20])
def test_a_storage_goes_on_from_a_checkpoint_bit_for_bit(name, steps, tmp_path: Path):
    made, s = STORAGES[name]
    x = made()
    for k in range(steps):
        x.move(s(k), 2 / (k + 2))
    write(tmp_path / "a", {}, x)
    back = read(tmp_path / "a").value
    for k in range(steps, steps + 20):
        for each in (x, back):
            each.move(s(k), 2 / (k + 2))
    assert same(back.point(), x.point())
    assert same(back, x)


def test_every_storage_is_among_them():
    assert {type(made()) for made, _ in STORAGES.values()} == {
        each for each in classes_of(storage) if hasattr(each, "move")
    }


def test_what_a_solve_returns_can_be_kept(tmp_path: Path):
    model = condal.problems.max_cut(np.ones((5, 5)) - np.eye(5))
    result = condal.solve(model)
    value = (result.status, result.certificate, list(result.history), result.x, result.y)
    write(tmp_path / "a", {}, value)
    back = read(tmp_path / "a").value
    assert same(back, value)
    assert type(back[2][0]) is Row
