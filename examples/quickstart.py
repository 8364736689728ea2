"""The main job: stale facts leave the context, everything else stays. Offline, on real Chroma.

A memory stream of one team is written to a Chroma collection on disk: four attributes changed
after 1, 5, 10 and 50 statements of the old state, among distractors and history that still holds.
Each question is answered three ways over the same records, in LangChain and in LlamaIndex: plain
retrieval, newest first, and with gcmem.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice

import chromadb
from chromadb.api import ClientAPI
from langchain_chroma import Chroma
from langchain_core.documents import Document
from llama_index.core import VectorStoreIndex
from llama_index.core.schema import TextNode
from llama_index.vector_stores.chroma import ChromaVectorStore
from rich.console import Console
from rich.table import Table

from gcmem import Collector
from langchain_gcmem import GCMemRetriever
from langchain_gcmem.embeddings import BundledEmbeddings
from llamaindex_gcmem import GCMemPostprocessor
from llamaindex_gcmem.embeddings import BundledEmbedding

K = 3
FETCH_K = 60
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Change:
    """One attribute that changed: N statements of the old state, one of the new."""

    question: str
    old: tuple[str, ...]
    times: int
    new: str


CHANGES = (
    Change(
        "On which floor is the office printer?",
        ("The office printer is on floor 2.",),
        1,
        "The office printer is on floor 4.",
    ),
    Change(
        "Where does Elena live?",
        (
            "Elena lives in Osaka.",
            "Elena's home is in Osaka.",
            "Elena is based in Osaka.",
            "Elena's address is in Osaka.",
            "Osaka is where Elena lives.",
        ),
        5,
        "Elena moved from Osaka to Bremen.",
    ),
    Change(
        "Who leads the billing team?",
        (
            "The billing team is led by Priya.",
            "Priya leads the billing team.",
            "Team lead of billing: Priya.",
            "Billing's team lead is Priya.",
            "Priya is in charge of the billing team.",
        ),
        10,
        "Jonas took over from Priya as lead of the billing team.",
    ),
    Change(
        "Which database do we use for sessions?",
        (
            "Sessions are stored in Plover.",
            "We keep sessions in the Plover database.",
            "Our session store is Plover.",
            "The session database is Plover.",
            "Session data lives in Plover.",
            "For sessions we use Plover.",
            "Plover holds our sessions.",
            "session_store = plover",
            "All user sessions go to Plover.",
        ),
        50,
        "We migrated session storage from Plover to Dunlin.",
    ),
)
STILL_TRUE = (
    "The office printer is a laser model.",
    "The label printer in the warehouse is on floor 2.",
    "Elena grew up in Porto.",
    "Marta lives in Osaka.",
    "Elena knows Marta from university.",
    "The search team is led by Priya's brother Arun.",
    "The billing team has six people.",
    "Before Priya, the billing team was led by Sven.",
    "Sessions expire after 30 minutes.",
    "Analytics events are stored in Plover.",
    "The session cookie is called sid.",
    "Tomatoes ripen in August.",
)


@dataclass(frozen=True)
class Record:
    """One record of the stream."""

    id: str
    text: str
    created_at: float
    is_stale: bool


def memory_stream() -> list[Record]:
    """Give the records, oldest first: old states and distractors over months, then the changes."""
    old = [text for change in CHANGES for text in islice(cycle(change.old), change.times)]
    texts = [*STILL_TRUE[::2], *old, *STILL_TRUE[1::2], *(change.new for change in CHANGES)]
    stale = set(old)
    return [
        Record(
            f"m{number:03}", text, (START + timedelta(days=2 * number)).timestamp(), text in stale
        )
        for number, text in enumerate(texts)
    ]


def main() -> None:
    """Write the stream, ask the questions, and show what each method would give the model."""
    console = Console(width=118)
    records = memory_stream()
    stale = {record.text for record in records if record.is_stale}
    collector = Collector()  # explicit rules, then the bundled model; shared by both frameworks
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = chromadb.PersistentClient(path=folder)
        console.print(f"{len(records)} records, k = {K}. Red: no longer true.\n")
        for framework, ask in (
            ("LangChain", langchain_answers(client, records, collector)),
            ("LlamaIndex", llamaindex_answers(client, records, collector)),
        ):
            table = Table(title=f"What the model would read ({framework})", show_lines=True)
            for column in ("question", "plain retrieval", "newest first", "with gcmem"):
                table.add_column(column, ratio=1)
            for change in CHANGES:
                shown = ask(change.question)
                table.add_row(
                    f"{change.question}\n[dim]old : new = {change.times} : 1[/dim]",
                    *("\n".join(_line(text, stale) for text in texts) for texts in shown),
                )
            console.print(table)
        show_reasons(console, client, collector)


Ask = Callable[[str], list[list[str]]]


def langchain_answers(client: ClientAPI, records: list[Record], collector: Collector) -> Ask:
    """The three methods in LangChain."""
    store = Chroma(
        client=client,
        collection_name="langchain",
        embedding_function=BundledEmbeddings(),
        collection_configuration={"hnsw": {"space": "cosine"}},
    )
    store.add_documents(
        [Document(r.text, id=r.id, metadata={"created_at": r.created_at}) for r in records]
    )
    plain = store.as_retriever(search_kwargs={"k": K})
    with_gcmem = GCMemRetriever(base_retriever=plain, collector=collector, fetch_k=FETCH_K)

    def ask(question: str) -> list[list[str]]:
        fetched = store.similarity_search(question, k=FETCH_K)
        newest = sorted(fetched, key=lambda doc: -doc.metadata["created_at"])[:K]
        found = (plain.invoke(question), newest, with_gcmem.invoke(question))
        return [[document.page_content for document in documents] for documents in found]

    return ask


def llamaindex_answers(client: ClientAPI, records: list[Record], collector: Collector) -> Ask:
    """The three methods in LlamaIndex."""
    index = VectorStoreIndex.from_vector_store(
        ChromaVectorStore(chroma_collection=client.get_or_create_collection("llamaindex")),
        embed_model=BundledEmbedding(),
    )
    hidden = {
        "excluded_embed_metadata_keys": ["created_at"],
        "excluded_llm_metadata_keys": ["created_at"],
    }
    index.insert_nodes(
        [
            TextNode(text=r.text, id_=r.id, metadata={"created_at": r.created_at}, **hidden)
            for r in records
        ]
    )
    plain = index.as_retriever(similarity_top_k=FETCH_K)
    gcmem = GCMemPostprocessor(collector=collector)

    def ask(question: str) -> list[list[str]]:
        fetched = plain.retrieve(question)
        newest = sorted(fetched, key=lambda node: -node.metadata["created_at"])
        cleaned = gcmem.postprocess_nodes(fetched, query_str=question)
        return [[node.text for node in nodes[:K]] for nodes in (fetched, newest, cleaned)]

    return ask


def show_reasons(console: Console, client: ClientAPI, collector: Collector) -> None:
    """Show what was removed, by what, and why."""
    store = Chroma(
        client=client, collection_name="langchain", embedding_function=BundledEmbeddings()
    )
    retriever = GCMemRetriever(
        base_retriever=store.as_retriever(search_kwargs={"k": K}),
        collector=collector,
        fetch_k=FETCH_K,
    )
    table = Table(title="Removed, by what, and why")
    for column in ("removed", "because of", "score", "decided by"):
        table.add_column(column)
    for change in CHANGES:
        collection = retriever.collect(change.question).collection
        counted: dict[tuple[str, str, str], list[float]] = {}
        for shadow in collection.shadowed:
            by = shadow.by.text if shadow.by else "its own end of validity"
            counted.setdefault((shadow.memory.text, by, shadow.reason), []).append(shadow.score)
        for (text, by, reason), scores in counted.items():
            repeats = f" (x{len(scores)})" if len(scores) > 1 else ""
            table.add_row(text + repeats, by, f"{min(scores):.2f}", reason)
        stats = collection.stats
        table.add_section()
        console.print(
            f"[dim]{change.question} {stats.pairs_judged + stats.cache_hits} of "
            f"{stats.pairs_possible} pairs judged.[/dim]"
        )
    console.print(table)


def _line(text: str, stale: set[str]) -> str:
    return f"[red]✗ {text}[/red]" if text in stale else f"✓ {text}"


if __name__ == "__main__":
    main()
