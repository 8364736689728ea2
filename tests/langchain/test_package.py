from __future__ import annotations

import subprocess
import sys

import pytest

import langchain_gcmem

_WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
import langchain_gcmem
try:
    langchain_gcmem.{name}
except ImportError as error:
    print(error)
else:
    print("imported")
"""


def use_without(missing: set[str], name: str) -> str:
    code = _WITHOUT.format(missing=missing, name=name)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_every_public_name_can_be_imported() -> None:
    for name in langchain_gcmem.__all__:
        assert getattr(langchain_gcmem, name) is not None


@pytest.mark.parametrize(
    ("missing", "name", "extra"),
    [
        ("langchain_core", "GCMemRetriever", "langchain"),
        ("langchain_core", "GCMemCompressor", "langchain"),
        ("langchain", "GCMemMiddleware", "agents"),
        ("langgraph", "GCMemStore", "agents"),
    ],
)
def test_what_is_missing_is_named_with_its_extra(missing: str, name: str, extra: str) -> None:
    message = use_without({missing}, name)
    assert f'pip install "gcmem[{extra}]"' in message
    assert missing in message


def test_the_retriever_needs_neither_langchain_nor_langgraph_nor_torch() -> None:
    assert use_without({"langchain", "langgraph", "torch"}, "GCMemRetriever") == "imported"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="GCRetriever"):
        _ = langchain_gcmem.GCRetriever
