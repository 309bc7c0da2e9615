"""Controls: defects that are planted in text, one or more per axis."""

from __future__ import annotations

from momus.controls.changing import (
    COMMON,
    FEWEST_WORDS,
    LOOP,
    STOPWORDS,
    cut_short,
    double_symbols,
    inflate_stopwords,
    loop,
    mix_topics,
    mix_words,
    move_ngrams,
    move_sections,
    repeat_sections,
    truncate_vocabulary,
)
from momus.controls.planting import Planted, PlantedDefect

_ALL = (
    PlantedDefect(
        "section-order",
        "order of sections",
        "Chooses each section with probability `strength` and moves the chosen ones around one random cycle, so none "
        "keeps its place. In texts without sections: paragraphs (sentences, if there is one paragraph).",
        ("sections", "passages"),
        move_sections,
    ),
    PlantedDefect(
        "section-repetition",
        "order of sections",
        "Repeats each section right after itself with probability `strength`. In texts without sections: paragraphs "
        "(sentences, if there is one paragraph).",
        ("sections", "passages", "length", "repetition"),
        repeat_sections,
    ),
    PlantedDefect(
        "topic-mixing",
        "which topics occur together",
        "Replaces each paragraph (each sentence, if a section has one paragraph) with probability `strength` by one "
        "drawn from another document.",
        ("topics", "taylor", "mauve"),
        mix_topics,
    ),
    PlantedDefect(
        "word-mixing",
        "burstiness of words",
        "Replaces each word with probability `strength` by one drawn from another document: word frequencies remain, "
        "but words no longer cluster in some documents. Words are separated by white space.",
        ("taylor", "long-range", "ebeling", "topics"),
        mix_words,
    ),
    PlantedDefect(
        "word-shuffle",
        "order of words",
        "Chooses each word of a section with probability `strength` and moves the chosen ones around one random cycle. "
        "Words are separated by white space, which does not move.",
        ("perplexity", "coreference", "pcfg", "distortion"),
        move_ngrams(1),
    ),
    PlantedDefect(
        "vocabulary-truncation",
        "lexical diversity",
        f"Ranks the word types of the corpus except for the {COMMON} most frequent, and "
        f"replaces the rarest share `strength` of them by words drawn from these {COMMON} by frequency.",
        ("type-token", "rank-frequency", "unigram", "heaps", "zipf-slope", "productivity"),
        truncate_vocabulary,
    ),
    PlantedDefect(
        "length-truncation",
        "length of documents",
        f"Drops the last share `strength` of the words of each document, and keeps at least {FEWEST_WORDS} words.",
        ("length",),
        cut_short,
    ),
    PlantedDefect(
        "stopword-inflation",
        "share of stopwords",
        f"Inserts one of the {STOPWORDS} most frequent words of the corpus, drawn by "
        "frequency, after each word with probability `strength`.",
        ("stopword-share", "unigram", "rank-frequency", "type-token", "length"),
        inflate_stopwords,
    ),
    PlantedDefect(
        "symbol-inflation",
        "share of symbols",
        "Doubles each symbol (neither letter, digit, underscore nor white space) with probability `strength`.",
        ("symbol-share",),
        double_symbols,
    ),
    PlantedDefect(
        "repetition-loop",
        "lexical diversity",
        f"Replaces the last share `strength` of the words of each document by repetitions of the {LOOP[0]} to "
        f"{LOOP[1]} words before it.",
        ("repetition", "type-token", "unigram"),
        loop,
    ),
)

DEFECTS: dict[str, PlantedDefect] = {d.name: d for d in _ALL}
"""Planted defects by name."""

__all__ = ["DEFECTS", "Planted", "PlantedDefect"]
