"""What should not stand in a text at all: control tokens, noise, refusals, another script or language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from momus.numeric.ragged import changes, owners_of
from momus.numeric.types import Ints
from momus.text.languages import identifier, script_counts
from momus_critics.prose.reading import TERMINALS, Prose, before

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
        r"as an? (?:large )?(?:ai|artificial intelligence|language)(?:[ -]\w+)? ?(?:model|assistant)?,? (?:i|my)\b"
        r"|(?:i['’]m|i am) (?:just |only )?an? (?:large )?(?:ai|language model|virtual assistant|computer program)\b"
        r"|(?:sorry|apologi[sz]e),? (?:but |for [^.\n]{1,40}, but )?i(?:['’]m| am)?"
        r" ?(?:can['’]?t|cannot|can not|unable|not able)\b"
        r"|i (?:cannot|can['’]t|can not|won['’]t|will not|am unable to|am not able to|['’]m unable to)"
        r" (?:provide|assist|help|fulfil|comply|create|write|generate|engage|offer|answer|support|discuss|do that)\w*\b"
        r"|my (?:knowledge cutoff|training data|programming does)"
    ),
    "de": r"als (?:ein )?(?:ki|sprachmodell)\b|(?:tut mir leid|entschuldigung),? (?:aber )?(?:ich|das) kann",
    "fr": r"en tant qu(?:e|['’]) ?(?:ia|intelligence artificielle|modèle de lang)|je suis désolée?,? mais je ne peux",
    "es": r"como (?:modelo de lenguaje|ia|inteligencia artificial)\b|lo siento,? pero no puedo",
    "pt": r"como (?:um )?modelo de linguagem|desculpe,? mas não posso",
    "it": r"come (?:modello linguistico|intelligenza artificiale)\b|mi dispiace,? ma non posso",
    "zh": r"作为一个?(?:人工智能|ai|语言模型)|(?:很抱歉|对不起)，?我(?:无法|不能)",
}
"""How models refuse, and say that they are models, by language, in lower case, which is faster than to ignore case."""
_REFUSAL = re.compile("|".join(REFUSALS.values()))
HEAD = 400
"""Characters of a text, at its beginning, in which it refuses: what is said later is mostly told of others."""


def refusal(text: str) -> Span | None:
    """Where a text refuses to answer, or says that a model wrote it, near its beginning.

    >>> refusal("I'm sorry, but I can't help with that."), refusal("She said she was sorry.")
    ((4, 22), None)
    """
    match = _REFUSAL.search(text[:HEAD].lower())
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
SURE, WORDS = 60, 0.7
"""Fewest characters of such a sentence, and least share of words among its tokens."""


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


def foreign_scripts(text: str, home: Sequence[str]) -> Span | None:
    """Where the longest passage in another script than those that are at home stands.

    Han is at home where kana is.

    >>> foreign_scripts("It was 今天下午下了一场大雨 so.", ["Latn"]), foreign_scripts("α and β", ["Latn"])
    ((7, 17), None)
    """
    if text.isascii():
        return None
    known = {*home, *(("Hani",) if "Hira" in home or "Kana" in home else ())}
    known |= {"Kana"} if "Hira" in known else set()
    codes = tuple(code for code in BLOCKS if code not in known)
    spans = [match.span() for match in _passage(codes).finditer(text)] if codes else []
    return max(spans, key=lambda span: span[1] - span[0], default=None)


def foreign_sentences(prose: Prose, common: frozenset[str], home: str) -> list[tuple[int, Ints]]:
    """Sentences in another language: the document, and the tokens of the sentence.

    Only sentences with few of the most frequent words of real text are identified, which takes time; names and formulas
    are of no language. A sentence ends at each mark here, whatever follows.

    Parameters
    ----------
    common
        The most frequent words of real text, see `USUAL`.
    home
        Code of its language; empty if it has several: then no sentence is foreign.
    """
    if not home or not len(prose.ids):
        return []
    starts = before(prose.is_any(TERMINALS)) | changes(prose.sentences)
    starts[0] = True
    numbers = np.cumsum(starts) - 1  # (N,)
    small = prose.alphabetic & ~prose.capitalised
    signs = (prose.alphabetic, prose.is_any(common) & prose.alphabetic, small)
    words, usual, lower = (np.bincount(numbers, sign) for sign in signs)
    bounds = np.append(np.flatnonzero(starts), len(numbers))
    tokens = np.diff(bounds)
    odd = (words >= FEWEST) & (usual < SHARE * words) & (lower >= words / 2) & (words >= WORDS * tokens)
    owners = owners_of(prose.offsets)
    foreign = []
    for first, last in zip(bounds[:-1][odd].tolist(), bounds[1:][odd].tolist(), strict=True):
        text = " ".join(prose.tokens(first, last))[:LONGEST]
        middle = text.find(" ", len(text) // 2)
        if len(text) < SURE or middle < 0:
            continue
        # neither the sentence nor one of its halves is of this language
        if all(identifier().classify(x)[0] != home for x in (text, text[:middle], text[middle:])):
            foreign.append((int(owners[first]), np.arange(first, last)))
    return foreign
