"""What should not stand in a text at all: control tokens, signs of chats, noise of encodings, refusals."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
