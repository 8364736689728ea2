"""TEPA: an agent's memory of keyed precedents that can be revoked."""

from __future__ import annotations

from gcmem.precedents.errors import (
    LedgerBusyError,
    LedgerClosedError,
    LedgerFileError,
    PrecedentError,
    PrecedentStateError,
    TrialError,
    UnknownPrecedentError,
)
from gcmem.precedents.ledger import PrecedentLedger
from gcmem.precedents.policy import LifecyclePolicy, Strategy
from gcmem.precedents.precedent import (
    Cardinality,
    Cause,
    Evidence,
    Observation,
    OpenConflict,
    Precedent,
    Purge,
    State,
    Transition,
)
from gcmem.precedents.trials import Trial, TrialKind, TrialReport, Trials

__all__ = [
    "Cardinality",
    "Cause",
    "OpenConflict",
    "Evidence",
    "LedgerBusyError",
    "LedgerClosedError",
    "LedgerFileError",
    "LifecyclePolicy",
    "Observation",
    "Precedent",
    "PrecedentError",
    "PrecedentLedger",
    "PrecedentStateError",
    "Purge",
    "State",
    "Strategy",
    "Transition",
    "Trial",
    "TrialError",
    "TrialKind",
    "TrialReport",
    "Trials",
    "UnknownPrecedentError",
]
