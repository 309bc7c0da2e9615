"""Forced choice between a human document and its copy with one planted fault: how often the copy is called odder.

Registers of ``registers``, or of ``rewrites`` (``MOMUS_DATA``): a body of 200 or 100 human documents, and up to 40
others for each kind of fault. Of `LONGER` kinds the copy has another length. A tie counts half; *told* are pairs with
an error rate of at most .05, on either side. Sentences and names come from documents that are neither in the body nor
copied. Beside them, pairs of two human documents, where .05 should be told, and pairs of a human document and one of a
model of its register.

    nice python benchmarks/validity/spoilt.py [--registers arxiv,xsum] [--out benchmarks/results/spoilt.md]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from momus.review import Body, choose, fit_body
from momus.review.spans import word_counts
from momus.text.corpus import Corpus

BODY, TESTED, LEVEL = 200, 40, 0.05
LEAST, MOST = 5, 40
"""Fewest sentences of a document that is spoilt, and most."""
LONGER = ("word doubled", "sentence repeated", "broken off")
REGISTERS = "xsum,yelp_review,arxiv,writing_prompt,NewsArticle,EducationMaterial"
FOREIGN = "Das haben wir gestern noch einmal ausführlich besprochen, und niemand war damit besonders zufrieden."
OTHER_NUMBER = {"is": "are", "are": "is", "was": "were", "were": "was", "has": "have", "have": "has"}
OTHER_NUMBER |= {"do": "does", "does": "do", "this": "these", "these": "this", "a": "an", "an": "a"}
PRESENT = {
    "was": "is",
    "were": "are",
    "had": "has",
    "did": "does",
    "said": "says",
    "told": "tells",
    "took": "takes",
    "made": "makes",
    "came": "comes",
    "went": "goes",
    "is": "was",
    "are": "were",
    "has": "had",
    "have": "had",
    "shows": "showed",
    "find": "found",
    "show": "showed",
    "study": "studied",
    "present": "presented",
}
Random = np.random.Generator


def sentences(text: str) -> list[str]:
    """Sentences of a text."""
    return re.split(r"(?<=[.!?])\s+(?=[A-Z\"'“(])", text.strip())


def plain(text: str) -> str:
    """A text in one line, with a space after each sentence: in some registers there is none."""
    text = re.sub(r"(?<=[a-z0-9])([.!?][\"”’)]?)(?=[A-Z\"“])", r"\1 ", text)
    return " ".join(sentences(" ".join(text.split())))


def exchanged(text: str, others: dict[str, str], most: int, rng: Random) -> str:
    """At most so many words of a table, exchanged."""
    places = list(re.finditer(rf"\b(?:{'|'.join(others)})\b", text))
    for i in sorted(rng.permutation(len(places))[:most].tolist(), reverse=True):
        text = text[: places[i].start()] + others[places[i][0]] + text[places[i].end() :]
    return text


def on_words(text: str, pattern: str, change: Callable[[str], str], most: int, rng: Random) -> str:
    """At most so many matches, changed."""
    places = list(re.finditer(pattern, text))
    for i in sorted(rng.permutation(len(places))[:most].tolist(), reverse=True):
        text = text[: places[i].start()] + change(places[i][0]) + text[places[i].end() :]
    return text


def misspelt(word: str, rng: Random) -> str:
    """A word with two letters exchanged, one left out or one doubled."""
    i = int(rng.integers(1, len(word) - 2))
    return [
        word[:i] + word[i + 1] + word[i] + word[i + 2 :],
        word[:i] + word[i + 1 :],
        word[:i] + word[i] + word[i:],
    ][int(rng.integers(3))]


def on_sentences(text: str, rng: Random, change: Callable[[list[str], int], list[str]]) -> str:
    """The sentences changed, at a random one that is not the last."""
    parts = sentences(text)
    return " ".join(change(parts, int(rng.integers(len(parts) - 1))))


def moved(parts: list[str], i: int) -> list[str]:
    """A sentence moved by half of the text."""
    rest = parts[:i] + parts[i + 1 :]
    j = (i + len(parts) // 2) % len(parts)
    return [*rest[:j], parts[i], *rest[j:]]


def broken(text: str, rng: Random) -> str:
    """The end cut off in the middle of the last sentence."""
    *parts, last = sentences(text)
    words = last.split()
    return " ".join([*parts, *words[: max(len(words) // 2, 1)]]).rstrip(".,;:!?")


def kinds(others: Sequence[str]) -> dict[str, Callable[[str, Random], str]]:
    """The faults by name; ``others`` are documents that sentences and names come from."""
    every = [s for text in others for s in sentences(text) if 8 <= len(s.split()) <= 40]
    names = sorted({n for text in others for n in re.findall(r"(?<=[a-z] )[A-Z][a-z]{3,}", text)})

    def of(pool: Sequence[str], rng: Random) -> str:
        return pool[int(rng.integers(len(pool)))]

    def replaced(text: str, rng: Random, sentence: str) -> str:
        return on_sentences(text, rng, lambda p, i: [*p[:i], sentence, *p[i + 1 :]])

    def salad(parts: list[str], i: int, rng: Random) -> list[str]:
        return [*parts[:i], " ".join(rng.permutation(parts[i].split()).tolist()), *parts[i + 1 :]]

    return {
        "three misspelt words": lambda t, r: on_words(t, r"\b[a-z]{5,}\b", lambda w: misspelt(w, r), 3, r),
        "three errors of grammar": lambda t, r: exchanged(t, OTHER_NUMBER, 3, r),
        "one misspelt word": lambda t, r: on_words(t, r"\b[a-z]{5,}\b", lambda w: misspelt(w, r), 1, r),
        "tense of three verbs": lambda t, r: exchanged(t, PRESENT, 3, r),
        "negation dropped": lambda t, r: on_words(t, r" (?:not|never|no)\b|n't\b", lambda _: "", 1, r),
        "three function words dropped": lambda t, r: on_words(t, r" (?:the|a|an|of|to|in)(?= )", lambda _: "", 3, r),
        "number changed": lambda t, r: on_words(t, r"\d+", lambda n: str(int(n) * 7 + 3), 1, r),
        "name exchanged": lambda t, r: on_words(t, r"(?<=[a-z] )[A-Z][a-z]{3,}\b", lambda _: of(names, r), 1, r),
        "sentence moved": lambda t, r: on_sentences(t, r, moved),
        "sentences shuffled": lambda t, r: " ".join(r.permutation(sentences(t)).tolist()),
        "sentence in random order of words": lambda t, r: on_sentences(t, r, lambda p, i: salad(p, i, r)),
        "sentence of another document": lambda t, r: replaced(t, r, of(every, r)),
        "sentence in German": lambda t, r: replaced(t, r, FOREIGN),
        "word doubled": lambda t, r: on_words(t, r"\b[a-z]{2,}\b", lambda w: f"{w} {w}", 1, r),
        "sentence repeated": lambda t, r: on_sentences(t, r, lambda p, i: [*p[: i + 1], p[i], *p[i + 1 :]]),
        "broken off": broken,
    }


Outcome = tuple[float, bool, bool, float]
"""Of a pair: 1 where the second is odder, ½ for a tie; whether it is told; whether the first is; 1 by their p alone."""
Outcomes = dict[str, list[Outcome]]


def documents(register: str) -> tuple[list[str], list[str]]:
    """Documents of people and of models, in a random order."""
    root = Path(os.environ.get("MOMUS_DATA", "../shared/data"))
    path = root / f"registers/{register}.jsonl.gz"
    with gzip.open(path if path.exists() else root / "rewrites/rewrites.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row.get("register", register) == register]
    rng = np.random.default_rng(0)
    sides = ([plain(row["text"]) for row in rows if (row["writer"] == "human") == human] for human in (True, False))
    human, models = ([texts[i] for i in rng.permutation(len(texts))] for texts in sides)
    return human, models


def chosen(first: Sequence[str], second: Sequence[str], body: Body) -> list[Outcome]:
    """Which documents of pairs are odder, and which by the surprise behind their p."""
    choice = choose(Corpus.from_texts(first, name="first"), Corpus.from_texts(second, name="second"), body, LEVEL)
    outcomes = []
    for pair, *judged in zip(choice.pairs, *(review.documents for review in choice.reviews), strict=True):
        told = pair.rate is not None and pair.rate <= LEVEL
        one, other = (document.surprise or 0.0 for document in judged)
        by_p = 0.5 + 0.5 * float(np.sign(other - one))
        outcomes.append(
            (0.5 if pair.odder is None else float(pair.odder), told and pair.odder == 1, told and pair.odder == 0, by_p)
        )
    return outcomes


def measured(register: str) -> Outcomes:
    """All kinds in one register."""
    human, models = documents(register)
    size = min(BODY, len(human) // 2)
    end = (size + len(human)) // 2
    body = fit_body(Corpus.from_texts(human[:size], name=register))
    low, high = body.lengths
    new = [t for t in human[size:end] if LEAST <= len(sentences(t)) <= MOST and low <= word_counts([t])[0] <= high]
    outcomes: Outcomes = {}
    for kind, spoil in kinds(human[end:]).items():
        rng = np.random.default_rng(1)
        pairs = [pair for pair in ((text, spoil(text, rng)) for text in new) if pair[0] != pair[1]][:TESTED]
        outcomes[kind] = chosen([text for text, _ in pairs], [copy for _, copy in pairs], body)
    half = len(new) // 2
    outcomes["two human documents"] = chosen(new[:half], new[half : 2 * half], body)
    outcomes["human, model"] = chosen(new[:half], models[:half], body)
    return outcomes


def summary(outcomes: Sequence[Outcome]) -> str:
    """Share in which the second is odder, with a 95 % interval (Wilson), shares told, and the share by p."""
    share, told, wrong, by_p = np.mean(np.array(outcomes, dtype=np.float64), axis=0)
    ends = binomtest(round(share * len(outcomes)), len(outcomes)).proportion_ci(method="wilson")
    return f"{share:.2f} [{ends.low:.2f}, {ends.high:.2f}] | {told:.2f} | {wrong:.2f} | {by_p:.2f}"


def table(rows: dict[str, Outcomes]) -> str:
    """Markdown of all registers."""
    lines = [
        "# Spoilt copies, forced choice",
        "",
        "`benchmarks/validity/spoilt.py`: share of pairs in which `momus review COPY --against ORIGINAL` calls the",
        f"copy odder. Bodies of up to {BODY} human documents, up to {TESTED} copies by kind and register.",
        "*Told*: error rate of at most .05. *By p*: share if the surprise behind p decides. Two rows are no copies.",
        "Weights of critics were chosen on the registers of `registers`; those of `rewrites` were not seen before.",
        "",
        "| kind | " + " | ".join(rows) + " | all, 95 % interval | told | original told | by p |",
        "|---|" + "---:|" * (len(rows) + 4),
    ]
    kinds_of = next(iter(rows.values()))
    same = [kind for kind in list(kinds_of)[:-2] if kind not in LONGER]
    every = {kind: [outcome for register in rows.values() for outcome in register[kind]] for kind in kinds_of}
    every["kinds of one length"] = [outcome for kind in same for outcome in every[kind]]
    for kind, outcomes in every.items():
        sides = ([o for k in (same if kind not in kinds_of else [kind]) for o in r[k]] for r in rows.values())
        alone = " | ".join(f"{np.mean([won for won, *_ in side]):.2f}" for side in sides)
        lines.append(f"| {kind} | {alone} | {summary(outcomes)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--registers", default=REGISTERS)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/spoilt.md"))
    options = parser.parse_args()
    text = table({register: measured(register) for register in options.registers.split(",")})
    print(text)
    options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
