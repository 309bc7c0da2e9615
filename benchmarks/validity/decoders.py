"""The axes of repetition, templates, phrases, rhythm, discourse and sameness on models and decoders, in human bands.

Four sets of texts, each with critics fitted on text like the one that it is compared with:

* ``temperature``: GPT-3's answers to 18 prompts at temperatures 0, 0.7, 1.0 and 1.2. There is no human text for these
  prompts: half of the answers at 1.0 are fitted on, and the other half stand for real text. A size of 1 is a default
  human band, and says how far a temperature is from plain sampling. At 0 there is one answer per prompt.
* ``models``: continuations of 500 human stories by five models, by ancestral sampling. (The data have one decoder for
  each model, not five decoders of one.) Half of the human stories, whole writing prompts, are fitted on.
* ``contrastive``: GPT-2 XL by contrastive search beside the human text that goes on from the same words (WikiText).
  Half of the human texts are fitted on.
* ``decoders``: passages of novels and their continuations by SmolLM2-135M, decoded in three ways (the demo's data):
  words 41 to 210 of each, after the prompt of 40 words.

Each cell of the table is the distance from the real text in human bands, with the arrows and stars of `momus compare`.

Run:  python benchmarks/validity/decoders.py [--sets temperature,models] [--out runs/decoders] [--write PAGE]
Data: ``decoding`` and ``human-vs-lm`` under MOMUS_DATA, else ../shared/data. Finished sets are kept in --out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from null_and_power import write_between
from yardsticks import data

import momus
from momus import Corpus
from momus.demo import demo_path
from momus.report.words.table import cell_text

sys.path.insert(0, str(Path(__file__).parents[1] / "reproduce"))
from five_models import corpora as five_models

CRITICS = ("repetition", "templates", "keyness", "rhythm", "discourse", "diversity")
CONFIG = {"templates": {"tagger": "spacy", "max_tokens": 200}}
SHORTEST = 20
"""Words of an answer, at least."""
Texts = tuple[Corpus, Corpus, dict[str, Corpus]]
"""Text to fit on, real text, and generated texts by name."""


def temperature() -> Texts:
    """Answers of GPT-3 by temperature; the answers to a prompt are separated by a line of equals signs."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    with tarfile.open(data() / "decoding" / "gpt3-temperatures.tar.gz") as archive:
        for member in sorted(archive.getmembers(), key=lambda m: m.name):
            _, _, name = member.name.rpartition("/")
            if not name.startswith("output_"):
                continue
            prompt = member.name.split("/")[-2]
            degree = name.removeprefix("output_").partition(".")[0].replace("_", ".")
            file = archive.extractfile(member)
            assert file is not None
            for i, answer in enumerate(file.read().decode("utf-8").split("\n====================")):
                text = answer.strip(" \n=")
                if len(text.split()) >= SHORTEST:
                    found.setdefault(degree, []).append((f"{degree} {prompt} {i}", prompt, text))
    plain = found.pop("1.0")
    fit, real = plain[::2], plain[1::2]
    return made(fit, "fit"), made(real, "1.0"), {f"T = {k}": made(v, f"T = {k}") for k, v in sorted(found.items())}


def made(rows: list[tuple[str, str, str]], name: str) -> Corpus:
    """Make a corpus of rows of id, prompt and text."""
    ids, prompts, texts = zip(*rows, strict=True)
    return Corpus.from_texts(texts, ids=ids, prompts=prompts, name=name)


def models() -> Texts:
    """Human stories of half of the writing prompts to fit on, the others, and the continuations of these."""
    real, generated = five_models()
    groups = sorted({g for g in real.groups if g is not None})
    chosen = set(np.random.default_rng(0).permutation(groups)[: len(groups) // 2].tolist())

    def part(corpus: Corpus, inside: bool, name: str) -> Corpus:
        return corpus.take([i for i, g in enumerate(corpus.groups) if (g in chosen) == inside], name)

    return (
        part(real, True, "fit"),
        part(real, False, "real"),
        {name: part(corpus, False, name) for name, corpus in generated.items()},
    )


def contrastive() -> Texts:
    """Human text and contrastive search after the same words, in the spelling of running text."""
    with gzip.open(data() / "decoding" / "gpt2-xl-contrastive-wikitext.json.gz", "rt", encoding="utf-8") as file:
        rows = json.load(file)
    order = np.random.default_rng(0).permutation(len(rows)).tolist()
    half = len(rows) // 2

    def plain(text: str) -> str:
        for a, b in ((" @-@ ", "-"), (" @,@ ", ","), (" @.@ ", ".")):
            text = text.replace(a, b)
        return text.strip()

    def side(numbers: list[int], text: Callable[[dict[str, object]], str], name: str) -> Corpus:
        texts = [plain(text(rows[i])) for i in numbers]
        kept = [(i, t) for i, t in zip(numbers, texts, strict=True) if len(t.split()) >= SHORTEST]
        return made([(f"{name} {i}", f"prefix {i}", t) for i, t in kept], name)

    def human(row: dict[str, object]) -> str:
        return str(row["reference_text"])

    def machine(row: dict[str, object]) -> str:
        answers = row["generated_result"]
        assert isinstance(answers, dict)
        return str(answers["0"])

    fit, rest = order[:half], order[half:]
    return side(fit, human, "fit"), side(rest, human, "real"), {"contrastive": side(rest, machine, "contrastive")}


def decoders() -> Texts:
    """Words 41 to 210 of passages of novels, and of their continuations by one model in three ways; the demo's data.

    Continuations begin with the first 40 words of their passage.
    """
    passages = momus.read_corpus(demo_path("prose.jsonl.gz"))
    names = {"ancestral": "ancestral", "nucleus": "nucleus", "nucleus-cool": "cool nucleus"}
    found = {label: momus.read_corpus(demo_path(f"generated-prose-{n}.jsonl.gz")) for n, label in names.items()}
    prompts = {p for corpus in found.values() for p in corpus.prompts}

    def cut(text: str) -> str:
        words = re.split(r"(\s+)", text)  # words and the white space after each
        return "".join(words[80:420])

    fit = [(d.id, d.id, cut(d.text)) for d in passages if d.id not in prompts]
    real = [(d.id, d.id, cut(d.text)) for d in passages if d.id in prompts]
    generated = {
        label: made([(d.id, str(d.prompt), cut(d.text)) for d in corpus], label) for label, corpus in found.items()
    }
    return made(fit, "fit"), made(real, "real"), generated


SETS: dict[str, Callable[[], Texts]] = {
    "temperature": temperature,
    "models": models,
    "contrastive": contrastive,
    "decoders": decoders,
}


def measured(name: str, critics: list[str]) -> list[dict[str, object]]:
    """One row per generated text and axis: the cell of the table and the headline row."""
    fit, real, generated = SETS[name]()
    begun = time.perf_counter()
    found = momus.compare(real, generated, fit=fit, critics=critics, config=CONFIG, permutations=1999, resamples=999)
    print(found, f"\n{time.perf_counter() - begun:.0f} s\n", flush=True)
    return [
        {"set": name, "generated": c.generated, "axis": a.axis, "critic": a.critic, "cell": cell_text(c)}
        | {"gap": c.headline.gap, "difference": c.headline.difference, "statistic": c.headline.statistic}
        | {"p_adjusted": c.headline.p_adjusted, "n_real": c.headline.n_real, "n_generated": c.headline.n_generated}
        for a in found.answer.axes
        for c in a.cells
    ]


def table(rows: list[dict[str, object]]) -> str:
    """The Markdown table: one row per axis, one column per generated text, by set."""
    lines = []
    for name in dict.fromkeys(str(r["set"]) for r in rows):
        mine = [r for r in rows if r["set"] == name]
        columns = list(dict.fromkeys(str(r["generated"]) for r in mine))
        lines += [
            f"**{name}**",
            "",
            "| axis | " + " | ".join(columns) + " | n |",
            "|---|" + "---:|" * (len(columns) + 1),
        ]
        for critic in CRITICS:
            cells = {str(r["generated"]): r for r in mine if r["critic"] == critic}
            if not cells:
                lines.append(f"| {critic} | " + " | ".join("n/a" for _ in columns) + " | |")
                continue
            some = list(cells.values())
            n = f"{some[0]['n_real']} real; {', '.join(str(cells[c]['n_generated']) for c in columns if c in cells)}"
            shown = [str(cells[c]["cell"]).replace("*", "\\*") if c in cells else "n/a" for c in columns]
            lines.append(f"| {critic} | " + " | ".join(shown) + f" | {n} |")
        lines.append("")
    return "\n".join(lines).strip()


def main() -> None:
    """Compare, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--out", type=Path, default=Path("runs/decoders"))
    parser.add_argument("--write", type=Path, help="insert the table into this page")
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, object]] = []
    for name in a.sets.split(","):
        path = a.out / f"{name}.json"
        if not path.exists():
            # models answer each prompt once here: diversity has nothing to compare
            critics = [c for c in CRITICS if c != "diversity" or name == "temperature"]
            path.write_text(json.dumps(measured(name, critics), ensure_ascii=False, indent=1), encoding="utf-8")
        rows += json.loads(path.read_text(encoding="utf-8"))
    text = table(rows)
    print(text)
    if a.write:
        write_between(a.write, "decoders", text)


if __name__ == "__main__":
    main()
