"""Query expansion: by a model with structured output, or by any callable."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
import threading
from typing import Any

import pytest
from llama_index.core.llms import MockLLM

from gcmem.expansion import aexpand, expand
from llamaindex_gcmem import GCMemRetriever, ModelQueryExpander
from tests.llamaindex.support import ScriptedLLM, ids, scored, slot_collector
from tests.llamaindex.test_retriever import ListRetriever


def answering(*queries: str) -> ScriptedLLM:
    return ScriptedLLM(json.dumps({"queries": list(queries)}))


def test_the_model_is_asked_once_per_question_and_gives_up_to_n_variants() -> None:
    model = answering("Ann home", " ann HOME ", "", "Where does Ann live?", "Ann moved", "Ann flat")
    expander = ModelQueryExpander(model, n=2)
    assert expander("Where does Ann live?") == ["Ann home", "Ann moved"]
    expander("Where does Ann live?").clear()
    assert expander("Where does Ann live?") == ["Ann home", "Ann moved"]
    assert len(model.prompts) == 1
    assert "write 2 other search queries" in model.prompts[0]
    assert "Where does Ann live?" in model.prompts[0]


async def test_the_asynchronous_path_gives_the_same_and_shares_what_is_remembered() -> None:
    model = answering("Ann home")
    expander = ModelQueryExpander(model)
    assert await expander.acall("q") == expander("q") == ["Ann home"]
    assert len(model.prompts) == 1


def test_the_oldest_question_is_forgotten_first_and_zero_remembers_none() -> None:
    model = answering("x")
    expander = ModelQueryExpander(model, cache_size=2)
    for query in ("a", "b", "a", "c", "a", "b"):
        expander(query)
    assert len(model.prompts) == 4  # a, b, c, and b again
    forgetful = ModelQueryExpander(answering("x"), cache_size=0)
    assert forgetful("a") == forgetful("a") == ["x"]


def test_braces_in_the_question_are_only_text() -> None:
    model = answering("x")
    ModelQueryExpander(model)("what is {query} in {instruction}?")
    assert "what is {query} in {instruction}?" in model.prompts[0]


async def test_an_answer_without_queries_is_an_error_or_leaves_the_question_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for model in (ScriptedLLM("I cannot do that."), answering(), MockLLM()):
        with pytest.raises(ValueError, match=r"."):
            ModelQueryExpander(model)("q")
        with pytest.raises(ValueError, match=r"."):
            await ModelQueryExpander(model).acall("q")
        lenient = ModelQueryExpander(model, on_error="keep")
        with caplog.at_level(logging.WARNING, "gcmem"):
            assert lenient("q") == await lenient.acall("q") == []
    assert "searched alone" in caplog.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n must be at least 1"),
        ({"cache_size": -1}, "cache_size must be at least 0"),
        ({"on_error": "hide"}, "on_error"),
    ],
)
def test_bad_options_are_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ModelQueryExpander(MockLLM(), **options)


def test_it_can_be_pickled_with_what_it_remembers() -> None:
    expander = ModelQueryExpander(MockLLM(), on_error="keep")
    expander._expansion._remember("q", ["variant"])
    again = pickle.loads(pickle.dumps(expander))
    assert again("q") == ["variant"]


async def test_a_retriever_finds_what_only_a_variant_finds() -> None:
    class ByWord(ListRetriever):
        def _retrieve(self, query_bundle: Any) -> Any:
            return [node for node in self.nodes if query_bundle.query_str in node.get_content()]

    base = ByWord([scored("city=A", 1), scored("home, city=B", 2)])
    expander = ModelQueryExpander(answering("home"))
    retriever = GCMemRetriever(base, collector=slot_collector(), query_expander=expander)
    assert ids(base.retrieve("city=A")) == ["city=A"]
    assert set(ids(retriever.retrieve("city=A"))) == {"city=A", "home, city=B"}
    assert ids(await retriever.aretrieve("city=A")) == ids(retriever.retrieve("city=A"))


def plain(query: str) -> list[str]:
    return [query + "!"]


async def coroutine(query: str) -> list[str]:
    await asyncio.sleep(0)
    return [query + "!"]


class Both:
    def __call__(self, query: str) -> list[str]:
        return [query + "!"]

    async def acall(self, query: str) -> list[str]:
        return [query + "?"]


def hidden_coroutine(query: str) -> Any:
    return coroutine(query)


@pytest.mark.parametrize("expander", [plain, coroutine, hidden_coroutine, lambda q: (q + "!",)])
async def test_any_callable_will_do_on_both_paths(expander: Any) -> None:
    assert expand(expander, "q") == ["q!"]  # also from inside a running loop
    assert await aexpand(expander, "q") == ["q!"]


def test_a_coroutine_function_works_without_a_running_loop() -> None:
    assert expand(coroutine, "q") == ["q!"]


async def test_a_native_asynchronous_path_is_preferred_where_there_is_one() -> None:
    assert expand(Both(), "q") == ["q!"]
    assert await aexpand(Both(), "q") == ["q?"]


async def test_a_synchronous_expander_does_not_block_the_loop() -> None:
    threads = []

    def slow(query: str) -> list[str]:
        threads.append(threading.current_thread())
        return []

    await aexpand(slow, "q")
    assert threads[0] is not threading.main_thread()


async def test_blank_queries_are_not_searched() -> None:
    assert expand(lambda query: ["a", " ", ""], "q") == ["a"]
    assert await aexpand(lambda query: ["a", " ", ""], "q") == ["a"]


async def test_what_is_no_list_of_texts_is_an_error() -> None:
    for wrong in ("one text", [1, 2], None, 3):
        with pytest.raises(TypeError, match="query_expander must give a list of queries"):
            expand(lambda query, answer=wrong: answer, "q")
        with pytest.raises(TypeError, match="query_expander must give a list of queries"):
            await aexpand(lambda query, answer=wrong: answer, "q")
