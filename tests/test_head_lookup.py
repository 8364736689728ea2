"""Searching once more for what is newer than the newest that was found."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from gcmem import Collector, Memory
from gcmem.retrieval import Collect, Compare, Fetch, RetrievalPlan, Retrieved
from langchain_gcmem.retriever import GCMemRetriever as LangChainRetriever
from llamaindex_gcmem.retriever import GCMemRetriever as LlamaIndexRetriever
from tests.support import ScriptedDetector, slot_rule


class SlotGate:
    """Lets pairs of one slot pass: texts of the form "slot=value"."""

    def allowed(self, older: Sequence[str], newer: Sequence[str]) -> Any:
        slots = [[text.partition("=")[0] for text in texts] for texts in (older, newer)]
        return np.array([[a == b for b in slots[1]] for a in slots[0]], dtype=np.bool_)


def collector(**options: Any) -> Collector:
    return Collector(ScriptedDetector(slot_rule), gate=SlotGate(), **options)


def memory(id: str, text: str, day: int | None, scope: str = "") -> Memory:
    return Memory(text, None if day is None else 86_400 * day, id=id, scope=scope or ())


OLD = memory("old", "floor=2", 1)
OLDER = memory("older", "floor=1", 0)
WALL = memory("wall", "wall=white", 1)
NEW = memory("new", "floor=4", 5)


class Store:
    """Gives the first list for the question and the second for anything else."""

    def __init__(self, first: list[Memory], second: list[Memory]) -> None:
        self.lists = {"question": first}
        self.second = second
        self.asked: list[str] = []

    def search(self, query: str) -> list[Memory]:
        self.asked.append(query)
        return self.lists.get(query, self.second)


def retrieve(store: Store, *, k: int | None = 2, on: bool = True, **call: Any) -> Retrieved:
    chosen: Collector = call.pop("collector", None) or collector()
    steps = RetrievalPlan(k=k, head_lookup=on).run("question", **call)
    answer: Any = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as stop:
            return stop.value
        match step:
            case Fetch():
                answer = [store.search(query) for query in step.queries]
            case Compare():
                answer = step.perform(chosen)
            case Collect():
                answer = chosen.collect(step.query, step.memories, step.as_of, step.history)


def ids(memories: Sequence[Memory]) -> list[str]:
    return [memory.id for memory in memories]


def test_without_the_option_there_is_one_query_and_the_old_statement_stays() -> None:
    store = Store([OLD, WALL], [NEW])
    assert ids(retrieve(store, on=False).memories) == ["old", "wall"]
    assert store.asked == ["question"]


def test_the_current_statement_takes_the_place_of_the_old_one_with_one_more_query() -> None:
    store = Store([OLD, WALL], [NEW])
    found = retrieve(store)
    assert ids(found.candidates) == ["old", "new", "wall"]
    assert ids(found.memories) == ["new", "wall"]
    assert len(store.asked) == 2


def test_it_searches_with_the_newest_statements_near_the_best_one() -> None:
    others = [memory(f"m{day}", f"floor=m{day}", day) for day in (1, 3, 2, 4)]
    store = Store([others[0], WALL, *others[1:]], [])
    retrieve(store)
    assert store.asked[1] == "floor=m4 floor=m3 floor=m2"


@pytest.mark.parametrize(
    "found",
    [
        memory("x", "floor=4", 1),
        memory("x", "floor=4", None),
        memory("x", "floor=4", 5, "else"),
        memory("x", "roof=red", 5),
        OLD,
    ],
    ids=["not newer", "undated", "another scope", "another thing", "known already"],
)
def test_nothing_else_is_added(found: Memory) -> None:
    assert ids(retrieve(Store([OLD, WALL], [found])).candidates) == ["old", "wall"]


def test_a_look_up_never_displaces_what_it_does_not_replace() -> None:
    same = memory("same", "floor=2", 5)
    found = retrieve(Store([OLD, WALL], [same]))
    assert ids(found.candidates) == ["old", "same", "wall"]
    assert ids(found.memories) == ["old", "wall"]
    assert ids(retrieve(Store([OLD, WALL], [same]), k=3).memories) == ["old", "same", "wall"]
    assert ids(retrieve(Store([OLD, WALL], [same]), k=None).memories) == ["old", "same", "wall"]


def test_a_verdict_on_the_addition_stands() -> None:
    middle = memory("middle", "floor=3", 3)
    found = retrieve(Store([OLDER, OLD, WALL], [middle, NEW]), k=3)
    assert ids(found.memories) == ["new", "wall"]
    assert set(ids([shadow.memory for shadow in found.collection.shadowed])) == {
        "old",
        "older",
        "middle",
    }


def test_what_was_not_yet_known_is_not_added() -> None:
    store = Store([OLD, WALL], [NEW])
    assert ids(retrieve(store, as_of=86_400 * 3).candidates) == ["old", "wall"]
    assert ids(retrieve(store, as_of=86_400 * 5).memories) == ["new", "wall"]


def test_history_shows_the_old_and_the_new_statement() -> None:
    found = retrieve(Store([OLD, WALL], [NEW]), k=3, history=True)
    assert ids(found.memories) == ["old", "new", "wall"]
    assert found.memories[0].metadata["superseded_by"] == "new"


@pytest.mark.parametrize("first", [[], [memory("u", "floor=2", None)]], ids=["empty", "undated"])
def test_there_is_no_second_query_where_nothing_has_a_time(first: list[Memory]) -> None:
    store = Store(first, [NEW])
    assert ids(retrieve(store).memories) == ids(first)
    assert store.asked == ["question"]


def test_a_chunk_is_near_if_one_of_its_statements_is() -> None:
    both = memory("both", "roof=red.\nfloor=5", 6)
    assert ids(retrieve(Store([OLD, WALL], [both])).candidates) == ["old", "both", "wall"]


def test_without_a_gate_of_ones_own_the_bundled_encoder_tells_what_is_near() -> None:
    found = ("The office moved to floor 4.", "My cat is grey. The office is on floor 4.", "Soup.")
    step = Compare(("The office is on floor 2.",), found, similarity=0.3)
    for chosen in (Collector("explicit"), Collector()):
        assert step.perform(chosen).tolist() == [[True, True, False]]


def test_the_candidate_set_alone_holds_the_additions() -> None:
    steps = RetrievalPlan(head_lookup=True).candidates("question")
    store, chosen = Store([OLD, WALL], [NEW]), collector()
    answer: Any = None
    with pytest.raises(StopIteration) as stop:
        while True:
            step = steps.send(answer)
            if isinstance(step, Compare):
                answer = step.perform(chosen)
            else:
                answer = [store.search(query) for query in step.queries]
    assert ids(stop.value.value) == ["old", "new", "wall"]


def langchain(store: Store) -> LangChainRetriever:
    def search(query: str) -> list[Document]:
        return [
            Document(m.text, id=m.id, metadata={"created_at": m.timestamp.timestamp()})
            for m in store.search(query)
            if m.timestamp is not None
        ]

    return LangChainRetriever(
        base_retriever=RunnableLambda(search), collector=collector(), k=2, head_lookup=True
    )


def llamaindex(store: Store) -> LlamaIndexRetriever:
    class Base(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return [
                NodeWithScore(
                    node=TextNode(
                        id_=m.id, text=m.text, metadata={"created_at": m.timestamp.timestamp()}
                    )
                )
                for m in store.search(query_bundle.query_str)
                if m.timestamp is not None
            ]

    return LlamaIndexRetriever(Base(), collector=collector(), k=2, head_lookup=True)


def test_both_frameworks_look_up_alike_sync_and_async() -> None:
    first, second = [OLD, WALL], [NEW]
    shown = [
        [document.id for document in langchain(Store(first, second)).invoke("question")],
        [d.id for d in asyncio.run(langchain(Store(first, second)).ainvoke("question"))],
        [node.node_id for node in llamaindex(Store(first, second)).retrieve("question")],
        [n.node_id for n in asyncio.run(llamaindex(Store(first, second)).aretrieve("question"))],
    ]
    assert shown == [["new", "wall"]] * 4
