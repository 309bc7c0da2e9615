"""Long memory of generated text (Takahashi & Tanaka-Ishii 2019, tables 2 to 4 and figure 3).

Generators learn WikiText-2 and write a million words each; the five scaling exponents of these texts have standard
errors, and models that give probabilities have their perplexity on the valid and test parts. A text is one stream of
words with ``<eos>`` at the end of each line, as in the paper.

    python benchmarks/reproduce/long_memory.py --folder RUN             # what is missing in RUN, generator by generator
    python benchmarks/reproduce/long_memory.py --folder RUN --only HPYLM
    python benchmarks/reproduce/long_memory.py --folder RUN --only LSTM --minutes 6      # resumes from a checkpoint
    python benchmarks/reproduce/long_memory.py --folder RUN --evaluate                   # of all texts, by the LSTM
    python benchmarks/reproduce/long_memory.py --folder RUN --table --write benchmarks/results/tendencies.md \\
        --figure long-memory.svg

RUN keeps the texts (NAME.npz), exponents (NAME.json) and networks, so that an interrupted run resumes.

Data: the folder ``wikitext-2`` under MOMUS_DATA, else ../shared/data. The grammar needs the extra ``coref``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from hierarchical_pitman_yor import PitmanYor, PitmanYorModel
from katz import Katz
from numpy.typing import NDArray
from processes import pitman_yor, simon
from running_text import running_text
from scaling import data, numbered
from treebank_sentences import SentenceSampler

from momus.laws.law import standard_error
from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel
from momus.text.running import RunningText
from momus_critics.laws import Ebeling, Heaps, LongRange, Taylor, ZipfSlope
from momus_critics.laws.base import ScalingLaw

BEGIN, END = "<!-- long memory -->", "<!-- end -->"
"""Marks of a page around the table."""
PARTS = ("train", "valid", "test")
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Paper:
    """A row of the paper's table 2; the grammar's is of table 3, its text being the Penn Treebank."""

    row: str
    perplexity: float | None
    heaps: float
    ebeling: float | None
    taylor: float
    long_range: str


PAPER = {
    "WikiText-2": Paper("WikiText-2", None, 0.75, 1.32, 0.62, "0.33"),
    "3-gram": Paper("3-gram", 837.58, 0.79, 1.00, 0.50, "No"),
    "5-gram": Paper("5-gram", 534.98, 0.78, 1.00, 0.50, "No"),
    "Katz 3-gram": Paper("Katz backoff 3-gram", 285.14, 0.78, 1.00, 0.50, "No"),
    "Katz 5-gram": Paper("Katz backoff 5-gram", 357.94, 0.78, 1.00, 0.50, "No"),
    "Kneser–Ney 3-gram": Paper("Kneser-Ney 3-gram", 204.15, 0.78, 1.00, 0.50, "No"),
    "Kneser–Ney 5-gram": Paper("Kneser-Ney 5-gram", 215.44, 0.78, 1.00, 0.50, "No"),
    "HPYLM": Paper("HPYLM", 184.34, 0.78, 1.00, 0.50, "No"),
    "PCFG": Paper("PCFG (Penn Treebank)", None, 0.73, 1.00, 0.50, "No"),
    "Simon process": Paper("Simon", None, 0.95, None, 0.50, "0.09"),
    "Pitman–Yor process": Paper("Pitman-Yor", None, 0.78, None, 0.50, "No"),
    "LSTM": Paper("LSTM (no regularization)", 113.18, 0.78, 1.10, 0.52, "0.43"),
    "LSTM with cache": Paper("AWD-LSTM-Cache", 50.39, 0.78, 1.25, 0.59, "0.14"),
}
OTHERS = {
    "Simple RNN": (164.51, 0.50),
    "GRU": (96.22, 0.52),
    "QRNN": (74.74, 0.52),
    "AWD-LSTM": (64.27, 0.58),
    "AWD-LSTM-Simon": (61.59, 0.55),
    "AWD-LSTM-MoS": (62.44, 0.54),
    "AWD-LSTM-MoS-Cache": (59.21, 0.57),
    "linear interpolation": (294.72, 0.50),
}
"""Perplexity and ζ of the paper's other models, for the figure."""


class WikiText:
    """The three parts as one stream of words each, with ``<eos>`` after each line; words numbered by falling count."""

    def __init__(self) -> None:
        self.lines = {}
        for part in PARTS:
            with gzip.open(data("wikitext-2", f"{part}.txt.gz"), "rt", encoding="utf-8") as file:
                self.lines[part] = [line.split() for line in file]
        streams = {p: [w for line in lines for w in (*line, "<eos>")] for p, lines in self.lines.items()}
        counts = Counter(streams["train"])
        self.words = sorted(counts, key=lambda w: (-counts[w], w))
        self.number = {w: i for i, w in enumerate(self.words)}
        self.ids = {p: np.array([self.number[w] for w in s], dtype=np.int64) for p, s in streams.items()}

    @property
    def end(self) -> int:
        """Number of ``<eos>``."""
        return self.number["<eos>"]


@dataclass
class Written:
    """A generated text: ids of words, its vocabulary, perplexity by part, and what is to be said of the generator."""

    ids: Ids
    words: list[str]
    perplexity: dict[str, float] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


def ngram(unfitted: Callable[[], NGramModel]) -> Callable[[WikiText, Options], Written]:
    """An n-gram model that reads the text as one sequence."""

    def write(text: WikiText, options: Options) -> Written:
        begun = time.process_time()
        model = unfitted().fit(Sequences.of([text.ids["train"]]), len(text.words))
        notes: dict[str, Any] = {"fitting, CPU s": round(time.process_time() - begun, 1)}
        perplexity = {}
        for part in PARTS[1:]:
            values = model.score(Sequences.of([text.ids[part]])).log_probabilities[:-1]  # without the end of the stream
            perplexity[part] = math.exp(-float(values.mean()))
            if not math.isfinite(perplexity[part]):
                notes[f"words of {part} with probability 0"] = float(np.isneginf(values).mean())
        begun = time.process_time()
        ids = running_text(model, options.words, options.seed)
        notes["writing, CPU s"] = round(time.process_time() - begun, 1)
        return Written(ids, text.words, {k: v for k, v in perplexity.items() if math.isfinite(v)}, notes)

    return write


def grammar(text: WikiText, options: Options) -> Written:
    """Sentences of a grammar that is read off dependency parses of the training text, without headings."""
    from momus_critics.pcfg.grammar import RuleCounts, read_trees
    from momus_preparing.treebank import ESCAPED, write_treebank

    path = options.folder / "treebank.mrg"
    begun = time.process_time()
    if not path.exists():
        lines = [" ".join(line) for line in text.lines["train"] if line and line[0] != "="]
        part = path.with_suffix(".part")
        write_treebank(lines[:: options.every], part, split=False)
        part.rename(path)
    rules = RuleCounts()
    for tree in read_trees(path):
        rules.add(tree)
    notes: dict[str, Any] = {"trees": sum(rules.top.values()), "parsing, CPU s": round(time.process_time() - begun, 1)}
    sampler, sentences, back = SentenceSampler(rules), [], {v: k for k, v in ESCAPED.items()}
    words = too_long = 0
    while words < options.words:
        sampled = sampler.sample(10_000, options.seed + len(sentences))
        sentences += sampled.sentences
        too_long += sampled.too_long
        words += sum(map(len, sampled.sentences))
    notes |= {"words per sentence": words / len(sentences), "too long": too_long}
    stream = np.array([back.get(w, w) for s in sentences for w in s][: options.words])
    vocabulary, ids = np.unique(stream, return_inverse=True)
    return Written(ids, vocabulary.tolist(), {}, notes)


def process(draw: Callable[[Options], Any]) -> Callable[[WikiText, Options], Written]:
    """A random process, whose words are numbers."""

    def write(_: WikiText, options: Options) -> Written:
        made = numbered(draw(options))
        return Written(made.ids.astype(np.int64), list(made.vocabulary))

    return write


def network(name: str) -> Callable[[WikiText, Options], Written | None]:
    """A network of `long_memory_networks`; None while its training is not finished."""

    def write(text: WikiText, options: Options) -> Written | None:
        import long_memory_networks as networks

        plain = name.removesuffix(" with cache")
        net, done = networks.train(
            plain, text.ids["train"], text.ids["valid"], len(text.words), options.folder, options.minutes
        )
        if not done:
            return None
        recipe = networks.RECIPES[plain]
        parameters = sum(p.numel() for p in net.parameters())
        notes: dict[str, Any] = {**asdict(recipe), "parameters": parameters}
        notes["training, CPU s"] = round(networks.seconds_of(plain, options.folder))
        scored = {p: networks.scored(net, text.ids[p]) for p in PARTS[1:]}
        cache = None
        if name != plain:
            cache = networks.tuned(text.ids["valid"], *scored["valid"])
            notes["cache"] = asdict(cache)
            values = {p: networks.mixed(cache, text.ids[p], *scored[p]) for p in scored}
        else:
            values = {p: v for p, (v, _) in scored.items()}
        begun = time.process_time()
        ids = networks.write(net, options.words, text.end, options.chains, options.seed, cache)
        notes |= {"chains": options.chains, "writing, CPU s": round(time.process_time() - begun)}
        return Written(ids, text.words, {p: math.exp(-float(v.mean())) for p, v in values.items()}, notes)

    return write


@dataclass(frozen=True)
class Options:
    """Where results are kept, and how much to compute."""

    folder: Path
    words: int
    seed: int
    minutes: float
    chains: int
    every: int


GENERATORS: dict[str, Callable[[WikiText, Options], Written | None]] = {
    "WikiText-2": lambda text, _: Written(text.ids["train"], text.words),
    "Kneser–Ney 3-gram": ngram(lambda: NGramModel(3)),
    "Kneser–Ney 5-gram": ngram(lambda: NGramModel(5)),
    "Katz 3-gram": ngram(lambda: Katz(3)),
    "Katz 5-gram": ngram(lambda: Katz(5)),
    "3-gram": ngram(lambda: NGramModel(3, "none")),
    "5-gram": ngram(lambda: NGramModel(5, "none")),
    "HPYLM": ngram(lambda: PitmanYorModel(3, PitmanYor(sweeps=5, seed=0))),
    "PCFG": grammar,
    "Simon process": process(lambda o: simon(o.words, 0.1, seed=o.seed)),
    "Pitman–Yor process": process(lambda o: pitman_yor(o.words, 0.8, 1.0, seed=o.seed)),
    "LSTM": network("LSTM"),
    "LSTM with cache": network("LSTM with cache"),
    "transformer": network("transformer"),
}


def exponents(stream: RunningText) -> dict[str, Any]:
    """All five laws: slope, standard error, error of the fit; and the verdict on the correlation of rare words."""
    rows: dict[str, Any] = {"tokens": len(stream), "types": int((stream.counts > 0).sum())}
    laws: tuple[ScalingLaw, ...] = (ZipfSlope(), Heaps(), Ebeling(), Taylor(), LongRange())
    for law in laws:
        try:
            line = law.line(stream)
            error = standard_error(law.laws()[0], stream, 20).error
            rows[law.name] = {"slope": line.slope, "standard error": error, "error of fit": line.error}
        except ValueError as reason:
            rows[law.name] = {"reason": str(reason)}
    rows["correlation"] = LongRange().verdict(stream)
    return rows


def work(name: str, text: WikiText, options: Options) -> bool:
    """Write and measure one text, unless that was done; return whether it is complete."""
    kept, measured = options.folder / f"{name}.npz", options.folder / f"{name}.json"
    if measured.exists():
        return True
    if not kept.exists():
        written = GENERATORS[name](text, options)
        if written is None:
            return False
        about = json.dumps({"perplexity": written.perplexity, "notes": written.notes}, ensure_ascii=False)
        part = kept.with_name(f"{name}.part.npz")
        np.savez_compressed(part, ids=written.ids.astype(np.int32), words=np.array(written.words), about=about)
        part.rename(kept)
    with np.load(kept) as arrays:
        stream, about = RunningText(arrays["ids"], arrays["words"].tolist()), json.loads(str(arrays["about"]))
    record = {"name": name, **about, **exponents(stream)}
    part = measured.with_suffix(".part")
    part.write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
    part.rename(measured)
    print(json.dumps(record, ensure_ascii=False), flush=True)
    return True


def found(folder: Path) -> list[dict[str, Any]]:
    """The records of a folder, in the order of `GENERATORS`."""
    paths = [folder / f"{name}.json" for name in GENERATORS]
    return [json.loads(p.read_text(encoding="utf-8")) for p in paths if p.exists()]


def table(records: list[dict[str, Any]], folder: Path) -> str:
    """A Markdown table: ours ± standard error, and the paper's value in brackets."""
    from long_memory_evaluation import cell

    lines = [
        "| text | perplexity valid, test | Zipf | Heaps β | Ebeling η | Taylor ζ | long range ξ | by the LSTM |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for record in records:
        paper = PAPER.get(record["name"])
        perplexity = ", ".join(f"{v:.1f}" for v in record["perplexity"].values()) or "–"
        theirs: list[Any] = [None] * 4
        if paper is not None:
            theirs = [None, paper.heaps, paper.ebeling, paper.taylor]
            perplexity += f" ({paper.perplexity:.1f})" if paper.perplexity else ""
        cells = []
        for law, printed in zip(("zipf-slope", "heaps", "ebeling", "taylor"), theirs, strict=True):
            row = record[law]
            digits = 4 if law == "taylor" else 3
            ours = "–"
            if "slope" in row:
                ours = f"{abs(row['slope']):.{digits}f} ± {row['standard error']:.{digits}f}"
            cells.append(ours + (f" ({printed:.2f})" if printed is not None else ""))
        row = record["long-range"]
        correlated = record["correlation"]
        strength = "No"
        if correlated != "No" and "slope" in row:
            strength = f"{abs(row['slope']):.3f} ± {row['standard error']:.3f}"
            strength += " (weak)" if correlated == "Weak" else ""
        cells.append(strength + (f" ({paper.long_range})" if paper else ""))
        lines.append("| " + " | ".join([record["name"], perplexity, *cells, cell(folder, record["name"])]) + " |")
    return "\n".join(lines)


def figure(records: list[dict[str, Any]], path: Path) -> None:
    """Perplexity against Taylor's ζ, whose standard errors are smaller than the points."""
    from momus.evidence import Axis, Chart, Series
    from momus.report.figures.svg import draw, standalone

    ours = [(r["perplexity"]["test"], r["taylor"]) for r in records if "test" in r["perplexity"]]
    ours.sort(key=lambda pair: pair[0])
    theirs = [(p.perplexity, p.taylor) for p in PAPER.values() if p.perplexity] + list(OTHERS.values())
    theirs.sort()
    slopes = [row["slope"] for _, row in ours]
    real = [r["taylor"]["slope"] for r in records if r["name"] == "WikiText-2"]
    ends = [min(x for x, _ in theirs + ours), max(x for x, _ in theirs + ours)]
    chart = Chart(
        "long-memory",
        "Perplexity, and Taylor’s ζ of a million generated words",
        Axis("perplexity per word (ours: test part)", "log"),
        Axis("Taylor’s ζ"),
        [
            *(Series("WikiText-2 itself", ends, [slope, slope], "real", "line") for slope in real),
            Series("the paper's models", [x for x, _ in theirs], [y for _, y in theirs], "reference", "points"),
            Series("our models", [x for x, _ in ours], slopes, "generated", "points"),
        ],
    )
    path.write_text(standalone(draw(chart)), encoding="utf-8")
    print(f"{len(ours)} of our models and {len(theirs)} of the paper's in {path}")


def main() -> None:
    """Write, measure, and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where texts, exponents and networks are kept")
    parser.add_argument("--only", nargs="*", choices=list(GENERATORS), help="generators, else all")
    parser.add_argument("--words", type=int, default=1_000_000, help="length of each text")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0, help="CPU minutes of training before a checkpoint")
    parser.add_argument("--chains", type=int, default=40, help="texts that a network writes side by side")
    parser.add_argument("--every", type=int, default=1, help="parse every n-th paragraph for the grammar")
    parser.add_argument("--evaluate", action="store_true", help="only evaluate the texts of the folder by its LSTM")
    parser.add_argument("--table", action="store_true", help="only print the table of the folder")
    parser.add_argument("--write", type=Path, help="only put the table of the folder into a page, between its marks")
    parser.add_argument("--figure", type=Path, help="only draw the figure of the folder")
    a = parser.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    if a.table or a.write or a.figure:
        records = found(a.folder)
        if a.write:
            page = a.write.read_text(encoding="utf-8")
            between = re.compile(rf"(?<={re.escape(BEGIN)}\n).*?(?={re.escape(END)})", re.DOTALL)
            a.write.write_text(between.sub(lambda _: table(records, a.folder) + "\n", page), encoding="utf-8")
        if a.table:
            print(table(records, a.folder))
        if a.figure:
            from long_memory_evaluation import figure as evaluated

            figure(records, a.figure)
            theirs = {name: p.perplexity for name, p in PAPER.items() if p.perplexity}
            evaluated(a.folder, records, theirs, a.figure.with_stem(f"{a.figure.stem}-evaluated"))
        return
    if a.evaluate:
        from long_memory_evaluation import evaluate

        evaluate(a.folder, list(GENERATORS), WikiText().number)
        return
    options = Options(a.folder, a.words, a.seed, a.minutes, a.chains, a.every)
    text = WikiText()
    sizes = ", ".join(f"{p} {len(i):,}" for p, i in text.ids.items())
    print(f"WikiText-2: {sizes} tokens, {len(text.words):,} words", flush=True)
    for name in a.only or GENERATORS:
        if not work(name, text, options):
            print(f"{name}: run again to continue its training", flush=True)


if __name__ == "__main__":
    main()
