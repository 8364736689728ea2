from __future__ import annotations

import copy
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.store.base import BaseStore, GetOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from pydantic import ValidationError

from langchain_gcmem import GCMemStore
from tests.langchain.support import (
    RecordingHandler,
    ScriptedChatModel,
    WordHashEmbeddings,
    ruled,
    slot_collector,
)

HOME = ("memories", "elena")


def filled(
    *notes: tuple[str, Any], namespace: tuple[str, ...] = HOME, **options: Any
) -> GCMemStore:
    options.setdefault("collector", slot_collector())
    store = GCMemStore(InMemoryStore(), **options)
    for text, when in notes:
        dated = {} if when is None else {"created_at": when}
        store.put(namespace, text, {"content": text, **dated})
    return store


def keys(items: Any) -> list[str]:
    return [item.key for item in items]


async def search(store: BaseStore, *args: Any, native: bool, **options: Any) -> list[str]:
    if native:
        return keys(await store.asearch(*args, **options))
    return keys(store.search(*args, **options))


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def native(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


class TestSearch:
    async def test_contradicted_items_are_left_out(self, native: bool) -> None:
        store = filled(("city=Ulm", 1), ("job=cook", 1), ("city=Kiel", 2))
        assert await search(store, HOME, native=native) == ["job=cook", "city=Kiel"]

    async def test_with_a_query_scores_and_order_of_the_index_stay(self, native: bool) -> None:
        index: Any = {"dims": 64, "embed": WordHashEmbeddings(), "fields": ["content"]}
        inner = InMemoryStore(index=index)
        store = GCMemStore(inner, collector=slot_collector())
        for text, when in (("city=Ulm", 1), ("city=Kiel", 2), ("job=cook", 1)):
            store.put(HOME, text, {"content": text, "created_at": when})
        plain = {item.key: item.score for item in inner.search(HOME, query="city")}
        found = (
            await store.asearch(HOME, query="city") if native else store.search(HOME, query="city")
        )
        assert keys(found) == ["city=Kiel", "job=cook"]
        assert all(item.score == plain[item.key] for item in found)

    async def test_the_time_in_the_value_comes_before_the_clock_of_the_store(
        self, native: bool
    ) -> None:
        store = filled(("city=Kiel", "2026-02-01"), ("city=Ulm", "2026-01-01"))
        assert await search(store, HOME, native=native) == ["city=Kiel"]

    async def test_without_a_time_in_the_value_the_clock_of_the_store_decides(
        self, native: bool
    ) -> None:
        store = filled(("city=Ulm", None), ("city=Kiel", None))
        assert await search(store, HOME, native=native) == ["city=Kiel"]

    async def test_time_keys_are_tried_in_order(self, native: bool) -> None:
        store = GCMemStore(
            InMemoryStore(), collector=slot_collector(), timestamp_key=["event_at", "created_at"]
        )
        store.put(HOME, "new", {"content": "city=Kiel", "event_at": 20, "created_at": 1})
        store.put(HOME, "old", {"content": "city=Ulm", "created_at": 10})
        assert await search(store, HOME, native=native) == ["new"]

    async def test_namespaces_are_never_compared(self, native: bool) -> None:
        store = filled(("city=Ulm", 1))
        store.put(("memories", "ola"), "other", {"content": "city=Kiel", "created_at": 2})
        assert len(await search(store, ("memories",), native=native)) == 2

    async def test_a_cut_item_is_a_copy_and_the_store_keeps_its_own(self, native: bool) -> None:
        collector = ruled(lambda older, newer: "Leeds" in older and "York" in newer)
        store = filled(
            ("I live in Leeds. I like tea.", 1), ("I moved to York.", 2), collector=collector
        )
        inner = copy.deepcopy(store.store.search(HOME))
        found = await store.asearch(HOME) if native else store.search(HOME)
        assert found[0].value["content"] == "I like tea."
        assert found[0].key == "I live in Leeds. I like tea."
        assert store.store.search(HOME) == inner

    async def test_items_without_text_are_judged_by_links_alone(self, native: bool) -> None:
        store = filled()
        store.put(HOME, "a", {"rating": 3, "created_at": 1})
        store.put(HOME, "b", {"rating": 4, "created_at": 2})
        store.put(HOME, "c", {"rating": 5, "created_at": 3, "supersedes": "a"})
        assert await search(store, HOME, native=native) == ["b", "c"]

    async def test_the_text_key_is_configurable(self, native: bool) -> None:
        store = GCMemStore(InMemoryStore(), collector=slot_collector(), text_key="memory")
        for text, when in (("city=Ulm", 1), ("city=Kiel", 2)):
            store.put(HOME, text, {"memory": text, "created_at": when})
        assert await search(store, HOME, native=native) == ["city=Kiel"]

    async def test_as_of_and_history_are_options(self, native: bool) -> None:
        notes = (("city=Ulm", "2025-01-01"), ("city=Kiel", "2026-01-01"))
        then = filled(*notes, as_of="2025-06-01")
        assert await search(then, HOME, native=native) == ["city=Ulm"]
        past = filled(*notes, history=True)
        found = await past.asearch(HOME) if native else past.search(HOME)
        assert found[0].value["superseded_by"] == "city=Kiel"

    async def test_a_filter_is_passed_on(self, native: bool) -> None:
        store = filled(("city=Ulm", 1), ("city=Kiel", 2))
        found = await search(store, HOME, native=native, filter={"created_at": 1})
        assert found == ["city=Ulm"]


class TestPagination:
    async def test_limit_counts_what_is_left(self, native: bool) -> None:
        store = filled(*((f"city={n}", n) for n in range(15)), *((f"f{n}=x", n) for n in range(5)))
        assert await search(store, HOME, native=native, limit=3) == ["city=14", "f0=x", "f1=x"]

    @pytest.mark.parametrize("fetch_k", [None, 3, 100])
    @pytest.mark.parametrize("limit", [3, 10])
    async def test_pages_neither_repeat_nor_skip_an_item(
        self, native: bool, fetch_k: int | None, limit: int
    ) -> None:
        notes = [(f"s{n % 23}={n}", n) for n in range(69)]
        store = filled(*notes, fetch_k=fetch_k)
        pages: list[str] = []
        while page := await search(store, HOME, native=native, limit=limit, offset=len(pages)):
            pages += page
        assert len(pages) == len(set(pages))
        assert {f"s{n % 23}={n}" for n in range(46, 69)} <= set(pages)
        if fetch_k == 100:
            assert len(pages) == 23

    async def test_a_page_beyond_the_end_is_empty(self, native: bool) -> None:
        store = filled(("city=Ulm", 1), ("city=Kiel", 2))
        assert await search(store, HOME, native=native, offset=1) == []
        assert await search(store, HOME, native=native, limit=0) == []
        assert await search(store, ("nobody",), native=native) == []


class Expiring(BaseStore):
    """A store with a time to live that writes down what is asked of it."""

    supports_ttl = True

    def __init__(self) -> None:
        self.inner = InMemoryStore()
        self.ttl_config = {"refresh_on_read": True, "default_ttl": 5.0}
        self.asked: list[Any] = []

    def batch(self, ops: Any) -> Any:
        given = list(ops)
        self.asked += given
        return self.inner.batch(given)

    async def abatch(self, ops: Any) -> Any:
        return self.batch(ops)


class TestEverythingElse:
    async def test_get_put_delete_and_namespaces_are_untouched(self, native: bool) -> None:
        store = filled(("city=Ulm", 1), ("city=Kiel", 2))
        if native:
            stale = await store.aget(HOME, "city=Ulm")
            assert await store.alist_namespaces() == [HOME]
            await store.adelete(HOME, "city=Kiel")
        else:
            stale = store.get(HOME, "city=Ulm")
            assert store.list_namespaces() == [HOME]
            store.delete(HOME, "city=Kiel")
        assert stale is not None
        assert await search(store, HOME, native=native) == ["city=Ulm"]

    async def test_a_mixed_batch_gives_its_results_in_order(self, native: bool) -> None:
        store = filled(("city=Ulm", 1), ("city=Kiel", 2))
        ops = [
            GetOp(HOME, "city=Ulm"),
            SearchOp(HOME),
            PutOp(HOME, "x", {"content": "x=1"}),
            SearchOp(("nobody",)),
        ]
        first, found, put, nothing = await store.abatch(ops) if native else store.batch(ops)
        assert first.key == "city=Ulm"
        assert keys(found) == ["city=Kiel"]
        assert put is None
        assert nothing == []
        assert (await store.abatch([]) if native else store.batch([])) == []

    async def test_time_to_live_is_passed_on_and_only_shown_items_are_refreshed(
        self, native: bool
    ) -> None:
        inner = Expiring()
        store = GCMemStore(inner, collector=slot_collector())
        assert store.supports_ttl
        assert store.ttl_config == inner.ttl_config
        for n in range(4):
            store.put(HOME, f"city={n}", {"content": f"city={n}", "created_at": n}, ttl=3)
        assert {op.ttl for op in inner.asked} == {3}
        inner.asked.clear()
        assert await search(store, HOME, native=native) == ["city=3"]
        searched, refreshed = inner.asked
        assert searched.refresh_ttl is False
        assert refreshed == GetOp(HOME, "city=3", refresh_ttl=True)
        inner.asked.clear()
        await search(store, HOME, native=native, refresh_ttl=False)
        assert len(inner.asked) == 1

    async def test_an_agents_tool_sees_what_is_still_true(self, native: bool) -> None:
        handler = RecordingHandler()
        store = filled(("city=Ulm", 1), ("city=Kiel", 2))

        @tool
        def remember(query: str, runtime: ToolRuntime) -> str:
            """Search memory."""
            assert runtime.store is not None
            return ", ".join(item.value["content"] for item in runtime.store.search(HOME))

        call = {"name": "remember", "args": {"query": "city"}, "id": "1"}
        model = ScriptedChatModel(
            answers=[AIMessage("", tool_calls=[call]), AIMessage("done")], shown=[]
        )
        agent = create_agent(model, tools=[remember], store=store)
        given: Any = {"messages": [HumanMessage("Where?")]}
        config: Any = {"callbacks": [handler]}
        state = await agent.ainvoke(given, config) if native else agent.invoke(given, config)
        assert state["messages"][2].content == "city=Kiel"
        assert [report["kept"] for _, report, _ in handler.events] == [["city=Kiel"]]


class TestConstruction:
    @pytest.mark.parametrize(
        ("wrong", "error"),
        [
            ({"scope_keys": ["user"]}, ValueError),
            ({"fetch_k": 0}, ValueError),
            ({"timestamp_keys": ["date"]}, ValidationError),
        ],
        ids=str,
    )
    def test_a_wrong_option_is_an_error(
        self, wrong: dict[str, Any], error: type[Exception]
    ) -> None:
        with pytest.raises(error, match=next(iter(wrong))):
            GCMemStore(InMemoryStore(), **wrong)

    def test_something_that_is_no_store_is_an_error(self) -> None:
        with pytest.raises(TypeError, match="store must be a langgraph BaseStore"):
            GCMemStore({})
