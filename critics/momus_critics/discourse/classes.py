"""Classes of sentences: questions, speech, and connectives by their senses (after the Penn Discourse Treebank).

`SentenceClasses` are the latents of the critic: the classes of the sentences of each document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.critic import StateSequences
from momus.numeric.types import Bools, Floats, Ints
from momus.text.mentions import FEMALE, FIRST, MALE, PLURAL
from momus_critics.prose.reading import Prose

CONNECTIVES: dict[str, tuple[str, ...]] = {
    "contrast": (
        *("but", "however", "yet", "still", "nevertheless", "nonetheless", "although", "though", "instead", "whereas"),
        *("on the other hand", "in contrast", "by contrast", "on the contrary", "even so", "conversely", "despite"),
    ),
    "cause": (
        *("because", "so", "therefore", "thus", "hence", "consequently", "accordingly", "since"),
        *("as a result", "for this reason", "that is why"),
    ),
    "addition": (
        *("and", "also", "moreover", "furthermore", "besides", "additionally", "likewise", "similarly", "or", "nor"),
        *("in addition", "as well as", "what is more", "not only"),
    ),
    "time": (
        *("then", "when", "after", "before", "while", "until", "once", "meanwhile", "suddenly", "later", "soon", "now"),
        *("afterwards", "eventually", "at last", "at first", "first", "second", "next", "as soon as", "finally"),
    ),
    "condition": ("if", "unless", "otherwise", "whether", "provided that", "in case"),
    "example": (
        *("indeed", "in fact", "for example", "for instance", "in particular", "specifically", "in other words"),
        *("that is", "especially", "of course"),
    ),
    "conclusion": (
        *("overall", "ultimately", "in conclusion", "in summary", "in short", "in the end", "to sum up"),
        *("all in all", "at the end of the day", "to conclude", "in essence"),
    ),
}
"""Words and phrases that open a sentence, by sense."""
STATES = ("paragraph", "plain", "speech", "question", *CONNECTIVES)
PARAGRAPH, PLAIN, SPEECH, QUESTION = range(4)
FIRST_CONNECTIVE = 4
OPENING = frozenset('"“«„‹「『')
DASHES = frozenset("—–-")
ASKING = frozenset("?？؟")
FIRST_PERSON = frozenset(FIRST)
FIRST_PERSON_SHORT = frozenset(("i'm", "i've", "i'd", "i'll", "i’m", "i’ve", "i’d", "i’ll", "we're", "we’re"))
THIRD_PERSON = frozenset((*MALE, *FEMALE, *PLURAL))


def sentence_classes(prose: Prose) -> tuple[Ints, Ints]:
    """The class of each sentence, and the first token of each: int64 (S,) both.

    A sentence with an opening quotation mark, or that begins with a dash, is speech; one that ends with a question mark
    is a question, unless it is speech; others go by the connective that they open with.

    >>> from momus import Corpus
    >>> from momus_critics.prose.reading import paragraph_tokenizer
    >>> from momus_critics.prose.reading import read_prose
    >>> text = "He came. But why? “No,” she said. In fact, he left. However it rained."
    >>> prose = read_prose(Corpus.from_texts([text]).tokens(paragraph_tokenizer("words")))
    >>> [STATES[i] for i in sentence_classes(prose)[0]]
    ['plain', 'question', 'speech', 'example', 'contrast']
    """
    count = int(prose.sentences[-1]) + 1 if len(prose.ids) else 0
    first = np.searchsorted(prose.sentences, np.arange(count))
    classes = np.full(count, PLAIN, dtype=np.int64)
    number = {w: i for i, w in enumerate(prose.words)}
    for sense, phrases in enumerate(CONNECTIVES.values(), FIRST_CONNECTIVE):
        for phrase in phrases:
            classes[_opens(prose, first, [number.get(w, -1) for w in phrase.split(" ")])] = sense
    asks, quotes, dash = (prose.is_any(words) for words in (ASKING, OPENING, DASHES))
    # later assignments win: speech over questions, questions over connectives
    classes[np.bincount(prose.sentences, asks, count) > 0] = QUESTION
    classes[np.bincount(prose.sentences, quotes, count) > 0] = SPEECH
    if count:
        classes[dash[first]] = SPEECH
    return classes, first


def _opens(prose: Prose, first: Ints, words: Sequence[int]) -> Bools:
    """Whether each sentence opens with these words, given by number, −1 for one that is nowhere: bool (S,)."""
    opens = np.ones(len(first), dtype=bool)
    for k, word in enumerate(words):
        at = np.minimum(first + k, max(len(prose.ids) - 1, 0))  # (S,); beyond the text, the sentence differs
        opens &= (prose.ids[at] == word) & (prose.sentences[at] == prose.sentences[first])
    return opens


@dataclass(frozen=True)
class SentenceClasses(StateSequences):
    """Classes of sentences, each paragraph preceded by a mark, and the tokens they were read from.

    Attributes
    ----------
    starts
        int64 (N,): first token of each state's sentence, or of the paragraph.
    prose
        The tokens.
    persons
        float64 (n, 2): pronouns of the first person, and of the first and third.
    """

    starts: Ints = None  # type: ignore[assignment]  # always given; dataclasses require a default here
    prose: Prose = None  # type: ignore[assignment]
    persons: Floats = None  # type: ignore[assignment]
