"""The LLM judge: batches, answers that go wrong, retries, budget, tokens, frameworks."""

from __future__ import annotations

import asyncio
import math
import pickle
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gcmem import Collector, Memory
from gcmem.detectors import AsyncDetector, CascadeDetector, Detector, LLMDetector
from gcmem.detectors.asking import InventedNumberWarning
from gcmem.detectors.chat import Prompt, chat_model
from gcmem.detectors.quoting import dated
from tests.detectors.models import Judge, Script, data_of, pairs_of, verdicts
from tests.support import ScriptedDetector, slot_rule

PAIRS = [("lamp=green", "lamp=red"), ("lamp=green", "door=red"), ("a=1", "a=2")]
EXPECTED = [1.0, 0.0, 1.0]


def judge_of(model: Any, **options: Any) -> LLMDetector:
    return LLMDetector(model, **{"name": "scripted", "backoff": 0.0, **options})


class TestOneAnswer:
    def test_it_is_a_detector_with_an_asynchronous_path(self) -> None:
        detector = judge_of(Judge(slot_rule))
        assert isinstance(detector, Detector)
        assert isinstance(detector, AsyncDetector)

    def test_each_pair_gets_the_score_of_its_own_number(self) -> None:
        scores = judge_of(Judge(slot_rule)).score(PAIRS)
        assert scores.dtype == np.float32
        assert scores.tolist() == EXPECTED

    def test_no_pairs_make_no_call(self) -> None:
        model = Judge(slot_rule)
        assert judge_of(model).score([]).shape == (0,)
        assert model.prompts == []

    def test_many_pairs_go_into_one_call_and_the_rest_into_more(self) -> None:
        model = Judge(slot_rule)
        pairs = [(f"s{i}=1", f"s{i}={i % 2 + 1}") for i in range(25)]
        scores = judge_of(model, pairs_per_call=10).score(pairs)
        assert scores.tolist() == [float(i % 2) for i in range(25)]
        assert sorted(len(pairs_of(prompt)) for prompt in model.prompts) == [5, 10, 10]

    def test_long_statements_make_smaller_calls_and_a_longer_one_goes_alone(self) -> None:
        model = Judge(lambda older, newer: False)
        pairs = [("a" * 30, "b" * 10), ("c" * 30, "d" * 10), ("e" * 500, "f"), ("g", "h")]
        judge_of(model, characters_per_call=100, concurrency=1).score(pairs)
        assert [sorted(pairs_of(prompt)) for prompt in model.prompts] == [[1, 2], [3], [4]]

    @pytest.mark.parametrize(
        "answer",
        [
            '{"verdicts": [{"pair": 1, "verdict": "yes", "probability": 0.8}]}',
            '[{"pair": 1, "verdict": "yes", "probability": 0.8}]',
            '```json\n{"verdicts": [{"pair": "1", "verdict": "Yes", "probability": 0.8}]}\n```',
            'Sure: {"verdicts": [{"pair": 1, "verdict": true, "probability": 0.8}]} Anything else?',
            '<think>{"verdicts": []} hm</think>[{"pair": 1, "verdict": "yes", "probability": 0.8}]',
        ],
    )
    def test_usual_ways_to_write_json_are_read(self, answer: str) -> None:
        assert judge_of(Script(answer)).score(PAIRS[:1])[0] == pytest.approx(0.8)

    def test_a_verdict_without_a_probability_is_certain(self) -> None:
        answer = '{"verdicts": [{"pair": 1, "verdict": "yes"}, {"pair": 2, "verdict": "no"}]}'
        assert judge_of(Script(answer)).score(PAIRS[:2]).tolist() == [1.0, 0.0]


class TestAnswersThatGoWrong:
    def test_an_invented_number_is_ignored_with_a_warning(self) -> None:
        answer = verdicts({1: 0.1, 12: 1.0})
        detector = judge_of(Script(answer))
        with pytest.warns(InventedNumberWarning, match="12"):
            scores = detector.score(PAIRS[:1])
        assert scores[0] == pytest.approx(0.1)
        assert detector.usage.invented == 1
        assert detector.usage.calls == 1

    def test_field_case_a16_nothing_is_dropped_for_an_invented_number(self) -> None:
        memories = [
            Memory("The lamp is green.", "2026-01-01", id="a"),
            Memory("The lamp is red.", "2026-02-01", id="b"),
        ]
        answer = verdicts({12: 1.0})
        with pytest.warns(InventedNumberWarning):
            collection = Collector(judge_of(Script(answer, answer))).collect("lamp?", memories)
        assert [memory.id for memory in collection.kept] == ["a", "b"]
        assert collection.shadowed == []

    def test_missing_pairs_are_asked_once_more_and_only_they(self) -> None:
        model = Script(verdicts({1: 0.9}), verdicts({2: 0.2, 3: 0.7}))
        detector = judge_of(model)
        assert detector.score(PAIRS).tolist() == pytest.approx([0.9, 0.2, 0.7])
        assert sorted(pairs_of(model.prompts[1])) == [2, 3]
        assert detector.usage.repairs == 1

    def test_what_is_still_missing_after_the_repair_has_no_verdict(self) -> None:
        model = Script("I would rather not.", verdicts({2: 0.2}))
        detector = judge_of(model)
        scores = detector.score(PAIRS)
        assert math.isnan(scores[0])
        assert scores[1] == pytest.approx(0.2)
        assert math.isnan(scores[2])
        assert detector.usage.unanswered == 2
        assert len(model.prompts) == 2

    @pytest.mark.parametrize(
        "entry",
        [
            '{"pair": 1, "verdict": "maybe", "probability": 0.9}',
            '{"pair": 1, "verdict": "yes", "probability": 1.2}',
            '{"pair": 1, "verdict": "yes", "probability": -0.1}',
            '{"pair": 1, "verdict": "yes", "probability": "high"}',
            '{"pair": 1, "verdict": "yes", "probability": NaN}',
            '{"pair": 1, "verdict": "no", "probability": 0.9}',
            '{"pair": 1, "verdict": "yes", "probability": 0.9}, {"pair": 1, "verdict": "no"}',
            '{"pair": 1}',
        ],
    )
    def test_an_unusable_or_contradictory_entry_is_no_verdict(self, entry: str) -> None:
        answer = f'{{"verdicts": [{entry}]}}'
        assert math.isnan(judge_of(Script(answer, answer)).score(PAIRS[:1])[0])

    def test_a_missing_verdict_is_not_cached_and_asked_again_next_time(self) -> None:
        memories = [Memory("lamp=green", 1, id="a"), Memory("lamp=red", 2, id="b")]
        collector = Collector(judge_of(Script("no", "no", verdicts({1: 0.9}))))
        assert len(collector.collect("", memories).kept) == 2
        assert [memory.id for memory in collector.collect("", memories).kept] == ["b"]

    def test_an_answer_without_text_is_an_error(self) -> None:
        with pytest.raises(TypeError, match="must answer with text"):
            judge_of(lambda prompt: 7).score(PAIRS)


class TestErrorsAndBudget:
    def test_a_failed_call_is_repeated(self) -> None:
        detector = judge_of(Script(ConnectionError("down"), verdicts({1: 0.9})))
        assert detector.score(PAIRS[:1])[0] == pytest.approx(0.9)
        assert (detector.usage.calls, detector.usage.retries) == (2, 1)

    def test_the_last_error_is_raised(self) -> None:
        detector = judge_of(Script(ConnectionError("1"), ConnectionError("2")), retries=1)
        with pytest.raises(ConnectionError, match="2"):
            detector.score(PAIRS[:1])

    def test_the_backoff_doubles(self, monkeypatch: pytest.MonkeyPatch) -> None:
        waits: list[float] = []
        monkeypatch.setattr("time.sleep", waits.append)
        model = Script(*(ConnectionError() for _ in range(3)), verdicts({1: 0.9}))
        judge_of(model, retries=3, backoff=0.5).score(PAIRS[:1])
        assert waits == [0.5, 1.0, 2.0]

    @pytest.mark.parametrize(
        "error",
        [TypeError("wrong argument"), type("Refused", (Exception,), {"status_code": 401})()],
    )
    def test_an_error_that_will_not_pass_is_not_repeated(self, error: Exception) -> None:
        model = Script(error)
        with pytest.raises(type(error)):
            judge_of(model, retries=5).score(PAIRS[:1])
        assert len(model.prompts) == 1

    def test_too_many_requests_is_repeated(self) -> None:
        limited = type("Limited", (Exception,), {"status_code": 429})()
        assert judge_of(Script(limited, verdicts({1: 0.9}))).score(PAIRS[:1])[0] > 0.5

    def test_past_the_budget_of_calls_there_is_no_verdict(self) -> None:
        model = Judge(slot_rule)
        detector = judge_of(model, max_calls=1, pairs_per_call=2, concurrency=1)
        scores = detector.score(PAIRS)
        assert scores[:2].tolist() == [1.0, 0.0]
        assert math.isnan(scores[2])
        assert len(model.prompts) == detector.usage.calls == 1
        assert detector.usage.unanswered == 1

    def test_past_the_deadline_no_call_begins(self) -> None:
        model = Judge(slot_rule)
        assert np.isnan(judge_of(model, deadline=0.0).score(PAIRS)).all()
        assert model.prompts == []

    def test_the_collector_keeps_what_a_broken_model_did_not_judge(self) -> None:
        memories = [Memory("lamp=green", 1, id="a"), Memory("lamp=red", 2, id="b")]
        model = Script(*(ConnectionError() for _ in range(3)))
        collection = Collector(judge_of(model), on_error="keep").collect("", memories)
        assert len(collection.kept) == 2
        assert collection.stats.pairs_unjudged == 1

    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("threshold", 0.0),
            ("threshold", 1.5),
            ("pairs_per_call", 0),
            ("characters_per_call", 0),
            ("concurrency", 0),
            ("retries", -1),
            ("backoff", -1.0),
            ("max_calls", -1),
            ("deadline", -1.0),
        ],
    )
    def test_an_option_out_of_range_is_named(self, option: str, value: float) -> None:
        with pytest.raises(ValueError, match=option):
            judge_of(Judge(slot_rule), **{option: value})

    def test_a_model_of_no_known_form_is_refused(self) -> None:
        with pytest.raises(TypeError, match="model must be"):
            LLMDetector(object())


class TestConcurrency:
    def test_threads_never_exceed_the_limit_and_reach_it(self) -> None:
        barrier = threading.Barrier(3, timeout=10)
        lock = threading.Lock()
        running: list[int] = [0, 0]

        def model(prompt: str) -> str:
            with lock:
                running[0] += 1
                running[1] = max(running)
            barrier.wait()  # passes only when three calls are in flight
            with lock:
                running[0] -= 1
            return verdicts(dict.fromkeys(pairs_of(prompt), 0.0))

        judge_of(model, concurrency=3, pairs_per_call=1).score([("a", str(i)) for i in range(6)])
        assert running[1] == 3

    async def test_coroutines_never_exceed_the_limit_over_several_scores(self) -> None:
        running: list[int] = [0, 0]

        async def model(prompt: str) -> str:
            running[0] += 1
            running[1] = max(running)
            await asyncio.sleep(0)
            running[0] -= 1
            return verdicts(dict.fromkeys(pairs_of(prompt), 0.0))

        detector = judge_of(model, concurrency=2, pairs_per_call=1)
        pairs = [("a", str(i)) for i in range(5)]
        await asyncio.gather(detector.ascore(pairs), detector.ascore(pairs))
        assert running[1] == 2

    async def test_both_paths_give_the_same_scores(self) -> None:
        detector = judge_of(Judge(slot_rule), pairs_per_call=1)
        assert (await detector.ascore(PAIRS)).tolist() == detector.score(PAIRS).tolist()

    async def test_the_asynchronous_path_repairs_and_repeats_too(self) -> None:
        model = Script(ConnectionError(), "nonsense", verdicts({1: 0.9}))
        detector = judge_of(model)
        assert (await detector.ascore(PAIRS[:1]))[0] == pytest.approx(0.9)
        assert (detector.usage.retries, detector.usage.repairs) == (1, 1)

    async def test_an_asynchronous_error_is_raised_and_leaves_no_call_behind(self) -> None:
        never, both_wait = asyncio.Event(), asyncio.Event()
        waiting: list[bool] = []
        cancelled: list[bool] = []

        async def model(prompt: str) -> str:
            if 1 in pairs_of(prompt):
                await both_wait.wait()
                raise TypeError("broken")
            waiting.append(True)
            if len(waiting) == len(PAIRS) - 1:
                both_wait.set()
            try:
                await never.wait()
            except asyncio.CancelledError:
                cancelled.append(True)
                raise
            return ""

        detector = judge_of(model, pairs_per_call=1)
        with pytest.raises(TypeError, match="broken"):
            await detector.ascore(PAIRS)
        assert cancelled == [True, True]

    async def test_a_coroutine_function_also_serves_the_blocking_path(self) -> None:
        async def model(prompt: str) -> str:
            await asyncio.sleep(0)
            return verdicts(dict.fromkeys(pairs_of(prompt), 0.7))

        assert judge_of(model).score(PAIRS[:1])[0] == pytest.approx(0.7)

    async def test_the_collector_awaits_it(self) -> None:
        memories = [Memory("lamp=green", 1, id="a"), Memory("lamp=red", 2, id="b")]
        collection = await Collector(judge_of(Judge(slot_rule))).acollect("", memories)
        assert [memory.id for memory in collection.kept] == ["b"]


class TestPromptContent:
    def test_a_date_before_a_statement_is_given_as_its_date(self) -> None:
        model = Judge(slot_rule)
        judge_of(model).score([(dated("lamp=green", "2025-03-14"), "[note] lamp=red")])
        assert data_of(model.prompts[0])[0] == {
            "pair": 1,
            "OLDER": {"recorded": "2025-03-14T00:00:00+00:00", "text": "lamp=green"},
            "NEWER": {"text": "[note] lamp=red"},
        }

    def test_digits_in_brackets_that_are_no_date_stay_in_the_statement(self) -> None:
        model = Judge(slot_rule)
        judge_of(model).score([("[2025-19-99] x", "[12] y")])
        assert pairs_of(model.prompts[0]) == {1: ("[2025-19-99] x", "[12] y")}

    def test_the_question_is_shown_only_where_it_is_wanted(self) -> None:
        for wanted in (False, True):
            model = Judge(slot_rule)
            detector = judge_of(model, use_query=wanted)
            detector.score(PAIRS, "Which colour is the lamp?")
            assert detector.uses_query is wanted
            assert ("Which colour" in model.prompts[0]) is wanted


class TestTokens:
    def answer(self, text: str, alternatives: list[dict[str, float]], chosen: str) -> Any:
        """An OpenAI-style answer whose verdict token has these alternatives."""
        head, _, tail = text.partition(chosen)
        entries = [
            {"token": head, "logprob": 0.0, "top_logprobs": []},
            {
                "token": chosen,
                "logprob": math.log(alternatives[0][chosen]),
                "top_logprobs": [
                    {"token": token, "logprob": math.log(p)} for token, p in alternatives[0].items()
                ],
            },
            {"token": tail, "logprob": 0.0, "top_logprobs": []},
        ]
        return SimpleNamespace(content=text, response_metadata={"logprobs": {"content": entries}})

    TEXT = '{"verdicts": [{"pair": 1, "verdict": "yes", "probability": 0.99}]}'

    def test_the_probability_of_the_token_yes_is_the_score(self) -> None:
        answer = self.answer(self.TEXT, [{"yes": 0.6, "no": 0.2, "maybe": 0.2}], "yes")
        detector = judge_of(lambda prompt: answer)
        assert detector.score(PAIRS[:1])[0] == pytest.approx(0.75)
        assert detector.usage.from_log_probabilities == 1

    def test_a_token_with_the_quotation_mark_before_it_is_read(self) -> None:
        answer = self.answer(self.TEXT, [{' "yes': 0.9, ' "no': 0.1}], ' "yes')
        assert judge_of(lambda prompt: answer).score(PAIRS[:1])[0] == pytest.approx(0.9)

    def test_without_alternatives_the_token_alone_counts(self) -> None:
        answer = self.answer(self.TEXT, [{"yes": 0.7}], "yes")
        assert judge_of(lambda prompt: answer).score(PAIRS[:1])[0] == pytest.approx(0.7)
        text = self.TEXT.replace("yes", "no").replace("0.99", "0.01")
        answer = self.answer(text, [{"no": 0.7}], "no")
        assert judge_of(lambda prompt: answer).score(PAIRS[:1])[0] == pytest.approx(0.3)

    def test_tokens_that_are_not_the_answer_are_not_used(self) -> None:
        answer = self.answer(self.TEXT, [{"yes": 0.6, "no": 0.4}], "yes")
        answer.content += " "
        detector = judge_of(lambda prompt: answer)
        assert detector.score(PAIRS[:1])[0] == pytest.approx(0.99)
        assert detector.usage.from_log_probabilities == 0

    @pytest.mark.parametrize(
        "extra",
        [
            {"usage_metadata": {"input_tokens": 30, "output_tokens": 7, "total_tokens": 37}},
            {"raw": SimpleNamespace(usage={"prompt_tokens": 30, "completion_tokens": 7})},
            {"additional_kwargs": {"prompt_tokens": 30, "completion_tokens": 7}},
        ],
    )
    def test_token_counts_are_added_up(self, extra: dict[str, Any]) -> None:
        answer = SimpleNamespace(text=self.TEXT, **extra)
        detector = judge_of(lambda prompt: answer)
        detector.score(PAIRS[:1])
        detector.score(PAIRS[:1])
        assert (detector.usage.input_tokens, detector.usage.output_tokens) == (60, 14)
        assert detector.usage.calls_without_counts == 0

    def test_answers_without_counts_are_counted(self) -> None:
        detector = judge_of(Judge(slot_rule))
        detector.score(PAIRS)
        assert detector.usage.calls_without_counts == 1


class TestNames:
    def test_the_name_is_that_of_the_model_and_changes_with_it(self) -> None:
        def answer(prompt: str) -> str:
            return ""

        names = {
            chat_model(SimpleNamespace(invoke=print, model_name="gpt-x")).name,
            chat_model(SimpleNamespace(bound=SimpleNamespace(model="gpt-y"), invoke=print)).name,
            chat_model(
                SimpleNamespace(complete=print, metadata=SimpleNamespace(model_name="llama-z"))
            ).name,
            chat_model(answer).name,
        }
        assert {"gpt-x", "gpt-y", "llama-z"} < names
        assert any(name.endswith("answer") for name in names)
        assert judge_of(Judge(slot_rule)).name.startswith("llm:scripted:")

    def test_it_can_be_pickled_with_its_model(self) -> None:
        detector = judge_of(Script(verdicts({1: 0.9}), verdicts({1: 0.8})))
        detector.score(PAIRS[:1])
        copy = pickle.loads(pickle.dumps(detector))
        assert copy.score(PAIRS[:1])[0] == pytest.approx(0.8)
        assert (copy.usage.calls, detector.usage.calls) == (2, 1)


class TestFrameworks:
    ANSWER = verdicts({1: 0.9})

    async def test_a_langchain_chat_model_is_asked_with_system_and_human_messages(self) -> None:
        pytest.importorskip("langchain_core")
        from langchain_core.callbacks import BaseCallbackHandler
        from langchain_core.language_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage

        class Recorder(BaseCallbackHandler):
            def __init__(self) -> None:
                self.seen: list[Any] = []

            def on_chat_model_start(self, serialized: Any, messages: Any, **_: Any) -> None:
                self.seen.append(messages[0])

        counts = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
        messages = iter([AIMessage(self.ANSWER, usage_metadata=counts)] * 2)
        recorder = Recorder()
        model = GenericFakeChatModel(messages=messages, callbacks=[recorder])
        detector = judge_of(model)
        assert detector.score(PAIRS[:1])[0] == pytest.approx(0.9)
        assert (await detector.ascore(PAIRS[:1]))[0] == pytest.approx(0.9)
        assert [message.type for message in recorder.seen[0]] == ["system", "human"]
        assert detector.usage.input_tokens == 10

    def test_a_bound_langchain_model_is_taken_too(self) -> None:
        pytest.importorskip("langchain_core")
        from langchain_core.language_models import FakeListChatModel

        model = FakeListChatModel(responses=[self.ANSWER]).bind(stop=["\n\n\n"])
        assert judge_of(model).score(PAIRS[:1])[0] == pytest.approx(0.9)

    def test_log_probabilities_of_a_langchain_message_are_read(self) -> None:
        pytest.importorskip("langchain_core")
        from langchain_core.language_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage

        plain = TestTokens().answer(TestTokens.TEXT, [{"yes": 0.6, "no": 0.2}], "yes")
        message = AIMessage(plain.content, response_metadata=plain.response_metadata)
        detector = judge_of(GenericFakeChatModel(messages=iter([message])))
        assert detector.score(PAIRS[:1])[0] == pytest.approx(0.75)

    async def test_a_llamaindex_llm_is_asked_with_one_text(self) -> None:
        pytest.importorskip("llama_index.core")
        from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata

        answer, asked = self.ANSWER, []

        class Scripted(CustomLLM):
            @property
            def metadata(self) -> LLMMetadata:
                return LLMMetadata(model_name="scripted-llama")

            def complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
                asked.append(prompt)
                counts = {"prompt_tokens": 5, "completion_tokens": 2}
                return CompletionResponse(text=answer, additional_kwargs=counts)

            def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
                raise NotImplementedError

        detector = LLMDetector(Scripted())
        assert detector.name.startswith("llm:scripted-llama:")
        assert detector.score(PAIRS[:1])[0] == pytest.approx(0.9)
        assert (await detector.ascore(PAIRS[:1]))[0] == pytest.approx(0.9)
        assert pairs_of(asked[0]) == {1: PAIRS[0]}
        assert detector.usage.input_tokens == 10

    def test_the_prompt_for_a_plain_function_holds_instructions_and_data(self) -> None:
        prompt = Prompt("be good", "data")
        assert prompt.text == "be good\n\ndata"


def dated_pair() -> list[Memory]:
    return [
        Memory("The depot is in Ulm.", "2025-03-01", id="old"),
        Memory("The depot is in Kiel.", "2026-02-01", id="new"),
    ]


class TestInACollection:
    TEXT = '{"verdicts": [{"pair": 1, "verdict": "yes", "probability": 0.99}]}'

    def costly(self, prompt: str) -> Any:
        counts = {"input_tokens": 30, "output_tokens": 7, "total_tokens": 37}
        return SimpleNamespace(text=self.TEXT, usage_metadata=counts)

    def test_the_model_is_given_the_time_of_each_statement(self) -> None:
        judge = Judge(lambda older, newer: 0.9)
        collection = Collector(judge_of(judge)).collect("Where is the depot?", dated_pair())
        assert [memory.id for memory in collection.kept] == ["new"]
        (entry,) = (entry for entry in data_of(judge.prompts[0]) if "pair" in entry)
        assert entry["OLDER"] == {
            "recorded": "2025-03-01T00:00:00+00:00",
            "text": "The depot is in Ulm.",
        }
        assert entry["NEWER"]["recorded"].startswith("2026-02-01")

    def test_without_dates_the_same_words_at_another_time_need_no_new_call(self) -> None:
        judge = Judge(lambda older, newer: 0.9)
        collector = Collector(judge_of(judge, use_dates=False))
        later = [
            Memory(memory.text, f"2026-0{month}-01", id=memory.id)
            for month, memory in enumerate(dated_pair(), 3)
        ]
        collector.collect("Where is the depot?", dated_pair())
        collector.collect("Where is the depot?", later)
        assert len(judge.prompts) == 1
        (entry,) = (entry for entry in data_of(judge.prompts[0]) if "pair" in entry)
        assert entry["OLDER"] == {"text": "The depot is in Ulm."}

    def test_equal_texts_of_two_dates_are_not_put_to_the_model(self) -> None:
        judge = Judge(lambda older, newer: 0.9)
        twice = [
            Memory("The depot is in Ulm.", day, id=day) for day in ("2025-03-01", "2026-03-01")
        ]
        assert len(Collector(judge_of(judge)).collect("Where is the depot?", twice)) == 2
        assert judge.prompts == []

    def test_calls_and_tokens_stand_in_the_stats(self) -> None:
        stats = Collector(judge_of(self.costly)).collect("Where?", dated_pair()).stats
        assert (stats.model_calls, stats.input_tokens, stats.output_tokens) == (1, 30, 7)

    async def test_collections_that_run_at_once_count_their_own_tokens_only(self) -> None:
        collector = Collector(judge_of(self.costly), cache=False)
        some, none = await asyncio.gather(
            collector.acollect("Where?", dated_pair()), collector.acollect("Where?", [])
        )
        assert (some.stats.input_tokens, none.stats.input_tokens) == (30, 0)

    def test_verdicts_are_shared_through_a_file_given_by_its_path(self, tmp_path: Path) -> None:
        path = tmp_path / "verdicts.db"
        Collector(judge_of(self.costly), cache=path).collect("Where?", dated_pair())
        again = Collector(judge_of(self.costly), cache=str(path)).collect("Where?", dated_pair())
        assert (again.stats.cache_hits, again.stats.model_calls) == (1, 0)

    def test_a_cascade_shows_dates_only_to_the_stage_that_reads_them(self) -> None:
        judge = Judge(lambda older, newer: 0.9)
        first = ScriptedDetector(lambda older, newer: 0.5 if "[" not in older + newer else 0.0)
        collection = Collector(CascadeDetector(first, judge_of(judge), band=(0.2, 0.8))).collect(
            "Where is the depot?", dated_pair()
        )
        assert [memory.id for memory in collection.kept] == ["new"]
        assert "2025-03-01" in judge.prompts[0]


def test_a_cache_that_is_none_is_an_error() -> None:
    with pytest.raises(TypeError, match="cache must be"):
        Collector("explicit", cache=object())  # type: ignore[arg-type]
