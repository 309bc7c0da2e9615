"""Layout: headings, paragraphs, lists, code, tables and breaks, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from momus.critic import Counted, Counts, MergeableMixin, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.powers import ItemsMixin
from momus.critic.shifts import shift_table
from momus.critic.statistic import spread
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.ragged import float_sums, items_of
from momus.text.blocks import read_blocks as text_blocks
from momus.text.corpus import Corpus
from momus_critics.chains import posterior as chain
from momus_critics.chains.base import FOLDS, ChainCritic, relative_places
from momus_critics.chains.posterior import ChainLatents, factorised
from momus_critics.layout.blocks import CODE, FEATURES, KINDS, Blocks, read_blocks

PARTS = 1_000_000
"""Relative positions are counted in millionths, so that their sums are exact."""
TOLD = {"a title": "a top heading"}
"""What sentences call it, where that is another name."""
WHAT = {what.removeprefix("a ").replace(" ", "_"): TOLD.get(what, what) for what in FEATURES}
"""What a document has or lacks, by the key of its rows."""
ITEMS = tuple(CODE[kind] for kind in ("bullet", "numbered item", "nested item"))
IN_LISTS = "{} of words stand inside lists"
OF_LISTS = (
    ("numbered", "numbered list items", "less|more numbered in its lists", "are numbered", "a list item"),
    ("nested", "list items inside others", "flatter|deeper in its lists", "stand inside others", "a list item"),
    (
        "lead",
        "list items that begin in bold type",
        "poorer|richer in bold lead-ins",
        "begin in bold type",
        "a list item",
    ),
    (
        *("apart", "list items behind a blank line", ("closer in its lists", "more spaced in its lists")),
        *("stand behind a blank line", "two list items"),
    ),
)
"""Shares among list items: their rows, label and direction, what they say of items, and what a document must have."""
NO_PROSE = tuple(CODE[kind] for kind in ("code", "table"))
NO_PROSE_SHARE = "{} of words stand in code and tables, which no axis of words reads"
PARAGRAPHS = tuple(code for kind, code in CODE.items() if "paragraph" in kind)


@dataclass(frozen=True)
class LayoutLatents(ChainLatents):
    """Block kinds of n documents, and their blocks."""

    blocks: Blocks = None  # type: ignore[assignment]  # always given; dataclasses require a default here


class Layout(MergeableMixin, ChainCritic, ItemsMixin):
    r"""z is the kind of each block of a document in turn; P_c(z) is a Markov chain with a start and an end.

    Blocks are headings by level, paragraphs by length, lines of their own, list items, quotations, code, tables, verse
    and breaks (`momus_critics.layout.blocks`). They are observed. A text without marks still has paragraphs.

    >>> from momus import Corpus
    >>> critic = Layout().fit(Corpus.from_texts(["It rained.\n\nShe left.", "He came."]))
    >>> critic.project(Corpus.from_texts(["# The End\n\n- why\n- how"])).states.tolist()
    [0, 11, 11]
    """

    name = "layout"
    axis = "layout"
    reads = "blocks"
    question = (
        "Do headings, paragraphs, lists and breaks follow each other as in real text? z is the kind of each block in "
        "turn."
    )
    evidence_of = "the blocks, relative to how probable each is on its own"
    reporting = Reporting(
        directions=directions("more|less usual in layout", "more|less usual in layout", "less|more varied in layout"),
        limits="It cannot see what headings and paragraphs say, nor whether a list should be: only what stands where.",
        layout=("breaks",),
        leading=True,
        stepless="no block of text",
    )

    def fit_counts(self, real: Corpus) -> Counts:
        """Count transitions by fold, blocks, and their relative positions."""
        blocks = read_blocks([d.text for d in real])
        lengths = blocks.lengths
        fold = (np.asarray(real.hashes, dtype=np.uint64) % np.uint64(FOLDS)).astype(np.int64)
        transitions = np.zeros((FOLDS, len(KINDS) + 1, len(KINDS) + 1), dtype=np.int64)
        for f in range(FOLDS):
            items, bounds = items_of(np.flatnonzero((fold == f) & (lengths > 0)), blocks.offsets)
            transitions[f] = chain.count(blocks.states[items], bounds, len(KINDS))
        positions = np.bincount(blocks.states, np.floor(PARTS * relative_places(blocks.offsets)), len(KINDS))
        return Counts.of(transitions=transitions, positions=positions.astype(np.int64))

    def fit_from(self, counts: Counts) -> Self:
        """Choose the smoothing constant by cross-validation over folds of documents, and smooth the transitions."""
        self.titles_ = list(KINDS)
        visits = self._learn_counts(list(counts.array("transitions").astype(np.float64)))
        self.positions_ = counts.array("positions") / PARTS / np.maximum(visits, 1)
        return self

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without a block."""
        return [None if d.text.strip() else self.reporting.stepless for d in batch]

    def project(self, batch: Corpus) -> LayoutLatents:
        """Read the blocks of each document."""
        blocks = read_blocks([d.text for d in batch])
        z = factorised(blocks.states, blocks.offsets, None, self.shares_, self.transitions_)
        return LayoutLatents(**vars(z), blocks=blocks)

    def sufficient_statistics(self, latents: ChainLatents) -> Mapping[str, Rows]:
        """What each document has or lacks, its list items per 1,000 words, and the words of its paragraphs."""
        assert isinstance(latents, LayoutLatents)
        ones, seen = np.ones(len(latents)), latents.blocks
        inside = np.isin(latents.states, PARAGRAPHS)
        # per document, (n,): words and number of paragraphs, words of list items, of code and tables, and all words
        words, paragraphs, listed, boxed, every = (
            float_sums(x, latents.offsets)
            for x in (
                np.where(inside, seen.words, 0),
                inside,
                np.where(np.isin(latents.states, ITEMS), seen.words, 0),
                np.where(np.isin(latents.states, NO_PROSE), seen.words, 0),
                seen.words,
            )
        )
        # the only paragraph of a document is as long as the document, which is the question of *length*
        words, paragraphs = (np.where(paragraphs > 1, x, 0.0) for x in (words, paragraphs))
        logs = np.where(inside, np.log(np.maximum(seen.words, 1)), 0.0)
        moments = [float_sums(x, latents.offsets) * (paragraphs > 0) for x in (logs, logs**2)]
        count, numbered, nested, lead, apart, behind = seen.items.T
        return {
            **{row: np.column_stack([has, ones]) for row, has in zip(WHAT, seen.features.T, strict=True)},
            "paragraphs": np.column_stack([words, paragraphs]),
            "paragraph_lengths": np.column_stack([*moments, paragraphs]),
            "items": np.column_stack([1000 * count, every]),
            "numbered_items": np.column_stack([1000 * numbered, every]),
            "listed": np.column_stack([listed, every]),
            "no_prose": np.column_stack([boxed, every]),
            "numbered": np.column_stack([numbered, count]),
            "nested": np.column_stack([nested, count]),
            "lead": np.column_stack([lead, count]),
            "apart": np.column_stack([apart, behind]),
        }

    tested = (
        *(Statistic.having(f"{row}_share", row, what) for row, what in WHAT.items()),
        Statistic.relative(
            "paragraph_words",
            "paragraphs",
            "mean length of paragraphs",
            "shorter|longer in its paragraphs",
            unit="words",
            needs="several paragraphs",
        ),
        Statistic.value(
            "paragraph_spread",
            "paragraph_lengths",
            spread,
            "standard deviation of log length of paragraphs",
            "more even|more uneven in length of paragraphs",
            needs="several paragraphs",
        ),
        Statistic.ratio("items", "items", "list items", "poorer|richer in list items", unit="per 1,000 words"),
        Statistic.ratio(
            *("numbered_items", "numbered_items", "numbered items"),
            "poorer|richer in numbered items",
            unit="per 1,000 words",
        ),
        Statistic.share("listed_share", "listed", "words inside lists", "less|more in lists", clause=IN_LISTS),
        Statistic.share(
            *("no_prose_share", "no_prose", "words in code and tables"),
            "poorer|richer in code and tables",
            clause=NO_PROSE_SHARE,
        ),
        *(
            Statistic.share(f"{name}_share", name, label, direction, clause=f"{{}} of list items {verb}", needs=needs)
            for name, label, direction, verb, needs in OF_LISTS
        ),
    )

    def items(self, rows: Mapping[str, Rows]) -> Mapping[str, Counted]:
        """What documents have or lack."""
        columns = np.column_stack([np.asarray(rows[row])[:, 0] for row in WHAT])
        return {"layouts": Counted(sparse.csr_array(columns), list(WHAT.values()))}

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Kinds of blocks, what documents have, and the transitions that differ."""
        # the last column of the transitions leads to the end of a document
        visits = (t.arrays["transitions"][:, :-1].sum(axis=0) for t in (real, generated))
        shares = (v / max(float(v.sum()), 1.0) for v in visits)
        kinds = shift_table("layout", "Kinds of blocks", "block", KINDS, shares, "% of blocks")
        return [kinds, *super().evidence(real, generated)]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the blocks, with the unlikely ones marked."""
        return self._shown(document, [b.content for b in text_blocks(document[0].text)])
