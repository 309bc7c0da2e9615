"""What should not stand in a text at all: control tokens, noise, refusals, another script or language.

A text breaks off as the last block of it ends, beside its other blocks (`broken_off`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import takewhile

import numpy as np

from momus.numeric.ragged import owners_of
from momus.numeric.types import Ints
from momus.text.blocks import Block, is_short_line
from momus.text.languages import identifier, script_counts, script_name
from momus.text.plain import folded, inline
from momus_critics.prose.reading import Prose

CLOSERS = "\"')]}*_»>|"
STOPS = tuple(".!?…。！？؟।")
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
SIGNED = 5
"""Most words of a line by which a letter is signed."""
SENTENCE = 6
"""Fewest words of a paragraph without a mark at its end, behind other blocks, that reads as a sentence."""
LONG = 20
"""Fewest words of such a paragraph that stands alone."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{1,2}|[^\W_\u3040-\u30ff\u3400-\u9fff]+(?:['’][^\W_]+)*")
_INNER_END = re.compile(r"(?<![A-Z])[.!?][\"')\]]*\s+[^\W_]|[。！？][”’」』）]*[^\W_]")
_LONE_MARKER = re.compile(r"(?:^|\n)[^\S\n]*(?:[-*+•]|\(?\w{1,3}[.)])[^\S\n]*$")
_ADDRESS = re.compile(r"(?:https?://|www\.|\S@)\S+$")
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
    """Whether bold type, a bracket or a formula is open at the end of a block."""
    line, content = last.content.rpartition("\n")[2], last.content
    return (
        line.count("**") % 2 == 1
        or (line.rfind("(") > line.rfind(")") and ":(" not in line.replace(" ", ""))
        or content.count("\\[") > content.count("\\]")
    )


def _is_cut(last: Block, before: Sequence[Block]) -> bool:
    """Whether the last block of prose ends within a sentence."""
    line = _line(last)
    if _is_ended(line):
        return False
    words = _WORD.findall(line)
    if line.endswith((",", ";", "(", "-", "–", "—", ":")) and not _is_signature(last, before):
        return True
    if words and words[-1].lower() in FUNCTION_WORDS and (len(words) > 1 or before):
        return True
    if last.kind == "verse" or _is_signature(last, before):
        return False
    if _INNER_END.search(line):
        return True  # within a further sentence
    if last.kind == "item":
        peers = list(takewhile(lambda b: b.kind == "item", reversed(before)))
        alike = [_is_ended(_line(b)) for b in peers if b.level == last.level]
        alike = alike or [_is_ended(_line(b)) for b in before if b.kind == "item" and b.level == last.level]
        return bool(alike) and 3 * sum(alike) >= 2 * len(alike)
    if before and _line(before[-1]).endswith(":"):
        return False  # what was announced is a phrase
    if before and last.kind == "paragraph" and _begins_sentence(last):
        return True
    lines = [_line(b) for b in before if b.kind == last.kind and not is_short_line(b)]
    alike = [_is_ended(x) for x in lines if not x.endswith(":")]
    if not alike and words and not is_short_line(last):
        alike = [_is_ended(_line(b)) for b in before if b.kind == "item"]
    if alike:
        return 2 * sum(alike) > len(alike)
    return len(words) >= (SENTENCE if before else LONG)


def _line(block: Block) -> str:
    """The last line of what a block says."""
    return folded(inline(block.content)).strip().rpartition("\n")[2]


def _is_ended(line: str) -> bool:
    """Whether a line has a mark at its end, or ends as an address or a symbol does."""
    bare = line.rstrip(CLOSERS + " ")
    return bare.endswith(STOPS) or bare != line.rstrip() or bool(_ADDRESS.search(bare) or _SYMBOL.search(bare))


def _begins_sentence(block: Block) -> bool:
    """Whether a block begins with a word that begins sentences, and no names or titles."""
    first = _WORD.match(block.content.lstrip("\"'“‘*_("))
    return first is not None and first[0].lower() in OPENERS


def _is_signature(last: Block, before: Sequence[Block]) -> bool:
    """Whether a short line signs a letter: names with capitals, or what stands below a greeting with a comma."""
    words = _WORD.findall(last.content)
    if len(words) > SIGNED or last.kind == "item":
        return False
    greeted = bool(before) and _line(before[-1]).endswith(",") and len(_WORD.findall(before[-1].content)) <= SIGNED
    if _begins_sentence(last):
        return False
    return greeted or (bool(before) and all(w[0].isupper() or w.isdigit() for w in words))


Span = tuple[int, int]

CONTROL = re.compile(
    r"<\|[^|<>\n]{1,40}\|>"  # <|im_start|>, <|eot_id|>, <|endoftext|>
    r"|<[｜|][^<>\n]{1,40}[｜|]>"
    r"|\[/?INST\]|<</?SYS>>|\[/?(?:AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]"
    r"|</?(?:start_of_turn|end_of_turn|bos|eos|pad|unk|s|think|thinking|tool_call|tool_response|scratchpad)>"
    r"|<extra_id_\d+>|<0x[0-9A-F]{2}>|\[(?:PAD|CLS|SEP|MASK|UNK|EOS|BOS)\]"
)
"""Tokens by which models are steered, and which no reader is to see."""
CHAT = re.compile(
    r"(?m)^(?:#{2,3} ?(?:Instruction|Response|Input|Human|Assistant|User|System):"
    r"|(?:Human|Assistant|USER|ASSISTANT|SYSTEM):)"
)
"""Roles of a chat at the beginning of a line."""
MOJIBAKE = re.compile(
    "Ã[\u0080-\u00bf©¨¤¶¼±³º§¢ª«´]|â€[\u0098-\u009d™œ“”˜¦\u009d]?|Â[\u00a0-\u00bf]|ï»¿|\ufffd|\\\\u[0-9a-f]{4}"
)
"""UTF-8 read as Latin-1, signs that could not be read, and escaped signs."""
ENTITY = re.compile(r"&(?:amp|lt|gt|quot|nbsp|apos|#39|#x27|#\d{2,5});")
ESCAPED = re.compile(r"\\n(?=[A-Z\\\d*-])|\\\*\\\*|\\\"(?=\w)|(?<=\w)\\r\\n")
"""Line ends and Markdown that are escaped instead of shown."""


def control_tokens(text: str) -> Iterator[Span]:
    """Where control tokens and roles of chats stand.

    >>> list(control_tokens("So.<|eot_id|>"))
    [(3, 13)]
    """
    if "<" in text or "[" in text:
        yield from (m.span() for m in CONTROL.finditer(text))
    if ":" in text:
        yield from (m.span() for m in CHAT.finditer(text))


def noise(text: str) -> Iterator[Span]:
    r"""Where a text was read in a wrong encoding, or escaped once too often; that code has entities is no fault.

    >>> list(noise("It isnâ€™t &amp; so")), list(noise(r"One.\n\nTwo."))
    ([(6, 9), (11, 16)], [(4, 6), (6, 8)])
    """
    if not text.isascii():
        yield from (m.span() for m in MOJIBAKE.finditer(text))
    if "&" in text:
        yield from (m.span() for m in ENTITY.finditer(text))
    if "\\" in text:
        yield from (m.span() for m in ESCAPED.finditer(text))


REFUSALS = {
    "en": (
        r"as an? (?:large )?(?:AI|artificial intelligence|language)(?:[ -]\w+)? ?(?:model|assistant)?,? (?:I|my)\b"
        r"|(?:I['’]m|I am) (?:just |only )?an? (?:large )?(?:AI|language model|virtual assistant|computer program)\b"
        r"|(?:sorry|apologi[sz]e),? (?:but |for [^.\n]{1,40}, but )?I(?:['’]m| am)?"
        r" ?(?:can['’]?t|cannot|can not|unable|not able)\b"
        r"|I (?:cannot|can['’]t|can not|won['’]t|will not|am unable to|am not able to|['’]m unable to)"
        r" (?:provide|assist|help|fulfil|comply|create|write|generate|engage|offer|answer|support|discuss|do that)\w*\b"
        r"|my (?:knowledge cutoff|training data|programming does)"
    ),
    "de": r"als (?:ein )?(?:KI|Sprachmodell)\b|(?:tut mir leid|entschuldigung),? (?:aber )?(?:ich|das) kann",
    "fr": r"en tant qu(?:e|['’]) ?(?:IA|intelligence artificielle|modèle de lang)|je suis désolée?,? mais je ne peux",
    "es": r"como (?:modelo de lenguaje|IA|inteligencia artificial)\b|lo siento,? pero no puedo",
    "pt": r"como (?:um )?modelo de linguagem|desculpe,? mas não posso",
    "it": r"come (?:modello linguistico|intelligenza artificiale)\b|mi dispiace,? ma non posso",
    "zh": r"作为一个?(?:人工智能|AI|语言模型)|(?:很抱歉|对不起)，?我(?:无法|不能)",
}
"""How models refuse, and say that they are models, by language."""
_REFUSAL = re.compile("|".join(REFUSALS.values()), re.IGNORECASE)
HEAD = 400
"""Characters of a text, at its beginning, in which it refuses: what is said later is mostly told of others."""


def refusal(text: str) -> Span | None:
    """Where a text refuses to answer, or says that a model wrote it, near its beginning.

    >>> refusal("I'm sorry, but I can't help with that."), refusal("She said she was sorry.")
    ((4, 22), None)
    """
    match = _REFUSAL.search(text, 0, HEAD)
    return None if match is None else match.span()


# blocks of letters by the codes of their scripts; Latin is at home in every text
BLOCKS = {
    "Grek": "\u0370-\u03ff\u1f00-\u1fff",
    "Cyrl": "\u0400-\u052f",
    "Armn": "\u0530-\u058f",
    "Hebr": "\u0590-\u05ff",
    "Arab": "\u0600-\u06ff\u0750-\u077f",
    "Deva": "\u0900-\u097f",
    "Beng": "\u0980-\u09ff",
    "Taml": "\u0b80-\u0bff",
    "Telu": "\u0c00-\u0c7f",
    "Thai": "\u0e00-\u0e7f",
    "Geor": "\u10a0-\u10ff",
    "Hang": "\uac00-\ud7af\u1100-\u11ff",
    "Kana": "\u3040-\u30ff",
    "Hani": "\u3400-\u4dbf\u4e00-\u9fff",
}
AT_HOME = 0.002
"""Share of the letters of real text from which a script is at home in it."""
RUN = 6
"""Fewest letters of another script, with spaces and signs between them, that are a passage in it."""
USUAL = 150
"""Most frequent words of real text, some of which each sentence of its language has."""
FEWEST, LONGEST, SHARE = 8, 400, 0.2
"""Fewest words of a sentence whose language is judged, characters of it that are read, and share of its words among the
most frequent ones below which it is."""
SURE = 60
"""Fewest characters of such a sentence."""


def scripts_of(texts: Sequence[str]) -> list[str]:
    """The scripts that are at home in texts, by their codes, in alphabetical order.

    >>> scripts_of(["It rained.", "Она ушла."]), scripts_of(["It rained, and she left."])
    (['Cyrl', 'Latn'], ['Latn'])
    """
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({"Latn": len(text)} if text.isascii() else script_counts(text))
    total = max(counts.total(), 1)
    return sorted(code for code, n in counts.items() if n >= AT_HOME * total)


@cache
def _passage(codes: tuple[str, ...]) -> re.Pattern[str]:
    """Passages of at least `RUN` letters of these scripts."""
    letters = "".join(BLOCKS[code] for code in codes)
    return re.compile(rf"[{letters}](?:[^\w\n]{{0,3}}[{letters}]){{{RUN - 1},}}")


def foreign_scripts(text: str, home: Sequence[str]) -> tuple[int, int, str] | None:
    """The longest passage in another script than those that are at home: where it stands, and the script.

    Han is at home where kana is.

    >>> foreign_scripts("It was 今天下午下了一场大雨 so.", ["Latn"]), foreign_scripts("α and β", ["Latn"])
    ((7, 17, 'Han'), None)
    """
    if text.isascii():
        return None
    known = {*home, *(("Hani",) if "Hira" in home or "Kana" in home else ())}
    known |= {"Kana"} if "Hira" in known else set()
    codes = tuple(code for code in BLOCKS if code not in known)
    spans = [match.span() for match in _passage(codes).finditer(text)] if codes else []
    if not spans:
        return None
    start, stop = max(spans, key=lambda span: span[1] - span[0])
    counts = script_counts(text[start:stop])
    return start, stop, script_name(max(counts, key=lambda code: counts[code])) if counts else ""


def foreign_sentences(prose: Prose, common: frozenset[str], home: str) -> list[tuple[int, str, Ints]]:
    """Sentences in another language: document, code of the language, and the tokens of the sentence.

    Only sentences with few of the most frequent words of real text are identified, which takes time.

    Parameters
    ----------
    common
        The most frequent words of real text, see `USUAL`.
    home
        Code of its language; empty if it has several: then no sentence is foreign.
    """
    if not home or not len(prose.ids):
        return []
    numbers = prose.sentences - prose.sentences[0]  # (N,), from 0
    words, usual = (np.bincount(numbers, x) for x in (prose.alphabetic, prose.is_any(common) & prose.alphabetic))
    odd = np.flatnonzero((words >= FEWEST) & (usual < SHARE * words))
    owners = owners_of(prose.offsets)
    foreign = []
    for sentence in odd.tolist():
        first, last = np.searchsorted(numbers, [sentence, sentence + 1])
        text = " ".join(prose.tokens(int(first), int(last)))[:LONGEST]
        middle = text.find(" ", len(text) // 2)
        if len(text) < SURE or middle < 0:
            continue
        # neither the sentence nor one of its halves is of this language
        codes = [identifier().classify(piece)[0] for piece in (text, text[:middle], text[middle:])]
        if home not in codes:
            foreign.append((int(owners[first]), str(codes[0]), np.arange(first, last)))
    return foreign
