"""What a conversation has told already: kept beside the ledger, in the same database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, delete, insert, select, update

from gcmem.memory import ScopeLike
from gcmem.precedents.evidence import Utterance
from gcmem.precedents.hearing import hash_of
from gcmem.precedents.labels import encode_scope
from gcmem.precedents.ledger import PrecedentLedger
from gcmem.precedents.schema import heard, message

__all__ = ["ChatLog"]

_LONGEST: Final = 2_000  # messages of a session whose hashes are kept


class ChatLog:
    """The messages of conversations, and which of them have been read for evidence.

    Args:
        ledger: Its database is used; its `purge` removes what is here of the scope as well.
    """

    def __init__(self, ledger: PrecedentLedger) -> None:
        self._storage = ledger._storage

    def heard(self, scope: ScopeLike, session: str) -> list[str]:
        """Give the hashes of the messages that have been read, oldest first."""
        place = encode_scope(scope)
        found = self._storage.read(
            lambda connection: connection.scalar(
                select(heard.c.hashes).where(heard.c.scope == place, heard.c.session == session)
            )
        )
        return [] if found is None else list(json.loads(found))

    def hear(self, scope: ScopeLike, session: str, utterances: Sequence[Utterance]) -> None:
        """Note that messages have been read."""
        place = encode_scope(scope)
        new = [hash_of(utterance) for utterance in utterances]
        at = (heard.c.scope == place, heard.c.session == session)

        def work(connection: Connection) -> None:
            found = connection.scalar(select(heard.c.hashes).where(*at).with_for_update())
            hashes = [*(json.loads(found) if found else []), *new][-_LONGEST:]
            text = json.dumps(hashes, separators=(",", ":"))
            if found is None:
                row = {"scope": place, "session": session, "hashes": text}
                connection.execute(insert(heard), row)
            else:
                connection.execute(update(heard).where(*at).values(hashes=text))

        self._storage.write(work)

    def messages(self, scope: ScopeLike, session: str) -> list[str]:
        """Give the stored messages of a session, oldest first."""
        place = encode_scope(scope)
        query = (
            select(message.c.content)
            .where(message.c.scope == place, message.c.session == session)
            .order_by(message.c.seq)
        )
        return list(self._storage.read(lambda connection: connection.scalars(query).all()))

    def add(self, scope: ScopeLike, session: str, messages: Sequence[str]) -> None:
        """Store messages at the end of a session, all or none."""
        place = encode_scope(scope)
        rows = [{"scope": place, "session": session, "content": content} for content in messages]
        if rows:
            self._storage.write(lambda connection: connection.execute(insert(message), rows))

    def clear(self, scope: ScopeLike, session: str) -> None:
        """Delete the stored messages of a session, and what was noted about it."""
        place = encode_scope(scope)

        def work(connection: Connection) -> None:
            for table in (message, heard):
                connection.execute(
                    delete(table).where(table.c.scope == place, table.c.session == session)
                )

        self._storage.write(work)
        self._storage.forget_deleted()
