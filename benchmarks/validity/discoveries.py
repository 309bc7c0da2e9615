"""Does `momus discover` verify what is there, and nothing where nothing is?

* Halves of one model without a common prompt, and of one text by authors: the share of splits with anything verified.
* Ten predicates planted into answers, each into 8 to 40 % of the documents of one half: which are verified, and
  described by a word or sign of what was planted.
* A remark in one of twelve wordings, planted into 12 % of the answers: whether it is verified as sentences that are
  alike, and how much of it single phrases, signs and layouts show.
* Answers of one model to another mix of prompts, or of another mix of lengths: the share of splits with anything
  verified, with and without the covariate, and whether what was planted besides is.
* Pairs of versions: whether what a reader wrote down before is among the first five.

Run:  python benchmarks/validity/discoveries.py [--splits 200] [--documents 200] [--out DIR]
Data: ``answers``, ``versions`` and ``prompted-stories`` under MOMUS_DATA, else ../shared/data
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from studies import data

from momus import Corpus
from momus.discover import discover
from momus.report.words.discoveries import predicate_words
from momus.report.words.format import markdown_table

MODELS = ("gpt-4o-2024-05-13", "Mixtral-8x7B-Instruct-v0.1", "alpaca-7b")
VERSIONS = {
    ("claude-3-sonnet-20240229", "claude-3-5-sonnet-20240620"): r"numbered|list",
    ("gemma-2-9b-it-DPO", "gemma-2-9b-it-SimPO"): r"here's|heading|more than",
    ("gpt-4-turbo-2024-04-09", "gpt-4o-mini-2024-07-18"): r"certainly|heading|bold|!|exclamation|ends? with",
    ("tulu-2-dpo-13b", "tulu-2-dpo-13b-ExPO"): r"more than",
}
"""Pairs of versions, and words of what the reader noted or counted."""


def _first_sentence(text: str, change: Callable[[str], str]) -> str:
    return re.sub(r"\A.*?[.!?:](?=\s|\Z)", lambda m: change(m[0]), text, count=1, flags=re.S)


PLANTED: dict[str, tuple[float, Callable[[str], str], str]] = {
    "opens with a greeting": (0.12, lambda t: f"Good day to you. {t}", r"good day"),
    "ends with an offer": (0.1, lambda t: f"{t}\n\nShall I go into more detail?", r"shall i|\?|question"),
    "a stock phrase": (0.15, lambda t: _first_sentence(t, lambda s: f"{s} That being said,"), r"being said"),
    "a disclaimer": (0.1, lambda t: f"{t}\n\nNote that I may be mistaken.", r"mistaken|note that"),
    "a heading at the top": (0.2, lambda t: f"# Answer\n\n{t}", r"heading"),
    "an emoji": (0.08, lambda t: f"{t} 😊", r"emoji"),
    "bold words": (0.4, lambda t: re.sub(r"\b(\w{7,})\b", r"**\1**", t, count=2), r"bold"),
    "dashes for commas": (0.3, lambda t: t.replace(", ", " — ", 1), r"dash"),
    "no last mark": (0.15, lambda t: t.rstrip(" .!?"), r"without a mark|“\.”"),
    "a quoted proverb": (0.1, lambda t: f"{t} As they say, haste makes waste.", r"haste|waste|they say"),
}
"""By name: the share of documents, what is done to them, and words of which a right description has one."""


def rows_of(folder: str, model: str) -> dict[str, str]:
    """The texts of a model by prompt."""
    with gzip.open(data() / folder / f"{model}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {row["prompt_id"]: row["text"] for row in rows if row["text"].strip()}


def corpus(texts: dict[str, str], ids: list[str], name: str, groups: list[str] | None = None) -> Corpus:
    """Some of the texts, each answering its prompt."""
    return Corpus.from_texts([texts[i] for i in ids], ids=ids, prompts=ids, groups=groups, name=name)


def alarms(splits: int, documents: int) -> list[list[str]]:
    """Of halves of one model: the share of splits in which anything is verified."""
    rows = []
    for model in MODELS:
        texts, hits = rows_of("answers", model), 0
        for seed in range(splits):
            ids = [sorted(texts)[i] for i in np.random.default_rng(seed).permutation(len(texts))]
            halves = ids[:documents], ids[documents : 2 * documents]
            found = discover(corpus(texts, halves[0], "a"), corpus(texts, halves[1], "b"), seed=seed)
            hits += bool(found.verified)
        rows.append([model, f"{splits}", f"{hits / splits:.3f}"])
        print(rows[-1], flush=True)
    return rows


def planted(documents: int, repeats: int) -> list[list[str]]:
    """Which of ten planted predicates are verified and described; all are in one text at once."""
    counts = dict.fromkeys(PLANTED, 0)
    for seed in range(repeats):
        model = MODELS[seed % 2]
        texts = rows_of("answers", model)
        rng = np.random.default_rng([seed, 1])
        ids = [sorted(texts)[i] for i in rng.permutation(len(texts))][:documents]
        changed = {i: texts[i] for i in ids}
        for share, change, _ in PLANTED.values():
            for i in rng.permutation(ids)[: round(share * len(ids))].tolist():
                changed[i] = change(changed[i])
        found = discover(corpus(texts, ids, "old"), corpus(changed, ids, "new"), seed=seed)
        said = [predicate_words(d.features).lower() for d in found.verified]
        for name, (_, _, words) in PLANTED.items():
            counts[name] += any(re.search(words, sentence) for sentence in said)
    rows = [[name, f"{PLANTED[name][0]:.0%}", f"{n / repeats:.2f}"] for name, n in counts.items()]
    return [*rows, ["all", "", f"{sum(counts.values()) / repeats / len(counts):.2f}"]]


WORDED = {
    "an offer of help": (
        "Let me know if you would like more detail.",
        "Feel free to ask if anything is unclear.",
        "I am happy to explain any of this further.",
        "Do you want me to go deeper into one of these points?",
        "If you have other questions, just ask.",
        "Don't hesitate to reach out for further assistance.",
        "Shall I walk you through an example?",
        "I can expand on any part whenever you wish.",
        "Tell me if you need help with the next step.",
        "Would it be useful to see a longer version?",
        "Please say so if something needs clarification.",
        "I'd be glad to assist with anything else.",
    ),
    "a hedge": (
        "I may be wrong about some of this.",
        "Take this with a grain of salt.",
        "This could be out of date.",
        "My knowledge here is limited.",
        "Please verify these facts yourself.",
        "I can't be certain of every detail.",
        "Some of this may not apply to you.",
        "Double-check it before you rely on it.",
        "It is worth consulting an expert.",
        "There might be errors in what follows.",
        "Others may see this differently.",
        "Treat this as a rough guide.",
    ),
}
WORDED_SHARE = 0.12


def _inserted(text: str, sentence: str, place: str, rng: np.random.Generator) -> str:
    """The text with a sentence first, last, or after any of its sentences."""
    ends = [m.end() for m in re.finditer(r"[.!?](?=\s)", text)] if place == "anywhere" else []
    at = 0 if place == "first" else ends[rng.integers(len(ends))] if ends else len(text)
    return f"{text[:at]} {sentence} {text[at:]}".strip()


def worded(documents: int, repeats: int) -> list[list[str]]:
    """Remarks in twelve wordings: how often they are verified, and how much of them wordings and phrases show."""
    rows = []
    for name, sentences in WORDED.items():
        for place in ("first", "last", "anywhere"):
            found, largest = 0, np.zeros((repeats, 2))
            for seed in range(repeats):
                texts, rng = rows_of("answers", MODELS[seed % 2]), np.random.default_rng([seed, 3])
                ids = [sorted(texts)[i] for i in rng.permutation(len(texts))][:documents]
                chosen = rng.permutation(ids)[: round(WORDED_SHARE * documents)].tolist()
                changed = texts | {i: _inserted(texts[i], str(rng.choice(sentences)), place, rng) for i in chosen}
                verified = discover(corpus(texts, ids, "old"), corpus(changed, ids, "new"), seed=seed).verified
                for d in verified:
                    alike = d.features[0].kind.endswith(" like")
                    largest[seed, int(not alike)] = max(largest[seed, int(not alike)], d.difference)
                described = [d.features[0].item for d in verified if d.features[0].kind.endswith(" like")]
                found += any(sentence.lower() in item for item in described for sentence in sentences)
            rows.append([name, place, f"{found / repeats:.2f}", *(f"{100 * x:.1f}" for x in largest.mean(axis=0))])
            print(rows[-1], flush=True)
    return rows


BESIDES = "opens with a greeting"
MIX = 0.7
WRITING = ("write", "create", "generate", "compose", "make a", "give me", "list", "provide")


def mixes(splits: int, documents: int, model: str = "alpaca-7b") -> list[list[str]]:
    """Two texts of one model, of which one has 70 % of a kind of documents and the other 30 %: what is verified.

    Without the covariate, and with what is planted into one, in a quarter of the splits.
    """
    texts = rows_of("answers", model)
    with gzip.open(data() / "answers" / "prompts.jsonl.gz", "rt", encoding="utf-8") as lines:
        asked = {row["prompt_id"]: row["prompt"].lower() for row in map(json.loads, lines)}
    words = {i: len(text.split()) for i, text in texts.items()}
    middle = np.median(list(words.values()))
    kinds = {
        "requests to write something": ("kind", {i: any(w in asked[i] for w in WRITING) for i in texts}),
        "answers longer than most": ("length", {i: n > middle for i, n in words.items()}),
    }
    rows = []
    for name, (covariate, first) in kinds.items():
        found = [name, covariate, f"{splits}"]
        for way in ("without", "with", BESIDES):
            seeds = range(splits if way == "with" else splits // 4)
            hits = sum(
                _verified(texts, first, documents, seed, [covariate] * (way != "without"), way) for seed in seeds
            )
            found.append(f"{hits / len(seeds):.3f}")
        rows.append(found)
        print(rows[-1], flush=True)
    return rows


def _verified(
    texts: dict[str, str], first: dict[str, bool], documents: int, seed: int, control_for: list[str], way: str
) -> bool:
    """Whether anything is verified between texts with another mix of two kinds; of a planted greeting, whether that."""
    rng = np.random.default_rng([seed, 2])
    order = rng.permutation(sorted(texts)).tolist()
    one, other = ([i for i in order if first[i] == kind] for kind in (True, False))
    many, few = round(MIX * documents), documents - round(MIX * documents)
    sides = one[:many] + other[:few], one[many : many + few] + other[few : few + many]
    share, change, _ = PLANTED[BESIDES]
    changed = rng.permutation(sides[1])[: round(2 * share * documents)].tolist() if way == BESIDES else []
    both = [
        corpus(side, ids, name).with_field("kind", [str(first[i]) for i in ids])
        for side, ids, name in zip((texts, texts | {i: change(texts[i]) for i in changed}), sides, "ab", strict=True)
    ]
    result = discover(both[0], both[1], control_for=control_for, seed=seed)
    said = " ".join(predicate_words(d.features).lower() for d in result.verified)
    return bool(re.search(r"\bgood\b|\bday\b", said) if way == BESIDES else said)


def versions() -> list[list[str]]:
    """The first five discoveries of each pair, whether the reader's are among them, and seconds of CPU."""
    rows = []
    for (old, new), words in VERSIONS.items():
        one, other = rows_of("versions", old), rows_of("versions", new)
        ids = sorted(one.keys() & other.keys())[:400]
        began = time.process_time()
        found = discover(corpus(one, ids, old), corpus(other, ids, new))
        seconds = time.process_time() - began
        first = [f"{predicate_words(d.features)} {100 * d.difference:+.0f}" for d in found.verified[:5]]
        rows.append([f"{old} → {new}", "yes" if re.search(words, " ".join(first)) else "no", "; ".join(first)])
        rows[-1].append(f"{seconds:.1f}")
    return rows


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/discoveries.md"))
    a = parser.parse_args()
    pairs = versions()
    print(*pairs, sep="\n", flush=True)
    found = planted(2 * a.documents, a.repeats)
    print(*found, sep="\n", flush=True)
    remarks = worded(2 * a.documents, a.repeats)
    mixed = mixes(a.splits, a.documents)
    null = alarms(a.splits, a.documents)
    parts = [
        "# Discoveries: verified where something is, and where nothing is",
        "`python benchmarks/validity/discoveries.py`; half of the prompts propose, the others verify; level 0.05.",
        f"Halves of one model without a common prompt, {a.documents} | {a.documents} answers: any verified.",
        markdown_table(["model", "splits", "any verified"], null),
        f"One model, {a.documents} | {a.documents} answers to other prompts, of which 70 % and 30 % are of one kind: "
        f"any verified without the covariate (a quarter of the splits), with it, and with it a greeting planted into "
        f"{2 * PLANTED[BESIDES][0]:.0%} of one text.",
        markdown_table(["another mix of", "covariate", "splits", "without", "with", "greeting found"], mixed),
        f"Planted into {2 * a.documents} answers beside themselves, all ten at once, {a.repeats} times: verified, and "
        "described by a word of what was planted.",
        markdown_table(["planted", "documents", "verified and described"], found),
        f"A remark in one of twelve wordings, planted into {WORDED_SHARE:.0%} of {2 * a.documents} answers, "
        f"{a.repeats} times each: verified as sentences alike and described by one that was planted; and the largest "
        "verified difference of sentences alike, and of all else. Only first and last sentences are learned from.",
        markdown_table(["planted", "place", "verified and described", "alike, points", "else, points"], remarks),
        "Pairs of versions, 400 | 400 answers: whether what a reader had written down is among the first five. "
        "The order was chosen on these pairs (three of four before what a reader sees first counted more), "
        "so this is no test of it.",
        markdown_table(["versions", "among them", "first five, in points", "CPU s"], pairs),
    ]
    a.out.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
