"""``python -m gcmem.training.lint``: what is wrong in the corpus, and its keyword leakage."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from gcmem.training.corpus_files import Family, Group, read_families, read_groups
from gcmem.training.pairs import LABELS

_STOP = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "with",
        "and",
        "or",
        "is",
        "are",
        "was",
        "be",
        "no",
        "not",
        "one",
        "two",
        "their",
        "his",
        "her",
        "its",
        "our",
        "my",
    ]
)


def words(text: str) -> set[str]:
    """Content words of a text: lower case, more than three letters, no stop words."""
    return {
        word
        for word in re.findall(r"[a-z0-9']+", text.lower())
        if word not in _STOP and len(word) > 3
    }


def keyword_leakage(families: Sequence[Family]) -> float:
    """Share of the inferred statements that hold a content word of their state's label."""
    found = total = 0
    for family in families:
        for name, (_, inferred) in family.states.items():
            label = words(family.labels[name])
            for text in inferred:
                total += 1
                found += bool(label & words(text))
    return found / total if total else 0.0


def family_problems(families: Sequence[Family]) -> Iterator[str]:
    """What is wrong in the families: counts, lengths, repeated statements, split of attributes."""
    seen: Counter[str] = Counter()
    splits: dict[str, str] = {}
    for family in families:
        for name, (explicit, inferred) in family.states.items():
            if len(explicit) < 3 or len(inferred) < (0 if family.multi else 4):
                yield f"{family.id}: state {name} has too few statements"
        if len(family.states) < 2 or not family.transitions:
            yield f"{family.id}: needs two states and a transition"
        if any(set(pair) - set(family.states) for pair in family.transitions):
            yield f"{family.id}: a transition names a state that is not there"
        for field, least in (
            ("compatible", 4),
            ("past", 2),
            ("other_entity", 2),
            ("nonfactual", 2),
            ("same", 2),
        ):
            if len(getattr(family, field)) < least:
                yield f"{family.id}: {field} needs {least}"
        texts = family.all_texts()
        yield from (f"{family.id}: length of {t!r}" for t in texts if not 8 <= len(t) <= 260)
        seen.update(text.lower() for text in texts)
        attribute = family.attribute.lower().strip()
        if splits.setdefault(attribute, family.split) != family.split:
            yield f"{family.id}: attribute {attribute!r} stands in two splits"
    yield from (f"repeated: {text!r}" for text, count in seen.items() if count > 1)
    yield from _repeated("family", (family.id for family in families))


def group_problems(groups: Sequence[Group]) -> Iterator[str]:
    """What is wrong in the groups: counts, labels, repeated statements and ids."""
    seen: Counter[str] = Counter()
    for group in groups:
        if not 6 <= len(group.newer) <= 12:
            yield f"{group.id}: {len(group.newer)} newer statements, wanted are 6 to 12"
        for text, label, kind in group.newer:
            if label not in LABELS:
                yield f"{group.id}: label {label!r}"
            if not kind:
                yield f"{group.id}: no kind for {text!r}"
            if not text.strip() or text == group.older:
                yield f"{group.id}: empty or equal to the older one: {text!r}"
            seen[text.lower()] += 1
    yield from (f"repeated: {text!r}" for text, count in seen.items() if count > 1)
    yield from _repeated("group", (group.id for group in groups))


def _repeated(what: str, ids: Iterable[str]) -> Iterator[str]:
    for name, count in Counter(ids).items():
        if count > 1:
            yield f"{what} id {name} stands {count} times"


def main() -> int:
    """Print problems and counts; the exit status is 1 if there are problems."""
    families, groups = read_families(), read_groups()
    problems = [*family_problems(families), *group_problems(groups)]
    print("\n".join(problems))
    print(
        f"{len(families)} families, {sum(len(family.all_texts()) for family in families)} "
        f"statements, keyword leakage {keyword_leakage(families):.4f}; {len(groups)} groups, "
        f"{sum(len(group.newer) for group in groups)} pairs; {len(problems)} problems"
    )
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
