"""The registry of planted defects: one or more for each axis."""

from __future__ import annotations

from momus.controls.mixing import mix_languages, mix_topics, mix_words
from momus.controls.ordering import LOOP, loop, move_ngrams, move_sections, repeat_sections
from momus.controls.planting import Defect
from momus.controls.wording import (
    COMMON,
    FEWEST_WORDS,
    STOPWORDS,
    cut_short,
    double_symbols,
    inflate_stopwords,
    swap_names,
    swap_pronouns,
    truncate_vocabulary,
)

_ALL = (
    Defect(
        "section-order",
        "order of sections",
        "Each section is chosen with probability `strength`; the chosen ones move around one random cycle, so that "
        "none stays where it was. Of a text without sections, paragraphs (sentences, if it has one paragraph).",
        ("sections", "passages"),
        move_sections,
    ),
    Defect(
        "section-repetition",
        "order of sections",
        "Each section is followed by a copy of itself with probability `strength`. Of a text without sections, "
        "paragraphs (sentences, if it has one paragraph).",
        ("sections", "passages", "length"),
        repeat_sections,
    ),
    Defect(
        "pronoun-swap",
        "chains of coreference",
        "Each he, him, his, himself, she, her, hers, herself gets the other gender with probability `strength`: her "
        "becomes him, whatever its case. No resolver is asked.",
        ("coreference",),
        swap_pronouns,
    ),
    Defect(
        "name-swap",
        "chains of coreference",
        "Each name of a person becomes another person's name of the same document with probability `strength`, drawn "
        "by how often it occurs. Names are found by rule: a capitalised word of three letters or more that never "
        "occurs in lower case, occurs twice or more, and stands at least once behind a title or next to a verb of "
        "speech or movement. English; a document with fewer than two such names stays as it is.",
        ("coreference",),
        swap_names,
    ),
    Defect(
        "topic-mixing",
        "company of topics",
        "Each paragraph (each sentence, where a section has one paragraph) is replaced with probability `strength` by "
        "one drawn from another document.",
        ("topics", "taylor", "mauve"),
        mix_topics,
    ),
    Defect(
        "word-mixing",
        "bursts of words",
        "Each word is replaced with probability `strength` by one drawn from another document: words still have their "
        "frequencies, but no longer crowd in some documents. Words are what white space parts.",
        ("taylor", "long-range", "ebeling", "topics"),
        mix_words,
    ),
    Defect(
        "language-mixing",
        "mixture of languages",
        "Each paragraph (each sentence, where a section has one paragraph) is replaced with probability `strength` by "
        "one of a second corpus: of the document with the same id and from the same relative place where there is one "
        "(a translation, say), else drawn from any.",
        ("code-mixing", "unigram"),
        mix_languages,
        needs_donor=True,
    ),
    Defect(
        "word-shuffle",
        "order of words",
        "Each word of a section is chosen with probability `strength`; the chosen ones move around one random cycle. "
        "Words are what white space parts; white space stays.",
        ("perplexity", "coreference", "pcfg", "distortion"),
        move_ngrams(1),
    ),
    Defect(
        "trigram-shuffle",
        "order of words",
        "As word-shuffle, with consecutive groups of three words in place of words.",
        ("perplexity", "coreference", "pcfg", "distortion"),
        move_ngrams(3),
    ),
    Defect(
        "vocabulary-truncation",
        "variety of words",
        f"The rarest share `strength` of the word types of the corpus, the {COMMON} most frequent left out of account, "
        f"are replaced by words drawn from these {COMMON} by frequency. Which types are rare depends on the whole "
        "corpus (on the donor, where one is given).",
        ("type-token", "rank-frequency", "unigram", "heaps", "zipf-slope", "productivity"),
        truncate_vocabulary,
    ),
    Defect(
        "length-truncation",
        "length of documents",
        f"The last share `strength` of the words of each document is left out; at least {FEWEST_WORDS} words stay.",
        ("length",),
        cut_short,
    ),
    Defect(
        "stopword-inflation",
        "share of stopwords",
        f"Behind each word, with probability `strength`, one of the {STOPWORDS} most frequent words of the corpus (of "
        "the donor, where one is given), drawn by frequency.",
        ("stopword-share", "unigram", "rank-frequency", "type-token", "length"),
        inflate_stopwords,
    ),
    Defect(
        "symbol-inflation",
        "share of symbols",
        "Each symbol (neither letter, digit, underscore nor white space) stands twice with probability `strength`.",
        ("symbol-share",),
        double_symbols,
    ),
    Defect(
        "repetition-loop",
        "variety of words",
        f"The last share `strength` of the words of each document repeats the {LOOP[0]} to {LOOP[1]} words before it "
        "over and over.",
        ("type-token", "unigram"),
        loop,
    ),
)

DEFECTS: dict[str, Defect] = {d.name: d for d in _ALL}
"""Planted defects by name."""
