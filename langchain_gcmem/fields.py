"""The options that the retriever and the compressor share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self, TypeAlias, TypedDict

from pydantic import BaseModel, ConfigDict, StrictBool, field_validator, model_validator

from gcmem import Collector, to_utc
from gcmem.default_collector import default_collector
from gcmem.mapping import MetadataMapping
from gcmem.timestamps import TimeLike, TimestampUnit

__all__ = ["CollectingFields", "CollectingOptions", "HistoryField"]

HistoryField: TypeAlias = StrictBool | Literal["auto"] | Callable[[str], bool]


class CollectingOptions(TypedDict, total=False):
    """The same options as keyword arguments; what each means stands in `CollectingFields`."""

    collector: Collector | None
    timestamp_key: str | Sequence[str]
    timestamp_unit: TimestampUnit
    scope_keys: Sequence[str]
    source_key: str
    version_key: str
    slot_key: str | None
    value_key: str | None
    authority_key: str
    as_of: TimeLike | None
    history: HistoryField


class CollectingFields(BaseModel):
    """How records are read and collected; a misspelt option is an error."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    collector: Collector | None = None
    """Decides what is still true; None: `Collector()`, built at the first use."""

    timestamp_key: str | Sequence[str] = "created_at"
    """Metadata key, or keys tried in order (event time before ingest time), of the time."""

    timestamp_unit: TimestampUnit = "s"
    """What a number under them counts since 1970: "s", "ms", "us" or "ns"."""

    scope_keys: Sequence[str] = ()
    """Metadata keys that keep tenants, users or agents apart; scopes are never compared."""

    source_key: str = "source"
    """Metadata key of the document that a chunk comes from."""

    version_key: str = "version"
    """Metadata key of its version; chunks of one version never shadow each other."""

    slot_key: str | None = None
    """Metadata key of the slot that a record fills; None: read from "key" and "value"."""

    value_key: str | None = None
    """Metadata key of the slot's value; without it the text is the value."""

    authority_key: str = "authority"
    """Metadata key of a number that ranks who said it."""

    as_of: Any = None
    """Read as of this time (any form that `gcmem.to_utc` reads); None is now."""

    history: HistoryField = False
    """True annotates instead of removing; "auto" or a callable recognises such questions."""

    @field_validator("as_of")
    @classmethod
    def _is_a_time(cls, value: Any) -> Any:
        if value is not None:
            try:
                to_utc(value)
            except TypeError as error:
                msg = f"as_of: {error}"
                raise ValueError(msg) from error
        return value

    @model_validator(mode="after")
    def _can_read_metadata(self) -> Self:
        self.mapping()
        return self

    def mapping(self) -> MetadataMapping:
        """Give the rules by which metadata is read."""
        return MetadataMapping(
            timestamp_key=self.timestamp_key,
            timestamp_unit=self.timestamp_unit,
            scope_keys=self.scope_keys,
            source_key=self.source_key,
            version_key=self.version_key,
            slot_key=self.slot_key,
            value_key=self.value_key,
            authority_key=self.authority_key,
        )

    def effective_collector(self) -> Collector:
        """Give the collector, or the shared default one."""
        return self.collector if self.collector is not None else default_collector()
