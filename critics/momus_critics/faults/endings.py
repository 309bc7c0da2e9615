"""Where a text breaks off: as the last block of it ends, beside its other blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from momus.text.blocks import Block, is_short_line
from momus.text.plain import folded, inline

CLOSERS = "\"')]}*_»>|"
STOPS = tuple(".!?…。！？؟।")
PAUSES = tuple(",;-–—")
FUNCTION_WORDS = frozenset(
    (
        *("the", "a", "an", "of", "to", "in", "on", "at", "by", "for", "with", "from", "as", "into", "about", "than"),
        *("and", "or", "but", "nor", "because", "although", "while", "if", "when", "which", "who", "whose", "that"),
        *("is", "are", "was", "were", "be", "been", "has", "have", "had", "will", "would", "can", "could", "should"),
        *("may", "might", "must", "my", "your", "his", "her", "its", "our", "their", "this", "these", "very", "not"),
    )
)
"""English words that end no sentence."""
OPENERS = FUNCTION_WORDS | frozenset(
    (
        *("i", "we", "you", "it", "they", "he", "she", "there", "here", "each", "all", "some", "most", "many", "both"),
        *("overall", "however", "therefore", "so", "since", "then", "finally", "remember", "let", "feel", "please"),
        *("additionally", "also", "similarly", "once", "during", "after", "before", "by", "no", "what", "how", "why"),
    )
)
"""English words with which sentences begin, and no names or titles of few words."""
VERBS = frozenset(("am", "do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "will", "would", "can"))
"""English verbs that sentences have, and titles rarely."""
SIGNED = 5
"""Most words of a line by which a letter is signed."""
SENTENCE = 6
"""Fewest words of a paragraph without a mark at its end, behind other blocks, that reads as a sentence."""
LONG = 20
"""Fewest words of such a paragraph that stands alone."""
CLAUSE = 8
"""Most words, none of which is one of `VERBS`, that may be no sentence."""
PEERS = 8
"""Items of a list, the last ones, beside which another one is judged."""
VERSES = 0.8
"""Share of lines of verse with a mark at their ends from which the last one has one, too."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{1,2}|[^\W_\u3040-\u30ff\u3400-\u9fff]+(?:['’][^\W_]+)*")
_INNER_END = re.compile(r"(?<![A-Z])[.!?][\"')\]]*\s+[^\W_]|[。！？][”’」』）]*[^\W_]")
_LONE_MARKER = re.compile(r"(?:^|\n)[^\S\n]*(?:[-*+•]|\(?\w{1,3}[.)]|(?<=\n)\d{1,3})[^\S\n]*$")
_ADDRESS = re.compile(r"(?:https?://|www\.|\S@|(?<!\S)#\w)\S+$")
_OPEN_QUOTE = re.compile(r"(?:^|[\s(\[])[\"“](?=[^\s\"“”])[^\"“”]*$")
_LEAD_IN = re.compile(r"(\*\*|__)[^*\n]{1,80}?(?::\1|\1\s*[:–—-])\s*")
_FROWN = re.compile(r"[:;=] ?-? ?\(")
_SYMBOL = re.compile("[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u20e3]$")


def may_break_off(text: str) -> bool:
    r"""Whether a text may break off: it does not end with a mark of a sentence, or has open code, or a table.

    >>> may_break_off("It rained."), may_break_off("It rained. She"), may_break_off("```\nx.")
    (False, True, True)
    """
    line = text.rstrip().rpartition("\n")[2].rstrip(CLOSERS + " ")
    return not line.endswith(STOPS) or "|" in line or text.count("```") % 2 == 1 or "~~~" in text


def broken_off(text: str, blocks: Sequence[Block]) -> tuple[int, int] | None:
    r"""Where a text stands that breaks off at its end, in characters; None for one that ends as texts do.

    A text breaks off within code whose fence is open, within a row of a table, behind the marker of a list item, and
    within a sentence: without a mark at its end, where other blocks of its kind have one. Titles, lists of phrases and
    verse need none.

    >>> from momus.text.blocks import read_blocks
    >>> [broken_off(t, read_blocks(t)) for t in ("It rained. She left.", "It rained. She left the", "Yours\n\nAnn")]
    [None, (0, 23), None]
    """
    if not blocks:
        return None
    last = blocks[-1]
    span = last.start, last.stop
    if _LONE_MARKER.search(text.rstrip()):
        return span
    if last.kind == "code":
        fence = last.sign[:3]
        return span if fence and not text.rstrip().endswith(fence) else None
    if last.kind == "table":
        rows = text[last.start : last.stop].split("\n")
        return span if rows[-1].count("|") < rows[0].count("|") else None
    if last.kind in ("break", "heading", "title"):
        return span if last.kind == "heading" and len(blocks) > 1 and last.level <= 6 else None
    return span if _is_open(last) or _is_cut(last, blocks[:-1]) else None


def _is_open(last: Block) -> bool:
    """Whether bold type, a bracket, a quotation or a formula is open at the end of a block."""
    line, content = _FROWN.sub("", last.content.rpartition("\n")[2]), last.content
    return (
        line.count("**") % 2 == 1
        or _OPEN_QUOTE.search(line) is not None
        or line.rfind("(") > line.rfind(")")
        or content.count("\\[") > content.count("\\]")
    )


def _is_cut(last: Block, before: Sequence[Block]) -> bool:
    """Whether the last block of prose ends within a sentence."""
    line = _line(last)
    if _is_ended(line):
        return False
    words = _WORD.findall(line)
    if line.endswith((*PAUSES, "(", ":")) and not _is_signature(last, before):
        return True
    if words and words[-1].lower() in FUNCTION_WORDS and (len(words) > 1 or before):
        return True
    if last.kind == "verse" or (before and before[-1].kind == "verse" and is_short_line(last)):
        return _lacks_mark_of_verse(last, before)
    if _is_signature(last, before):
        return False
    if _INNER_END.search(line):
        return True  # within a further sentence
    if last.kind == "item":
        return _lacks_mark_of_item(last, before)
    if before and _line(before[-1]).endswith(":"):
        return False  # what was announced is a phrase
    begins, said = _begins_sentence(last), _is_sentence(words)
    if last.kind == "paragraph" and (begins and said if not before else begins or (said and len(words) >= SENTENCE)):
        return True
    lines = [_line(b) for b in before if b.kind == last.kind and not is_short_line(b)]
    alike = [_is_ended(x) for x in lines if not x.endswith(":")]
    if not alike and words and (before[-1:] or [last])[0].kind == "item":
        alike = [_is_ended(_line(b)) for b in before if b.kind == "item"]
    if alike:
        return 2 * sum(alike) > len(alike)
    return len(words) >= (SENTENCE if before else LONG)


def _lacks_mark_of_verse(last: Block, before: Sequence[Block]) -> bool:
    """Whether the lines of verse before the last one end in marks."""
    lines = [line for b in before if b.kind == "verse" for line in b.content.split("\n")]
    lines += last.content.split("\n")[:-1]
    marked = sum(_is_ended(line) or line.rstrip().endswith((*PAUSES, ":")) for line in lines)
    return len(lines) > 3 and marked >= VERSES * len(lines)


def _lacks_mark_of_item(last: Block, before: Sequence[Block]) -> bool:
    """Whether the items before the last one, of its list or else of others, end in marks."""
    # items that hold others are headings of these
    pairs = pairwise([*before, last])
    leaves = [b for b, c in pairs if b.kind == "item" and (c.kind != "item" or c.level <= b.level)]
    peers = [b for b in leaves if (b.level, b.sign[-1:]) == (last.level, last.sign[-1:])] or leaves
    marked = [_is_ended(_line(b)) for b in peers[-PEERS:]]
    return 3 * sum(marked) >= 2 * len(marked) if marked else _begins_sentence(last)


def _is_sentence(words: Sequence[str]) -> bool:
    """Whether words have a verb or are many, and are no title with capitals."""
    said = len(words) > CLAUSE or any(w.lower() in VERBS for w in words)
    return said and 2 * sum(w[0].isupper() for w in words) < len(words)


def _line(block: Block) -> str:
    """The last line of what a block says."""
    return folded(inline(block.content)).strip().rpartition("\n")[2]


def _is_ended(line: str) -> bool:
    """Whether a line has a mark at its end, or ends as an address or a symbol does."""
    line = _FROWN.sub("☹", line)
    bare = line.rstrip(CLOSERS + " ")
    return bare.endswith(STOPS) or bare != line.rstrip() or bool(_ADDRESS.search(bare) or _SYMBOL.search(bare))


def _begins_sentence(block: Block) -> bool:
    """Whether a block begins with a word that begins sentences, and no names or titles."""
    first = _WORD.match(_LEAD_IN.sub("", block.content, count=1).lstrip("\"'“‘*_("))
    return first is not None and first[0].lower() in OPENERS


def _is_signature(last: Block, before: Sequence[Block]) -> bool:
    """Whether a short line signs a letter: names with capitals, or what stands below a greeting with a comma."""
    words = _WORD.findall(last.content)
    if len(words) > SIGNED or last.kind == "item" or (before and before[-1].kind in ("item", "code", "table")):
        return False
    greeted = bool(before) and _line(before[-1]).endswith(",") and len(_WORD.findall(before[-1].content)) <= SIGNED
    if _begins_sentence(last):
        return False
    return greeted or (bool(before) and all(w[0].isupper() or w.isdigit() for w in words))
