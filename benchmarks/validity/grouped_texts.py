"""Texts with known dependence, made of novels, and the warnings that a comparison gives about them.

A *kind* of text is a way to draw documents: passages of few novels, copies, or passages of a novel each. Every draw
selects rows of one pool, whose tokens are split once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from studies import chapters, data

from momus import Corpus, read_corpus
from momus.comparison.trust import TrustCheck, check_texts, dependence_checks
from momus.numeric.types import Ints
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
        What was warned of (`momus.comparison.trust.TrustCheck`).
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
    return Warned.of(dependence_checks(_side(pool, pool.rows(rng, novels, each), rng, "real", ordered, named)))


def two_texts(pool: Pool, rng: Rng, novels: int, each: int, ordered: bool = True) -> Warned:
    """Check two texts of different novels; a hit is a warning about each."""
    rows = pool.rows(rng, 2 * novels, each)
    sides = zip(("real", "generated"), np.split(rows, 2), strict=True)
    checks = [c for name, r in sides for c in dependence_checks(_side(pool, r, rng, name, ordered, True))]
    return Warned.of(checks, ("real", "generated"))


def _side(pool: Pool, rows: Ints, rng: Rng, name: str, ordered: bool, named: bool) -> Corpus:
    text = pool.pieces.take(rows if ordered else rng.permutation(rows), name)
    return text if named else renamed(text, meaningless(rng, len(text)), name)


def compared(real: Corpus, generated: Corpus) -> list[TrustCheck]:
    """Make the checks of a comparison without ``--fit``."""
    fitting, held = real.split(0.5, 0, ("fit", "real"))
    return check_texts(fitting, held, [generated], real)


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
    chosen = rng.permutation(np.concatenate([originals, rng.choice(originals, copies)]))
    generated = renamed_texts(pool, rng, chosen, changed)
    held = renamed(pool.pieces.take(real), meaningless(rng, ALONE), "real")
    return Warned.of(compared(held, generated), ("generated",), ("repeated",))


def renamed_texts(pool: Pool, rng: Rng, rows: Ints, changed: float) -> Corpus:
    """Take documents, some of them repeatedly; of every later one of the same row, some words are replaced."""
    ids = meaningless(rng, len(rows))
    if not changed:
        return renamed(
            pool.pieces.table_of(rows) if hasattr(pool.pieces, "table_of") else _repeated(pool, rows), ids, "generated"
        )
    raise NotImplementedError
