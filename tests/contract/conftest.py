"""Every surface of the contract suite: the bare core and each adapter."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from tests.contract.surfaces_core import SURFACES as CORE_SURFACES


def _all_surfaces() -> list[Any]:
    surfaces: list[Any] = list(CORE_SURFACES)
    for package, module in (
        ("langchain_core", "surfaces_langchain"),
        ("llama_index", "surfaces_llamaindex"),
    ):
        if importlib.util.find_spec(package) is not None:
            surfaces += importlib.import_module(f"tests.contract.{module}").SURFACES
    return surfaces


@pytest.fixture(params=_all_surfaces(), ids=lambda surface: surface.name)
def surface(request: pytest.FixtureRequest) -> Any:
    return request.param
