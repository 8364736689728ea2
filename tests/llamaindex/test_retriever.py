"""The retriever: over-fetch, collect, cut to k, over any other retriever."""

from __future__ import annotations

import asyncio
import itertools
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from gcmem import Collector, Memory
from gcmem.detectors.explicit import ExplicitDetector
from gcmem.short_term import ShortTermMemory
from llamaindex_gcmem import GCMemRetriever
from tests.llamaindex.support import (
    HashEmbedding,
    ScriptedLLM,
    ids,
    replaces,
    scored,
    slot_collector,
    text_node,
)
from tests.support import ScriptedDetector


class ListRetriever(BaseRetriever):
    """A user's own retriever: the first nodes of a list, and a record of what it was asked."""

    def __init__(self, nodes: list[NodeWithScore], similarity_top_k: int = 2) -> None:
        super().__init__()
        self.nodes = nodes
        self.similarity_top_k = similarity_top_k
        self.asked: list[tuple[str, int]] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append((query_bundle.query_str, self.similarity_top_k))
        return self.nodes[: self.similarity_top_k]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(0)
        return self._retrieve(query_bundle)


class AsyncOnlyRetriever(ListRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise AssertionError("the synchronous path was taken")

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.nodes[: self.similarity_top_k]


def chain(n: int = 6) -> list[NodeWithScore]:
    """Stale cities first, as a search that ignores time may rank them, then the rest."""
    stale = [scored(f"city={i}", i, 1 - i / 100) for i in range(n)]
    return [*stale, scored("job=x", 1, 0.5), scored("pet=y", 1, 0.4), scored("car=z", 1, 0.3)]


def wrapped(base: Any, **options: Any) -> GCMemRetriever:
    return GCMemRetriever(base, **{"collector": slot_collector(), **options})


def test_stale_nodes_are_replaced_by_further_ones_so_that_k_are_shown() -> None:
    base = ListRetriever(chain())
    assert ids(base.retrieve("q")) == ["city=0", "city=1"]
    assert ids(wrapped(base).retrieve("q")) == ["city=5", "job=x"]
    assert ids(wrapped(base, k=3).retrieve("q")) == ["city=5", "job=x", "pet=y"]


def test_the_users_retriever_is_never_changed() -> None:
    base = ListRetriever(chain())
    wrapped(base, k=3).retrieve("q")
    asyncio.run(wrapped(base, k=3).aretrieve("q"))
    assert base.similarity_top_k == 2
    assert base.asked == [("q", 20), ("q", 20)]


def test_fetch_k_says_exactly_how_many_and_the_default_never_asks_for_fewer_than_before() -> None:
    base = ListRetriever(chain(), similarity_top_k=50)
    wrapped(base, k=2).retrieve("q")
    wrapped(base, k=2, fetch_k=4).retrieve("q")
    wrapped(ListRetriever([], similarity_top_k=10), k=10).retrieve("q")
    assert base.asked == [("q", 50), ("q", 4)]


def test_a_retriever_of_unknown_size_gives_what_it_gives_and_nothing_is_cut() -> None:
    class Whole(ListRetriever):
        def __init__(self, nodes: list[NodeWithScore]) -> None:
            super().__init__(nodes)
            del self.similarity_top_k

        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return self.nodes

    assert len(wrapped(Whole(chain())).retrieve("q")) == 4
    assert len(wrapped(Whole(chain()), k=2).retrieve("q")) == 2


def test_a_retriever_that_cannot_be_copied_gives_what_it_gives() -> None:
    class Single(ListRetriever):
        def __copy__(self) -> Any:
            raise TypeError("there is only one of me")

    assert ids(wrapped(Single(chain()), k=3).retrieve("q")) == ["city=1"]


def test_a_retriever_whose_size_is_read_only_gives_what_it_gives() -> None:
    class Fixed(BaseRetriever):
        similarity_top_k = property(lambda self: 2)

        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return chain()[:2]

    assert ids(wrapped(Fixed()).retrieve("q")) == ["city=1"]


def test_retrievers_inside_a_fusion_are_widened_too_and_stay_unchanged() -> None:
    inner = [ListRetriever(chain()), ListRetriever(chain()[6:])]
    fusion = QueryFusionRetriever(
        inner, llm=ScriptedLLM(), num_queries=1, similarity_top_k=2, mode="reciprocal_rerank",
        use_async=False,
    )  # fmt: skip
    assert "city=5" in ids(wrapped(fusion, k=4).retrieve("q"))
    assert [base.asked for base in inner] == [[("q", 20)], [("q", 20)]]
    assert [base.similarity_top_k for base in inner] == [2, 2]
    assert fusion._retrievers == inner


def test_anything_with_retrieve_and_aretrieve_will_do() -> None:
    class Duck:
        def retrieve(self, query: Any) -> list[NodeWithScore]:
            return chain()

        async def aretrieve(self, query: Any) -> list[NodeWithScore]:
            return chain()

    retriever = wrapped(Duck())
    assert ids(retriever.retrieve("q")) == ids(asyncio.run(retriever.aretrieve("q")))
    assert ids(retriever.retrieve("q"))[0] == "city=5"


def test_an_index_can_be_given_directly() -> None:
    nodes = [node.node for node in chain()]
    index = VectorStoreIndex(nodes, embed_model=HashEmbedding())
    assert ids(wrapped(index, k=1).retrieve("city 5")) == ["city=5"]


def test_what_is_no_retriever_is_an_error() -> None:
    with pytest.raises(TypeError, match="base_retriever must be a LlamaIndex retriever or index"):
        GCMemRetriever([])  # type: ignore[arg-type]


def test_unchanged_nodes_are_the_very_objects_and_keep_their_scores() -> None:
    nodes = chain()
    kept = wrapped(ListRetriever(nodes), k=4).retrieve("q")
    assert all(any(node is given for given in nodes) for node in kept)
    assert [node.score for node in kept] == [0.95, 0.5, 0.4, 0.3]


def test_the_order_of_what_was_found_does_not_matter_for_what_is_kept() -> None:
    nodes = [scored("city=A", 1), scored("city=B", 2), scored("job=x", 1), scored("city=C", 3)]
    for order in itertools.permutations(nodes):
        kept = wrapped(ListRetriever(list(order), 4)).retrieve("q")
        assert ids(kept) == [n.node_id for n in order if n.node_id in {"job=x", "city=C"}]


def test_the_asynchronous_path_awaits_that_of_the_base_retriever() -> None:
    retriever = wrapped(AsyncOnlyRetriever(chain()))
    assert ids(asyncio.run(retriever.aretrieve("q"))) == ["city=5", "job=x"]


async def test_both_paths_give_the_same_inside_a_running_loop() -> None:
    retriever = wrapped(ListRetriever(chain()), k=3)
    assert ids(retriever.retrieve("q")) == ids(await retriever.aretrieve("q"))


def test_an_empty_retrieval_gives_an_empty_list() -> None:
    retriever = GCMemRetriever(ListRetriever([]))
    assert retriever.retrieve("q") == []
    assert asyncio.run(retriever.aretrieve("q")) == []
    assert retriever.candidates("q") == []


def test_errors_of_the_base_retriever_propagate() -> None:
    class Broken(ListRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            raise ConnectionError("the store is away")

    with pytest.raises(ConnectionError, match="the store is away"):
        wrapped(Broken([])).retrieve("q")
    with pytest.raises(ConnectionError, match="the store is away"):
        asyncio.run(wrapped(Broken([])).aretrieve("q"))


def test_options_can_be_given_at_construction_per_call_and_as_a_copy() -> None:
    nodes = [scored("city=A", "2025-01-01"), scored("city=B", "2026-01-01")]
    base = ListRetriever(nodes)
    now, then = wrapped(base), wrapped(base, as_of="2025-06-01")
    assert ids(now.retrieve("q")) == ["city=B"]
    assert ids(then.retrieve("q")) == ["city=A"]
    assert ids(then.retrieve("q", as_of=None)) == ["city=B"]
    assert ids(now.retrieve("q", as_of="2025-06-01")) == ["city=A"]
    assert ids(asyncio.run(now.aretrieve("q", as_of="2025-06-01"))) == ["city=A"]
    assert ids(now.with_options(as_of="2025-06-01").retrieve("q")) == ["city=A"]
    assert ids(now.retrieve("q", history=True)) == ["city=A", "city=B"]
    assert ids(now.retrieve("q", history=True, k=1)) == ["city=A"]
    assert ids(now.retrieve("q")) == ["city=B"]  # nothing of it stuck


def test_history_auto_recognises_questions_about_the_past() -> None:
    retriever = wrapped(ListRetriever(chain(), 6), history="auto")
    assert len(retriever.retrieve("Where did Ann previously live?")) == 6
    assert ids(retriever.retrieve("Where does Ann live?"))[0] == "city=5"


def test_a_scope_shows_only_its_own_records_and_scopes_never_touch() -> None:
    nodes = [
        scored("city=A", 1, metadata={"user": "u1"}),
        scored("city=B", 2, metadata={"user": "u2"}),
        scored("city=C", 3, metadata={"user": "u1"}),
    ]
    retriever = wrapped(ListRetriever(nodes, 3), scope_keys=["user"])
    assert ids(retriever.retrieve("q")) == ["city=B", "city=C"]
    assert ids(retriever.retrieve("q", scope={"user": "u2"})) == ["city=B"]
    assert ids(wrapped(ListRetriever(nodes, 3), scope_keys=["user"], scope={"user": "u1"})
               .retrieve("q")) == ["city=C"]  # fmt: skip


def test_candidates_are_the_frozen_set_before_anything_is_judged() -> None:
    detector = ScriptedDetector(lambda *_: True)
    nodes = chain()
    retriever = GCMemRetriever(ListRetriever(nodes), collector=Collector(detector), k=2)
    assert retriever.candidates("q") == nodes
    assert asyncio.run(retriever.acandidates("q")) == nodes
    assert detector.asked == []


def test_collect_gives_candidates_decisions_and_costs() -> None:
    retrieved = wrapped(ListRetriever(chain()), k=1).collect("q")
    assert [memory.id for memory in retrieved.memories] == ["city=5"]
    assert len(retrieved.candidates) == 9
    assert "'city=5'" in retrieved.collection.explain("city=0")
    assert retrieved.collection.stats.pairs_judged > 0
    again = asyncio.run(wrapped(ListRetriever(chain()), k=1).acollect("q"))
    assert again.memories == retrieved.memories


def test_short_term_memory_is_judged_with_what_is_found_and_shown_after_it() -> None:
    recent = ShortTermMemory()
    recent.add(Memory("city=now", 100, id="live"))
    base = ListRetriever([scored("city=A", 1, 0.9), scored("job=x", 1, 0.8)])
    kept = wrapped(base, short_term=recent).retrieve("q")
    assert ids(kept) == ["job=x", "live"]
    assert kept[1].score is None
    assert kept[1].metadata["created_at"] == "1970-01-01T00:01:40+00:00"
    again = wrapped(ListRetriever(kept)).retrieve("q")  # a second pass reads the same time
    assert ids(again) == ["job=x", "live"]


def test_expanded_queries_are_fetched_at_once_and_fused_by_rank() -> None:
    class PerQuery(ListRetriever):
        meeting = threading.Barrier(3)

        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            self.meeting.wait(timeout=10)  # breaks unless all three are under way together
            found = {"q": ["a=1", "b=1"], "q2": ["c=1", "b=1"], "q3": ["b=1"]}
            return [scored(text, 1, 0.5) for text in found[query_bundle.query_str]]

    retriever = wrapped(PerQuery([]), query_expander=lambda query: ["q2", "q3", "q"], k=3)
    kept = retriever.retrieve("q")
    assert ids(kept)[0] == "b=1"
    assert set(ids(kept)) == {"a=1", "b=1", "c=1"}
    assert kept[0].score == pytest.approx(2 / 62 + 1 / 61)


async def test_expanded_queries_are_fetched_at_once_on_the_asynchronous_path() -> None:
    class Together(ListRetriever):
        under_way = 0

        async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            type(self).under_way += 1
            while type(self).under_way < 3:
                await asyncio.sleep(0.001)
            return [scored(query_bundle.query_str + "=1", 1)]

    async def expander(query: str) -> list[str]:
        return ["q2", "q3"]

    kept = await asyncio.wait_for(
        wrapped(Together([]), query_expander=expander, k=3).aretrieve("q"), 10
    )
    assert set(ids(kept)) == {"q=1", "q2=1", "q3=1"}


class OneTopic:
    """A gate for which everything is about one thing."""

    def allowed(self, older: Any, newer: Any) -> Any:
        return np.ones((len(older), len(newer)), dtype=np.bool_)


async def test_a_head_look_up_finds_the_newer_statement_that_the_question_misses() -> None:
    class ByWords(ListRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            words = set(query_bundle.query_str.split())
            return [node for node in self.nodes if words & set(node.get_content().split())]

    nodes = [
        scored("office on floor 2", 1, 0.9),
        scored("new rooms from 2 to 4", 2, 0.8),
        scored("lunch at noon", 3, 0.7),
    ]
    collector = Collector(replaces("floor 2", "new rooms"), gate=OneTopic())
    plain = GCMemRetriever(ByWords(nodes), collector=collector)
    looking = GCMemRetriever(ByWords(nodes), collector=collector, head_lookup=True)
    assert ids(plain.retrieve("which floor")) == ["office on floor 2"]
    assert ids(looking.retrieve("which floor")) == ["new rooms from 2 to 4"]
    assert looking.retrieve("which floor")[0] is nodes[1]
    assert ids(await looking.aretrieve("which floor")) == ["new rooms from 2 to 4"]


def test_the_bundle_of_the_question_reaches_the_base_retriever_with_its_embedding() -> None:
    class Seeing(ListRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            assert query_bundle.embedding == [1.0]
            return self.nodes

    kept = wrapped(Seeing([scored("a=1", 1)])).retrieve(QueryBundle("q", embedding=[1.0]))
    assert ids(kept) == ["a=1"]


def test_an_excised_node_keeps_class_id_score_and_relationships() -> None:
    node = NodeWithScore(node=text_node("I live in Leeds. I like tea.", 1, id_="n"), score=0.0)
    base = ListRetriever([node, scored("I moved to York.", 2)])
    retriever = GCMemRetriever(base, collector=Collector(replaces("Leeds", "York")))
    cut = retriever.retrieve("q")[0]
    assert (cut.node_id, cut.score, cut.get_content()) == ("n", 0.0, "I like tea.")
    assert node.get_content() == "I live in Leeds. I like tea."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be at least 1"),
        ({"fetch_k": 0}, "fetch_k must be at least 1"),
        ({"k": 5, "fetch_k": 3}, "fetch_k must be at least k=5"),
        ({"as_of": "someday"}, "someday"),
        ({"history": "sometimes"}, 'history must be True, False, "auto" or a callable'),
        ({"timestamp_unit": "hours"}, "timestamp_unit"),
        ({"value_key": "v"}, "value_key"),
    ],
)
def test_bad_options_are_errors_that_name_them(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrapped(ListRetriever([]), **options)
    callable_later = {"k", "fetch_k", "as_of", "history"}
    if set(options) <= callable_later:
        with pytest.raises(ValueError, match=message):
            wrapped(ListRetriever([])).retrieve("q", **options)


def test_misspelt_options_are_errors() -> None:
    with pytest.raises(TypeError, match="fetchk"):
        wrapped(ListRetriever([]), fetchk=3)
    with pytest.raises(TypeError, match=r"options must be among .*got \['asof'\]"):
        wrapped(ListRetriever([])).retrieve("q", asof="2025-01-01")  # type: ignore[call-arg]


def test_it_can_be_pickled_over_a_vector_index() -> None:
    nodes = [
        text_node(f"Ann lives in {city}", i, metadata={"key": "city", "value": city})
        for i, city in enumerate(("Ulm", "Kiel", "Bonn"))
    ]
    index = VectorStoreIndex(nodes, embed_model=HashEmbedding())
    detector = ExplicitDetector()
    retriever = GCMemRetriever(index.as_retriever(), collector=Collector(detector), k=2)
    again = pickle.loads(pickle.dumps(retriever))
    expected = ["Ann lives in Bonn"]
    assert ids(retriever.retrieve("where")) == ids(again.retrieve("where")) == expected


def test_one_retriever_serves_many_threads() -> None:
    retriever = wrapped(ListRetriever(chain()), k=3)
    results: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: results.append(ids(retriever.retrieve("q"))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [["city=5", "job=x", "pet=y"]] * 8


def test_prompts_of_the_base_retriever_stay_within_reach() -> None:
    fusion = QueryFusionRetriever([ListRetriever([])], llm=ScriptedLLM())
    assert "base_retriever:query_gen_prompt" in wrapped(fusion).get_prompts()
