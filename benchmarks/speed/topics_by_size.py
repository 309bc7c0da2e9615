"""How the held-out likelihood of the topic model grows with the number of documents that it is fitted on.

Chapters of novels of about 1,000 words; samples of growing size, each a part of the next, and 400 held-out chapters of
the same novels. Held-out likelihood is by document completion, as in ``topics.py``; the vocabulary is that of the
largest sample.

Run:  python benchmarks/speed/topics_by_size.py [--topics 20] [--sizes 250 500 1000 2000 4000]
Data: the folder ``litbank`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import sparse
from topics import load

from momus.text.tokens import get_tokenizer
from momus.text.vocabulary import VocabularyRules, build_vocabulary, count_words
from momus_critics.stopword_lists import stopwords
from momus_critics.topics.fitting import Options, completed, fit, halves

HELD_OUT = 400


def main() -> None:
    """Fit the model on growing samples, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--sizes", type=int, nargs="+", default=[250, 500, 1000, 2000, 4000])
    a = parser.parse_args()
    corpus = load("novels")
    order = np.random.default_rng(0).permutation(len(corpus))
    held, rest = corpus.take(order[:HELD_OUT]), corpus.take(order[HELD_OUT:])
    tokenizer = get_tokenizer("words")
    sizes = [n for n in a.sizes if n <= len(rest)]
    rules = VocabularyRules(least_count=10, dropped=stopwords("en"))
    largest = rest.take(np.arange(sizes[-1])).tokens(tokenizer)
    words = build_vocabulary(largest, rules)
    train = sparse.csr_array(count_words(largest, words))
    test = halves(sparse.csr_array(count_words(held.tokens(tokenizer), words)), 0)
    print(f"{len(corpus):,} chapters, {len(words):,} words, {a.topics} topics, {a.steps} steps")
    print("| documents | nats per held-out token | ± | seconds |\n|---:|---:|---:|---:|")
    options = Options(a.topics, steps=a.steps, seed=0)
    for n in sizes:
        start = time.perf_counter()
        model = fit(sparse.csr_array(train[:n]), options)
        seconds = time.perf_counter() - start
        value, tokens = completed(model, test, options), np.asarray(test[1].sum(axis=1)).ravel()
        mean = value.sum() / tokens.sum()
        error = np.sqrt(((value - mean * tokens) ** 2).sum()) / tokens.sum()
        print(f"| {n:,} | {mean:.3f} | {error:.3f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
