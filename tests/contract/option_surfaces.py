"""The four surfaces of the options suite, and which options each has, by introspection."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    BaseCallbackHandler,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.retrievers import BaseRetriever
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import BaseRetriever as BaseNodeRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from pydantic import BaseModel

import langchain_gcmem
import llamaindex_gcmem
from gcmem import Collector
from gcmem.retrieval import RetrievalOptions
from tests.contract.option_case import Case, Outcome, Record, Shown, made
from tests.llamaindex.support import recorded_events
from tests.support import ScriptedDetector, slot_rule

NO_DEFAULT = object()
_OPEN = {"callback_manager", "base_retriever"}  # of the framework, and what is wrapped


def parameters(function: Any) -> dict[str, Any]:
    """The options that a function takes, each with its default."""
    found = list(inspect.signature(function).parameters.values())[1:]
    return {p.name: p.default for p in found if p.name not in _OPEN}


def fields(model: type[BaseModel], base: type[BaseModel]) -> dict[str, Any]:
    """The options that a model adds to its base, each with its default."""
    return {
        name: NO_DEFAULT if field.is_required() else field.get_default(call_default_factory=True)
        for name, field in model.model_fields.items()
        if name not in {*base.model_fields, *_OPEN}
    }


COLLECTOR_OPTIONS = parameters(Collector.__init__)
CALL_OPTIONS = list(RetrievalOptions.__annotations__)


def collector_of(case: Case) -> Collector:
    options = made(case.collector)
    options.setdefault("detector", ScriptedDetector(slot_rule))
    return Collector(**options)


class _Base(BaseRetriever):
    """The LangChain retriever of a user, which can be asked for k."""

    case: Case
    k: int | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        limit = self.case.base_k if k is None else k
        return [_document(record) for record in self.case.search(query, limit)]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        limit = self.case.base_k if k is None else k
        return [_document(record) for record in self.case.search(query, limit)]


class _NodeBase(BaseNodeRetriever):
    """The LlamaIndex retriever of a user, whose size can be set."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.case = case
        self.similarity_top_k = case.base_k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self.case.search(query_bundle.query_str, self.similarity_top_k)
        return [_node(record) for record in found]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._retrieve(query_bundle)


class _Reports(BaseCallbackHandler):
    run_inline = True

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        self.seen.append(data)


class LangChainRetriever:
    name = "langchain-retriever"
    options = fields(langchain_gcmem.GCMemRetriever, BaseRetriever)
    call_options = CALL_OPTIONS

    def made(self, case: Case) -> Any:
        return langchain_gcmem.GCMemRetriever(
            base_retriever=_Base(case=case, k=case.base_k), **adapter_options(case)
        )

    def ids(self, found: Sequence[Document]) -> list[str]:
        return [str(document.id) for document in found]

    async def run(self, case: Case, *, native: bool) -> Outcome:
        retriever, handler = self.made(case), _Reports()
        config: Any = {"callbacks": [handler]}
        for _ in range(2):
            if native:
                found = await retriever.ainvoke(case.query, config, **made(case.call))
            else:
                found = retriever.invoke(case.query, config, **made(case.call))
        return _outcome(case, [_of_document(document) for document in found], handler.seen)


class LangChainCompressor:
    name = "langchain-compressor"
    options = fields(langchain_gcmem.GCMemCompressor, BaseDocumentCompressor)
    call_options: Sequence[str] = ()

    async def run(self, case: Case, *, native: bool) -> Outcome:
        compressor = langchain_gcmem.GCMemCompressor(**adapter_options(case))
        documents = [_document(record) for record in case.records]
        handler = _Reports()
        for _ in range(2):
            if native:
                found = await compressor.acompress_documents(documents, case.query, [handler])
            else:
                found = compressor.compress_documents(documents, case.query, [handler])
        return _outcome(case, [_of_document(document) for document in found], handler.seen)


class LlamaIndexRetriever:
    name = "llamaindex-retriever"
    options = parameters(llamaindex_gcmem.GCMemRetriever.__init__)
    call_options = CALL_OPTIONS

    def made(self, case: Case) -> Any:
        return llamaindex_gcmem.GCMemRetriever(_NodeBase(case), **adapter_options(case))

    def ids(self, found: Sequence[NodeWithScore]) -> list[str]:
        return [node.node_id for node in found]

    async def run(self, case: Case, *, native: bool) -> Outcome:
        retriever = self.made(case)
        with recorded_events() as events:
            for _ in range(2):
                if native:
                    found = await retriever.aretrieve(case.query, **made(case.call))
                else:
                    found = retriever.retrieve(case.query, **made(case.call))
        return _outcome(case, [_of_node(node) for node in found], _reports_in(events))


class LlamaIndexPostprocessor:
    name = "llamaindex-postprocessor"
    options = fields(llamaindex_gcmem.GCMemPostprocessor, BaseNodePostprocessor)
    call_options: Sequence[str] = ()

    async def run(self, case: Case, *, native: bool) -> Outcome:
        postprocessor = llamaindex_gcmem.GCMemPostprocessor(**adapter_options(case))
        nodes = [_node(record) for record in case.records]
        with recorded_events() as events:
            for _ in range(2):
                if native:
                    found = await postprocessor.apostprocess_nodes(nodes, query_str=case.query)
                else:
                    found = postprocessor.postprocess_nodes(nodes, query_str=case.query)
        return _outcome(case, [_of_node(node) for node in found], _reports_in(events))


RETRIEVERS = [LangChainRetriever(), LlamaIndexRetriever()]
CLEANERS = [LangChainCompressor(), LlamaIndexPostprocessor()]
SURFACES = [*RETRIEVERS, *CLEANERS]


def surfaces_of(case: Case) -> list[Any]:
    """The surfaces that have every option of a case."""
    over_search = case.finds is not None or case.base_k is not None
    return [
        surface
        for surface in SURFACES
        if set(case.options) <= set(surface.options)
        and set(case.call) <= set(surface.call_options)
        and not (over_search and surface in CLEANERS)
    ]


async def outcome(surface: Any, case: Case, *, native: bool) -> Outcome:
    """Run a case, each time with fresh options; an error is an outcome, too."""
    try:
        return await surface.run(case, native=native)
    except Exception as error:
        return Outcome(error=type(error))


def adapter_options(case: Case) -> dict[str, Any]:
    options = made(case.options)
    options.setdefault("collector", collector_of(case))
    return options


def _document(record: Record) -> Document:
    return Document(record.text, id=record.id, metadata=dict(record.metadata))


def _node(record: Record) -> NodeWithScore:
    return NodeWithScore(
        node=TextNode(id_=record.id, text=record.text, metadata=dict(record.metadata))
    )


def _of_document(document: Document) -> Record:
    return Record(str(document.id), document.page_content, document.metadata)


def _of_node(node: NodeWithScore) -> Record:
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    return Record(node.node_id, text, node.metadata)


def _reports_in(events: Sequence[Any]) -> list[Mapping[str, Any]]:
    return [e.report for e in events if isinstance(e, llamaindex_gcmem.MemoryGCEndEvent)]


def _outcome(case: Case, found: Sequence[Record], reports: Sequence[Mapping[str, Any]]) -> Outcome:
    given = {record.id: record.metadata for record in case.records}
    shown = []
    for record in found:
        before = given.get(record.id, {})
        added = {
            key: value
            for key, value in record.metadata.items()
            if before.get(key, NO_DEFAULT) != value
        }
        shown.append(Shown(record.id, record.text, added))
    timeless = [{k: v for k, v in report.items() if k != "milliseconds"} for report in reports]
    return Outcome(shown, timeless)
