"""Cut running text into pieces: groups of sentences, found from words and punctuation alone.

Line ends, blank lines and markup decide nothing, so a text and its reformatted copy have the same pieces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus.text.plain import read_as

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE = re.compile(r"\n+|(?<=[.!?…])[\"'”’)\]]*\s+(?=[^\sa-z])|(?<=[。！？])")
_WORD = re.compile(r"[^\W_]+")
_STOP = re.compile(r"[.!?…](?:[^\w\s]|_)*\s|[。！？]")
_TAGS = (
    "a|abbr|b|blockquote|br|center|code|dd|del|details|div|dl|dt|em|h[1-6]|hr|i|img|kbd|li|ol|p|pre|span|strong|sub|"
    "summary|sup|table|tbody|td|th|thead|tr|u|ul"
)
_MARKUP = re.compile(
    rf"</?(?:{_TAGS})(?:\s[^<>]*)?/?>"  # HTML tags
    r"|<!--.*?-->"
    r"|&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+);"  # HTML entities
    r"|(?<=\])\([^()\s]*(?:\s+\"[^\"]*\")?\)",  # targets of Markdown links
    re.DOTALL,
)
_SYMBOLS = re.compile(r"[*`~#>\[\]\\]+|(?<![^\W_])_+|_+(?![^\W_])")
"""Symbols of markup; an underscore is one at the border of a word."""
_REPEATED = 5
"""Length in words of the runs by which repeated text is recognised."""
RETURNED = 0.5
"""A piece returns if at least this share of its runs of words occurred earlier in its document."""
MOST = 2000
"""Most pieces that are read per document."""


def spans(text: str, words: int) -> list[tuple[int, int]]:
    r"""Where pieces begin and end: after the first sentence that ends at ``words`` words or later, or at 2 × ``words``.

    Tags, entities and targets of links hold no words; symbols such as ``#``, ``*`` and ``_`` are not words. A remainder
    shorter than half of ``words`` belongs to the piece before it. Consecutive spans touch, and cover the text.

    >>> text = "One two. Three four.\n\n# Five\nsix."
    >>> [text[a:b] for a, b in spans(text, 3)]
    ['One two. Three four.\n\n# ', 'Five\nsix.']
    """
    bare = _MARKUP.sub(lambda match: " " * len(match.group()), text)
    words_at = [m.span() for m in _WORD.finditer(bare)]
    if not words_at:
        return []
    cuts, count = [0], 0  # cuts: the character at which each piece begins
    for (_, end), (start, _) in pairwise(words_at):
        count += 1
        if count >= 2 * words or (count >= words and _STOP.search(bare, end, start)):
            cuts.append(start)
            count = 0
    if len(cuts) > 1 and 2 * (count + 1) < words:
        cuts.pop()
    return list(pairwise([*cuts, len(text)]))


def plain(text: str) -> str:
    r"""The text without markup, and with single spaces for white space.

    >>> plain("A **bold** [link](https://a.b)\n\nand `code`.")
    'A bold link and code.'
    """
    return " ".join(_SYMBOLS.sub("", _MARKUP.sub(" ", text)).replace("|", " ").split())


def split_pieces(text: str, words: int) -> list[str]:
    r"""Cut text into plain pieces, see `spans`.

    >>> split_pieces("One two. Three *four*.\n\nFive six.", words=3)
    ['One two. Three four.', 'Five six.']
    """
    return [plain(text[a:b]) for a, b in spans(text, words)]


def sentences(text: str) -> list[str]:
    r"""Cut text at blank lines and at the ends of sentences.

    >>> sentences("One two. Three!\n\nFour")
    ['One two.', 'Three!', 'Four']
    """
    cuts = (s for paragraph in _PARAGRAPH.split(text) for s in _SENTENCE.split(paragraph))
    return [s.strip() for s in cuts if s.strip()]


def prose_pieces(sections: Sequence[str], words: int) -> list[str]:
    r"""Cut the prose of sections into plain pieces, see `spans`.

    >>> prose_pieces(["## One\n\n* Two *three*.", "- Four, `five`."], words=3)
    ['Two three. Four, five.']
    """
    return split_pieces("\n\n".join(read_as(text, "prose") for text in sections), words)


def corpus_pieces(corpus: Corpus, words: int, most: int = MOST) -> tuple[list[str], Ints]:
    """Pieces of all documents, at most ``most`` per document, and where each document begins, int64 (n + 1,).

    Section marks are ignored: sections are joined by blank lines, as in running text.
    """
    texts = corpus.section_texts
    pieces: list[str] = []
    offsets = [0]
    for start, end in pairwise(offsets_of(corpus.section_counts)):
        pieces += prose_pieces(texts.slice(start, end - start).to_pylist(), words)[:most]
        offsets.append(len(pieces))
    return pieces, np.array(offsets, dtype=np.int64)


def returning(pieces: Sequence[str], offsets: Ints) -> Floats:
    """Whether the text of each piece occurred before in its document, float (N,), 0 or 1.

    A piece returns if at least half of its runs of five words (of fewer, in a shorter piece) occurred earlier in the
    document; copies count wherever the borders of pieces fall.

    >>> again = ["the cat sat on the mat", "it was warm and dry there", "so the cat sat on the mat"]
    >>> returning(again, np.array([0, 3])).tolist()
    [0.0, 0.0, 1.0]
    """
    returns = np.zeros(len(pieces))
    for first, end in pairwise(offsets):
        seen: set[tuple[str, ...]] = set()
        for i in range(first, end):
            words = _WORD.findall(pieces[i].casefold())
            runs = [tuple(words[j : j + _REPEATED]) for j in range(max(1, len(words) - _REPEATED + 1))]
            returns[i] = sum(run in seen for run in runs) >= RETURNED * len(runs)
            seen.update(runs)
    return returns


def state_names(pieces: Sequence[str], states: Ints, count: int, words: int = 3) -> list[str]:
    """Name states by the words that occur in more of their pieces than of other states' (smoothed log odds)."""
    from sklearn.feature_extraction.text import CountVectorizer

    try:
        counter = CountVectorizer(binary=True, min_df=2, max_features=20_000, token_pattern=r"[^\W\d_]{3,}")
        occurs = counter.fit_transform(pieces)  # 0/1, (pieces, words)
    except ValueError:  # no word is left
        return [f"state {k + 1}" for k in range(count)]
    vocabulary = counter.get_feature_names_out()
    # pieces that hold each word, within each state and in all others, (K, words); then z-scores of the log odds ratio
    inside = np.stack([np.asarray(occurs[states == k].sum(axis=0)).ravel() for k in range(count)]).astype(float)
    n = np.bincount(states, minlength=count).astype(float)[:, None]
    outside = inside.sum(axis=0) - inside
    odds = _logit((inside + 0.5) / (n + 1)) - _logit((outside + 0.5) / (n.sum() - n + 1))
    spread = np.sqrt(1 / (inside + 0.5) + 1 / (outside + 0.5))
    best = np.argsort(-odds / spread, axis=1, kind="stable")[:, :words]
    return [f"{k + 1}: {' · '.join(vocabulary[i] for i in row)}" for k, row in enumerate(best)]


def _logit(p: Floats) -> Floats:
    return np.asarray(np.log(p / (1 - p)))
