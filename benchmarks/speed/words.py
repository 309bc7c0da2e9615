"""Words per second of the tokenizer ``words`` against the plain regular expression, in several languages.

    python benchmarks/speed/words.py

Each text is split by `momus.text.words.split_words`, by the expression alone (which takes a Chinese clause for one
word), and by ICU alone. English is the demo's documentation; with curly quotes it is not ASCII any more; the others are
the texts of ``examples/languages.py``, and Hindi the samples of the conformance checks. Texts have about
300,000 characters. Of each 20 documents, split by all three ways in turn, the least processor time of 12 runs counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from icu4py.breakers import WordBreaker

from momus import read_corpus
from momus.conformance.corpora import SAMPLES
from momus.demo import demo_path
from momus.text.words import WORD, icu_version, split_words

CHARACTERS, RUNS, CHUNK = 300_000, 12, 20
DATA = Path(__file__).parents[2] / "examples" / "languages_data"


def texts() -> dict[str, list[str]]:
    """Documents by language, repeated to about as many characters each."""
    english = [d.text for d in read_corpus(demo_path("real.jsonl.gz"))]
    found = {
        "English, ASCII": [text.encode("ascii", "replace").decode() for text in english],
        "English, curly quotes": [text.replace("'", "’").replace('"', "“") + " – …" for text in english],
        "Russian": list(SAMPLES["Cyrillic"].sentences) * 20,
        "Hindi": list(SAMPLES["Devanagari"].sentences) * 20,
    }
    for name, code in {"German": "de", "Arabic": "ar", "Chinese": "zh", "Thai": "th"}.items():
        found[name] = [d.text for d in read_corpus(DATA / f"{code}.jsonl.gz")]
    return {name: _as_long(documents) for name, documents in found.items()}


def _as_long(documents: list[str]) -> list[str]:
    """The documents, again and again, up to `CHARACTERS` together."""
    repeated, length = [], 0
    while length < CHARACTERS:
        for document in documents:
            repeated.append(document)
            length += len(document)
            if length >= CHARACTERS:
                break
    return repeated


def rates(ways: list[Callable[[str], list[str]]], documents: list[str]) -> list[float]:
    """Million characters per second of each way; see the head of this file."""
    chunks = [documents[i : i + CHUNK] for i in range(0, len(documents), CHUNK)]
    # processor time of each way and chunk, the least of all runs, shape (ways, chunks)
    least = [[float("inf")] * len(chunks) for _ in ways]
    for _ in range(RUNS):
        for k, chunk in enumerate(chunks):
            for i, way in enumerate(ways):
                start = time.process_time_ns()
                for document in chunk:
                    way(document)
                least[i][k] = min(least[i][k], (time.process_time_ns() - start) / 1e9)
    return [sum(map(len, documents)) / sum(seconds) / 1e6 for seconds in least]


def main() -> None:
    """Print a table."""
    print(f"ICU {icu_version()}; million characters per second, and seconds as a multiple of the expression's")
    print(f"{'text':22}{'words':>10}{'letters':>9}{'split_words':>13}{'expression':>12}{'multiple':>10}{'ICU':>8}")
    for name, documents in texts().items():
        words = sum(len(split_words(d)) for d in documents)
        ours, plain, icu = rates([split_words, WORD.findall, lambda text: list(WordBreaker(text, "root"))], documents)
        length = sum(map(len, documents)) / words
        print(f"{name:22}{words:>10,}{length:>9.1f}{ours:>13.1f}{plain:>12.1f}{plain / ours:>10.2f}{icu:>8.1f}")


if __name__ == "__main__":
    main()
