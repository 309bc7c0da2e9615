"""A bench of causes: single defects planted in human text. Is their axis found, first, and described rightly?

    python benchmarks/validity/causes.py --data DATA --out causes [--collections novels,stories] [--documents 150]

Each collection is cut into a text to fit on, a real text, and a text of other documents that carries one defect
after the other; each is compared on its own. For each defect: whether one of its axes differs (Holm over the axes of
the text), whether one of these is first on the first screen, and whether the row that leads it has the expected
direction; also whether a statistic of its axes would find it if it were the only one of its axis. Unchanged text counts
false alarms. Results are kept by collection and strength, so that a run can go on.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from momus import Corpus
from momus.critic import Critic, EvidenceMixin
from momus.critic.hooks import settled
from momus.critic.registry import make_critics
from momus.critic.scores import Scores
from momus.evidence import Overuse, Table
from momus.runs.answer import AxisAnswer, Cell
from momus.runs.findings import GENERAL, LEADING
from momus.schema import build
from momus.verdicts.judge import judge
from momus.verdicts.settings import Settings
from momus.verdicts.table import adjust, with_leading
from momus.verdicts.verdict import Verdict

CRITICS = (
    "length", "unigram", "stopword-share", "symbol-share", "repetition", "rhythm", "keyness", "discourse",
    "coreference", "layout", "edges", "marks", "names", "register", "path", "perplexity",
)  # fmt: skip
"""Axes of documents; laws of running text, which take most of the time, are left out."""
FACTORS = {
    c.name: GENERAL if c.reporting.general else LEADING if c.reporting.leading else 1.0 for c in make_critics(CRITICS)
}
"""What the findings of each axis count."""
STRENGTHS = {"weak": 0.3, "strong": 1.0}
"""Share of documents that carry a defect."""
FEWEST = 20
"""Documents that a defect must change for its run to count."""
Rng = np.random.Generator
Change = Callable[[str, Rng, list[str]], str]
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"“'A-Z])")
MORALS = (
    "In the end, it was a reminder that hope always finds a way.",
    "Ultimately, life teaches everyone to cherish the moments that matter.",
    "And perhaps that is the greatest lesson the world can offer us.",
    "Sometimes the smallest things hold the power to change everything.",
)
SYNONYMS = {"big": "large", "house": "home", "began": "started", "small": "little", "looked": "gazed",
            "went": "headed", "good": "fine", "said": "stated", "like": "akin to", "many": "numerous", "old": "aged",
            "get": "obtain"}  # fmt: skip
PRESENT = {"was": "is", "were": "are", "had": "has", "did": "does", "said": "says", "went": "goes", "came": "comes",
           "saw": "sees", "knew": "knows", "thought": "thinks", "looked": "looks", "felt": "feels",
           "took": "takes"}  # fmt: skip
THIRD = {
    "I": "he",
    "me": "him",
    "my": "his",
    "mine": "his",
    "we": "they",
    "us": "them",
    "our": "their",
    "myself": "himself",
}
SWAPPED = {
    "he": "she",
    "she": "he",
    "him": "her",
    "her": "him",
    "his": "her",
    "himself": "herself",
    "herself": "himself",
}
FULL = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will", "'m": " am", "'d": " would"}
NAMES = ("Elena", "Marcus", "Sarah", "Maya", "Chen")


def sentences(text: str) -> list[str]:
    """The sentences of a text, roughly; paragraphs end sentences."""
    return [s for p in text.split("\n\n") for s in SENTENCE.split(p) if s.strip()]


def words(table: dict[str, str]) -> Change:
    """Replace whole words, with the case of their first letter."""
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, table))})\b", re.IGNORECASE)

    def new(match: re.Match[str]) -> str:
        word = match[0]
        other = table.get(word, table.get(word.lower(), word))
        return other[:1].upper() + other[1:] if word[:1].isupper() and word != "I" else other

    return lambda text, rng, others: pattern.sub(new, text)


def some(pattern: str, put: str, share: float) -> Change:
    """Replace a share of the matches of a pattern."""
    compiled = re.compile(pattern)
    return lambda text, rng, others: compiled.sub(lambda m: m.expand(put) if rng.random() < share else m[0], text)


def before_sentences(starts: tuple[str, ...], share: float) -> Change:
    """Begin a share of the sentences with a phrase."""

    def change(text: str, rng: Rng, others: list[str]) -> str:
        def begin(match: re.Match[str]) -> str:
            return f"{match[1]}{rng.choice(starts)} {match[2].lower()}" if rng.random() < share else match[0]

        return re.sub(r"((?:^|[.!?]\s+|\n\n))([A-Z])(?=[a-z])", begin, text)

    return change


def names(text: str, rng: Rng, others: list[str]) -> str:
    """Give capitalised words within sentences the same few names."""
    found = sorted(set(re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}", text)))
    new = {name: NAMES[i % len(NAMES)] for i, name in enumerate(rng.permutation(found).tolist())}
    return re.sub(r"[A-Z][a-z]{2,}", lambda m: new.get(m[0], m[0]), text)


def evened(text: str, rng: Rng, others: list[str]) -> str:
    """Sentences of twelve words each."""
    tokens = re.sub(r"[.!?]", "", text).split()
    parts = [" ".join(tokens[i : i + 12]) for i in range(0, len(tokens), 12)]
    return " ".join(f"{part[:1].upper()}{part[1:]}." for part in parts)


def paragraphs(text: str) -> list[list[str]]:
    """The sentences of each paragraph."""
    return [[s for s in SENTENCE.split(p) if s.strip()] for p in text.split("\n\n")]


def joined(parts: list[list[str]]) -> str:
    """Paragraphs of sentences as a text."""
    return "\n\n".join(" ".join(p) for p in parts)


def looped(text: str, rng: Rng, others: list[str]) -> str:
    """Repeat one sentence six times."""
    parts = paragraphs(text)
    paragraph = parts[int(rng.integers(len(parts)))]
    at = int(rng.integers(max(len(paragraph), 1)))
    paragraph[at:at] = paragraph[at : at + 1] * 5
    return joined(parts)


def stocked(text: str, rng: Rng, others: list[str]) -> str:
    """A stock phrase at the end of one sentence within."""
    ends = [m.end() - 2 for m in re.finditer(r"\w\s*\. ", text)]
    at = int(rng.choice(ends)) if ends else 0
    return f"{text[:at]}, a testament to the power of hope{text[at:]}" if at else text


def halved(text: str) -> tuple[str, str]:
    """A text cut behind the middle of its sentences, with its paragraphs."""
    first: list[list[str]] = []
    second: list[list[str]] = []
    left = len(sentences(text)) // 2
    for paragraph in paragraphs(text):
        first += [paragraph[:left]] if left else []
        second += [paragraph[left:]] if left < len(paragraph) else []
        left = max(left - len(paragraph), 0)
    return joined(first), joined(second)


def halves(text: str, rng: Rng, others: list[str]) -> str:
    """The second half comes from another document."""
    return f"{halved(text)[0]} {halved(str(rng.choice(others)))[1]}"


def second_half(change: Change) -> Change:
    """Change the second half of a document."""

    def changed(text: str, rng: Rng, others: list[str]) -> str:
        at = len(text) // 2 + text[len(text) // 2 :].find(" ")
        return text[:at] + change(text[at:], rng, others)

    return changed


def shuffled(text: str, rng: Rng, others: list[str]) -> str:
    """Sentences in random order, in paragraphs of as many as before."""
    parts, order = paragraphs(text), iter(rng.permutation(sentences(text)).tolist())
    return joined([[next(order) for _ in p] for p in parts])


def listed(text: str, rng: Rng, others: list[str]) -> str:
    """Three sentences in the middle become a list."""
    parts = sentences(text)
    at = len(parts) // 3
    items = "\n".join(f"- {s}" for s in parts[at : at + 3])
    return "\n\n".join([" ".join(parts[:at]), items, " ".join(parts[at + 3 :])])


def headed(text: str, rng: Rng, others: list[str]) -> str:
    """A heading before each third of the text."""
    parts = sentences(text)
    third = max(len(parts) // 3, 1)
    return "\n\n".join(
        f"## Part {i // third + 1}\n\n{' '.join(parts[i : i + third])}" for i in range(0, len(parts), third)
    )


def foreign(text: str, rng: Rng, others: list[str]) -> str:
    """A tenth of the words come from other documents."""
    other = str(rng.choice(others)).split()
    return " ".join(str(rng.choice(other)) if rng.random() < 0.1 else w for w in text.split(" "))


@dataclass(frozen=True)
class Defect:
    """A planted defect: what it does to a document, the axes that are its own, and what the leading row may say.

    Attributes
    ----------
    says
        Pattern of the names of statistics that describe it.
    sign
        Sign of the difference; 0: any.
    """

    change: Change
    own: tuple[str, ...]
    says: str = "."
    sign: int = 0


DEFECTS: dict[str, Defect] = {
    "title before the text": Defect(
        lambda t, r, o: f"# The {t.split()[1].strip('.,').title()}\n\n{t}", ("layout", "edges"), "title|heading|opening"
    ),
    "em dashes": Defect(some(r", ", " — ", 0.3), ("marks",), "em_dash", 1),
    "the same five names": Defect(names, ("names",), "recurring|known|ppl"),
    "cut to 70 %": Defect(lambda t, r, o: t[: int(len(t) * 0.7)].rsplit(" ", 1)[0] + ".", ("length",), "length", -1),
    "all of one length": Defect(lambda t, r, o: " ".join(t.split(" ")[:120]), ("length",), "spread|length|ks"),
    "lower case": Defect(lambda t, r, o: t.lower(), ("marks", "names"), "capital|name", -1),
    "moral at the end": Defect(lambda t, r, o: f"{t} {r.choice(MORALS)}", ("edges",), "ends|ending", 1),
    "last sentence on its own": Defect(
        lambda t, r, o: "\n\n".join([" ".join(sentences(t)[:-1]), sentences(t)[-1]]),
        ("edges", "layout"),
        "last|own|para|ppl",
    ),
    "quotation marks removed": Defect(
        lambda t, r, o: re.sub(r"[\"“”]|(?<!\w)'|'(?!\w)", "", t), ("marks",), "quot", -1
    ),
    "numbers removed": Defect(lambda t, r, o: re.sub(r"\d+", "", t), ("marks",), "digit", -1),
    "third person for first": Defect(
        words(THIRD), ("register", "coreference", "discourse"), "first_person|third_person|dimension"
    ),
    "present tense for past": Defect(words(PRESENT), ("register", "keyness"), "tense|dimension|gap"),
    "pronouns swapped halfway": Defect(second_half(words(SWAPPED)), ("coreference",)),
    "pronouns of random gender": Defect(
        lambda t, r, o: re.sub(r"\b(he|she)\b", lambda m: str(r.choice(["he", "she"])), t), ("coreference",)
    ),
    "contractions expanded": Defect(
        lambda t, r, o: re.sub(r"n't|['’](?:re|ve|ll|m|d)\b", lambda m: FULL.get(m[0].replace("’", "'"), m[0]), t),
        ("register", "marks"),
        "contraction|apostrophe",
        -1,
    ),
    "connectives inserted": Defect(
        before_sentences(("Moreover,", "Furthermore,", "However,", "Additionally,"), 0.2),
        ("discourse", "register", "keyness"),
    ),
    "hedges inserted": Defect(
        before_sentences(("Perhaps", "Possibly", "Maybe"), 0.15),
        ("register", "keyness"),
        "hedge|dimension|term|criticism",
        1,
    ),
    "stock phrase": Defect(stocked, ("keyness",), "."),
    "endings with a reminder": Defect(
        some(r"\. ", ", a reminder of what was lost. ", 0.15), ("keyness", "repetition"), "."
    ),
    "one opening": Defect(lambda t, r, o: f"In the heart of it all, {t[0].lower()}{t[1:]}", ("edges",), "open"),
    "synonyms": Defect(words(SYNONYMS), ("keyness", "unigram"), "."),
    "a word never used (said)": Defect(words({"said": "remarked", "says": "remarks"}), ("keyness", "unigram"), "."),
    "italics": Defect(some(r"\b([a-z]{6,})\b", r"*\1*", 0.05), ("layout", "marks"), "italics|layout"),
    "bold type": Defect(some(r"\b([a-z]{6,})\b", r"**\1**", 0.05), ("layout", "marks"), "bold|layout"),
    "a list": Defect(listed, ("layout",), "list|ppl", 1),
    "headings": Defect(headed, ("layout", "edges"), "heading|title|ppl|open", 1),
    "emoji": Defect(lambda t, r, o: f"{t} \U0001f60a", ("layout", "marks", "edges"), "emoji|other|ending"),
    "paragraphs merged": Defect(
        lambda t, r, o: re.sub(r"\s*\n\s*\n\s*", " ", t), ("layout", "rhythm"), "paragraph|ppl"
    ),
    "a paragraph for each sentence": Defect(
        lambda t, r, o: "\n\n".join(sentences(t)), ("layout", "rhythm"), "paragraph|ppl|length"
    ),
    "loops": Defect(looped, ("repetition",), ".", 1),
    "second half from another text": Defect(halves, ("path", "names"), "drift|jump|ppl|taken_up"),
    "sentences shuffled": Defect(
        shuffled, ("path", "rhythm", "discourse", "coreference"), "jump|correlation|transitions|unintroduced"
    ),
    "sentence length evened": Defect(evened, ("rhythm",), "spread|length|corr"),
    "exclamation marks": Defect(some(r"\.(?=\s)", "!", 0.3), ("marks", "register"), "exclam", 1),
    "marks doubled": Defect(
        some(r"([!?.])(?=\s)", r"\1\1", 0.5), ("marks",), "stop|marks|repeated|excl|quest|ellipsis"
    ),
    "questions inserted": Defect(
        some(r"\. ", ". Who knew? ", 0.15), ("register", "marks", "keyness", "discourse"), "."
    ),
    "foreign words": Defect(foreign, ("perplexity", "path", "unigram", "discourse"), "."),
}


def read(path: Path, **fields: str) -> Iterator[str]:
    """Texts of a compressed file of JSON lines whose fields have these values."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if all(row.get(k) == v for k, v in fields.items()):
                yield row["text"]


def novels(data: Path) -> list[str]:
    """Passages of some 1,800 characters, whole paragraphs, eight a novel."""
    passages = []
    for text in read(data / "litbank" / "novels.jsonl.gz"):
        paragraphs = [" ".join(p.split()) for p in text.split("\n\n")]
        paragraphs = [p for p in paragraphs if len(p.split()) > 5]
        for k in range(1, 9):
            at, passage = len(paragraphs) * k // 9, ""
            while len(passage) < 1800 and at < len(paragraphs):
                passage, at = f"{passage}\n\n{paragraphs[at]}".strip(), at + 1
            passages.append(passage[:6000])
    return passages


def news(data: Path) -> list[str]:
    """News texts, with the spaces between sentences that the file has lost."""
    texts = read(data / "registers" / "xsum.jsonl.gz", writer="human")
    return [re.sub(r"(?<=[a-z0-9][.!?])(?=[A-Z\"“])|(?<=[.!?][\"”])(?=[A-Z])", " ", t) for t in texts]


COLLECTIONS: dict[str, Callable[[Path], list[str]]] = {
    "novels": novels,
    "stories": lambda data: list(read(data / "registers" / "writing_prompt.jsonl.gz", writer="human")),
    "news": news,
    "reviews": lambda data: list(read(data / "registers" / "yelp_review.jsonl.gz", writer="human")),
    "abstracts": lambda data: list(read(data / "registers" / "arxiv.jsonl.gz", writer="human")),
    "paragraphs": lambda data: list(read(data / "rewrites" / "rewrites.jsonl.gz", writer="human")),
}


def planted(texts: list[str], defect: Defect, share: float, rng: Rng) -> list[str]:
    """A share of the documents with the defect; documents that it cannot be planted in stay."""
    out = list(texts)
    for i in rng.permutation(len(texts))[: round(share * len(texts))].tolist():
        changed = defect.change(texts[i], rng, texts)
        out[i] = changed if changed.strip() else texts[i]
    return out


def sample(collection: str, options: argparse.Namespace) -> tuple[list[str], list[str], list[str]]:
    """A text to fit on, a real text, and a text of other documents."""
    n, rng = options.documents, np.random.default_rng((options.seed, len(collection)))
    texts = list(dict.fromkeys(t for t in COLLECTIONS[collection](options.data) if len(t.split()) > 40))
    texts = [texts[i] for i in rng.permutation(len(texts))[: 3 * n + n // 2].tolist()]
    return texts[: -2 * n], texts[-2 * n : -n], texts[-n:]


def run(collection: str, strength: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Compare each defect of one collection at one strength, as far as the results do not hold it; a row per defect."""
    path = options.out / f"{collection}-{strength}-{options.documents}-{options.seed}.json"
    kept: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.exists() else {}
    fit, real, other = sample(collection, options)
    bench = Bench(Corpus.from_texts(fit, name="fit"), Corpus.from_texts(real, name="real"), options)
    rows = []
    for number, name in enumerate(("unchanged", *DEFECTS)):
        rng = np.random.default_rng((options.seed, len(collection), number))
        side = other if name == "unchanged" else planted(other, DEFECTS[name], STRENGTHS[strength], rng)
        changed = sum(a != b for a, b in zip(side, other, strict=True))
        if name in DEFECTS and not changed:
            continue
        if options.kept and name not in kept:
            continue
        digest = hashlib.sha256("\0".join(side).encode()).hexdigest()[:16]
        if kept.get(name, {}).get("digest") != digest:
            kept[name] = {"digest": digest, "critics": {}}
        held, things = kept[name]["critics"], kept[name].setdefault("things", {})
        # coreference, which parses, reads unchanged text and the defects that are its own
        wanted = [c for c in CRITICS if c != "coreference" or name not in DEFECTS or c in DEFECTS[name].own]
        missing = [c for c in wanted if c not in held or c in options.again]
        if missing:
            for c in missing:
                held[c], things[c] = bench.rows(c, Corpus.from_texts(side, name=name))
            path.write_text(json.dumps(kept))
        verdicts = adjust([v for c in wanted for v in _led(held[c], path)])
        told = {c: [build(Overuse, t, str(path)) for t in things[c]] for c in wanted}
        cells = [Cell.of([v for v in verdicts if v.critic == c], told[c], FACTORS[c]) for c in wanted]
        order = first_screen([cell for cell in cells if cell.differs])
        rows.append(
            {
                "collection": collection, "strength": strength, "defect": name, "changed": changed, "n": len(other),
                "order": order, **(judged(DEFECTS[name], order, verdicts) if name in DEFECTS else {}),
            }
        )  # fmt: skip
    return rows


def unchanged(collection: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Random halves of unchanged documents, beyond the first, against each other; each critic scores them once."""
    path = options.out / f"{collection}-unchanged-{options.documents}-{options.seed}.json"
    splits: dict[str, list[list[dict[str, Any]]]] = json.loads(path.read_text()) if path.exists() else {}
    fit, real, other = sample(collection, options)
    n, pool = len(real), Corpus.from_texts([*real, *other], name="real")
    bench = Bench(Corpus.from_texts(fit, name="fit"), pool, options)
    for name in CRITICS:
        held = splits.setdefault(name, [])
        if len(held) >= options.nulls or options.kept:
            continue
        critic = bench.critic(name)
        settled(critic, (pool,))
        scores = critic.score(pool)
        for k in range(len(held), options.nulls):
            order = np.random.default_rng((options.seed, k, n)).permutation(len(pool))
            a, b = scores.take(order[:n]), scores.take(order[n:])
            held.append([v.row() for v in judge(critic, a, b, bench.settings, family=len(CRITICS))])
        path.write_text(json.dumps(splits))
    rows = []
    for k in range(min(map(len, splits.values()), default=0)):
        verdicts = adjust([v for c in CRITICS for v in _led(splits[c][k], path)])
        cells = [Cell.of([v for v in verdicts if v.critic == c], (), FACTORS[c]) for c in CRITICS]
        found = first_screen([cell for cell in cells if cell.differs])
        rows.append({"collection": collection, "strength": "none", "defect": "unchanged", "changed": 0, "order": found})
    return rows


def _led(rows: list[dict[str, Any]], path: Path) -> list[Verdict]:
    """The kept rows of a critic, and the one that leads them by today's order."""
    return with_leading([build(Verdict, row, str(path)) for row in rows], len(CRITICS))


class Bench:
    """Critics fitted on one text, and their scores of a real text, made when they are first asked for."""

    def __init__(self, fit: Corpus, real: Corpus, options: argparse.Namespace) -> None:
        self.fit, self.real = fit, real
        self.settings = Settings(seed=options.seed, permutations=options.permutations, resamples=99)
        self.critics: dict[str, Critic[Any]] = {}
        self.scores: dict[str, Scores] = {}

    def critic(self, name: str) -> Critic[Any]:
        """The critic, fitted when it is first asked for."""
        if name not in self.critics:
            self.critics[name] = make_critics([name])[0].fit(self.fit)
        return self.critics[name]

    def rows(self, name: str, side: Corpus) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The rows of one critic for one text, p-values not adjusted, and the things that it tells by name."""
        critic = self.critic(name)
        if settled(critic, (self.real, side)) or name not in self.scores:
            self.scores[name] = critic.score(self.real)
        scores = critic.score(side)
        found = judge(critic, self.scores[name], scores, self.settings, family=len(CRITICS))
        both = self.scores[name].summary, scores.summary
        evidence = critic.evidence(*both) if isinstance(critic, EvidenceMixin) and None not in both else ()
        things = [e.overuse for e in evidence if isinstance(e, Table) and e.overuse]
        return [v.row() for v in found], [asdict(t) for t in things]


def first_screen(cells: list[Cell]) -> list[Cell]:
    """Axes that differ in the order of the first screen."""
    axes = [AxisAnswer(c.row.critic, c.row.axis, (c,)) for c in cells]
    return [axis.worst for axis in sorted(axes, key=lambda axis: axis.order)]


def judged(defect: Defect, order: list[Cell], verdicts: Sequence[Verdict]) -> dict[str, object]:
    """Whether the defect was found, first, and described, and whether a statistic of its axes could alone find it."""
    own = [cell.row for cell in order if cell.row.critic in defect.own]
    described = [
        v
        for v in own
        if re.search(defect.says, v.statistic) and (not defect.sign or np.sign(v.difference or 0.0) == defect.sign)
    ]
    first = bool(order) and order[0].row.critic in defect.own
    alone = [v.p for v in verdicts if v.critic in defect.own and v.p_in_axis is not None and v.p is not None]
    bound = min(alone, default=1.0) <= 0.05 / len(CRITICS)
    return {"found": bool(own), "first": first, "described": bool(described), "bound": bound}


HEAD = """# Planted causes, and the axes that tell them

One defect is planted in all documents (strong) or in .3 of them (weak) of {n} human documents, which are compared with
{n} others; critics are fitted on more. *Found*: an axis of the defect differs (Holm over axes, .05). *First*: such an
axis is first on the first screen. *Described*: the row that leads it has the expected statistic and direction. *Bound*:
a statistic of its axes, tested alone, has p ≤ .05/{axes}. It would be found if it were known which statistic to ask of;
since it is not, the others of its axis must share the level. Runs in which a defect changes fewer than {fewest}
documents do not count.
Coreference reads only defects of its own, and laws of running text are left out. Runs: {runs}.

Command: `python benchmarks/validity/causes.py --data DATA --out causes --write benchmarks/results/causes.md`

"""


def table(rows: list[dict[str, Any]], strength: str) -> str:
    """The shares of each defect over the collections, as Markdown."""
    lines = [
        f"## In {STRENGTHS[strength]:.0%} of the documents ({strength})".replace("%", " %"),
        "",
        "| defect | own axes | runs | bound | found | first | described | first instead |",
        "|---|---|--:|--:|--:|--:|--:|---|",
    ]
    held = [r for r in rows if r["strength"] == strength and r["defect"] in DEFECTS and r["changed"] >= FEWEST]
    keys = ("bound", "found", "first", "described")
    for name, defect in DEFECTS.items():
        mine = [r for r in held if r["defect"] == name]
        if mine:
            shares = [f"{np.mean([bool(r[k]) for r in mine]):.2f}" for k in keys]
            instead = sorted({r["order"][0].row.critic for r in mine if r["order"] and not r["first"]})
            lines.append(
                f"| {name} | {', '.join(defect.own)} | {len(mine)} | {' | '.join(shares)} | {', '.join(instead)} |"
            )
    total = [f"{np.mean([bool(r[k]) for r in held]):.2f}" for k in keys]
    return "\n".join([*lines, f"| **all** | | {len(held)} | {' | '.join(total)} | |", "", ""])


def alarms(rows: list[dict[str, Any]]) -> str:
    """How often an axis is named where the text is unchanged."""
    # the text of one collection that is left unchanged is the same at every strength
    first = {r["collection"]: r["strength"] for r in reversed(rows) if r["strength"] != "none"}
    null = [r for r in rows if r["defect"] == "unchanged" and r["strength"] in ("none", first[r["collection"]])]
    named = [r["order"][0].row.critic for r in null if r["order"]]
    which = f" ({', '.join(sorted(named))})" if named else ""
    return f"## Unchanged text\n\n{len(named)} of {len(null)} runs name an axis{which}.\n"


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the collections")
    parser.add_argument("--out", type=Path, required=True, help="folder of results, kept by collection and strength")
    parser.add_argument("--collections", default=",".join(COLLECTIONS))
    parser.add_argument("--strengths", default=",".join(STRENGTHS))
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--permutations", type=int, default=999)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nulls", type=int, default=7, help="further splits of unchanged text for each collection")
    parser.add_argument("--again", default="", help="critics to compute again in kept results, comma-separated")
    parser.add_argument("--kept", action="store_true", help="tell what is kept, and start no further defect")
    parser.add_argument("--write", type=Path, help="write the table here: benchmarks/results/causes.md")
    options = parser.parse_args()
    options.again = options.again.split(",")
    options.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for collection in options.collections.split(","):
        for strength in options.strengths.split(","):
            rows += run(collection, strength, options)
        rows += unchanged(collection, options)
    text = "".join(table(rows, strength) for strength in options.strengths.split(",")) + alarms(rows)
    print(text)
    if options.write is not None:
        runs = sorted({f"{r['collection']} ({r['strength']})" for r in rows if r["strength"] != "none"})
        head = HEAD.format(n=options.documents, fewest=FEWEST, axes=len(CRITICS), runs=", ".join(runs))
        options.write.write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    main()
