"""What holds in a document or does not: words and phrases, how it opens and ends, and how it is laid out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from momus.text.blocks import PROSE, Block, read_blocks
from momus.text.plain import folded, inline
from momus.text.words import split_words

PHRASE, EDGE = 5, 4
"""Most words of a phrase, and of the beginning of a sentence."""
MANY = (3, 10)
"""Numbers of list items, headings and paragraphs from which on a document has several, and many."""
STOP = frozenset(".!?…;:")
_WORD = re.compile(r"\w")
_EMOJI = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")
_LAYOUTS = {
    "bold type": re.compile(r"\*\*\S[^\n]*?\*\*|__\S[^\n]*?__"),
    "code in a line": re.compile(r"(?<!`)`[^`\n]+`(?!`)"),
    "a link": re.compile(r"https?://|\]\(\S+\)"),
    "an emoji": _EMOJI,
    "a number in digits": re.compile(r"\d"),
    "a formula": re.compile(r"\\\(|\\\[|\$\$|\\frac"),
    "a parenthesis": re.compile(r"\([^()\n]{2,}\)"),
    "a dash": re.compile(r"[—–]|(?<=\S)[^\S\n]-[^\S\n]|-{2}"),
    "a quotation": re.compile(r"[“\"]\S[^”\"\n]+[”\"]"),
    "a semicolon": re.compile(r";\s"),
    "a question": re.compile(r"\?(?:\s|$)"),
    "an exclamation": re.compile(r"!(?:\s|$)"),
}


class Feature(NamedTuple):
    """Something that holds in a document: a kind, and which of the kind.

    Kinds are ``says`` (a word or phrase), ``opens`` and ``ends`` (the first words of the first and last sentence),
    ``begins`` (the first words of any sentence), ``starts with`` and ``closes with`` (the first and last block),
    ``has`` (a layout), ``opens like`` and ``ends like`` (sentences that the first or last one is like, one per line).
    """

    kind: str
    item: str


def features(text: str) -> set[Feature]:
    r"""All features of a document.

    >>> sorted(f.item for f in features("Sure! Here is **one**.\n\n- Let me know.") if f.kind in ("opens", "has"))
    ['a list', 'an exclamation', 'bold type', 'sure']
    """
    blocks = [b for b in read_blocks(text) if b.kind != "break"]
    held = {Feature("has", item) for item in _layouts(text, [(b.kind, b.sign) for b in blocks])}
    if blocks:
        held |= {Feature("starts with", blocks[0].kind), Feature("closes with", blocks[-1].kind)}
    sentences = _sentences_of(blocks)
    for words in sentences:
        held |= {Feature("says", phrase) for phrase in _phrases(words)}
        held |= {Feature("begins", edge) for edge in _edges(words)}
    if sentences:
        held |= {Feature("opens", edge) for edge in _edges(sentences[0])}
        held |= {Feature("ends", edge) for edge in _edges(sentences[-1])}
        held.add(Feature("last mark", sentences[-1][-1] if not _WORD.search(sentences[-1][-1]) else "no mark"))
    return held


def _layouts(text: str, blocks: list[tuple[str, str]]) -> Iterator[str]:
    yield from (name for name, pattern in _LAYOUTS.items() if pattern.search(text))
    numbers = {kind: sum(k == kind for k, _ in blocks) for kind, _ in blocks}
    singular = {"item": "a list", "heading": "a heading", "code": "a block of code", "table": "a table"}
    singular |= {"title": "a heading at the top", "quotation": "a block quotation", "verse": "verse"}
    yield from (name for kind, name in singular.items() if numbers.get(kind))
    if any(kind == "item" and sign[:1].isdigit() for kind, sign in blocks):
        yield "a numbered list"
    for kind, name in (("item", "list items"), ("heading", "headings"), ("paragraph", "paragraphs")):
        yield from (f"{least} {name} or more" for least in MANY if numbers.get(kind, 0) >= least)


def _sentences_of(blocks: Iterable[Block]) -> list[list[str]]:
    return [words for b in blocks if b.kind in PROSE for words in _sentences(folded(inline(b.content)))]


def _sentences(prose: str) -> Iterator[list[str]]:
    """The words and marks of each sentence, in lower case."""
    sentence: list[str] = []
    for word in split_words(prose):
        sentence.append(word.lower())
        if word in STOP or word[-1] in ".!?":
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def edges(text: str) -> tuple[str, str]:
    """The first and last sentence of a document: words and marks in lower case, with spaces between; empty without any.

    >>> edges("Sure! It is so.")
    ('sure !', 'it is so .')
    """
    sentences = _sentences_of(read_blocks(text)) or [[]]
    return " ".join(sentences[0]), " ".join(sentences[-1])


def _phrases(words: list[str]) -> Iterator[str]:
    """Runs of up to `PHRASE` tokens that begin and end with a word."""
    spoken = [bool(_WORD.search(w)) for w in words]
    for start, begins in enumerate(spoken):
        for stop in range(start + 1, min(start + PHRASE, len(words)) + 1) if begins else ():
            if spoken[stop - 1]:
                yield " ".join(words[start:stop])


def _edges(words: list[str]) -> Iterator[str]:
    """The first one to `EDGE` tokens of a sentence, ending with a word."""
    for stop in range(1, min(EDGE, len(words)) + 1):
        if _WORD.search(words[stop - 1]):
            yield " ".join(words[:stop])


def place_of(feature: Feature, text: str, around: int = 60) -> str:
    """Where a feature holds in a document that has it, with some characters around; its beginning for a layout.

    >>> place_of(Feature("says", "let me"), "It rained. Let  me know if it stops.", 12)
    'It rained. Let me know if it …'
    """
    if feature.kind == "has":
        match = _LAYOUTS[feature.item].search(text) if feature.item in _LAYOUTS else None
        return _around(text, match.span() if match else (0, 0), around)
    prose = folded(" ".join(inline(b.content) for b in read_blocks(text) if b.kind in PROSE) or text)
    place = (len(prose), len(prose)) if feature.kind in ("closes with", "last mark", "ends like") else (0, 0)
    if feature.kind in ("says", "opens", "ends", "begins"):
        pattern = r"\s*".join(re.escape(word) for word in feature.item.split(" "))
        places = [m.span() for m in re.finditer(rf"(?<!\w){pattern}(?!\w)", prose, re.IGNORECASE)]
        if places:
            place = places[-1 if feature.kind == "ends" else 0]
    return _around(prose, place, around)


def shared_words(one: str, other: str) -> float:
    """Words that two texts share ÷ all words of either.

    >>> shared_words("ask away", "Ask me")
    0.3333333333333333
    """
    sides = [set(split_words(text.lower())) for text in (one, other)]
    return len(sides[0] & sides[1]) / max(len(sides[0] | sides[1]), 1)


def _around(text: str, place: tuple[int, int], around: int) -> str:
    low, high = max(place[0] - around, 0), min(place[1] + around, len(text))
    return " ".join(f"{'…' if low else ''}{text[low:high]}{'…' if high < len(text) else ''}".split())
