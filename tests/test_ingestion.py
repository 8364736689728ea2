"""Sessions as records, and records in stores."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import chromadb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_chroma import Chroma
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.vector_stores.chroma import ChromaVectorStore

from gcmem import Collector
from gcmem.ingestion import MemoryStream, Message, Record
from gcmem.record_writing import IngestionError, RecordStore, write_records
from langchain_gcmem.ingestion import VectorStoreRecords, write_to_vector_store
from langchain_gcmem.retriever import GCMemRetriever
from llamaindex_gcmem.ingestion import IndexRecords, write_to_index
from tests.langchain.support import WordHashEmbeddings
from tests.llamaindex.support import HashEmbedding

SESSION = [
    Message("user", "I moved to Kiel last week.", "2026-03-02T09:00:00+08:00"),
    Message("assistant", "Noted!", datetime(2026, 3, 2, 1, 0, 5, tzinfo=UTC)),
    Message("tool", "{}", 1772413210),
    Message("user", "   ", "2026-03-02T01:00:20Z"),
    Message("user", "My cat is grey.", None, {"page": 3}),
]


def records(count: int = 5) -> list[Record]:
    said = [Message("user", f"Fact number {n}.", 86_400 * n) for n in range(count)]
    return MemoryStream(session="s1", scope={"user_id": "u7"}).to_records(said)


class TestRecords:
    def test_one_record_per_message_with_text_of_a_wanted_role(self) -> None:
        made = MemoryStream().to_records(SESSION)
        assert [record.text for record in made] == [
            "I moved to Kiel last week.",
            "Noted!",
            "My cat is grey.",
        ]
        every = MemoryStream(roles=None).to_records(SESSION)
        assert len(every) == 4

    def test_metadata_says_who_when_where_and_nothing_that_a_store_refuses(self) -> None:
        stream = MemoryStream(session="s1", scope={"user_id": "u7"})
        first, second, third = stream.to_records(SESSION)
        assert first.metadata == {
            "role": "user",
            "authority": 1.0,
            "user_id": "u7",
            "session_id": "s1",
            "created_at": 1772413200.0,
            "anchor": "2026-03-02T09:00:00+08:00",
        }
        assert second.metadata["authority"] == 0.0
        assert third.metadata["page"] == 3

    def test_an_unknown_time_stays_unknown(self) -> None:
        record = MemoryStream().to_records(SESSION)[-1]
        assert "created_at" not in record.metadata
        assert "anchor" not in record.metadata

    @pytest.mark.parametrize(
        ("time", "anchor"),
        [
            ("2026-03-02T09:00:00+08:00", "2026-03-02T09:00:00+08:00"),
            ("2026-03-02 01:00", "2026-03-02T01:00:00+00:00"),
            ("2026-03-02", "2026-03-02T00:00:00+00:00"),
            (1772413200, "2026-03-02T01:00:00+00:00"),
            ("1772413200", "2026-03-02T01:00:00+00:00"),
            (datetime(2026, 3, 2, 9), "2026-03-02T09:00:00+00:00"),
            (
                datetime(2026, 3, 2, 9, tzinfo=timezone(timedelta(hours=-7))),
                "2026-03-02T09:00:00-07:00",
            ),
        ],
        ids=repr,
    )
    def test_a_relative_date_keeps_its_anchor_and_its_words(self, time: Any, anchor: str) -> None:
        record = MemoryStream().to_records([Message("user", "I moved last week.", time)])[0]
        assert record.metadata["anchor"] == anchor
        assert datetime.fromisoformat(anchor).timestamp() == record.metadata["created_at"]
        assert record.text == "I moved last week."

    def test_the_same_content_time_and_scope_has_the_same_id(self) -> None:
        message = Message("user", "a b", "2026-03-02T09:00:00+08:00")
        same = {"role": "user", "text": "a b", "time": "2026-03-02T01:00:00Z"}
        one = MemoryStream(scope={"u": 1, "t": 2}).to_records([message])[0]
        assert one.id == MemoryStream(scope={"t": 2, "u": 1}).to_records([same])[0].id
        assert str(uuid.UUID(one.id)) == one.id
        others = [
            MemoryStream(scope={"u": 1}).to_records([message]),
            MemoryStream(scope={"u": 1, "t": 2}).to_records([{**same, "text": "a c"}]),
            MemoryStream(scope={"u": 1, "t": 2}).to_records([{**same, "role": "assistant"}]),
            MemoryStream(scope={"u": 1, "t": 2}).to_records([{**same, "time": 5}]),
        ]
        assert len({one.id, *(other[0].id for other in others)}) == 5

    def test_a_repeated_message_is_one_record(self) -> None:
        assert len(MemoryStream().to_records([SESSION[0], SESSION[0]])) == 1

    @given(
        st.lists(
            st.sampled_from(["I live here. ", "- item\n", "\u6211\u4f4f\u3002", "x" * 30]),
            max_size=12,
        ),
        st.integers(1, 60),
    )
    def test_a_long_message_is_cut_between_statements(self, parts: list[str], most: int) -> None:
        text = "".join(parts)
        made = MemoryStream(max_characters=most).to_records([Message("user", text, 1)])
        pieces = [record.text for record in made]
        position = 0
        for piece in dict.fromkeys(pieces):
            assert text.find(piece) >= 0
        if len(set(parts)) == len(parts):
            for piece in pieces:
                position = text.index(piece, position) + len(piece)
            assert "".join("".join(pieces).split()) == "".join(text.split())
        assert all(record.metadata["created_at"] == 1.0 for record in made)

    @pytest.mark.parametrize(
        ("message", "error", "says"),
        [
            ({"role": "user", "text": "a"}, ValueError, r"messages\[1\]: .*missing: \['time'\]"),
            (
                {"role": "user", "text": "a", "time": 1, "tmie": 2},
                ValueError,
                r"messages\[1\]: .*unknown: \['tmie'\]",
            ),
            ({"role": "user", "text": "a", "time": "soon"}, ValueError, r"messages\[1\]: .*'soon'"),
            ({"role": "user", "text": 5, "time": 1}, TypeError, r"messages\[1\]: text must be"),
            (
                {"role": "user", "text": "a", "time": 1, "metadata": {"x": []}},
                TypeError,
                r"messages\[1\]: metadata\['x'\] must be a text, number or boolean",
            ),
            ("hello", TypeError, r"messages\[1\]: a message must be"),
        ],
    )
    def test_a_bad_message_is_named(self, message: Any, error: type[Exception], says: str) -> None:
        with pytest.raises(error, match=says):
            MemoryStream().to_records([SESSION[0], message])

    def test_milliseconds_are_an_error_unless_said(self) -> None:
        said = [Message("user", "a", 1772413200000)]
        with pytest.raises(ValueError, match="too large for seconds"):
            MemoryStream().to_records(said)
        made = MemoryStream(timestamp_unit="ms").to_records(said)
        assert made[0].metadata["created_at"] == 1772413200.0

    @pytest.mark.parametrize(
        ("options", "error"),
        [
            ({"max_characters": 0}, ValueError),
            ({"roles": "user"}, TypeError),
            ({"scope": "u7"}, TypeError),
            ({"scope": {"u": [1]}}, TypeError),
        ],
    )
    def test_bad_options_are_errors(self, options: dict[str, Any], error: type[Exception]) -> None:
        with pytest.raises(error):
            MemoryStream(**options)


class DictStore:
    """A store of a user's own; fails when it is told to, and may be unable to tell or to delete."""

    def __init__(self, *, tells: bool = True, deletes: bool = True) -> None:
        self.texts: dict[str, str] = {}
        self.batches: list[int] = []
        self.fails_at: int | None = None
        self.tells, self.deletes = tells, deletes

    def add(self, records: Sequence[Record]) -> None:
        self.batches.append(len(records))
        for number, record in enumerate(records):
            if self.fails_at == len(self.batches) and number == 1:
                raise OSError("disk full")
            self.texts[record.id] = record.text

    def present(self, ids: Sequence[str]) -> set[str] | None:
        return {known for known in ids if known in self.texts} if self.tells else None

    def remove(self, ids: Sequence[str]) -> None:
        if not self.deletes:
            raise NotImplementedError
        for known in ids:
            self.texts.pop(known, None)


class TestWriting:
    def test_records_are_written_in_batches_and_once(self) -> None:
        store = DictStore()
        report = write_records(records(5), store, batch_size=2)
        assert (store.batches, len(report.written), report.skipped) == ([2, 2, 1], 5, [])
        again = write_records(records(6), store, batch_size=4)
        assert (len(again.written), len(again.skipped)) == (1, 5)

    def test_a_failed_batch_leaves_nothing_and_the_next_call_goes_on(self) -> None:
        store = DictStore()
        store.fails_at = 2
        made = records(5)
        with pytest.raises(
            IngestionError, match=r"disk full.*2 records were written.*Call again"
        ) as e:
            write_records(made, store, batch_size=2)
        assert e.value.written == [record.id for record in made[:2]] == list(store.texts)
        assert e.value.failed == [record.id for record in made[2:4]]
        assert e.value.taken_back
        assert isinstance(e.value.__cause__, OSError)
        store.fails_at = None
        report = write_records(made, store, batch_size=2)
        assert (len(report.skipped), len(store.texts)) == (2, 5)

    def test_a_store_that_cannot_take_back_says_so(self) -> None:
        store = DictStore(deletes=False)
        store.fails_at = 1
        with pytest.raises(IngestionError, match="could not take them back") as error:
            write_records(records(2), store)
        assert not error.value.taken_back

    def test_a_progress_file_resumes_where_the_store_cannot_tell(self, tmp_path: Path) -> None:
        store, file = DictStore(tells=False), tmp_path / "progress.jsonl"
        store.fails_at = 2
        with pytest.raises(IngestionError):
            write_records(records(5), store, batch_size=2, progress_file=file)
        store.fails_at = None
        report = write_records(records(5), store, batch_size=2, progress_file=file)
        assert (len(report.skipped), len(report.written)) == (2, 3)
        assert sum(len(json.loads(line)["ids"]) for line in file.read_text().splitlines()) == 5

    def test_a_torn_last_line_is_written_again_and_other_damage_is_an_error(
        self, tmp_path: Path
    ) -> None:
        file = tmp_path / "progress.jsonl"
        write_records(records(4), DictStore(tells=False), batch_size=2, progress_file=file)
        file.write_text(file.read_text()[:-5])
        report = write_records(records(4), DictStore(tells=False), batch_size=2, progress_file=file)
        assert len(report.written) == 2
        assert (
            len(write_records(records(4), DictStore(tells=False), progress_file=file).written) == 0
        )
        file.write_text("{}\n" + file.read_text())
        with pytest.raises(ValueError, match=r"progress_file .* is damaged in line 1"):
            write_records(records(4), DictStore(tells=False), progress_file=file)

    def test_without_either_everything_is_written_with_a_warning(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        write_records(records(2), DictStore(tells=False))
        assert "cannot tell which ids it holds" in caplog.text

    def test_progress_is_shown_if_asked(self, capsys: pytest.CaptureFixture[str]) -> None:
        write_records(records(2), DictStore())
        assert capsys.readouterr().out == ""
        write_records(records(2), DictStore(), progress=True)
        assert "writing memories" in capsys.readouterr().out

    def test_the_size_of_a_batch_is_checked(self) -> None:
        with pytest.raises(ValueError, match="batch_size must be at least 1, got 0"):
            write_records([], DictStore(), batch_size=0)


@pytest.fixture
def chroma() -> Iterator[Any]:
    client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
    name = f"test-{uuid.uuid4().hex}"
    yield client, name
    client.delete_collection(name)


@pytest.fixture(
    params=["langchain memory", "langchain chroma", "llamaindex memory", "llamaindex chroma"]
)
def store(request: pytest.FixtureRequest, chroma: Any) -> RecordStore:
    client, name = chroma
    collection = client.get_or_create_collection(name)
    match request.param:
        case "langchain memory":
            return VectorStoreRecords(InMemoryVectorStore(WordHashEmbeddings()))
        case "langchain chroma":
            return VectorStoreRecords(
                Chroma(client=client, collection_name=name, embedding_function=WordHashEmbeddings())
            )
        case "llamaindex memory":
            return IndexRecords(VectorStoreIndex([], embed_model=HashEmbedding()))
        case _:
            context = StorageContext.from_defaults(
                vector_store=ChromaVectorStore(chroma_collection=collection)
            )
            return IndexRecords(
                VectorStoreIndex([], storage_context=context, embed_model=HashEmbedding())
            )


class TestStores:
    def test_every_store_tells_what_it_holds_and_takes_back(self, store: RecordStore) -> None:
        made = records(3)
        ids = [record.id for record in made]
        assert store.present(ids) == set()
        assert len(write_records(made[:2], store).written) == 2
        assert store.present(ids) == set(ids[:2])
        report = write_records(made, store)
        assert (report.skipped, report.written) == (ids[:2], ids[2:])
        store.remove([*ids[1:], str(uuid.uuid4())])
        assert store.present(ids) == {ids[0]}

    def test_chroma_filters_the_times_by_range(self, chroma: Any) -> None:
        client, name = chroma
        store = Chroma(client=client, collection_name=name, embedding_function=WordHashEmbeddings())
        write_to_vector_store(records(5), store)
        found = store.get(where={"created_at": {"$gte": 86_400.0 * 3}})
        assert sorted(found["documents"]) == ["Fact number 3.", "Fact number 4."]

    def test_what_was_written_is_collected(self) -> None:
        stream = MemoryStream(scope={"user_id": "u7"})
        made = stream.to_records(
            [
                Message("user", "home: Ulm", "2026-01-01", {"key": "home", "value": "Ulm"}),
                Message("user", "home: Kiel", "2026-02-01", {"key": "home", "value": "Kiel"}),
            ]
        )
        store = InMemoryVectorStore(WordHashEmbeddings())
        write_to_vector_store(made, store)
        retriever = GCMemRetriever(
            base_retriever=store.as_retriever(),
            collector=Collector("explicit"),
            scope_keys=["user_id"],
        )
        assert [d.page_content for d in retriever.invoke("home")] == ["home: Kiel"]

    def test_metadata_is_neither_embedded_nor_read_by_a_model(self) -> None:
        index = VectorStoreIndex([], embed_model=HashEmbedding())
        write_to_index(records(1), index)
        node = next(iter(index.docstore.docs.values()))
        assert node.get_content("llm") == node.get_content("embed") == "Fact number 0."
