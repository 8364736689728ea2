"""The node postprocessor: same nodes back, nothing lost, nothing mutated."""

from __future__ import annotations

import asyncio
import copy
import itertools
import threading
from typing import Any

import pytest
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import (
    ImageNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
)

from gcmem import Collector
from llamaindex_gcmem import GCMemPostprocessor
from tests.llamaindex.support import ids, replaces, scored, slot_collector, text_node
from tests.support import ScriptedDetector


def postprocessor(**fields: Any) -> GCMemPostprocessor:
    return GCMemPostprocessor(**{"collector": slot_collector(), **fields})


def test_class() -> None:
    names = [cls.__name__ for cls in GCMemPostprocessor.__mro__]
    assert BaseNodePostprocessor.__name__ in names
    assert GCMemPostprocessor.class_name() == "GCMemPostprocessor"


def test_kept_nodes_are_the_very_objects_in_the_given_order_whatever_that_is() -> None:
    nodes = [scored("city=A", 1, 0.9), scored("job=x", 1), scored("city=B", 2, 0.0)]
    for order in itertools.permutations(nodes):
        kept = postprocessor().postprocess_nodes(list(order))
        expected = [node for node in order if node.node_id != "city=A"]
        assert [id(node) for node in kept] == [id(node) for node in expected]


def test_scores_of_zero_and_none_stay_as_they_are() -> None:
    nodes = [scored("a=1", 1, 0.0), scored("b=1", 1, None)]
    assert [node.score for node in postprocessor().postprocess_nodes(nodes)] == [0.0, None]


def test_a_score_that_is_no_number_does_not_disturb() -> None:
    node = scored("a=1", 1, float("nan"))
    assert postprocessor().postprocess_nodes([node])[0] is node


def test_a_query_is_not_needed() -> None:
    nodes = [scored("city=A", 1), scored("city=B", 2)]
    assert ids(postprocessor().postprocess_nodes(nodes)) == ["city=B"]
    assert ids(postprocessor().postprocess_nodes(nodes, QueryBundle("where?"))) == ["city=B"]
    assert ids(postprocessor().postprocess_nodes(nodes, query_str="where?")) == ["city=B"]


def test_an_empty_retrieval_gives_an_empty_list_and_builds_no_collector() -> None:
    assert GCMemPostprocessor().postprocess_nodes([]) == []
    assert asyncio.run(GCMemPostprocessor().apostprocess_nodes([])) == []


def test_only_the_own_text_is_judged_never_the_metadata_that_a_prompt_shows() -> None:
    detector = ScriptedDetector(lambda *_: False)
    nodes = [scored("old", 1, metadata={"secret": "city=A"}), scored("new", 2)]
    GCMemPostprocessor(collector=Collector(detector)).postprocess_nodes(nodes)
    assert detector.asked == [("old", "new")]


def test_an_excised_node_is_a_copy_with_id_score_metadata_and_relationships() -> None:
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="doc")}
    node = text_node(
        "I live in Leeds. I like tea.", 1, relationships=source, embedding=[0.1], id_="n",
        metadata={"page": 3}, excluded_llm_metadata_keys=["page"], start_char_idx=7,
    )  # fmt: skip
    nodes = [NodeWithScore(node=node, score=0.0), scored("I moved to York.", 2)]
    before = copy.deepcopy(nodes)
    gc = GCMemPostprocessor(collector=Collector(replaces("Leeds", "York")))
    cut, news = gc.postprocess_nodes(nodes)
    assert news is nodes[1]
    assert cut is not nodes[0]
    assert cut.get_content() == "I like tea."
    assert (cut.node_id, cut.score) == ("n", 0.0)
    assert cut.metadata == node.metadata
    assert cut.node.relationships == source
    assert cut.node.start_char_idx == 7
    assert cut.node.excluded_llm_metadata_keys == ["page"]
    assert cut.embedding is None  # it would describe the old text
    cut.metadata["page"] = 4
    cut.node.relationships.clear()
    assert nodes == before


def test_an_annotated_node_is_a_copy_that_keeps_its_text_and_embedding() -> None:
    nodes = [scored("city=A", 1, embedding=[0.5]), scored("city=B", 2)]
    marked, _ = postprocessor(history=True).postprocess_nodes(nodes)
    assert marked.metadata["superseded_by"] == "city=B"
    assert marked.embedding == [0.5]
    assert "superseded_by" not in nodes[0].metadata


def test_nodes_of_every_class_are_read_and_keep_their_class() -> None:
    gc = GCMemPostprocessor(collector=Collector(replaces("Leeds", "York")))
    text = "I live in Leeds. I like tea."
    image = ImageNode(id_="image", text=text, image_url="x.png", metadata={"created_at": 1})
    multi = Node(id_="multi", text_resource=MediaResource(text=text), metadata={"created_at": 1})
    silent = ImageNode(id_="silent", image_url="y.png")
    nodes = [NodeWithScore(node=node) for node in (image, multi, silent)]
    kept = gc.postprocess_nodes([*nodes, scored("I moved to York.", 2)])
    assert [type(node.node) for node in kept[:3]] == [ImageNode, Node, ImageNode]
    assert [node.get_content() for node in kept[:3]] == ["I like tea.", "I like tea.", ""]
    assert kept[0].node.image_url == "x.png"
    assert multi.get_content() == text


def test_two_nodes_with_one_id_are_both_given_back() -> None:
    nodes = [scored("a=1", 1, 0.9), scored("a=1", 1, 0.8)]
    assert [node.score for node in postprocessor().postprocess_nodes(nodes)] == [0.9, 0.8]


def test_k_cuts_after_collecting() -> None:
    nodes = [scored("city=A", 1), scored("city=B", 2), scored("job=x", 1), scored("pet=y", 1)]
    assert ids(postprocessor(k=2).postprocess_nodes(nodes)) == ["city=B", "job=x"]


def test_as_of_takes_every_form_of_time() -> None:
    nodes = [scored("city=A", "2025-01-01"), scored("city=B", "2026-01-01")]
    for as_of in ("2025-06-01", "2025-06-01T00:00:00+02:00", 1748736000):
        assert ids(postprocessor(as_of=as_of).postprocess_nodes(nodes)) == ["city=A"]


def test_history_auto_annotates_for_questions_about_the_past_only() -> None:
    nodes = [scored("city=A", 1), scored("city=B", 2)]
    gc = postprocessor(history="auto")
    assert len(gc.postprocess_nodes(nodes, query_str="Where did Ann previously live?")) == 2
    assert len(gc.postprocess_nodes(nodes, query_str="Where does Ann live?")) == 1
    assert len(gc.postprocess_nodes(nodes)) == 1


def test_metadata_keys_can_be_named() -> None:
    nodes = [
        scored("city=A", metadata={"said": 1000, "who": "u1"}),
        scored("city=B", metadata={"stored": 2000, "who": "u1"}),
        scored("city=C", metadata={"said": 3000, "who": "u2"}),
    ]
    gc = postprocessor(
        timestamp_key=["said", "stored"], timestamp_unit="ms", scope_keys=["who"]
    )  # fmt: skip
    assert ids(gc.postprocess_nodes(nodes)) == ["city=B", "city=C"]


def test_collect_explains_without_removing() -> None:
    nodes = [scored("city=A", 1), scored("city=B", 2)]
    collection = postprocessor().collect(nodes, "where?")
    assert "contradicted by the newer memory 'city=B'" in collection.explain("city=A")
    again = asyncio.run(postprocessor().acollect(nodes, "where?"))
    assert ids_of(again) == ids_of(collection) == ["city=B"]


def ids_of(collection: Any) -> list[str]:
    return [memory.id for memory in collection.kept]


def test_the_asynchronous_path_gives_the_same_and_leaves_the_loop_free() -> None:
    loop_ran, judged_in = threading.Event(), []

    def rule(older: str, newer: str) -> bool:
        judged_in.append(threading.current_thread())
        return loop_ran.wait(timeout=10)  # only true if the loop went on while this was judged

    gc = GCMemPostprocessor(collector=Collector(ScriptedDetector(rule)))
    nodes = [scored("city=A", 1), scored("city=B", 2)]

    async def main() -> list[NodeWithScore]:
        task = asyncio.create_task(gc.apostprocess_nodes(nodes))
        while not judged_in:
            await asyncio.sleep(0.001)
        loop_ran.set()
        return await task

    assert ids(asyncio.run(main())) == ["city=B"]
    assert judged_in[0] is not threading.main_thread()


async def test_the_synchronous_path_works_inside_a_running_loop() -> None:
    nodes = [scored("city=A", 1), scored("city=B", 2)]
    assert ids(postprocessor().postprocess_nodes(nodes)) == ["city=B"]


async def test_a_detector_with_a_native_asynchronous_path_is_awaited() -> None:
    class AsyncOnly(ScriptedDetector):
        def score(self, pairs: Any, query: str | None = None) -> Any:
            raise AssertionError("the synchronous path was taken")

        async def ascore(self, pairs: Any, query: str | None = None) -> Any:
            await asyncio.sleep(0)
            return ScriptedDetector.score(self, pairs, query)

    gc = GCMemPostprocessor(collector=Collector(AsyncOnly(lambda *_: True)))
    kept = await gc.apostprocess_nodes([scored("city=A", 1), scored("city=B", 2)])
    assert ids(kept) == ["city=B"]


def test_it_stands_in_a_row_with_other_postprocessors() -> None:
    nodes = [scored("city=A", 1, 0.9), scored("city=B", 2, 0.8), scored("job=x", 1, 0.1)]
    for step in (SimilarityPostprocessor(similarity_cutoff=0.5), postprocessor()):
        nodes = step.postprocess_nodes(nodes)
    assert ids(nodes) == ["city=B"]


def test_a_time_that_cannot_be_read_is_an_error_that_names_the_node() -> None:
    with pytest.raises(ValueError, match=r"record 'a=1'.*created_at.*soon"):
        postprocessor().postprocess_nodes([scored("a=1", "soon")])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"threshhold": 0.9}, "threshhold"),
        ({"k": 0}, "greater than or equal to 1"),
        ({"as_of": "someday"}, "as_of"),
        ({"as_of": object()}, "as_of"),
        ({"history": "sometimes"}, "history"),
        ({"timestamp_unit": "hours"}, "timestamp_unit"),
        ({"scope_keys": "user_id"}, "scope_keys"),
        ({"timestamp_key": ""}, "timestamp_key"),
        ({"value_key": "v"}, "value_key"),
        ({"collector": "bundled"}, "collector"),
    ],
)
def test_bad_input_is_an_error_that_names_the_field(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GCMemPostprocessor(**fields)


def test_metadata_modes_show_what_an_annotation_says() -> None:
    nodes = [scored("city=A", 1), scored("city=B", 2)]
    marked = postprocessor(history=True).postprocess_nodes(nodes)[0]
    assert "superseded_by: city=B" in marked.get_content(metadata_mode=MetadataMode.LLM)
