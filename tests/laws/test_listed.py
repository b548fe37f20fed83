"""Each public class and function is tested: a new one is asked for by name."""

import pytest

from condal import domains, nonsmooth
from laws.listed import FUNCTIONS_LISTED, INSTANCES, missing_functions, missing_instances
from spaces import public_classes


@pytest.mark.parametrize("module", INSTANCES, ids=lambda module: module.__name__)
def test_every_public_class_has_an_instance_that_the_laws_are_tried_on(module):
    assert missing_instances(module) == []
    method, instances, _ = INSTANCES[module]
    listed = {type(instance) for instance in instances}
    others = {cls for cls in listed if not cls.__module__.startswith(module.__name__)}
    known = public_classes(module, method) | others
    assert listed == known, "an instance is of a class that is not public: export it"
    assert not others or module is nonsmooth  # Separable joins functions, too


@pytest.mark.parametrize("module", FUNCTIONS_LISTED, ids=lambda module: module.__name__)
def test_every_public_function_is_tried(module):
    assert missing_functions(module) == []


def test_a_new_class_is_asked_for_by_name(monkeypatch):
    class Torus:
        """A domain that nobody has listed."""

        __module__ = "condal.domains.torus"

        def lmo(self, v): ...

    monkeypatch.setattr(domains, "Torus", Torus, raising=False)
    monkeypatch.setattr(domains, "__all__", [*domains.__all__, "Torus"])
    text = "add a case of condal.domains.Torus to DOMAINS in tests/laws/domains.py"
    assert text in missing_instances(domains)
