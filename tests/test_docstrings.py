"""What a newcomer copies out of the docstrings works."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from typing import Any

import pytest

import gcmem
import langchain_gcmem
import llamaindex_gcmem

PACKAGES: list[Any] = [gcmem, langchain_gcmem, llamaindex_gcmem]
MODULES = [
    module.name
    for package in PACKAGES
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.startswith("gcmem.training")  # needs torch
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_give_what_they_say(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.__name__)
def test_what_a_user_builds_has_an_example_that_runs(package: Any) -> None:
    for name in package.__all__:
        thing = getattr(package, name)
        if not inspect.isclass(thing) or name.endswith("Event"):
            continue
        if issubclass(thing, Exception):
            continue
        example = inspect.getdoc(thing) or ""
        assert ">>> " in example, name
        assert "+SKIP" not in example, name
