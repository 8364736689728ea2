"""Whether a decision by hand is possible in the present state."""

from __future__ import annotations

from sqlalchemy import Connection

from gcmem.precedents import key_rows, reading
from gcmem.precedents.entry import Entry, EventKind
from gcmem.precedents.errors import PrecedentStateError
from gcmem.precedents.key_rows import KeyRow
from gcmem.precedents.policy import LifecyclePolicy
from gcmem.precedents.precedent import Cardinality, State

__all__ = ["allowed"]


def allowed(
    connection: Connection, precedent_id: str, kind: EventKind, policy: LifecyclePolicy
) -> tuple[KeyRow, Entry]:
    """Lock the key of a precedent, and give both if the decision is possible.

    Raises:
        UnknownPrecedentError: There is no precedent with this id.
        PrecedentStateError: Its state, or that of its key, does not allow the decision.
    """
    found, _ = reading.find(connection, precedent_id)
    key_rows.find_keys(connection, found.scope, [found.match], lock=True)
    row, entry = reading.find(connection, precedent_id)  # as it is under the lock
    obstacle = _obstacle(connection, row, entry, kind, policy)
    if obstacle is not None:
        msg = f"precedent {precedent_id} ({row.text} = {entry.value!r}) {obstacle}."
        raise PrecedentStateError(msg)
    return row, entry


def _obstacle(
    connection: Connection, row: KeyRow, entry: Entry, kind: EventKind, policy: LifecyclePolicy
) -> str | None:
    if kind in {EventKind.REVOKE, EventKind.RETRACT}:
        return "is Revoked already" if entry.state is State.REVOKED else None
    if kind is EventKind.PIN:
        return None if entry.state is State.ACTIVE else "is not Active, so it cannot be pinned"
    if kind is EventKind.UNPIN:
        return None if entry.pinned else "is not pinned"
    if entry.state is not State.REVOKED:
        return "is not Revoked, so it cannot be restored"
    exclusive = policy.exclusive and row.cardinality is not Cardinality.MULTI
    if not exclusive or entry.restored_state() is not State.ACTIVE:
        return None
    for other in reading.in_state(connection, State.ACTIVE, row.scope, [row.match]):
        return f"cannot return beside the Active {other.value!r}; revoke {other.id} first"
    return None
