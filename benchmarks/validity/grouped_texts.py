"""Texts with known dependence, made of novels, and the warnings that a comparison gives about them.

A *kind* of text is a way to draw documents: passages of few novels, copies, or passages of a novel each. Every draw
selects rows of one pool, whose tokens are split once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from studies import chapters, data

from momus import Corpus, read_corpus
from momus.checks.texts import TrustCheck, check_texts, dependence_checks
from momus.numeric.types import Ints
from momus.text.sketches import TextSketch
from momus.text.tokens import get_tokenizer

WORDS = get_tokenizer("words")
PASSAGES, CHAPTERS = 60, 12
"""Most passages of a novel, and most chapters, in a pool."""
ALONE, OF_A_GROUP = 49, 5
"""Documents per side where each comes from another novel, and documents per group that their ids suggest."""
Rng: TypeAlias = np.random.Generator


@dataclass(frozen=True)
class Pool:
    """Pieces of novels.

    Attributes
    ----------
    pieces
        One document per piece, the pieces of a novel in order; ids are those of the novel and a number.
    novels
        int64 (pieces,): number of the novel of each piece.
    """

    pieces: Corpus
    novels: Ints

    @cached_property
    def sizes(self) -> Ints:
        """Number of pieces of each novel."""
        return np.bincount(self.novels)

    def rows(self, rng: Rng, novels: int, each: int) -> Ints:
        """Draw pieces of some novels: those of a novel one behind another, and in its order."""
        drawn = rng.permutation(np.flatnonzero(self.sizes >= each))[:novels]
        found = [np.sort(rng.choice(np.flatnonzero(self.novels == n), each, replace=False)) for n in drawn]
        return np.concatenate(found)


def pool_of(cut: Callable[[str], list[str]]) -> Pool:
    """Cut all novels into pieces, and split these into tokens."""
    found = [(n, d.id, k, piece) for n, d in enumerate(_novels()) for k, piece in enumerate(cut(d.text))]
    pieces = Corpus.from_texts([p for *_, p in found], ids=[f"{name} {k}" for _, name, k, _ in found], name="real")
    pieces.tokens(WORDS)
    return Pool(pieces, np.array([n for n, *_ in found], dtype=np.int64))


def _novels() -> Corpus:
    return read_corpus(data() / "litbank" / "novels.jsonl.gz")


def passages(text: str) -> list[str]:
    """Draw passages of 100 to 200 words, whole paragraphs, in their order."""
    found = [p for p in chapters(text, 100) if len(p.split()) <= 200]
    kept = np.sort(np.random.default_rng(0).permutation(len(found))[:PASSAGES])
    return [found[i] for i in kept]


def first_chapters(text: str) -> list[str]:
    """Cut the first chapters of 1,000 words."""
    return chapters(text)[:CHAPTERS]


def renamed(corpus: Corpus, ids: Sequence[str], name: str) -> Corpus:
    """Give documents other ids; the tokens are kept."""
    at = corpus.table.schema.get_field_index("id")
    made = Corpus(corpus.table.set_column(at, "id", pa.array(ids, pa.string())), name)
    made.adopt(WORDS, corpus.tokens(WORDS))
    return made


def meaningless(rng: Rng, n: int) -> list[str]:
    """Make ids of eight hexadecimal digits."""
    return [f"{i:08x}" for i in rng.choice(16**8, n, replace=False)]


def prefixed(rng: Rng, n: int) -> list[str]:
    """Make ids whose beginnings suggest groups of five; which documents get them is random."""
    groups = rng.permutation(np.arange(n) // OF_A_GROUP)
    return [f"source-{g}/{k}" for k, g in enumerate(groups.tolist())]


@dataclass(frozen=True)
class Warned:
    """The warnings of one draw.

    Attributes
    ----------
    hit
        Whether each text that should be warned of was.
    kinds
        What was warned of (`momus.checks.texts.TrustCheck`).
    """

    hit: bool
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, checks: Sequence[TrustCheck], texts: Sequence[str] = (), kinds: Sequence[str] = ()) -> Warned:
        """Count warnings of some kinds (all, if none is named) about each of the texts (any, if none is named)."""
        kept = [c for c in checks if c.warns and (not kinds or c.kind in kinds)]
        warned = {c.corpus for c in kept}
        return cls(warned.issuperset(texts) if texts else bool(warned), tuple(sorted({c.kind for c in kept})))


def one_text(pool: Pool, rng: Rng, novels: int, each: int, ordered: bool = True, named: bool = True) -> Warned:
    """Check one text of so many passages each of some novels."""
    side = _side(pool, pool.rows(rng, novels, each), rng, "real", ordered, named)
    return Warned.of(dependence_checks(TextSketch.of(side)))


def two_texts(pool: Pool, rng: Rng, novels: int, each: int, ordered: bool = True) -> Warned:
    """Check two texts of different novels; a hit is a warning about each."""
    rows = pool.rows(rng, 2 * novels, each)
    sides = zip(("real", "generated"), np.split(rows, 2), strict=True)
    checks = [
        c for name, r in sides for c in dependence_checks(TextSketch.of(_side(pool, r, rng, name, ordered, True)))
    ]
    return Warned.of(checks, ("real", "generated"))


def _side(pool: Pool, rows: Ints, rng: Rng, name: str, ordered: bool, named: bool) -> Corpus:
    text = pool.pieces.take(rows if ordered else rng.permutation(rows), name)
    return text if named else renamed(text, meaningless(rng, len(text)), name)


def compared(real: Corpus, generated: Corpus) -> list[TrustCheck]:
    """Make the checks of a comparison without ``--fit``."""
    fitting, held = real.split(0.5, 0, ("fit", "real"))
    sketches = [TextSketch.of(c) for c in (fitting, held, generated, real)]
    return check_texts(sketches[0], sketches[1], sketches[2:3], sketches[3])


def independent(pool: Pool, rng: Rng, ids: Callable[[Rng, int], list[str]]) -> Warned:
    """Compare texts whose documents come from a novel each; every warning is a false alarm."""
    rows = rng.permutation(pool.rows(rng, 2 * ALONE, 1))
    sides = zip(("real", "generated"), np.split(rows, 2), strict=True)
    real, generated = (renamed(pool.pieces.take(r), ids(rng, ALONE), name) for name, r in sides)
    return Warned.of(compared(real, generated))


def copied(pool: Pool, rng: Rng, share: float, changed: float = 0.0) -> Warned:
    """Compare with a generated text, a share of which copies its other documents, under new ids in random order.

    A share ``changed`` of the words of each copy is replaced. Only a warning that the generated text repeats itself is
    a hit.
    """
    rows = rng.permutation(pool.rows(rng, 2 * ALONE, 1))
    real, other = np.split(rows, 2)
    copies = round(share * ALONE)
    originals = other[: ALONE - copies]
    chosen = np.concatenate([originals, rng.choice(originals, copies)])
    text = pool.pieces.take(chosen)
    if changed:
        words = [d.text for d in text]
        for i in range(len(originals), ALONE):
            words[i] = with_other_words(rng, words[i], words[rng.integers(len(originals))], changed)
        text = Corpus.from_texts(words)
    generated = renamed(text.take(rng.permutation(ALONE)), meaningless(rng, ALONE), "generated")
    held = renamed(pool.pieces.take(real), meaningless(rng, ALONE), "real")
    return Warned.of(compared(held, generated), ("generated",), ("repeated",))


def with_other_words(rng: Rng, text: str, donor: str, share: float) -> str:
    """Replace a share of the words of a text (at least one) by words of another."""
    words, others = text.split(), donor.split()
    for at in rng.choice(len(words), max(1, round(share * len(words))), replace=False).tolist():
        words[at] = others[rng.integers(len(others))]
    return " ".join(words)


@dataclass(frozen=True)
class Kind:
    """A kind of text: how it is drawn and checked, and the goal for the share of draws with a warning.

    Attributes
    ----------
    pool
        ``passages`` or ``chapters``.
    goal
        Least and largest share; None where nothing can be known.
    """

    label: str
    draw: Callable[[Pool, Rng], Warned]
    goal: tuple[float, float] | None
    pool: str = "passages"


FOUND, SILENT = (0.95, 1.0), (0.0, 0.05)
KINDS = {
    "40x5": Kind("40 novels × 5 passages; ids, file order", partial(one_text, novels=40, each=5), FOUND),
    "20x10": Kind("20 novels × 10 passages; ids, file order", partial(one_text, novels=20, each=10), FOUND),
    "40x5-shuffled": Kind(
        "40 novels × 5 passages; ids, random order", partial(one_text, novels=40, each=5, ordered=False), FOUND
    ),
    "20x10-shuffled": Kind(
        "20 novels × 10 passages; ids, random order", partial(one_text, novels=20, each=10, ordered=False), FOUND
    ),
    "40x5-unnamed": Kind(
        "40 novels × 5 passages; meaningless ids, file order", partial(one_text, novels=40, each=5, named=False), FOUND
    ),
    "20x10-unnamed": Kind(
        "20 novels × 10 passages; meaningless ids, file order",
        partial(one_text, novels=20, each=10, named=False),
        FOUND,
    ),
    "chapters": Kind(
        f"{CHAPTERS} chapters each of 10 \\| 10 novels; ids, file order",
        partial(two_texts, novels=10, each=CHAPTERS),
        FOUND,
        "chapters",
    ),
    "chapters-shuffled": Kind(
        f"{CHAPTERS} chapters each of 10 \\| 10 novels; ids, random order",
        partial(two_texts, novels=10, each=CHAPTERS, ordered=False),
        FOUND,
        "chapters",
    ),
    "copies-50": Kind("half of the generated documents are copies", partial(copied, share=0.5), FOUND),
    "copies-75": Kind("three quarters are copies", partial(copied, share=0.75), FOUND),
    "near-50": Kind(
        "half are copies with 2 % of their words replaced", partial(copied, share=0.5, changed=0.02), FOUND
    ),
    "alone": Kind("independent documents; meaningless ids", partial(independent, ids=meaningless), SILENT),
    "alone-prefixed": Kind(
        "independent documents; ids suggest groups at random", partial(independent, ids=prefixed), SILENT
    ),
    "40x5-unknowable": Kind(
        "40 novels × 5 passages; meaningless ids, random order",
        partial(one_text, novels=40, each=5, ordered=False, named=False),
        None,
    ),
    "20x10-unknowable": Kind(
        "20 novels × 10 passages; meaningless ids, random order",
        partial(one_text, novels=20, each=10, ordered=False, named=False),
        None,
    ),
}
