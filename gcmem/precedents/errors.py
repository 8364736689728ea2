"""What can go wrong with a ledger, each with its own name."""

from __future__ import annotations

__all__ = [
    "LedgerBusyError",
    "LedgerClosedError",
    "LedgerFileError",
    "PrecedentError",
    "PrecedentStateError",
    "TrialError",
    "UnknownPrecedentError",
]


class PrecedentError(Exception):
    """Base of every error that only a precedent ledger raises."""


class LedgerFileError(PrecedentError):
    """The file is damaged, truncated, foreign or newer than this version; it is never emptied."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


class LedgerBusyError(PrecedentError):
    """Other writers held the storage longer than the bounded retries; nothing was written."""


class LedgerClosedError(PrecedentError):
    """The ledger was used after `close()`."""


class UnknownPrecedentError(PrecedentError, LookupError):
    """No precedent has this id."""


class PrecedentStateError(PrecedentError):
    """The precedent's state does not allow it, such as restoring beside another Active value."""


class TrialError(PrecedentError):
    """The user's trial callable raised; the evidence that called for the trial is stored."""
