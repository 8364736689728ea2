"""A LangGraph store whose searches show only what is still true. Needs the extra "agents"."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias, Unpack

from langgraph.store.base import BaseStore, GetOp, Op, Result, SearchItem, SearchOp
from typing_extensions import override

from gcmem import Collection, Memory
from gcmem.retrieval import Collect
from langchain_gcmem.collecting import CollectionRun
from langchain_gcmem.fields import CollectingFields, CollectingOptions

__all__ = ["GCMemStore"]

_TEXT_KEYS: Final = ("content", "text")
_Request: TypeAlias = list[Op] | CollectionRun
"""A step of a batch: operations for the wrapped store, or a collection."""
_Steps: TypeAlias = Generator[_Request, Any, Any]


class GCMemStore(BaseStore):
    """Wraps any LangGraph store; ``search`` leaves out what newer items contradict.

    Everything else goes to the wrapped store as it is, and nothing is ever deleted. Namespaces
    are scopes: items of two namespaces are never compared.

    ``limit`` and ``offset`` count what is left after collecting. The first ``fetch_k`` items are
    judged together, and where a page needs more, the first twice as many, and so on, each new item
    against all up to the end of its block; so pages of one size neither repeat nor skip an item.

    Stores stamp items with their own clock, and some reset it at every put; a time in the value
    (``timestamp_key``) comes first, then ``item.updated_at``.

    Args:
        store: The wrapped store.
        text_key: Key, or keys tried in order, of the text in an item's value. Items without a
            text are judged by links, slots and validity alone.
        fetch_k: How many items the first block holds; None: four times ``limit``, at least 20.
        **options: The options of `CollectingFields`, except ``scope_keys``.

    Raises:
        TypeError: ``store`` is no LangGraph store.
        ValueError: An option has a value that is not allowed.

    Example:
        >>> from gcmem import Collector
        >>> from langgraph.store.memory import InMemoryStore
        >>> store = GCMemStore(InMemoryStore(), collector=Collector("explicit"))
        >>> home = ("memories", "elena")
        >>> store.put(home, "a", {"content": "Lives in Ulm.", "created_at": "2025-03-14"})
        >>> store.put(
        ...     home,
        ...     "b",
        ...     {"content": "Lives in Kiel.", "created_at": "2025-09-14", "supersedes": "a"},
        ... )
        >>> [item.key for item in store.search(home)]
        ['b']
    """

    def __init__(
        self,
        store: BaseStore,
        *,
        text_key: str | Sequence[str] = _TEXT_KEYS,
        fetch_k: int | None = None,
        **options: Unpack[CollectingOptions],
    ) -> None:
        if not isinstance(store, BaseStore):
            msg = f"store must be a langgraph BaseStore, got {store!r}."
            raise TypeError(msg)
        if "scope_keys" in options:
            msg = "scope_keys is not allowed here: the namespace of an item is its scope."
            raise ValueError(msg)
        if fetch_k is not None and fetch_k < 1:
            msg = f"fetch_k must be at least 1 (None for the default), got {fetch_k!r}."
            raise ValueError(msg)
        self.store = store
        self.supports_ttl = store.supports_ttl
        self.ttl_config = store.ttl_config
        self._text_keys = (text_key,) if isinstance(text_key, str) else tuple(text_key)
        self._fetch_k = fetch_k
        self._fields = CollectingFields(**options)
        self._mapping = self._fields.mapping()

    @override
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations; searches are over-fetched, collected and cut."""
        steps = self._batch(list(ops))
        answer: Any = None
        while True:
            try:
                request = steps.send(answer)
            except StopIteration as stop:
                return list(stop.value)
            if isinstance(request, CollectionRun):
                answer = request.runnable().invoke(request.summary)
            else:
                answer = self.store.batch(request)

    @override
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations as `batch` does, without blocking the event loop."""
        steps = self._batch(list(ops))
        answer: Any = None
        while True:
            try:
                request = steps.send(answer)
            except StopIteration as stop:
                return list(stop.value)
            if isinstance(request, CollectionRun):
                answer = await request.runnable().ainvoke(request.summary)
            else:
                answer = await self.store.abatch(request)

    def _batch(self, ops: list[Op]) -> _Steps:
        """The body that `batch` and `abatch` share: yields requests, is sent their answers."""
        asked: list[Op] = [
            self._widened(op, self._block(op)) if isinstance(op, SearchOp) else op for op in ops
        ]
        results = list((yield asked)) if asked else []
        for position, op in enumerate(ops):
            if isinstance(op, SearchOp):
                results[position] = yield from self._page(op, results[position])
        return results

    def _page(self, op: SearchOp, found: list[SearchItem]) -> _Steps:
        """Collect block by block until the page is full or the store has no more."""
        start, end = 0, self._block(op)
        wanted = op.offset + op.limit
        shown: list[SearchItem] = []
        while wanted > 0 and found:
            memories = [self._memory(item) for item in found]
            step = Collect(op.query or "", memories, self._fields.as_of, self._fields.history)
            run = CollectionRun(self._fields.collector, step)
            yield run
            shown += self._kept(found, run.collection, start=start)
            if len(shown) >= wanted or len(found) < end:
                break
            start, end = end, 2 * end
            (found,) = yield [self._widened(op, end)]
        page = shown[op.offset : wanted]
        if op.refresh_ttl and self.supports_ttl and page:
            yield [GetOp(item.namespace, item.key, refresh_ttl=True) for item in page]
        return page

    def _block(self, op: SearchOp) -> int:
        return self._fetch_k if self._fetch_k is not None else max(4 * op.limit, 20)

    def _widened(self, op: SearchOp, limit: int) -> SearchOp:
        """Ask for items from the first on; what is not shown must not live longer for it."""
        return op._replace(limit=limit, offset=0, refresh_ttl=False)

    def _memory(self, item: SearchItem) -> Memory:
        key = self._text_key_of(item)
        memory = self._mapping.memory(
            "" if key is None else item.value[key], item.value, id=item.key, relevance=item.score
        )
        return replace(
            memory,
            scope=item.namespace,
            timestamp=memory.timestamp if memory.timestamp is not None else item.updated_at,
        )

    def _text_key_of(self, item: SearchItem) -> str | None:
        return next((key for key in self._text_keys if isinstance(item.value.get(key), str)), None)

    def _kept(
        self, found: list[SearchItem], collection: Collection, *, start: int
    ) -> list[SearchItem]:
        """Give the kept items from position ``start`` on; the changed ones as copies."""
        kept = []
        for memory, position in zip(collection.kept, collection.kept_indices, strict=True):
            if position < start:
                continue
            item = found[position]
            key = self._text_key_of(item)
            value = dict(memory.metadata) | ({} if key is None else {key: memory.text})
            kept.append(item if value == item.value else _with_value(item, value))
        return kept


def _with_value(item: SearchItem, value: dict[str, Any]) -> SearchItem:
    return SearchItem(
        namespace=item.namespace,
        key=item.key,
        value=value,
        created_at=item.created_at,
        updated_at=item.updated_at,
        score=item.score,
    )
