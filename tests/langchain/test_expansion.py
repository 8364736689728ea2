from __future__ import annotations

import pickle
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from pydantic import ValidationError

from langchain_gcmem import GCMemRetriever, ModelQueryExpander
from tests.langchain.support import ScriptedChatModel, doc, slot_collector, texts


def answering(*answers: list[str] | None) -> ScriptedChatModel:
    """A model that calls the structured-output tool with these queries (None: says something)."""
    messages = [
        AIMessage("I cannot.")
        if queries is None
        else AIMessage(
            "", tool_calls=[{"name": "SearchQueries", "args": {"queries": queries}, "id": "1"}]
        )
        for queries in answers
    ]
    return ScriptedChatModel(answers=messages)


async def call(expander: Any, query: str, *, native: bool) -> list[str]:
    return await expander.ainvoke(query) if native else expander.invoke(query)


@pytest.mark.parametrize("native", [False, True], ids=["sync", "async"])
class TestModelQueryExpander:
    async def test_it_gives_at_most_n_different_variants(self, native: bool) -> None:
        model = answering(["Elena home", " elena HOME ", "", "Where is Elena?", "moved", "flat"])
        expander = ModelQueryExpander(model=model, n=2)
        assert await call(expander, "where is elena?", native=native) == ["Elena home", "moved"]

    async def test_the_question_is_asked_apart_from_the_instruction(self, native: bool) -> None:
        model = answering(["a"])
        await call(ModelQueryExpander(model=model, n=4), "Where {is} Elena?", native=native)
        system, human = model.shown[0]
        assert "write 4 other search queries" in system.content
        assert human.content == "Where {is} Elena?"

    async def test_a_query_is_asked_once(self, native: bool) -> None:
        model = answering(["a"], ["b"], ["c"])
        expander = ModelQueryExpander(model=model, cache_size=1)
        given = [await call(expander, q, native=native) for q in ("x", "x", "y", "x")]
        assert given == [["a"], ["a"], ["b"], ["c"]]
        assert len(model.shown) == 3

    async def test_a_remembered_answer_cannot_be_changed_from_outside(self, native: bool) -> None:
        expander = ModelQueryExpander(model=answering(["a"]))
        (await call(expander, "x", native=native)).append("mine")
        assert await call(expander, "x", native=native) == ["a"]

    async def test_a_model_that_gives_no_query_is_an_error(self, native: bool) -> None:
        with pytest.raises(ValueError, match="gave no search query"):
            await call(ModelQueryExpander(model=answering(None)), "x", native=native)

    @pytest.mark.parametrize("way", ["on_error", "fallback"])
    async def test_retrieval_may_go_on_without_variants(self, native: bool, way: str) -> None:
        lenient: Any = ModelQueryExpander(model=answering(None), on_error="keep")
        if way == "fallback":
            strict = ModelQueryExpander(model=answering(None))
            lenient = strict.with_fallbacks([RunnableLambda(lambda query: [])])
        notes = [doc("city=Ulm", 1), doc("city=Kiel", 2)]
        retriever = GCMemRetriever(
            base_retriever=lambda query: notes, query_expander=lenient, collector=slot_collector()
        )
        found = await retriever.ainvoke("q") if native else retriever.invoke("q")
        assert texts(found) == ["city=Kiel"]

    async def test_a_retriever_searches_for_every_variant(self, native: bool) -> None:
        def search(query: str) -> list[Document]:
            return {"move": [doc("city=Kiel", 2)]}.get(query, [doc("city=Ulm", 1)])

        plain = GCMemRetriever(base_retriever=search, collector=slot_collector())
        wide = GCMemRetriever(
            base_retriever=search,
            collector=slot_collector(),
            query_expander=ModelQueryExpander(model=answering(["move"])),
        )
        assert texts(plain.invoke("home")) == ["city=Ulm"]
        found = await wide.ainvoke("home") if native else wide.invoke("home")
        assert texts(found) == ["city=Kiel"]


def test_it_survives_pickling_with_what_it_remembers() -> None:
    expander = ModelQueryExpander(model=answering(["a"], ["b"]))
    expander.invoke("x")
    assert pickle.loads(pickle.dumps(expander)).invoke("x") == ["a"]


@pytest.mark.parametrize(
    "wrong", [{"n": 0}, {"variants": 3}, {"on_error": "ignore"}, {"model": "gpt"}], ids=str
)
def test_a_wrong_option_is_an_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        ModelQueryExpander(**{"model": answering(["a"]), **wrong})
