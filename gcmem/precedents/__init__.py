"""TEPA: an agent's memory of keyed precedents that can be revoked."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

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
    Compaction,
    Evidence,
    Observation,
    OpenConflict,
    Outcome,
    Precedent,
    Purge,
    State,
    Transition,
)
from gcmem.precedents.trials import Trial, TrialKind, TrialReport, Trials

if TYPE_CHECKING:
    from gcmem.precedents.chat_memory import PrecedentMemory
    from gcmem.precedents.evidence import Claim, EvidenceExtractor, Known, Utterance, record_claims
    from gcmem.precedents.evidence_conflict import ConflictExtractor
    from gcmem.precedents.evidence_model import ModelExtractor

__all__ = [
    "Claim",
    "ConflictExtractor",
    "EvidenceExtractor",
    "Known",
    "ModelExtractor",
    "PrecedentMemory",
    "Utterance",
    "record_claims",
    "Cardinality",
    "Cause",
    "Compaction",
    "OpenConflict",
    "Evidence",
    "LedgerBusyError",
    "LedgerClosedError",
    "LedgerFileError",
    "LifecyclePolicy",
    "Observation",
    "Outcome",
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

_HOMES: Final = {
    "Claim": "evidence",
    "ConflictExtractor": "evidence_conflict",
    "EvidenceExtractor": "evidence",
    "Known": "evidence",
    "ModelExtractor": "evidence_model",
    "PrecedentMemory": "chat_memory",
    "Utterance": "evidence",
    "record_claims": "evidence",
}


def __getattr__(name: str) -> Any:
    """Import what reads messages when it is first asked for, and with it the models."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
