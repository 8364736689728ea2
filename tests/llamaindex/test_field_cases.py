"""Reports from the field about LlamaIndex and its like, as tests of this adapter."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo

from gcmem import Collector
from gcmem.detectors.llm import LLMDetector
from llamaindex_gcmem import GCMemPostprocessor, GCMemRetriever
from tests.llamaindex.support import HashEmbedding, ids, replaces, scored, text_node
from tests.llamaindex.test_retriever import ListRetriever
from tests.support import ScriptedDetector


def replacing(old: str, new: str) -> GCMemPostprocessor:
    return GCMemPostprocessor(collector=Collector(replaces(old, new)))


def test_a01_the_order_of_the_input_never_mixes_up_what_is_compared() -> None:
    nodes = [
        scored("alpha", "2020-01-01", id_="a"),
        scored("alpha", "2020-01-03", id_="b"),
        scored("beta", "2020-01-02", id_="c"),
    ]
    gc = GCMemPostprocessor(collector=Collector(ScriptedDetector(lambda *_: False)))
    for order in itertools.permutations(nodes):
        assert {"b", "c"} <= set(ids(gc.postprocess_nodes(list(order))))


async def test_a02_the_asynchronous_paths_run_and_give_the_synchronous_result() -> None:
    nodes = [
        scored("Standup is at nine.", "2026-01-01", id_="a"),
        scored("Standup is at ten.", "2026-02-01", id_="b"),
    ]
    gc = replacing("nine", "ten")
    assert ids(await gc.apostprocess_nodes(nodes)) == ids(gc.postprocess_nodes(nodes)) == ["b"]
    retriever = GCMemRetriever(ListRetriever(nodes), collector=gc.collector)
    assert ids(await retriever.aretrieve("When is standup?")) == ["b"]


def test_a03_a_non_empty_input_never_gets_empty_and_a_stream_stays_a_stream() -> None:
    nodes = [
        text_node("The cafe opens at 8.", "2026-01-01", id_="a"),
        text_node("The cafe opens at 7.", "2026-02-01", id_="b"),
    ]
    everything_conflicts = Collector(ScriptedDetector(lambda *_: True))
    index = VectorStoreIndex(nodes, embed_model=HashEmbedding())
    engine = RetrieverQueryEngine.from_args(
        index.as_retriever(),
        llm=MockLLM(max_tokens=4),
        streaming=True,
        node_postprocessors=[GCMemPostprocessor(collector=everything_conflicts)],
    )
    response = engine.query("When does the cafe open?")
    assert isinstance(response, StreamingResponse)
    assert ids(response.source_nodes) == ["b"]


def test_a04_survivors_are_the_same_objects_with_their_scores() -> None:
    parent = {NodeRelationship.PARENT: RelatedNodeInfo(node_id="letter")}
    nodes = [
        scored("First sentence.", "2026-01-02", 0.8, id_="a", relationships=parent),
        scored("Second sentence.", "2026-01-01", 0.9, id_="b"),
    ]
    gc = GCMemPostprocessor(collector=Collector(ScriptedDetector(lambda *_: False)))
    kept = gc.postprocess_nodes(nodes)
    assert [id(node) for node in kept] == [id(node) for node in nodes]
    assert [node.score for node in kept] == [0.8, 0.9]
    assert kept[0].node.relationships == parent


def test_a09_any_retriever_and_any_existing_index_will_do_without_re_ingest() -> None:
    nodes = [
        text_node("The wifi key is amber.", "2026-01-01", id_="a"),
        text_node("The wifi key is cobalt.", "2026-02-01", id_="b"),
    ]
    index = VectorStoreIndex(nodes, embed_model=HashEmbedding())
    collector = Collector(replaces("amber", "cobalt"))
    bases: list[Any] = [
        index,
        index.as_retriever(),
        ListRetriever(index.as_retriever().retrieve("wifi")),
    ]
    for base in bases:
        retriever = GCMemRetriever(base, collector=collector)
        assert ids(retriever.retrieve("What is the wifi key?")) == ["b"]


def test_a16_a_judge_that_invents_an_id_removes_nothing_by_it() -> None:
    nodes = [
        scored("The lamp is green.", "2026-01-01", id_="a"),
        scored("The lamp is red.", "2026-02-01", id_="b"),
    ]
    answer = '{"verdicts": [{"pair": 12, "verdict": "yes", "probability": 1.0}]}'
    gc = GCMemPostprocessor(collector=Collector(LLMDetector(lambda prompt: answer, name="stub")))
    with pytest.warns(UserWarning, match=r"answered about \[12\]"):
        assert ids(gc.postprocess_nodes(nodes)) == ["a", "b"]


async def test_a22_nodes_without_any_metadata_are_kept_and_the_conflict_is_listed() -> None:
    nodes = [scored("The desk is oak.", id_="a"), scored("The desk is pine.", id_="b")]
    gc = GCMemPostprocessor(collector=Collector(ScriptedDetector(lambda *_: True)))
    assert ids(gc.postprocess_nodes(nodes)) == ["a", "b"]
    unresolved = gc.collect(nodes).unresolved
    assert [(pair.first.id, pair.second.id, pair.reason) for pair in unresolved] == [
        ("a", "b", "undated")
    ]


def test_a23_the_key_of_the_date_can_be_named_and_may_be_missing_on_a_node() -> None:
    company = {"ticker": "EXM"}
    february, april = company | {"date": "2023-02-01"}, company | {"date": "2023-04-01"}
    nodes = [
        scored("Q1 guidance: revenue 10.", score=0.9, id_="a", metadata=february),
        scored("Q1 guidance: revenue 12.", score=0.8, id_="b", metadata=april),
        scored("Dividend policy is unchanged.", score=0.7, id_="c", metadata=company),
    ]
    gc = GCMemPostprocessor(
        collector=Collector(replaces("revenue 10", "revenue 12")), timestamp_key="date"
    )
    cut_off = SimilarityPostprocessor(similarity_cutoff=0.5)
    assert ids(gc.postprocess_nodes(cut_off.postprocess_nodes(nodes))) == ["b", "c"]
