"""What should not stand in a text at all: control tokens, signs of chats, and noise of encodings."""

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
    r"(?m)^(?:#{2,3} ?(?:Instruction|Response|Input|Human|Assistant|User|System)s?:|(?:Human|Assistant|USER|ASSISTANT|SYSTEM):)"
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
    ([(7, 10), (12, 17)], [(4, 6), (6, 8)])
    """
    if not text.isascii():
        yield from (m.span() for m in MOJIBAKE.finditer(text))
    if "&" in text:
        yield from (m.span() for m in ENTITY.finditer(text))
    if "\\" in text:
        yield from (m.span() for m in ESCAPED.finditer(text))
