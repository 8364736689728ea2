"""Peers: the recency tools of the frameworks, and the corrected index of one of them."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import pytest

pytest.importorskip("pandas")
pytest.importorskip("langchain_classic")
pytest.importorskip("llama_index.core")

from llama_index.core.embeddings import MockEmbedding
from llama_index.core.postprocessor import EmbeddingRecencyPostprocessor
from llama_index.core.schema import NodeWithScore, TextNode

from benchmarks.peers.inputs import make_item
from benchmarks.peers.recency import CorrectedEmbeddingRecency, nodes_of, recency_tools
from benchmarks.peers.tools import Item
from gcmem import Memory

VECTORS = {
    "Mira lives in Ulm.": [1.0, 0.0],
    "Mira lives in Kiel.": [0.9, 0.1],
    "Apples are ripe.": [0.0, 1.0],
}
DATES = ("2025-01-01", "2026-01-01", "2025-06-01")
NODES = [
    TextNode(text=text, metadata={"date": date}, excluded_embed_metadata_keys=["date"])
    for text, date in zip(VECTORS, DATES, strict=True)
]


class Fixed(MockEmbedding):
    """Gives each text its vector."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return VECTORS[text]

    def _get_query_embedding(self, query: str) -> list[float]:
        return VECTORS[query]


def shown(kind: type[EmbeddingRecencyPostprocessor], nodes: tuple[TextNode, ...]) -> list[str]:
    tool = kind(embed_model=Fixed(embed_dim=2), query_embedding_tmpl="{context_str}")
    given = [NodeWithScore(node=node) for node in nodes]
    return [found.node.get_content() for found in tool.postprocess_nodes(given, query_str="any")]


@pytest.mark.parametrize("order", list(permutations(NODES)))
def test_the_corrected_recency_drops_the_older_of_two_alike_in_every_order(order) -> None:
    assert shown(CorrectedEmbeddingRecency, order) == ["Mira lives in Kiel.", "Apples are ripe."]


def test_as_shipped_it_depends_on_the_order_so_both_are_measured() -> None:
    """Once this fails, the bug is mended in LlamaIndex, and the correction can go."""
    right = ["Mira lives in Kiel.", "Apples are ripe."]
    found = [shown(EmbeddingRecencyPostprocessor, order) for order in permutations(NODES)]

    assert sum(each == right for each in found) == 2
    assert len(found) == 6


def test_nodes_come_most_similar_first_with_the_date_outside_the_embedded_text() -> None:
    nodes = nodes_of(item(), item().memories)

    assert [node.node.node_id for node in nodes] == ["m1", "undated", "m0", "m2", "m3", "m4"]
    assert "2025" not in nodes[0].node.get_content(metadata_mode="embed")


def item() -> Item:
    memories = [
        Memory(f"The keeper counted {n} gulls.", f"2025-01-0{n + 1}", id=f"m{n}", relevance=0.5 - n)
        for n in range(5)
    ]
    memories[1] = Memory("The keeper is Olaf.", "2025-01-02", id="m1", relevance=0.9)
    undated = Memory("The lamp is red.", id="undated", relevance=0.6)
    return make_item({"must_keep": [], "must_drop": []}, [*memories, undated], query="Who?")


@pytest.fixture(scope="module")
def tools() -> dict[str, Any]:
    return {tool.name: tool for tool in recency_tools()}


def kept(tools: dict[str, Any], name: str) -> set[str]:
    return tools[name].function(item(), Counter())


def test_fixed_recency_shows_the_newest_and_what_has_no_date(tools) -> None:
    assert kept(tools, "LlamaIndex FixedRecency") == {"m4", "undated"}


def test_embedding_recency_keeps_what_has_no_date(tools) -> None:
    for name in tools:
        if "EmbeddingRecency" in name:
            assert "undated" in kept(tools, name)


def test_time_weighted_shows_one_and_the_retriever_of_langchain_four(tools) -> None:
    assert len(kept(tools, "LlamaIndex TimeWeighted")) == 1
    assert len(kept(tools, "LangChain TimeWeighted")) == 4
