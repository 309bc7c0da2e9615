"""Passages as raters see them: markup and giveaways stripped, texts of all corpora cut by one rule.

Plain yardsticks of a passage need neither real text nor a model.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from momus.report.safe import clean
from momus.text.corpus import Corpus

LONGEST = 200_000
"""Characters of a passage at most."""
LATEST = 0.6
"""A cut moves back to the end of a sentence, but keeps this share of the words."""
CUT = " […]"
_I, _M = re.IGNORECASE, re.MULTILINE
RULES: Mapping[str, re.Pattern[str]] = {
    "end-of-text marks": re.compile(
        r"<\|[\w ./:-]{1,40}\|>|</?s>|<(?:eos|bos|pad|unk|sep|cls)>|\[(?:EOS|BOS|PAD|UNK|SEP|CLS)\]", _I
    ),
    "HTML": re.compile(r"</?[a-z][a-z0-9]{0,15}(?:\s[^<>]{0,500})?/?>|<!--.{0,2000}?-->", _I | re.DOTALL),
    "roles of a chat": re.compile(r"^[ \t]*(?:assistant|user|system|human|ai)[ \t]*:[ \t]*", _I | _M),
    "phrases of an assistant": re.compile(
        r"\A\s*(?:(?:sure|certainly|of course|absolutely)\b[^\n]{0,200}\n+"
        r"|here(?:'s| is| are)\b[^\n]{0,200}:\s*\n+|as an ai[^.\n]{0,200}\.\s*)",
        _I,
    ),
    "Markdown": re.compile(
        r"^[ \t]{0,3}#{1,6}[ \t]+|^[ \t]*(?:```|~~~)[^\n]*$|\*\*|__|`"
        r"|^[ \t]*(?:-{3,}|\*{3,}|={3,}|_{3,})[ \t]*$",
        _M,
    ),
}
"""What is deleted, by name; typographic quotes and dashes become plain ones, since writers differ in them."""
TYPOGRAPHIC = "typographic quotes and dashes"
PLAIN = str.maketrans(
    {
        **dict.fromkeys("“”„‟", '"'),
        **dict.fromkeys("‘’‚‛", "'"),
        **dict.fromkeys("–—", "-"),
        "…": "...",
        "\u00a0": " ",
    }
)
_WORD, _END = re.compile(r"\S+"), re.compile(r"[.!?][\"')\]]*$")


@dataclass(frozen=True)
class Excerpt:
    """A passage of one document.

    Attributes
    ----------
    corpus, id, prompt
        Where it is from.
    parts
        What raters read: the text, or the texts of its sections.
    titles
        Titles of the sections, where they are labelled.
    yardsticks
        Of the whole document, for which critics have values.
    """

    corpus: str
    id: str
    prompt: str | None
    parts: tuple[str, ...]
    titles: tuple[str | None, ...] = ()
    yardsticks: Mapping[str, float] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All parts."""
        return "\n\n".join(self.parts)


@dataclass
class Stripped:
    """What was stripped or left out: documents of each corpus, by what or why."""

    stripped: dict[str, Counter[str]] = field(default_factory=dict)
    left_out: dict[str, Counter[str]] = field(default_factory=dict)


def stripped(text: str, prompt: str | None = None) -> tuple[str, set[str]]:
    r"""Strip markup and giveaways; also say what was found.

    >>> stripped("## Title\n“So it goes.”<|endoftext|>")[0]
    'Title\n"So it goes."'
    >>> sorted(stripped("Once upon a time there was a king.", "Once upon a time")[1])
    ['an echo of the prompt']
    """
    found = set()
    text = text[:LONGEST]
    if prompt and len(prompt.split()) > 2 and text.lstrip().startswith(prompt.strip()):
        text = text.lstrip()[len(prompt.strip()) :]
        found.add("an echo of the prompt")
    for name, pattern in RULES.items():
        text, times = pattern.subn(" " if name == "HTML" else "", text)
        found |= {name} if times else set()
    if (plain := text.translate(PLAIN)) != text:
        text = plain
        found.add(TYPOGRAPHIC)
    shown = clean(unicodedata.normalize("NFC", text), LONGEST)
    lines = [" ".join(line.split()) for line in shown.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip(), found


def cut(text: str, words: int) -> str | None:
    """The first ``words`` words, back to the end of a sentence; None if there are fewer. 0 words: all of the text.

    >>> cut("One two three. Four five six seven.", 5)
    'One two three. […]'
    >>> cut("One two.", 5) is None
    True
    """
    if not words:
        return text
    spans = [m for _, m in zip(range(words), _WORD.finditer(text), strict=False)]
    if len(spans) < words:
        return None
    ends = [m.end() for m in spans[int(LATEST * words) - 1 :] if _END.search(m.group())]
    return text[: ends[-1] if ends else spans[-1].end()] + CUT


def excerpts_of(corpus: Corpus, words: int, sections: bool, counts: Stripped) -> list[Excerpt]:
    """The passages of a corpus, in its order; what was stripped or left out is added to the counts.

    With ``sections``, each is a part; those of a cut document have the same number of words each.
    """
    excerpts = []
    marks, left = counts.stripped[corpus.name], counts.left_out[corpus.name] = Counter[str](), Counter[str]()
    for d in corpus:
        texts = [s.text for s in d.sections] if sections else [d.text]
        bare = [stripped(text, None if k else d.prompt) for k, text in enumerate(texts)]
        parts = tuple(cut(text, words) or (text if sections else "") for text, _ in bare)
        if d.problem is None and any(_WORD.search(part) for part in parts):
            marks.update({what for _, found in bare for what in found})
            titles = tuple(s.title for s in d.sections) if sections else ()
            excerpts.append(Excerpt(corpus.name, d.id, d.prompt, parts, titles, yardsticks(d.text)))
        elif d.problem is not None:
            left["could not be read"] += 1
        else:
            is_short = not sections and any(_WORD.search(text) for text, _ in bare)
            left[f"shorter than {words} words" if is_short else "empty"] += 1
    return excerpts


WORD = re.compile(r"[A-Za-z']+")
TYPES_OF, BYTES = 5_000, 30_000
"""Words read for the type–token ratio, bytes read for compression."""
YARDSTICKS = ("length", "type–token ratio", "compression", "repetition", "entropy")


def yardsticks(text: str) -> dict[str, float]:
    """Measure a text by yardsticks that need no real text.

    Words are split by white space; the type–token ratio of the first 5,000 words of letters in lower case; the ratio of
    compressed to plain size of the first 30,000 bytes (zlib); the share of word trigrams that occurred before; the
    plug-in entropy of the bigrams of the first 5,000 words, in bits.

    >>> found = yardsticks("a b a b a b")
    >>> found["length"], round(found["type–token ratio"], 3), found["repetition"], round(found["entropy"], 3)
    (6.0, 0.333, 0.5, 0.971)
    """
    from scipy import stats

    words = text.split()
    letters = WORD.findall(text.lower())[:TYPES_OF]
    head = text.encode("utf-8", "replace")[:BYTES]
    trigrams = list(zip(words, words[1:], words[2:], strict=False))
    bigrams = np.array(list(Counter(pairwise(words[:TYPES_OF])).values()), dtype=np.float64)
    return {
        "length": float(len(words)),
        "type–token ratio": len(set(letters)) / max(len(letters), 1),
        "compression": len(zlib.compress(head)) / max(len(head), 1),
        "repetition": 1 - len(set(trigrams)) / max(len(trigrams), 1),
        "entropy": float(stats.entropy(bigrams, base=2)) if len(bigrams) else 0.0,
    }
