"""What `ModelExtractor` asks a model about messages, and how its answer is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gcmem.detectors.asking import Reading
from gcmem.detectors.chat import Prompt, Reply
from gcmem.detectors.quoting import DATA_RULE, as_number, json_answers, quoted
from gcmem.precedents.assertions import folded, somebody_else, why_not_stated
from gcmem.precedents.evidence import Utterance
from gcmem.precedents.vocabulary import Vocabulary, normal_key, normal_value

__all__ = ["ExtractionTask", "Found"]

_SYSTEM: Final = f"""\
You keep the memory of an application: keys with values, such as "home city" = "Kiel". You get the \
keys in use and numbered messages of a conversation. For each message say which lasting facts and \
preferences it states, in terms of keys and values.

Only what the writer of the message states as true now counts. These are no evidence: questions, \
suppositions, plans and wishes that may not come true, quotations, jokes, what somebody else said \
or thinks, requests for this moment, small talk.
A fact about another person belongs to that person: give "whose" ("sister", "Tom"). \
Otherwise "whose" is "user".
Use a key of the list wherever one fits; the same thing must never stand under two keys. {{growth}}
The value is as short as it can be ("Kiel", not "she moved to Kiel"), and written as in the list \
if it is the same.
If the writer takes something back and nothing takes its place ("forget that I like tea", "I no \
longer own a car"), give the key, the value that is gone if it is known, and "retracts": true.
If the writer corrects a mistake ("I was born in Faro, not in Porto"), give two entries: the wrong \
value with "retracts": true, and the right one.
"quote" repeats, letter by letter, the words of the message that say so.

{DATA_RULE}

Reply with JSON alone, one entry for every message, with an empty list where there is no evidence:
{{{{"messages": [{{{{"message": 1, "evidence": [{{{{"quote": "I moved to Kiel", "whose": "user", \
"key": "home city", "value": "Kiel", "retracts": false}}}}]}}}}]}}}}"""

_MAY_GROW: Final = (
    "Only if none fits, give a new one: a short noun phrase in English, lower case, that would fit "
    "other values of the same thing."
)
_THE_USER: Final = frozenset({"", "user", "i", "me", "myself", "self"})
_MUST_FIT: Final = "Leave out what fits none of them; new keys are not allowed."


@dataclass(frozen=True, slots=True)
class Found:
    """What a model found in a message, checked."""

    key: str
    value: str | None
    retracts: bool


class ExtractionTask:
    """Messages, numbered from 1, that a model is asked to read.

    Args:
        utterances: The messages.
        vocabulary: The keys.
        longest_value: Characters of a value at most.
    """

    def __init__(
        self, utterances: Sequence[Utterance], vocabulary: Vocabulary, longest_value: int
    ) -> None:
        self.utterances = list(utterances)
        self.vocabulary = vocabulary
        self.longest_value = longest_value
        self.numbers = list(range(1, len(self.utterances) + 1))
        self._usable: dict[int, list[Found]] = {}

    def prompt(self, numbers: Sequence[int], note: str) -> Prompt:
        """Ask about these messages; the note says what was wrong with an earlier answer."""
        items: list[dict[str, Any]] = [{"keys": self.vocabulary.shown()}]
        for number in numbers:
            said = self.utterances[number - 1]
            items.append({"message": number, "from": said.role, "text": said.text})
        task = f"{quoted(items)}\n\nGive the evidence in messages {_listed(numbers)}."
        if note:
            task += f" An earlier answer could not be used in full: {note}."
        growth = _MAY_GROW if self.vocabulary.grow else _MUST_FIT
        return Prompt(_SYSTEM.format(growth=growth), task)

    def read(self, reply: Reply, numbers: Sequence[int]) -> Reading[list[Found]]:
        """Read the evidence by message; one with an unusable entry is missing, to be repaired."""
        entries = json_answers(reply.text, "messages")
        if entries is None:
            return Reading({}, problem='it was not JSON with a list under "messages"')
        answers: dict[int, list[Found]] = {}
        invented: list[object] = []
        problems: list[str] = []
        for entry in entries:
            number = as_number(entry.get("message"))
            if number not in numbers:
                invented.append(entry.get("message"))
                continue
            found, wrong = self._found(self.utterances[number - 1], entry.get("evidence"))
            self._usable[number] = found
            if wrong:
                problems.append(f"message {number}: {wrong}")
            else:
                answers[number] = found
        missing = [number for number in numbers if number not in self._usable]
        if missing:
            problems.append(f"no entry for messages {_listed(missing)}")
        return Reading(answers, invented, "; ".join(problems))

    def complete(self, answers: Mapping[int, list[Found]]) -> dict[int, list[Found]]:
        """Give the answers, and what was usable of those that stayed incomplete."""
        return {**self._usable, **answers}

    def _found(self, said: Utterance, evidence: object) -> tuple[list[Found], str]:
        if not isinstance(evidence, list):
            return [], '"evidence" was no list'
        found: list[Found] = []
        problems: list[str] = []
        for entry in evidence:
            item = self._checked(said, entry) if isinstance(entry, dict) else "no object"
            if isinstance(item, str):
                problems.append(item)
            elif item is not None and item not in found:
                found.append(item)
        return found, ", ".join(dict.fromkeys(problems))

    def _checked(self, said: Utterance, entry: Mapping[str, Any]) -> Found | str | None:
        """Give an entry, or what is wrong with it in our own words; None: it is no evidence.

        A weak model takes quotations and questions for statements, and the facts of a sister for
        those of the user; where the message's form leaves no doubt, the form decides.
        """
        given = [entry.get(name) for name in ("quote", "key", "value", "whose", "retracts")]
        quote, key, value, whose, retracts = given
        if not isinstance(quote, str) or not folded(quote):
            return '"quote" was missing'
        if folded(quote) not in folded(said.text):
            return '"quote" was not in the message'
        if not isinstance(key, str):
            return '"key" was missing'
        if why_not_stated(said.text, quote) is not None:
            return None
        person = somebody_else(said.text, quote)
        if person is not None and _is_user(whose) and person not in normal_key(key).split():
            whose = person
        chosen = self.vocabulary.key(_of_person(whose, key))
        if chosen is None:
            return '"key" was blank, too long, or none of the list'
        if retracts not in {None, True, False}:
            return '"retracts" was neither true nor false'
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if value is None and retracts:
            return Found(chosen, None, retracts=True)
        if not isinstance(value, str) or not normal_value(value) or "\x00" in value:
            return '"value" was missing'
        if len(value) > self.longest_value:
            return f'"value" was longer than {self.longest_value} characters'
        return Found(chosen, self.vocabulary.value(chosen, value), retracts=bool(retracts))


def _is_user(whose: object) -> bool:
    return not isinstance(whose, str) or normal_key(whose) in _THE_USER


def _of_person(whose: object, key: str) -> str:
    person = normal_key(whose) if isinstance(whose, str) else ""
    if person in _THE_USER:
        return key
    own = key.partition(":")[2] if key.casefold().startswith(f"{person}:") else key
    return f"{person}: {normal_key(own)}"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
