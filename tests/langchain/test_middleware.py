from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.prompts import PromptTemplate
from langchain_core.tools import create_retriever_tool
from langgraph.types import Command
from pydantic import ValidationError

from langchain_gcmem import GCMemMiddleware
from langchain_gcmem.messages import CLEARED_TEXT
from tests.langchain.support import (
    ListRetriever,
    RecordingHandler,
    ScriptedChatModel,
    doc,
    ruled,
    slot_collector,
    texts,
)

NOTES = [doc("city=Ulm", 1), doc("job=cook", 1), doc("city=Kiel", 2)]


def calling(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": "call-1"}])


def model_that_calls(name: str, **arguments: Any) -> ScriptedChatModel:
    return ScriptedChatModel(answers=[calling(name, **arguments), AIMessage("done")])


def notes_tool(documents: Sequence[Document] = NOTES, **options: Any) -> Any:
    options.setdefault("response_format", "content_and_artifact")
    base = ListRetriever(documents=list(documents))
    return create_retriever_tool(base, "notes", "Searches notes.", **options)


async def run_agent(agent: Any, messages: list[Any], *, native: bool, **config: Any) -> list[Any]:
    given = {"messages": messages}
    state = await agent.ainvoke(given, config) if native else agent.invoke(given, config)
    return list(state["messages"])


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def native(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


class TestToolResults:
    async def test_artifact_and_text_are_cleaned_and_the_call_keeps_its_result(
        self, native: bool
    ) -> None:
        model = model_that_calls("notes", query="city")
        middleware = GCMemMiddleware(collector=slot_collector())
        agent = create_agent(model, tools=[notes_tool()], middleware=[middleware])
        messages = await run_agent(agent, [HumanMessage("Which city?")], native=native)
        result = messages[2]
        assert isinstance(result, ToolMessage)
        assert result.tool_call_id == "call-1"
        assert result.content == "job=cook\n\ncity=Kiel"
        assert all(left is right for left, right in zip(result.artifact, NOTES[1:], strict=True))
        assert model.shown[-1][-1].content == "job=cook\n\ncity=Kiel"

    async def test_the_text_is_written_as_the_tool_writes_it(self, native: bool) -> None:
        prompt = PromptTemplate.from_template("* {page_content} ({created_at})")
        shape = {"document_prompt": prompt, "document_separator": "\n"}
        agent = create_agent(
            model_that_calls("notes", query="city"),
            tools=[notes_tool(**shape)],
            middleware=[GCMemMiddleware(collector=slot_collector(), **shape)],
        )
        messages = await run_agent(agent, [HumanMessage("Which city?")], native=native)
        assert messages[2].content == "* job=cook (1)\n* city=Kiel (2)"

    async def test_a_cut_document_is_a_copy(self, native: bool) -> None:
        old, new = doc("I live in Leeds. I like tea.", 1), doc("I moved to York.", 2)
        collector = ruled(lambda older, newer: "Leeds" in older and "York" in newer)
        agent = create_agent(
            model_that_calls("notes", query="home"),
            tools=[notes_tool([old, new])],
            middleware=[GCMemMiddleware(collector=collector)],
        )
        messages = await run_agent(agent, [HumanMessage("Where?")], native=native)
        assert messages[2].content == "I like tea.\n\nI moved to York."
        assert messages[2].artifact[0].id == old.id
        assert old.page_content == "I live in Leeds. I like tea."

    async def test_a_result_in_which_nothing_is_stale_is_not_touched(self, native: bool) -> None:
        agent = create_agent(
            model_that_calls("notes", query="city"),
            tools=[notes_tool(NOTES[1:], document_separator=" | ")],
            middleware=[GCMemMiddleware(collector=slot_collector())],
        )
        messages = await run_agent(agent, [HumanMessage("Which city?")], native=native)
        assert messages[2].content == "job=cook | city=Kiel"

    async def test_a_result_that_is_only_a_text_is_left_alone(self, native: bool) -> None:
        agent = create_agent(
            model_that_calls("notes", query="city"),
            tools=[notes_tool(response_format="content")],
            middleware=[GCMemMiddleware(collector=slot_collector())],
        )
        messages = await run_agent(agent, [HumanMessage("Which city?")], native=native)
        assert messages[2].content == "city=Ulm\n\njob=cook\n\ncity=Kiel"

    async def test_only_the_named_tools_are_cleaned(self, native: bool) -> None:
        agent = create_agent(
            model_that_calls("notes", query="city"),
            tools=[notes_tool()],
            middleware=[GCMemMiddleware(collector=slot_collector(), tool_names=["other"])],
        )
        messages = await run_agent(agent, [HumanMessage("Which city?")], native=native)
        assert len(messages[2].artifact) == 3

    async def test_documents_in_a_command_are_cleaned(self, native: bool) -> None:
        @tool
        def search(query: str, runtime: ToolRuntime) -> Command[Any]:
            """Search notes."""
            content = "\n\n".join(texts(NOTES))
            message = ToolMessage(content, tool_call_id=runtime.tool_call_id, artifact=NOTES)
            return Command(update={"messages": [message]})

        agent = create_agent(
            model_that_calls("search", query="city"),
            tools=[search],
            middleware=[GCMemMiddleware(collector=slot_collector())],
        )
        messages = await run_agent(agent, [HumanMessage("Which city?")], native=native)
        assert messages[2].content == "job=cook\n\ncity=Kiel"

    async def test_the_judge_is_told_what_the_tool_was_asked(self, native: bool) -> None:
        asked: list[str | None] = []
        collector = slot_collector()
        judged = collector.detector.score
        collector.detector.score = lambda pairs, query=None: (asked.append(query), judged(pairs))[1]
        agent = create_agent(
            model_that_calls("notes", query="which city"),
            tools=[notes_tool()],
            middleware=[GCMemMiddleware(collector=collector)],
        )
        await run_agent(agent, [HumanMessage("Tell me.")], native=native)
        assert set(asked) == {"which city"}

    async def test_the_collection_is_visible_to_callbacks(self, native: bool) -> None:
        handler = RecordingHandler()
        agent = create_agent(
            model_that_calls("notes", query="city"),
            tools=[notes_tool()],
            middleware=[GCMemMiddleware(collector=slot_collector())],
        )
        await run_agent(agent, [HumanMessage("q")], native=native, callbacks=[handler])
        assert [report["kept"] for _, report, _ in handler.events] == [["job=cook", "city=Kiel"]]


def said(text: Any, when: Any = None, **fields: Any) -> HumanMessage:
    extra = {} if when is None else {"created_at": when}
    return HumanMessage(text, additional_kwargs=extra, **fields)


def cleaning_agent(model: ScriptedChatModel, **options: Any) -> Any:
    options.setdefault("collector", slot_collector())
    return create_agent(model, middleware=[GCMemMiddleware(clean_messages=True, **options)])


def silent_model() -> ScriptedChatModel:
    return ScriptedChatModel(answers=[AIMessage("ok")])


def shown_texts(model: ScriptedChatModel) -> list[Any]:
    return [message.content for message in model.shown[-1]]


class TestVisibleHistory:
    async def test_by_default_the_history_is_shown_as_it_is(self, native: bool) -> None:
        model = silent_model()
        agent = create_agent(model, middleware=[GCMemMiddleware(collector=slot_collector())])
        history = [said("city=Ulm"), said("city=Kiel"), said("Where?")]
        await run_agent(agent, history, native=native)
        assert shown_texts(model) == ["city=Ulm", "city=Kiel", "Where?"]

    async def test_a_contradicted_statement_is_replaced_and_the_state_keeps_it(
        self, native: bool
    ) -> None:
        model = silent_model()
        history = [said("city=Ulm", id="1"), AIMessage("Noted."), said("city=Kiel"), said("Where?")]
        messages = await run_agent(cleaning_agent(model), history, native=native)
        assert shown_texts(model) == [CLEARED_TEXT, "Noted.", "city=Kiel", "Where?"]
        assert model.shown[-1][0].response_metadata["gcmem"]["cleared"] is True
        assert [m.content for m in messages] == ["city=Ulm", "Noted.", "city=Kiel", "Where?", "ok"]
        assert messages[:4] == history
        assert all(message.response_metadata == {} for message in history)

    async def test_only_the_contradicted_sentence_is_cut(self, native: bool) -> None:
        model = silent_model()
        collector = ruled(lambda older, newer: "Leeds" in older and "York" in newer)
        history = [said("I live in Leeds. I like tea."), said("I moved to York."), said("Where?")]
        await run_agent(cleaning_agent(model, collector=collector), history, native=native)
        assert shown_texts(model) == ["I like tea.", "I moved to York.", "Where?"]

    async def test_times_come_before_the_order_in_the_history(self, native: bool) -> None:
        model = silent_model()
        history = [said("city=Kiel", "2026-02-01"), said("city=Ulm", "2026-01-01"), said("Where?")]
        await run_agent(cleaning_agent(model), history, native=native)
        assert shown_texts(model) == ["city=Kiel", CLEARED_TEXT, "Where?"]

    async def test_a_time_in_response_metadata_is_read_too(self, native: bool) -> None:
        model = silent_model()
        history = [
            HumanMessage("city=Kiel", response_metadata={"created_at": "2026-02-01"}),
            HumanMessage("city=Ulm", response_metadata={"created_at": "2026-01-01"}),
            said("Where?"),
        ]
        await run_agent(cleaning_agent(model), history, native=native)
        assert shown_texts(model) == ["city=Kiel", CLEARED_TEXT, "Where?"]

    async def test_an_undated_message_never_beats_a_dated_one(self, native: bool) -> None:
        model = silent_model()
        history = [said("city=Ulm", "2026-01-01"), said("city=Kiel"), said("Where?")]
        await run_agent(cleaning_agent(model), history, native=native)
        assert shown_texts(model)[0] == "city=Ulm"

    async def test_what_the_user_said_last_stays_even_where_an_earlier_time_says_otherwise(
        self, native: bool
    ) -> None:
        model = silent_model()
        history = [said("city=Kiel", "2026-02-01"), said("city=Ulm", "2026-01-01")]
        await run_agent(cleaning_agent(model), history, native=native)
        assert shown_texts(model) == ["city=Kiel", "city=Ulm"]

    async def test_tool_calls_and_their_results_stay_whole(self, native: bool) -> None:
        model = silent_model()
        history: list[BaseMessage] = [
            said("city=Ulm"),
            calling("notes", query="q"),
            ToolMessage("city=Ulm", tool_call_id="call-1", name="notes"),
            AIMessage("city=Ulm"),
            said("city=Kiel"),
            said("Where?"),
        ]
        await run_agent(cleaning_agent(model), history, native=native)
        shown = model.shown[-1]
        assert [message.type for message in shown] == [message.type for message in history]
        assert shown[1].tool_calls[0]["id"] == shown[2].tool_call_id == "call-1"
        assert shown[2].content == "city=Ulm"

    async def test_only_text_blocks_of_a_message_are_statements(self, native: bool) -> None:
        model = silent_model()
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
        blocks = [image, {"type": "text", "text": "city=Ulm"}, {"type": "text", "text": "job=cook"}]
        history = [said(blocks), said("city=Kiel"), said("Where?")]
        await run_agent(cleaning_agent(model), history, native=native)
        assert shown_texts(model)[0] == [
            image,
            {"type": "text", "text": CLEARED_TEXT},
            {"type": "text", "text": "job=cook"},
        ]
        assert blocks[1]["text"] == "city=Ulm"

    async def test_history_true_removes_nothing(self, native: bool) -> None:
        model = silent_model()
        history = [said("city=Ulm"), said("city=Kiel"), said("Where?")]
        await run_agent(cleaning_agent(model, history=True), history, native=native)
        assert shown_texts(model) == ["city=Ulm", "city=Kiel", "Where?"]

    async def test_the_collector_of_the_user_is_not_changed(self, native: bool) -> None:
        collector = slot_collector()
        agent = cleaning_agent(silent_model(), collector=collector)
        await run_agent(agent, [said("city=Ulm"), said("city=Kiel"), said("?")], native=native)
        assert collector.tie_breaker is None


class TestConstruction:
    def test_two_of_them_can_be_used_under_two_names(self) -> None:
        first = GCMemMiddleware(collector=slot_collector())
        second = GCMemMiddleware(collector=slot_collector(), name="second")
        assert [first.name, second.name] == ["GCMemMiddleware", "second"]
        agent = create_agent(silent_model(), middleware=[first, second])
        assert agent.invoke({"messages": [said("hi")]})["messages"][-1].content == "ok"

    def test_a_misspelt_option_is_an_error(self) -> None:
        with pytest.raises(ValidationError, match="timestamp_keys"):
            GCMemMiddleware(timestamp_keys=["date"])

    def test_tool_names_as_one_text_are_an_error(self) -> None:
        with pytest.raises(TypeError, match="tool_names must be a collection"):
            GCMemMiddleware(tool_names="notes")
