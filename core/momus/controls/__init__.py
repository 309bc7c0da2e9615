"""Controls: defects that are planted in text, one or more per axis."""

from __future__ import annotations

from momus.controls.moving import (
    LOOP,
    copy_answers,
    exchange_sections,
    loop,
    mix_languages,
    mix_topics,
    mix_words,
    move_ngrams,
    move_sections,
    repeat_sections,
)
from momus.controls.planting import Change, Defect, Planted
from momus.controls.wording import (
    COMMON,
    FEWEST_WORDS,
    STOPWORDS,
    cut_short,
    double_symbols,
    even_sentences,
    inflate_stopwords,
    one_template,
    open_with_connectives,
    stock_phrases,
    swap_pronouns,
    truncate_vocabulary,
)

_ALL = (
    Defect(
        "section-order",
        "order of sections",
        "Chooses each section with probability `strength` and moves the chosen ones around one random cycle, so none "
        "keeps its place. In texts without sections: paragraphs (sentences, if there is one paragraph).",
        ("sections", "passages"),
        move_sections,
    ),
    Defect(
        "section-repetition",
        "order of sections",
        "Repeats each section right after itself with probability `strength`. In texts without sections: paragraphs "
        "(sentences, if there is one paragraph).",
        ("sections", "passages", "length", "repetition"),
        repeat_sections,
    ),
    Defect(
        "section-exchange",
        "fit of sections to their document",
        "Replaces each section with probability `strength` by a section of the same title of another document; a title "
        "that no other document has stays. Without titles: by the section (paragraph, in texts without sections) at "
        "the same relative place of another document.",
        ("consistency",),
        exchange_sections,
    ),
    Defect(
        "pronoun-swap",
        "chains of coreference",
        "Changes the gender of each he, him, his, himself, she, her, hers, herself with probability `strength`; her "
        "always becomes him, never his. Uses a word list, no coreference resolver.",
        ("coreference",),
        swap_pronouns,
    ),
    Defect(
        "topic-mixing",
        "which topics occur together",
        "Replaces each paragraph (each sentence, if a section has one paragraph) with probability `strength` by one "
        "drawn from another document.",
        ("topics", "taylor", "mauve"),
        mix_topics,
    ),
    Defect(
        "word-mixing",
        "burstiness of words",
        "Replaces each word with probability `strength` by one drawn from another document: word frequencies remain, "
        "but words no longer cluster in some documents. Words are separated by white space.",
        ("taylor", "long-range", "ebeling", "topics"),
        mix_words,
    ),
    Defect(
        "language-mixing",
        "language mixing",
        "Replaces each paragraph (each sentence, if a section has one paragraph) with probability `strength` by one of "
        "a second corpus: from the document with the same id (such as a translation), at the same relative position, "
        "if there is such a document; otherwise drawn from any document.",
        ("code-mixing", "unigram"),
        mix_languages,
        needs_donor=True,
    ),
    Defect(
        "word-shuffle",
        "order of words",
        "Chooses each word of a section with probability `strength` and moves the chosen ones around one random cycle. "
        "Words are separated by white space, which does not move.",
        ("perplexity", "coreference", "pcfg", "distortion"),
        move_ngrams(1),
    ),
    Defect(
        "trigram-shuffle",
        "order of words",
        "Same as word-shuffle, for consecutive groups of three words.",
        ("perplexity", "coreference", "pcfg", "distortion"),
        move_ngrams(3),
    ),
    Defect(
        "vocabulary-truncation",
        "lexical diversity",
        f"Ranks the word types of the corpus (of the donor, if given) except for the {COMMON} most frequent, and "
        f"replaces the rarest share `strength` of them by words drawn from these {COMMON} by frequency.",
        ("type-token", "rank-frequency", "unigram", "heaps", "zipf-slope", "productivity"),
        truncate_vocabulary,
    ),
    Defect(
        "length-truncation",
        "length of documents",
        f"Drops the last share `strength` of the words of each document, and keeps at least {FEWEST_WORDS} words.",
        ("length",),
        cut_short,
    ),
    Defect(
        "stopword-inflation",
        "share of stopwords",
        f"Inserts one of the {STOPWORDS} most frequent words of the corpus (of the donor, if given), drawn by "
        "frequency, after each word with probability `strength`.",
        ("stopword-share", "unigram", "rank-frequency", "type-token", "length"),
        inflate_stopwords,
    ),
    Defect(
        "symbol-inflation",
        "share of symbols",
        "Doubles each symbol (neither letter, digit, underscore nor white space) with probability `strength`.",
        ("symbol-share",),
        double_symbols,
    ),
    Defect(
        "repetition-loop",
        "lexical diversity",
        f"Replaces the last share `strength` of the words of each document by repetitions of the {LOOP[0]} to "
        f"{LOOP[1]} words before it.",
        ("repetition", "type-token", "unigram"),
        loop,
    ),
    Defect(
        "rhythm-flattening",
        "rhythm of sentences",
        "Moves the ends of sentences, in each paragraph with probability `strength`, to where all sentences of the "
        "paragraph have equally many words.",
        ("rhythm",),
        even_sentences,
    ),
    Defect(
        "stock-phrases",
        "over-used phrases",
        "Puts one of four stock phrases before each sentence with probability `strength`. English only.",
        ("keyness",),
        stock_phrases,
    ),
    Defect(
        "connective-inflation",
        "connectives and discourse",
        "Puts one of six connectives before each sentence with probability `strength`. English only.",
        ("discourse", "keyness"),
        open_with_connectives,
    ),
    Defect(
        "sentence-template",
        "sentence templates",
        "Replaces each sentence with probability `strength` by clauses of one pattern (determiner, adjective, noun, "
        "verb, determiner, adjective, noun) with random words, about as long as the sentence. English only.",
        ("templates",),
        one_template,
    ),
    Defect(
        "answer-copies",
        "variety between answers",
        "Replaces each document with probability `strength` by a copy of the first one, by id, that answers the same "
        "prompt. Documents without a prompt, and the only ones of their prompt, do not change.",
        ("diversity",),
        copy_answers,
    ),
)

DEFECTS: dict[str, Defect] = {d.name: d for d in _ALL}
"""Planted defects by name."""


__all__ = [
    "DEFECTS",
    "Change",
    "Defect",
    "Planted",
]
