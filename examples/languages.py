"""Compare German, Chinese, Arabic and Thai texts with copies that have a known defect.

    python examples/languages.py --out folder

The texts are messages of two web frameworks in four languages (`languages_data/`). Half of the documents of a language
is for fitting, a quarter is the real text, and the last quarter is compared with it three times: as it is, with the
words of each document in random order, and with half of its stopwords left out. Word order is the business of
``perplexity`` alone, and stopwords are that of ``stopword-share`` before all: the others should find nothing where only
the order differs. Writes ``verdicts.csv`` and prints the adjusted p of each critic's headline. Needs
``pip install -e '.[languages]'``. Takes half a minute for all languages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from shared import options, run

from momus import Corpus, compare, read_corpus
from momus.text.tokens import get_tokenizer
from momus_critics.stopword_lists import stopwords

DATA = Path(__file__).parent / "languages_data"
LANGUAGES = ("de", "zh", "ar", "th")
CRITICS = ("length", "unigram", "type-token", "stopword-share", "symbol-share", "perplexity")
Change = Callable[[list[str], str, np.random.Generator], list[str]]


def shuffled(words: list[str], language: str, rng: np.random.Generator) -> list[str]:
    """The words of a document in random order."""
    return [words[i] for i in rng.permutation(len(words))]


def thinned(words: list[str], language: str, rng: np.random.Generator) -> list[str]:
    """The words of a document without half of its stopwords."""
    known = stopwords(language)
    return [word for word in words if word not in known or rng.random() < 0.5]


VERSIONS: dict[str, Change] = {
    "as it is": lambda words, language, rng: words,
    "shuffled": shuffled,
    "thinned": thinned,
}


def changed(text: Corpus, language: str, change: Change, seed: int) -> Corpus:
    """The documents with their words changed, and written with spaces between them, which changes no word."""
    table = text.tokens(get_tokenizer("words"))
    rng = np.random.default_rng(seed)
    words = [[table.vocabulary[i] for i in table.ids[a:b].tolist()] for a, b in pairwise(table.offsets.tolist())]
    documents = [" ".join(change(w, language, rng)) for w in words]
    frame = pd.DataFrame({"id": text.ids, "text": documents, "language": language})
    return read_corpus(frame, text.name, keep=("language",))


def compared(language: str, permutations: int, seed: int, critics: Sequence[str] = CRITICS) -> pd.DataFrame:
    """Compare the texts of a language; one row per version and critic."""
    whole = read_corpus(DATA / f"{language}.jsonl.gz", name=language, keep=["language"])
    fitting, rest = whole.split(0.5, seed)
    real, other = rest.split(0.5, seed)
    versions = {name: changed(other, language, change, seed) for name, change in VERSIONS.items()}
    comparison = compare(
        changed(real, language, VERSIONS["as it is"], seed),
        versions,
        fit=changed(fitting, language, VERSIONS["as it is"], seed),
        critics=list(critics),
        permutations=permutations,
        seed=seed,
        device="cpu",
    )
    rows = comparison.frame()
    words = int(whole.tokens(get_tokenizer("words")).lengths.sum())
    return rows[rows["headline"]].assign(language=language, documents=len(whole), words=words)


def main(argv: Sequence[str] | None = None) -> pd.DataFrame:
    """Compare each language, and print a table of p-values."""
    chosen = options(
        __doc__,
        argv,
        languages={"default": ",".join(LANGUAGES), "help": "languages, comma-separated"},
        critics={"default": ",".join(CRITICS), "help": "critics, comma-separated"},
        permutations={"type": int, "default": 9999},
    )
    languages, critics = chosen.languages.split(","), chosen.critics.split(",")
    frame = pd.concat([compared(k, chosen.permutations, chosen.seed, critics) for k in languages], ignore_index=True)
    frame.to_csv(chosen.out / "verdicts.csv", index=False)
    sizes = frame.drop_duplicates("language")[["language", "documents", "words"]]
    print(sizes.to_string(index=False))
    table = frame.pivot(index=["language", "generated"], columns="critic", values="p_adjusted")
    print(table.loc[languages, list(critics)].to_string(float_format="%.4f"))
    return frame


if __name__ == "__main__":
    run(main)
