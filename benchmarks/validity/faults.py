"""How many planted faults the critic *faults* finds, and how many healthy documents it flags.

Faults are planted into 5, 10 and 35 % of 200 texts, the critic is fitted on 200 others, in three splits; healthy texts
of eight kinds have none. Usage: ``python benchmarks/validity/faults.py`` (about five minutes on one core); the table
goes to ``benchmarks/results/faults.json`` and to standard output.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from momus import Corpus
from momus.evidence import Faulty
from momus.runs.broken import exceeds, level_of, reference_of
from momus_critics.faults import Faults
from momus_critics.faults.sheet import KINDS
from momus_critics.prose.reading import read_prose

DATA = Path(os.environ.get("MOMUS_DATA", "data"))
RESULTS = Path(__file__).parents[1] / "results" / "faults.json"
N, SHARES, SPLITS, DRAWS = 200, (0.05, 0.10, 0.35), 3, 5
MAN = Path("/usr/share/man/zh_CN")
"""Chinese manual pages (Debian's ``manpages-zh``)."""
Flags = NDArray[np.float64]
Plant = Callable[[str, np.random.Generator], str]


def rows(file: str) -> list[dict[str, str]]:
    """The records of a file of the data folder."""
    with gzip.open(DATA / file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def answers(model: str = "gpt-4o-2024-05-13") -> list[str]:
    """Answers of one model."""
    return [r["text"] for r in rows(f"answers/{model}.jsonl.gz")]


def people(register: str) -> list[str]:
    """Human texts of a register."""
    return [r["text"] for r in rows(f"registers/{register}.jsonl.gz") if r["writer"] == "human"]


def chinese() -> list[str]:
    """Paragraphs of Chinese manual pages, joined to some 400 signs."""
    pages: list[str] = []
    for path in sorted(MAN.glob("man*/*.gz")):
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as page_file:
            text = page_file.read()
        lines = [x for x in text.split("\n") if x and x[0] not in ".'" and len(re.findall("[\u4e00-\u9fff]", x)) > 10]
        lines = [x for x in lines if x.rstrip().endswith("。")]
        for i in range(0, len(lines), 4):
            page = re.sub(r"\\f.|\\-|\\", "", "".join(lines[i : i + 4]))
            pages += [page] if len(page) > 100 else []
    return pages


def cut(text: str, rng: np.random.Generator) -> str:
    """Cut within a sentence, in the second half.

    A cut in a line that has no mark at its end in the whole text either (a phrase of a list, a title, a line of a song)
    is left out, since no reader can see it; a text without another place stays as it is.
    """
    for _ in range(50):
        words = text.split(" ")
        if len(words) < 30:  # signs, where no spaces separate words
            words = list(text)
        k = int(rng.integers(len(words) // 2, max(len(words) - 2, len(words) // 2 + 1)))
        short = ("" if words == list(text) else " ").join(words[:k])
        line = text[len(short) :].partition("\n")[0].rstrip(" \"'”’)*_")
        if short and short.rstrip()[-1].isalnum() and line.endswith(tuple(".!?…:;,。！？")):
            return short
    return text


def looped(text: str, rng: np.random.Generator) -> str:
    """A word many times, or a sentence at least four times, at the end."""
    if rng.random() < 0.3:
        return text + " the" * 80
    sentences = [s for s in re.split(r"(?<=[.!?。])\s*", text) if len(s) > 20] or [text]
    return text + " " + (sentences[int(rng.integers(len(sentences)))] + " ") * int(rng.integers(4, 12))


def templated(text: str, rng: np.random.Generator) -> str:
    """A line of reasoning that counts."""
    first = int(rng.integers(1, 50))
    return (
        text
        + "\n\n"
        + " ".join(
            f"Wait, let me check case {i} again before I answer."
            for i in range(first, first + int(rng.integers(5, 15)))
        )
    )


def tokens(text: str, rng: np.random.Generator) -> str:
    """Control tokens at the end."""
    ends = ("<|eot_id|>", "<|im_end|>", "</s>", "[/INST]", "<|endoftext|>", "<end_of_turn>", "\n\nHuman: And then?")
    return text + str(rng.choice(ends))


def script(text: str, rng: np.random.Generator) -> str:
    """Two Chinese or Russian sentences in the middle."""
    inserted = str(rng.choice(("今天下午下了一场大雨。我们都没有带伞。", "Сегодня шёл дождь. Никто не взял зонт.")))
    middle = text.find(" ", len(text) // 2)
    return f"{text[:middle]} {inserted} {text[middle:]}" if middle > 0 else f"{text} {inserted}"


def language(text: str, rng: np.random.Generator) -> str:
    """Two sentences of German, French or Spanish behind a sentence in the middle, if one ends there outside of code."""
    inserted = str(
        rng.choice(
            (
                "Der Regen hatte erst am Abend aufgehört, als sie das Haus auf dem Hügel erreichten. Niemand war dort.",
                "La pluie avait cessé quand ils arrivèrent enfin devant la maison, et personne ne les attendait là.",
                "La lluvia había cesado cuando llegaron por fin a la casa de la colina, y nadie los esperaba allí.",
            )
        )
    )
    ends = (m.end() for m in re.finditer(r"(?<=[a-z])\. ", text) if m.start() >= len(text) // 3)
    place = next((end for end in ends if text.count("```", 0, end) % 2 == 0), len(text))
    return f"{text[:place]}{inserted} {text[place:]}" if place < len(text) else f"{text} {inserted}"


def refused(text: str, rng: np.random.Generator) -> str:
    """A refusal instead of the text."""
    said = (
        "I'm sorry, but I can't help with that.",
        "As an AI language model, I do not have personal opinions on this. It is best to ask an expert.",
        "I cannot provide advice on this topic. Please consult a professional.",
        "I apologize, but I am unable to fulfil this request.",
    )
    return str(rng.choice(said))


def garbled(text: str, rng: np.random.Generator) -> str:
    """Apostrophes and dashes read as Latin-1, or line ends that are escaped."""
    if rng.random() < 0.5:
        return text.replace("\n", "\\n").replace('"', '\\"') + ' \\"So it was.\\"\\n\\nThe end.'
    return text.replace("'", "â€™") + " It wasnâ€™t so."


REGISTERS = ("yelp_review", "xsum", "writing_prompt", "arxiv")


@cache
def vocabulary() -> frozenset[str]:
    """Words, in lower case, of at least five of all texts."""
    texts = [*answers(), *(t for register in REGISTERS for t in people(register))]
    counts = Counter(w for t in texts for w in {*re.findall(r"\w+", t.lower())})
    return frozenset(w for w, n in counts.items() if n >= 5)


def slip(word: str, rng: np.random.Generator) -> str:
    """Exchange two letters, leave one out, or add one."""
    i, kind = int(rng.integers(1, len(word) - 1)), rng.random()
    if kind < 0.4:
        return word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    added = "" if kind < 0.7 else str(rng.choice(list("abcdefghiklmnoprstu"))) + word[i]
    return word[:i] + added + word[i + 1 :]


def typos(text: str, rng: np.random.Generator) -> str:
    """Slips in as many words of four letters or more as are 3 % of all words; none makes a word, which is no typo."""
    words = text.split(" ")
    eligible = [i for i, w in enumerate(words) if w.isalpha() and len(w) >= 4]
    many = min(len(eligible), max(1, round(0.03 * len(words))))
    for j in rng.choice(eligible, many, replace=False).tolist() if eligible else ():
        slips = (slip(words[j], rng) for _ in range(20))
        words[j] = next((s for s in slips if s.lower() not in vocabulary()), words[j])
    return " ".join(words)


def salad(text: str, rng: np.random.Generator) -> str:
    """All words in another order."""
    return " ".join(rng.permutation(np.array(text.split(), dtype=object)).tolist())


PLANTS: dict[str, tuple[str, Plant, float]] = {
    "broken-off": ("broken-off", cut, 0.95),
    "loop": ("loop", looped, 0.95),
    "templated loop": ("loop", templated, 0.9),
    "control-tokens": ("control-tokens", tokens, 0.95),
    "foreign-script": ("foreign-script", script, 0.95),
    "foreign-language": ("foreign-language", language, 0.95),
    "refusal": ("refusal", refused, 0.95),
    "noise": ("noise", garbled, 0.95),
    "misspelt": ("misspelt", typos, 0.8),
    "word-salad": ("word-salad", salad, 0.8),
}
"""Planted faults: the flag that is to find each, how it is planted, and the share that is to be found."""
OF_ENGLISH = ("foreign-language", "refusal", "noise", "misspelt", "word-salad", "templated loop")


def healthy(rng: np.random.Generator) -> dict[str, list[str]]:
    """Healthy documents by kind; none is broken."""
    names = ("rain", "oak", "river", "stone", "lamp", "door", "field", "glass", "paper", "bread", "wool", "clock")

    def some(k: int) -> list[str]:
        return rng.choice(names, k, replace=False).tolist()

    def numbers() -> Iterator[int]:
        while True:
            yield int(rng.integers(1, 999))

    n = numbers()
    poem = [
        "\n".join(f"The {a} is on the {b},\nand nobody will know;\nthe {b} is by the {a},\nso let the {c} go."
                  for a, b, c in (some(3) for _ in range(3)))
        for _ in range(60)
    ]  # fmt: skip
    return {
        "JSON": [json.dumps([{"id": next(n), "name": a, "open": True, "tags": some(2)} for a in some(8)], indent=2)
                 for _ in range(60)],
        "tables": ["| thing | price | sold |\n|---|---|---|\n" +
                   "\n".join(f"| {a} | {next(n)} | yes |" for a in some(9)) for _ in range(60)],
        "lists": ["Here is what you need:\n\n" + "\n".join(f"{i}. Buy {next(n)} pieces of {a}" for i, a in
                                                            enumerate(some(10), 1)) for _ in range(60)],
        "poems": poem,
        "code": ["```python\n" + "\n".join(f"def {a}(x):\n    return x + {next(n)}\n" for a in some(6)) + "```"
                 for _ in range(60)],
        "dialogues": ["\n".join(f"{'Ann' if i % 2 else 'Bob'}: Did you see the {a} today?" for i, a in
                                enumerate(some(8))) for _ in range(60)],
        "short replies": [f"Yes, the {a} is in the {b}." for a, b in (some(2) for _ in range(60))],
    }  # fmt: skip


def flags_of(critic: Faults, texts: Sequence[str]) -> Flags:
    """Which text has which fault, (n, kinds)."""
    return critic.project(Corpus.from_texts(list(texts))).flags


def measure(name: str, texts: list[str], rng: np.random.Generator) -> Iterator[dict[str, object]]:
    """Rows of one text: by planted fault and share, documents found, and others that have the flag."""
    order = rng.permutation(len(texts))
    n = min(N, len(texts) // 2)
    fitted, tested = ([texts[i] for i in order[a : a + n].tolist()] for a in (0, n))
    critic = Faults().fit(Corpus.from_texts(fitted))
    columns = [kind.name for kind in KINDS]
    for planted, (flag, plant, goal) in PLANTS.items():
        if name == "Chinese manual pages" and planted in (*OF_ENGLISH, "foreign-script"):
            continue
        for share in SHARES:
            chosen = rng.random(len(tested)) < share
            changed = [plant(t, rng) if w else t for t, w in zip(tested, chosen, strict=True)]
            which = np.array([a != b for a, b in zip(tested, changed, strict=True)])  # some texts cannot have the fault
            has = flags_of(critic, changed)[:, columns.index(flag)] > 0
            yield {
                "text": name,
                "planted": planted,
                "share": share,
                "documents": int(which.sum()),
                "found": round(float(has[which].mean()), 3) if which.any() else None,
                "others": round(float(has[~which].mean()), 3),
                "goal": goal,
            }


def told(critic: Faults, real: Flags, generated: Flags) -> list[str]:
    """Which kinds of faults the first screen tells of two texts."""
    n = critic.fitted_on_["documents"]
    fitted = np.rint(critic.rates_ * (n + 1) - 0.5).astype(int).tolist(), n
    counts = [(x.sum(axis=0).astype(int).tolist(), len(x)) for x in (real, generated)]
    texts = zip(KINDS, *([(k, n) for k in per] for per, n in (*counts, fitted)), strict=True)
    faults: list[Faulty] = [Faulty(kind.name, "", "", a, b, fitted=c) for kind, a, b, c in texts]
    pairs = [(reference_of(f), f.generated) for f in faults]
    level = level_of(pairs)
    return [f.name for f, pair in zip(faults, pairs, strict=True) if exceeds(*pair) <= level]


def screens(name: str, texts: list[str], rng: np.random.Generator, splits: int = 40) -> Iterator[dict[str, object]]:
    """How often the first screen tells a fault: of halves of one text, and where one in 20 documents is broken.

    Over `DRAWS` of the texts that the critic is fitted on, and of those that are split.
    """
    rates: dict[tuple[str, float], list[bool]] = {}
    for _ in range(DRAWS):
        order = rng.permutation(len(texts))
        fitted, tested = ([texts[i] for i in order[a:b].tolist()] for a, b in ((0, N), (N, 3 * N)))
        critic = Faults().fit(Corpus.from_texts(fitted))
        whole = flags_of(critic, tested)
        halves = [rng.permutation(len(tested)) for _ in range(splits)]
        rates.setdefault(("nothing", 0), []).extend(bool(told(critic, whole[h[:N]], whole[h[N:]])) for h in halves)
        for planted, (flag, plant, _) in PLANTS.items():
            changed = [plant(t, rng) for t in tested]
            broken, differs = (
                flags_of(critic, changed),
                np.array([a != b for a, b in zip(tested, changed, strict=True)]),
            )
            for share, h in product(SHARES, halves):
                generated = whole[h[N:]].copy()
                may_have = np.flatnonzero(differs[h[N:]])
                some = rng.choice(may_have, min(round(share * len(generated)), len(may_have)), replace=False)
                generated[some] = broken[h[N:]][some]
                rates.setdefault((planted, share), []).append(flag in told(critic, whole[h[:N]], generated))
    for (planted, share), hits in rates.items():
        yield {"text": name, "planted": planted, "share": share, "told": round(float(np.mean(hits)), 3)}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    rng = np.random.default_rng(parser.parse_args().seed)
    table: list[dict[str, object]] = []
    texts = {"answers": answers(), **{r: people(r) for r in REGISTERS}}
    if MAN.is_dir():
        texts["Chinese manual pages"] = chinese()
    for name, documents in texts.items():
        for row in (row for _ in range(SPLITS) for row in measure(name, documents, rng)):
            table.append(row)
            print(*row.values(), sep="\t", flush=True)
    first = []
    for name in ("answers", "yelp_review", "xsum", "writing_prompt"):
        for row in screens(name, texts[name], rng):
            first.append(row)
            print(*row.values(), sep="\t", flush=True)
    kept = answers()
    critic = Faults().fit(Corpus.from_texts(kept[600:]))
    well = {"answers": kept[:600], **healthy(rng)}
    health = []
    for name, documents in well.items():
        flags = flags_of(critic, documents)
        by = {kind.name: int(n) for kind, n in zip(KINDS, flags.sum(axis=0), strict=True) if n}
        health.append({"text": name, "documents": len(documents), "flagged": float(flags.any(axis=1).mean()), **by})
        print(health[-1], flush=True)
    started = time.process_time()
    corpus = Corpus.from_texts([t for ts in (answers(m) for m in ("gpt-4o-2024-05-13", "claude-2")) for t in ts])
    read_prose(corpus.tokens(critic.tokenizer))
    reading = time.process_time() - started
    critic.project(corpus)
    size = sum(len(d.text.encode()) for d in corpus) / 1e6
    flagging = time.process_time() - started - reading
    speed = {"MB": round(size, 2), "flags, MB/s": round(size / flagging, 2)}
    speed["flags and words, MB/s"] = round(size / (flagging + reading), 2)
    print(speed)
    RESULTS.write_text(
        json.dumps({"planted": table, "screens": first, "healthy": health, "speed": speed}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
