"""What should not stand in a text at all: control tokens, noise, refusals, another script or language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from momus.numeric.ragged import owners_of
from momus.numeric.types import Ints
from momus.text.languages import identifier, script_counts, script_name
from momus_critics.prose.reading import Prose

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
FUNCTION_WORDS = 150
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
        The most frequent words of real text, see `FUNCTION_WORDS`.
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
