"""The sheet of faults of each document: which it has, where each stands, and what it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from momus.critic.latents import StateSequences
from momus.numeric.ragged import offsets_of, owners_of
from momus.numeric.types import Bools, Floats, Ints
from momus.text.blocks import read_blocks
from momus.text.corpus import Corpus
from momus_critics.faults.endings import broken_off, may_break_off
from momus_critics.faults.loops import find_loops
from momus_critics.faults.signs import (
    CONTROL,
    control_tokens,
    foreign_scripts,
    foreign_sentences,
    noise,
    refusal,
)
from momus_critics.faults.words import WordModel
from momus_critics.prose.reading import Prose


class Kind(NamedTuple):
    """A kind of fault: its name, what documents do that have it, and for statistics what kind of documents they are."""

    name: str
    clause: str
    label: str
    state: str

    @property
    def row(self) -> str:
        """The key of its rows."""
        return self.name.replace("-", "_")


KINDS = (
    Kind("broken-off", "break off", "that break off", "broken off"),
    Kind("loop", "are caught in a loop", "caught in a loop", "with a loop"),
    Kind(
        "control-tokens",
        "hold control tokens or signs of a chat",
        "with control tokens",
        "with control tokens",
    ),
    Kind(
        "foreign-script",
        "hold a passage in another script",
        "with a passage in another script",
        "foreign script",
    ),
    Kind(
        "foreign-language",
        "hold a sentence in another language",
        "with a sentence in another language",
        "foreign language",
    ),
    Kind("refusal", "refuse, or say that a model wrote them", "that refuse", "with a refusal"),
    Kind("one-word", "are one word", "of one word", "of one word"),
    Kind("noise", "hold garbled or escaped signs", "with garbled or escaped signs", "with garbled signs"),
    Kind("misspelt", "are misspelt", "with several misspelt words", "misspelt"),
    Kind("word-salad", "have words in disorder", "with words in disorder", "with word salad"),
)
NUMBER = {kind.name: i for i, kind in enumerate(KINDS)}
CUT = frozenset(("length", "max_tokens", "max_length", "model_length", "max_new_tokens", "max_output_tokens"))
"""What a field says of a text that was cut at a limit, in lower case."""
FINISH = "finish_reason"
"""The field that says how generation ended; where it is kept, it decides whether a text breaks off."""
DATA = ("{", "[", "<")
"""With what a text begins that is data: its words are no prose."""
QUOTED = 60
"""Characters of a fault that are kept."""
TAIL = 200
"""Characters behind a control token that do not belong to a text."""
ONE_WORD = 24
"""Most characters of a text of one word."""


class Fault(NamedTuple):
    """One fault of a document: its kind, where it stands in characters, how often, and what it says in short."""

    kind: int
    start: int
    stop: int
    times: int = 1
    quote: str = ""


@dataclass(frozen=True)
class Sheet(StateSequences):
    """The faults of n documents; ``states`` are their kinds, ascending within a document, each at most once.

    Attributes
    ----------
    places
        int64 (N, 3): where each fault begins and ends, in characters, and how often it occurs.
    quotes
        What each fault says, N texts.
    graded
        How far documents go on the way to a fault, (n, 2): the log-likelihood ratio of slips of spelling, in nats, and
        the signs of the longest passage that recurs.
    ids
        The ids of the documents.
    """

    places: Ints = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    quotes: Sequence[str] = ()
    graded: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    ids: Sequence[str] = ()

    @property
    def flags(self) -> Floats:
        """Whether each document has each kind of fault, 0 or 1, (n, kinds)."""
        flags = np.zeros((len(self), len(KINDS)))
        flags[owners_of(self.offsets), self.states] = 1.0
        return flags

    @classmethod
    def of(cls, faults: Sequence[Sequence[Fault]], graded: Floats, ids: Sequence[str]) -> Sheet:
        """Lay out the faults of documents as arrays."""
        flat = [fault for document in faults for fault in sorted(document)]
        places = np.array([f[1:4] for f in flat], dtype=np.int64).reshape(-1, 3)
        states = np.array([f.kind for f in flat], dtype=np.int64)
        return cls(
            states, offsets_of([len(d) for d in faults]), None, places, [f.quote for f in flat], graded, list(ids)
        )


@dataclass(frozen=True)
class Usual:
    """What is usual in real text: scripts, its most frequent words, its language, and its model of words."""

    scripts: Sequence[str]
    common: frozenset[str]
    language: str
    words: WordModel


def read_sheet(corpus: Corpus, prose: Prose, usual: Usual) -> Sheet:
    """Find the faults of documents, at most one of each kind, the longest or the first."""
    texts = ["\n\n".join(sections or ()) for sections in corpus.table["sections"].to_pylist()]
    faults: list[list[Fault]] = [[] for _ in texts]
    ends = corpus.field(FINISH)
    loops, repeated = find_loops(texts)
    foreign = foreign_sentences(prose, usual.common, usual.language)
    gains, slips = usual.words.slips(prose, np.concatenate([np.zeros(0, np.int64), *(tokens for _, tokens in foreign)]))
    for row, (text, end, loop) in enumerate(zip(texts, ends, loops, strict=True)):
        faults[row] += _of_text(text, end, usual)
        if loop is not None:
            said = " ".join(loop.said.split()) or loop.said
            faults[row].append(Fault(NUMBER["loop"], loop.start, loop.stop, loop.times, _clipped(said)))
    for row, fault in _of_words(texts, prose, usual, foreign, usual.words.misspelt(prose, gains, slips)):
        # what loops is in no order, and needs no further word
        in_loop = fault.kind == NUMBER["word-salad"] and loops[row] is not None
        if not in_loop and not texts[row].lstrip().startswith(DATA):
            faults[row].append(fault)
    return Sheet.of(faults, np.column_stack([slips, repeated]), corpus.ids)


def _of_text(text: str, end: str | None, usual: Usual) -> Iterator[Fault]:
    """Faults that a text shows by itself."""
    if (cut := _cut(text, end)) is not None:
        tail = text[: cut[1]].rstrip()[-QUOTED:]
        start = max(cut[0], len(text[: cut[1]].rstrip()) - QUOTED)  # its last words are the place
        yield Fault(NUMBER["broken-off"], start, cut[1], 1, f"…{tail}" if len(tail) == QUOTED else tail)
    for name, find in (("control-tokens", control_tokens), ("noise", noise)):
        if spans := list(find(text)):
            start, stop = spans[0]
            yield Fault(NUMBER[name], start, stop, len(spans), _clipped(text[start:stop]))
    if (passage := foreign_scripts(text, usual.scripts)) is not None:
        start, stop = passage
        yield Fault(NUMBER["foreign-script"], start, stop, 1, _clipped(text[start:stop]))
    if (span := refusal(text)) is not None:
        yield Fault(NUMBER["refusal"], *span, 1, _clipped(text[slice(*span)]))
    if len(text) <= 4 * ONE_WORD and len(text.split()) <= 1 and len(text.strip()) <= ONE_WORD:
        yield Fault(NUMBER["one-word"], 0, len(text), 1, _clipped(text.strip()))


def _cut(text: str, end: str | None) -> tuple[int, int] | None:
    """Where a text breaks off: as its field says, or else as its end shows."""
    if end:
        return (max(len(text) - QUOTED, 0), len(text)) if end.lower() in CUT else None
    # what a model writes behind a control token is no end of the text
    token = CONTROL.search(text)
    said = text if token is None or len(text) - token.start() > TAIL else text[: token.start()]
    return broken_off(said, read_blocks(said)) if may_break_off(said) else None


def _of_words(
    texts: Sequence[str], prose: Prose, usual: Usual, foreign: Sequence[tuple[int, Ints]], misspelt: Bools
) -> Iterator[tuple[int, Fault]]:
    """Faults of words, by the document that has them; ``misspelt`` says of each token whether it seems to be, (N,)."""
    first = dict(reversed(foreign))
    times = Counter(row for row, _ in foreign)
    for row, tokens in first.items():
        yield row, _at_tokens("foreign-language", texts[row], prose, tokens, times[row])
    owners = owners_of(prose.offsets)
    # words of another language are neither misspelt nor in an order that is known
    for row in (r for r in np.unique(owners[misspelt]).tolist() if r not in first):
        tokens = np.flatnonzero(misspelt[prose.offsets[row] : prose.offsets[row + 1]]) + prose.offsets[row]
        words = list(dict.fromkeys(prose.spelled[i] for i in prose.codes[tokens].tolist()))
        start = max(texts[row].find(words[0]), 0)
        yield row, Fault(NUMBER["misspelt"], start, start + len(words[0]), len(words), _clipped(", ".join(words)))
    for row in np.flatnonzero(usual.words.salad(prose)).tolist():
        if row not in first:
            tokens = np.arange(prose.offsets[row], prose.offsets[row + 1])
            yield row, _at_tokens("word-salad", texts[row], prose, tokens, 1)


def _at_tokens(name: str, text: str, prose: Prose, tokens: Ints, times: int) -> Fault:
    """A fault that stands from one token to another, as far as the text spells them."""
    words = prose.tokens(int(tokens[0]), int(tokens[-1]) + 1)
    start = max(text.find(words[0]), 0)
    stop = text.find(words[-1], start) + len(words[-1])
    return Fault(NUMBER[name], start, max(stop, start + len(words[0])), times, _clipped(" ".join(words)))


def _clipped(text: str) -> str:
    return text if len(text) <= QUOTED else text[: QUOTED - 1] + "…"
