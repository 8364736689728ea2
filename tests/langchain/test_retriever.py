from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

import chromadb
import pytest
from langchain_chroma import Chroma
from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import ValidationError

from gcmem import Collector, Memory
from gcmem.short_term import ShortTermMemory
from langchain_gcmem import GCMemRetriever
from tests.langchain.support import (
    CountedRetriever,
    ListRetriever,
    WordHashEmbeddings,
    doc,
    ruled,
    slot_collector,
    texts,
)

STREAM = [doc("city=Ulm", 1), doc("job=cook", 1), doc("city=Kiel", 2), doc("pet=cat", 3)]
CURRENT = ["job=cook", "city=Kiel", "pet=cat"]


def over(documents: list[Document], **options: Any) -> GCMemRetriever:
    options.setdefault("collector", slot_collector())
    return GCMemRetriever(base_retriever=ListRetriever(documents=documents), **options)


def in_memory(documents: list[Document]) -> InMemoryVectorStore:
    store = InMemoryVectorStore(WordHashEmbeddings())
    store.add_documents(documents)
    return store


def chroma(folder: Path, documents: list[Document]) -> Chroma:
    store = Chroma(
        client=chromadb.PersistentClient(str(folder)),
        collection_name="memories",
        embedding_function=WordHashEmbeddings(),
        collection_configuration={"hnsw": {"space": "cosine"}},
    )
    store.add_documents(documents)
    return store


class TestAnyBase:
    """A09: over any retriever and any existing index, with no re-ingest."""

    def test_a_retriever_of_the_users_own(self) -> None:
        assert texts(over(STREAM).invoke("city")) == CURRENT

    def test_a_runnable_lambda(self) -> None:
        base = RunnableLambda(lambda query: STREAM)
        found = GCMemRetriever(base_retriever=base, collector=slot_collector()).invoke("city")
        assert texts(found) == CURRENT

    def test_a_plain_function_and_a_coroutine_function(self) -> None:
        async def search(query: str) -> list[Document]:
            return STREAM

        plain = GCMemRetriever(base_retriever=lambda query: STREAM, collector=slot_collector())
        assert texts(plain.invoke("city")) == CURRENT
        native = GCMemRetriever(base_retriever=search, collector=slot_collector())
        assert texts(asyncio.run(native.ainvoke("city"))) == CURRENT

    def test_a_persistent_chroma_collection_written_before(self, tmp_path: Path) -> None:
        chroma(tmp_path, [doc(f"city={n}", float(n)) for n in range(20)] + [doc("job=cook", 1.0)])
        existing = Chroma(
            client=chromadb.PersistentClient(str(tmp_path)),
            collection_name="memories",
            embedding_function=WordHashEmbeddings(),
        )
        retriever = GCMemRetriever(
            base_retriever=existing.as_retriever(search_kwargs={"k": 2}),
            collector=slot_collector(),
            fetch_k=30,
        )
        found = retriever.invoke("which city")
        assert sorted(texts(found)) == ["city=19", "job=cook"]
        assert {document.id for document in found} == {"city=19", "job=cook"}
        assert existing.get()["ids"].__len__() == 21  # nothing is deleted from the store

    def test_something_that_gives_no_documents_is_an_error_that_names_it(self) -> None:
        retriever = GCMemRetriever(base_retriever=RunnableLambda(lambda query: ["a text"]))
        with pytest.raises(TypeError, match=r"base_retriever must give a list of Documents.*str"):
            retriever.invoke("city")

    def test_a_vector_store_in_place_of_a_retriever_is_an_error(self) -> None:
        with pytest.raises(ValidationError, match="base_retriever"):
            GCMemRetriever(base_retriever=in_memory([]))

    def test_an_error_of_the_base_retriever_is_raised(self) -> None:
        def broken(query: str) -> list[Document]:
            raise ConnectionError("index is away")

        with pytest.raises(ConnectionError, match="index is away"):
            GCMemRetriever(base_retriever=broken).invoke("city")

    def test_an_empty_result_is_an_empty_list(self) -> None:
        assert over([]).invoke("city") == []
        assert asyncio.run(over([]).ainvoke("city")) == []

    def test_it_works_in_a_chain(self) -> None:
        chain = {"context": over(STREAM), "question": RunnablePassthrough()} | RunnableLambda(
            lambda given: texts(given["context"])
        )
        assert chain.invoke("city") == CURRENT


class TestOverFetch:
    def test_a_vector_store_is_asked_for_more_than_it_would_show(self) -> None:
        store = in_memory([doc(f"city={n}", n) for n in range(9)] + [doc("job=cook", 1)])
        base = store.as_retriever(search_kwargs={"k": 2})
        assert len(base.invoke("city")) == 2
        retriever = GCMemRetriever(base_retriever=base, collector=slot_collector())
        assert sorted(texts(retriever.invoke("city"))) == ["city=8", "job=cook"]

    def test_without_k_as_many_are_shown_as_the_base_would_show(self) -> None:
        store = in_memory([doc(f"fact{n}=x", n) for n in range(30)])
        retriever = GCMemRetriever(base_retriever=store.as_retriever(), collector=slot_collector())
        assert len(retriever.invoke("fact")) == 4
        assert len(retriever.invoke("fact", k=25)) == 25

    def test_a_base_that_shows_many_is_never_asked_for_fewer(self) -> None:
        store = in_memory([doc(f"city={n}", n) for n in range(40)] + [doc("job=cook", 1)])
        base = store.as_retriever(search_kwargs={"k": 41})
        retriever = GCMemRetriever(base_retriever=base, collector=slot_collector(), k=3)
        assert sorted(texts(retriever.invoke("city"))) == ["city=39", "job=cook"]

    @pytest.mark.parametrize(
        ("search_type", "settings"),
        [
            ("similarity", {"k": 2}),
            ("similarity_score_threshold", {"k": 2, "score_threshold": 0.01}),
            ("mmr", {"k": 2, "fetch_k": 6}),
        ],
    )
    def test_every_search_type_is_over_fetched(
        self, tmp_path: Path, search_type: str, settings: dict[str, Any]
    ) -> None:
        stream = [doc(f"city={n}", n) for n in range(10)] + [doc("city job=cook", 1)]
        store = chroma(tmp_path, stream)
        base = store.as_retriever(search_type=search_type, search_kwargs=settings)
        retriever = GCMemRetriever(base_retriever=base, collector=slot_collector())
        assert sorted(texts(retriever.invoke("city"))) == ["city job=cook", "city=9"]

    def test_the_pool_of_mmr_grows_with_what_is_fetched(self) -> None:
        asked: list[dict[str, Any]] = []

        class Watched(InMemoryVectorStore):
            def max_marginal_relevance_search(self, query: str, **kwargs: Any) -> list[Document]:
                asked.append(kwargs)
                return super().max_marginal_relevance_search(query, **kwargs)

        store = Watched(WordHashEmbeddings())
        store.add_documents(STREAM)
        settings = {"k": 5, "fetch_k": 50, "lambda_mult": 0.3}
        base = store.as_retriever(search_type="mmr", search_kwargs=settings)
        GCMemRetriever(base_retriever=base, collector=slot_collector()).invoke("city")
        assert asked == [{"k": 20, "fetch_k": 200, "lambda_mult": 0.3}]

    def test_a_bound_retriever_is_looked_through(self) -> None:
        store = in_memory([doc(f"city={n}", n) for n in range(9)] + [doc("job=cook", 1)])
        base = store.as_retriever().bind(k=2).with_config(tags=["mine"])
        retriever = GCMemRetriever(base_retriever=base, collector=slot_collector())
        assert sorted(texts(retriever.invoke("city"))) == ["city=8", "job=cook"]

    def test_a_retriever_that_takes_k_only_synchronously_is_asked_in_async_calls_too(self) -> None:
        base = CountedRetriever(documents=STREAM)
        retriever = GCMemRetriever(base_retriever=base, collector=slot_collector())
        assert texts(retriever.invoke("city")) == CURRENT[:2]
        assert texts(asyncio.run(retriever.ainvoke("city"))) == CURRENT[:2]
        assert base.asked == [20, 20]

    def test_never_fewer_than_k_while_uncontradicted_ones_were_fetched(self) -> None:
        stream = [doc(f"city={n}", n) for n in range(12)] + [doc(f"f{n}=x", n) for n in range(4)]
        assert len(over(stream, k=5).invoke("city")) == 5

    def test_fetch_k_below_k_is_an_error(self) -> None:
        with pytest.raises(ValidationError, match="fetch_k must be at least k=5, got 3"):
            over(STREAM, k=5, fetch_k=3)
        with pytest.raises(ValueError, match="fetch_k must be at least k=9, got 5"):
            over(STREAM, fetch_k=5).invoke("city", k=9)

    async def test_fetch_k_counts_in_a_call(self) -> None:
        base = CountedRetriever(documents=STREAM)
        retriever = GCMemRetriever(base_retriever=base, collector=slot_collector(), fetch_k=50)
        retriever.invoke("city", fetch_k=7)
        await retriever.ainvoke("city", fetch_k=8)
        retriever.candidates("city", fetch_k=9)
        retriever.invoke("city")
        assert base.asked == [7, 8, 9, 50]


class TestDocuments:
    def test_survivors_are_the_very_documents_of_the_base(self) -> None:
        found = over(STREAM).invoke("city")
        assert all(left is right for left, right in zip(found, STREAM[1:], strict=True))

    def test_a_cut_document_is_a_copy_that_keeps_id_and_metadata(self) -> None:
        """A05."""
        old = Document(
            "I live in Leeds. I like tea.", id="a", metadata={"created_at": 1, "page": 3}
        )
        new = Document("I moved to York.", id="b", metadata={"created_at": 2, "page": 9})
        collector = ruled(lambda older, newer: "Leeds" in older and "York" in newer)
        cut, kept = over([old, new], collector=collector).invoke("home")
        assert (cut.page_content, cut.id) == ("I like tea.", "a")
        assert cut.metadata == {"created_at": 1, "page": 3}
        assert kept is new
        assert old.page_content == "I live in Leeds. I like tea."

    def test_equal_texts_with_other_metadata_stay_apart(self) -> None:
        """A06, without ids, as older stores give them."""
        rule = ruled(lambda older, newer: older != newer)
        documents = [
            Document("Window: Sunday.", metadata={"created_at": "2026-01-01", "source": "wiki"}),
            Document("Window: Sunday.", metadata={"created_at": "2026-05-01", "source": "mail"}),
            Document("Window: Monday.", metadata={"created_at": "2026-03-01", "source": "chat"}),
        ]
        retriever = over(documents, collector=rule, query_expander=lambda query: ["again"])
        for found in (over(documents, collector=rule).invoke("q"), retriever.invoke("q")):
            assert "mail" in {document.metadata["source"] for document in found}
            assert "chat" not in {document.metadata["source"] for document in found}

    def test_same_text_and_time_with_other_metadata_is_not_one_document(self) -> None:
        twins = [Document("x=1", metadata={"n": n}) for n in (1, 2)]
        found = over(twins, query_expander=lambda query: ["again"]).invoke("q")
        assert [document.metadata["n"] for document in found] == [1, 2]

    def test_chunks_of_one_document_version_are_all_kept(self) -> None:
        """A21."""
        chunks = [doc("fee=1", 1, source="d", version=1), doc("fee=2", 2, source="d", version=1)]
        assert len(over(chunks).invoke("fee")) == 2

    def test_documents_without_any_metadata_are_kept_and_the_conflict_is_reported(self) -> None:
        """A22."""
        pair = [Document("desk=oak"), Document("desk=pine")]
        retriever = over(pair)
        assert retriever.invoke("desk") == pair
        (conflict,) = retriever.collect("desk").collection.unresolved
        assert conflict.reason == "undated"

    def test_the_date_key_is_configurable_and_may_be_missing(self) -> None:
        """A23."""
        notes = [
            Document("q1=10", metadata={"ticker": "EXM", "date": "2023-02-01"}),
            Document("q1=12", metadata={"ticker": "EXM", "date": "2023-04-01"}),
            Document("dividend=same", metadata={"ticker": "EXM"}),
        ]
        for key in ("date", ["published", "date"]):
            found = over(notes, timestamp_key=key).invoke("What is the Q1 guidance?")
            assert texts(found) == ["q1=12", "dividend=same"]

    def test_scopes_are_never_compared(self) -> None:
        notes = [doc("city=Ulm", 1, user="a"), doc("city=Kiel", 2, user="b")]
        assert len(over(notes, scope_keys=["user"]).invoke("city")) == 2
        only_a = over(notes, scope_keys=["user"]).invoke("city", scope={"user": "a"})
        assert texts(only_a) == ["city=Ulm"]
        assert texts(over(notes, scope_keys=["user"], scope={"user": "b"}).invoke("city")) == [
            "city=Kiel"
        ]

    def test_a_time_that_cannot_be_read_is_an_error_that_names_record_and_key(self) -> None:
        with pytest.raises(ValueError, match=r"record 'x'.*metadata\['created_at'\].*someday"):
            over([doc("x", "someday")]).invoke("q")


STAYS = [
    doc("room=Ash", "2025-01-01"),
    doc("room=Birch", "2026-01-01"),
    doc("x=1", "2024-01-01"),
]


class TestCallTime:
    async def test_k_as_of_and_history_count_in_sync_and_async_calls(self) -> None:
        retriever = over(STAYS)
        for given, expected in (
            ({}, ["room=Birch", "x=1"]),
            ({"k": 1}, ["room=Birch"]),
            ({"as_of": "2025-06-01"}, ["room=Ash", "x=1"]),
            ({"history": True}, ["room=Ash", "room=Birch", "x=1"]),
            ({"history": lambda query: "room" in query}, ["room=Ash", "room=Birch", "x=1"]),
        ):
            assert texts(retriever.invoke("room", **given)) == expected
            assert texts(await retriever.ainvoke("room", **given)) == expected
            assert [m.text for m in retriever.collect("room", **given).memories] == expected

    def test_a_call_overrides_what_was_constructed(self) -> None:
        retriever = over(STAYS, as_of="2025-06-01", history=True, k=3)
        assert texts(retriever.invoke("room")) == ["room=Ash", "x=1"]
        found = retriever.invoke("room", as_of="2026-06-01", history=False, k=1)
        assert texts(found) == ["room=Birch"]

    def test_history_auto_annotates_for_questions_about_the_past(self) -> None:
        retriever = over(STAYS, history="auto")
        assert texts(retriever.invoke("Which room?")) == ["room=Birch", "x=1"]
        found = retriever.invoke("Which room did she use to, I mean previously, have?")
        assert found[0].metadata["superseded_by"] == "room=Birch"

    @pytest.mark.parametrize("name", ["threshold", "K", "as_off"])
    async def test_a_misspelt_parameter_of_a_call_is_an_error(self, name: str) -> None:
        retriever = over(STREAM)
        with pytest.raises(TypeError, match=name):
            retriever.invoke("city", **{name: 1})
        with pytest.raises(TypeError, match=name):
            await retriever.ainvoke("city", **{name: 1})

    @pytest.mark.parametrize(
        "wrong",
        [
            {"threshhold": 0.9},
            {"k": 0},
            {"k": "3"},
            {"k": True},
            {"as_of": "someday"},
            {"as_of": True},
            {"history": "yes"},
            {"history": 1},
            {"timestamp_unit": "minutes"},
            {"timestamp_key": ""},
            {"scope_keys": "user"},
            {"value_key": "v"},
            {"scope": 5},
            {"short_term": []},
            {"collector": "bundled"},
            {"query_expander": ["a", "b"]},
        ],
        ids=str,
    )
    def test_a_wrong_option_is_an_error_at_construction(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            over(STREAM, **wrong)


class TestShortTermAndExpansion:
    def test_recent_chunks_are_judged_and_shown_in_addition_to_k(self) -> None:
        recent = ShortTermMemory(5)
        recent.add(Memory("city=Bonn", "2026-01-01", id="said", metadata={"role": "user"}))
        found = over(STREAM, short_term=recent, k=1).invoke("city")
        assert texts(found) == ["job=cook", "city=Bonn"]
        assert found[1].id == "said"
        assert found[1].metadata == {"role": "user", "created_at": "2026-01-01T00:00:00+00:00"}

    def test_a_recent_chunk_can_be_read_again_by_a_later_step(self) -> None:
        recent = ShortTermMemory(5)
        recent.add(Memory("city=Bonn", "2026-01-01", scope={"user": "a"}))
        notes = [doc("city=Ulm", 1, user="a"), doc("city=Kiel", 2, user="b")]
        options = {"scope_keys": ["user"], "scope": {"user": "a"}}
        first = over(notes, short_term=recent, **options)
        again = GCMemRetriever(base_retriever=first, collector=slot_collector(), **options)
        assert texts(first.invoke("city")) == texts(again.invoke("city")) == ["city=Bonn"]

    @pytest.mark.parametrize("kind", ["function", "coroutine function", "runnable"])
    async def test_any_expander_widens_the_candidates(self, kind: str) -> None:
        asked: list[str] = []

        def search(query: str) -> list[Document]:
            asked.append(query)
            return [document for document in STREAM if query in document.page_content]

        async def expand_later(query: str) -> list[str]:
            return ["job", "pet"]

        def expand(query: str) -> list[str]:
            return ["job", "pet", query]

        expander = {
            "function": expand,
            "coroutine function": expand_later,
            "runnable": RunnableLambda(expand),
        }[kind]
        retriever = GCMemRetriever(
            base_retriever=search, query_expander=expander, collector=slot_collector()
        )
        found = await retriever.ainvoke("city")
        assert sorted(asked) == ["city", "job", "pet"]
        assert set(texts(found)) == set(CURRENT)
        assert texts(retriever.invoke("city")) == texts(found)

    async def test_the_queries_are_searched_concurrently(self) -> None:
        running = most = 0

        class Slow(BaseRetriever):
            def _get_relevant_documents(
                self, query: str, *, run_manager: CallbackManagerForRetrieverRun
            ) -> list[Document]:
                raise AssertionError("the native async method was not used")

            async def _aget_relevant_documents(
                self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
            ) -> list[Document]:
                nonlocal running, most
                running += 1
                most = max(most, running)
                await asyncio.sleep(0.02)
                running -= 1
                return STREAM

        retriever = GCMemRetriever(
            base_retriever=Slow(), query_expander=lambda q: ["b", "c"], collector=slot_collector()
        )
        await retriever.ainvoke("a")
        assert most == 3

    def test_an_expander_that_gives_one_text_is_an_error(self) -> None:
        with pytest.raises(TypeError, match=r"query_expander must give a list of queries.*'other'"):
            over(STREAM, query_expander=lambda query: "other").invoke("city")

    def test_a_document_found_by_two_queries_is_shown_once_and_is_the_same_object(self) -> None:
        found = over(STREAM, query_expander=lambda query: ["again"]).invoke("city")
        assert sorted(texts(found)) == sorted(CURRENT)
        assert all(any(document is given for given in STREAM) for document in found)


class TestCandidatesAndCollect:
    async def test_candidates_are_the_set_before_anything_is_judged(self) -> None:
        detector_free = over(STREAM, collector=ruled(lambda *_: 1 / 0))
        assert detector_free.candidates("city") == STREAM
        assert await detector_free.acandidates("city") == STREAM

    async def test_collect_gives_what_went_and_why(self) -> None:
        retriever = over(STREAM, k=2)
        for found in (retriever.collect("city"), await retriever.acollect("city")):
            assert [memory.text for memory in found.candidates] == texts(STREAM)
            assert [memory.text for memory in found.memories] == CURRENT[:2]
            assert "contradicted by the newer memory 'city=Kiel'" in found.collection.explain(
                "city=Ulm"
            )

    def test_nothing_is_mutated(self) -> None:
        documents = [document.model_copy(deep=True) for document in STREAM]
        for policy in ("excise", "drop", "annotate", "report"):
            over(documents, collector=slot_collector(on_conflict=policy)).invoke("city")
        assert documents == STREAM


class TestRunning:
    def test_inside_a_running_loop_sync_and_async_agree(self) -> None:
        """A02."""
        retriever = over(STREAM)

        async def both() -> tuple[list[Document], list[Document]]:
            return retriever.invoke("city"), await retriever.ainvoke("city")

        synced, awaited = asyncio.run(both())
        assert texts(synced) == texts(awaited) == CURRENT

    async def test_the_event_loop_is_not_blocked_while_a_judge_works(self) -> None:
        """A02."""
        import time

        def slow(older: str, newer: str) -> bool:
            time.sleep(0.05)
            return False

        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.005)
                ticks += 1

        ticking = asyncio.create_task(tick())
        await over(STREAM, collector=ruled(slow)).ainvoke("city")
        ticking.cancel()
        assert ticks >= 3

    def test_batches_on_threads_do_not_disturb_each_other(self) -> None:
        def search(query: str) -> list[Document]:
            return [doc(f"{query}={n}", n) for n in range(8)]

        retriever = GCMemRetriever(base_retriever=search, collector=slot_collector())
        queries = [f"slot{n}" for n in range(40)]
        found = retriever.batch(queries, {"max_concurrency": 8})
        assert [texts(each) for each in found] == [[f"{query}=7"] for query in queries]

    async def test_abatch_gives_what_batch_gives(self) -> None:
        retriever = over(STREAM)
        assert await retriever.abatch(["a", "b"]) == retriever.batch(["a", "b"])

    def test_it_survives_pickling_with_a_vector_store(self) -> None:
        recent = ShortTermMemory(2)
        recent.add(Memory("city=Bonn", 9))
        retriever = GCMemRetriever(
            base_retriever=in_memory(STREAM).as_retriever(),
            collector=Collector("explicit"),
            short_term=recent,
            scope_keys=("user",),
        )
        retriever.invoke("city")
        again = pickle.loads(pickle.dumps(retriever))
        assert texts(again.invoke("city")) == texts(retriever.invoke("city"))

    def test_it_survives_pickling_with_the_default_collector(self) -> None:
        retriever = GCMemRetriever(base_retriever=in_memory(STREAM).as_retriever())
        again = pickle.loads(pickle.dumps(retriever))
        assert again.collector is None
        assert again.candidates("city") == retriever.candidates("city")
