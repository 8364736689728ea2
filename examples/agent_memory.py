"""An agent whose memory can revoke: what the model is told about the user, turn by turn. Offline.

A real LangChain agent runs against a scripted chat model that only says "ok" and shows what it was
given. The user's facts change, are asked about, are quoted and belong to somebody else; the block
that the middleware adds to the system message holds what is true now.

Needs the extra ``agents``: pip install ".[agents]"
"""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import SimpleChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from pydantic import Field
from rich.console import Console

from gcmem import PrecedentLedger
from langchain_gcmem import PrecedentMemoryMiddleware

TURNS = (
    "I live in Ulm.",
    "I work as a nurse.",
    "My sister lives in Bremen.",
    "I moved from Ulm to Kiel.",
    "Do I still live in Ulm?",
    'My colleague said "I live in Graz".',
)


class ScriptedModel(SimpleChatModel):
    """Answers "ok" and keeps the system message that it was given."""

    seen: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        self.seen.append(str(messages[0].content) if messages[0].type == "system" else "")
        return "ok"


def main() -> None:
    """Talk to the agent and show what it remembers."""
    console = Console(width=100)
    model = ScriptedModel()
    with PrecedentLedger("sqlite://") as ledger:
        memory = PrecedentMemoryMiddleware(ledger, scope="user-7")
        agent = create_agent(model, middleware=[memory])
        for turn in TURNS:
            agent.invoke({"messages": [HumanMessage(turn)]})
            console.print(f"[bold]user:[/bold] {turn}")
            active = [precedent.value for precedent in ledger.active("user-7")]
            console.print(f"  remembered: {active}")
        console.print("\n[bold]What the model read in the last turn[/bold]")
        console.print(model.seen[-1])
        console.print("\n[bold]Why was it forgotten?[/bold]")
        for revoked in ledger.archive("user-7"):
            console.print(ledger.explain(revoked.id))


if __name__ == "__main__":
    main()
