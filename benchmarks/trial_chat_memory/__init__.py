"""The chat memories with a real language model behind an OpenAI-compatible endpoint.

A conversation in which preferences change, flip back, are quoted, asked about, and belong to
somebody else. Every turn is a conversation of its own, so that what is known comes from the memory
alone. Printed and written: what evidence was found in each turn, what the prompt held, what the
model answered; and which true statements the prompts held, and which that are not true any more.
"""

from __future__ import annotations

from benchmarks.trial_chat_memory.command import main

__all__ = ["main"]
