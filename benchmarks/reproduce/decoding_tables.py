"""The tables of `decoding.py`: the columns of Meister & Cotterell (2021), the paper's figure and the measured one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from papers.table import PaperTable, paper_tables

from momus.report.words.format import number
from momus.verdicts.verdict import Verdict

TABLES = ("meister-2", "meister-3", "meister-5", "meister-6")
WAYS = ("ancestral", "nucleus", "beam")


@dataclass(frozen=True)
class Value:
    """A statistic of one generated text, as in `momus.verdicts.verdict.Verdict`."""

    critic: str
    statistic: str
    generated: str
    value: float | None
    real: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    n_generated: int
    n_real: int

    @classmethod
    def of(cls, v: Verdict) -> Value:
        """What the tables need of a verdict."""
        return cls(
            v.critic,
            v.statistic,
            v.generated,
            v.generated_value,
            v.real_value,
            v.difference,
            v.low,
            v.high,
            v.p,
            v.n_generated,
            v.n_real,
        )


@dataclass(frozen=True)
class Study:
    """All values of a run, what is to be said of each model, and the numbers of the learned and real texts."""

    values: tuple[Value, ...]
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> str:
        """The study as JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, content: str) -> Study:
        """Read what `to_json` wrote."""
        kept = json.loads(content)
        return cls(tuple(Value(**v) for v in kept["values"]), kept["models"], kept["texts"])

    def cell(self, critic: str, statistic: str, generated: str) -> Value | None:
        """The value of a statistic of a text, None if it was not measured."""
        wanted = (critic, statistic, generated)
        return next((v for v in self.values if (v.critic, v.statistic, v.generated) == wanted), None)


def critics() -> list[str]:
    """The critics of the columns of all tables, each once."""
    return list(dict.fromkeys(c for key in TABLES for c in paper_tables()[key].critics))


def tables(study: Study) -> dict[str, str]:
    """The four tables as Markdown, by the id of the paper's table."""
    return {key: "\n".join(_lines(study, paper_tables()[key])) for key in TABLES}


def _lines(study: Study, paper: PaperTable) -> Iterable[str]:
    """A line for each column of the paper's table, model and way of decoding."""
    yield "| column | text | paper | here | real | difference [95 %] | p | n |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    printed = dict(paper.rows)
    for i, column in enumerate(paper.columns):
        for model in study.models:
            for way in WAYS:
                v = study.cell(column.critic, column.statistic, f"{model} {way}")
                if v is None:
                    continue
                name = f"{model.capitalize()}, {way}"
                interval = f"{signed(v.difference)} [{signed(v.low)}, {signed(v.high)}]"
                cells = [column.heading, name, printed[name][i] or "–", shown(v.value), shown(v.real), interval]
                p = "–" if v.p is None else f"{v.p:.3f}"
                yield "| " + " | ".join([*cells, p, f"{v.n_generated:,}"]) + " |"


def shown(value: float | None) -> str:
    """A figure, or a dash where there is none."""
    return "–" if value is None else number(value)


def signed(value: float | None) -> str:
    """A figure with its sign, or a dash where there is none."""
    return "–" if value is None else ("+" if value >= 0 else "−") + number(abs(value))


CLAIMS = (
    ("D<sub>p</sub> of rank and frequency is smallest for ancestral samples", "rank-frequency", "ks", "least", 0),
    ("D<sub>p</sub> of length is largest for beam samples", "length", "ks", "most", 2),
    ("D<sub>p</sub> of stopwords is largest for beam samples", "stopword-share", "ks", "most", 2),
    ("D<sub>p</sub> of symbols is largest for beam samples", "symbol-share", "ks", "most", 2),
    ("Zipf's s of ancestral samples is below that of nucleus samples", "rank-frequency", "exponent", "below", 0),
    ("Heaps' β of nucleus samples is below that of ancestral samples", "type-token", "beta", "below", 1),
    ("beam documents are the shortest", "length", "mean_length", "least", 2),
)
"""What the paper shows for the trigram and for each transformer: the text, the statistic, and the way of decoding that
has the least or the largest value, or a value below that of the other of the first two ways."""


def holds(study: Study, claim: tuple[str, str, str, str, int], model: str) -> bool:
    """Whether a claim holds for the values of a model."""
    _, critic, statistic, order, place = claim
    cells = [study.cell(critic, statistic, f"{model} {way}") for way in WAYS]
    values = [float("nan") if c is None or c.value is None else c.value for c in cells]
    if order == "below":
        return values[place] < values[1 - place]
    others = [v for i, v in enumerate(values) if i != place]
    return values[place] < min(others) if order == "least" else values[place] > max(others)


def claims(study: Study) -> list[str]:
    """A Markdown table of the paper's claims, and whether each model here confirms them."""
    models = list(study.models)
    lines = ["| the paper | " + " | ".join(f"here: {m}" for m in models) + " |", "|---|" + "---|" * len(models)]
    answers = [["yes" if holds(study, claim, m) else "no" for m in models] for claim in CLAIMS]
    return lines + [f"| {claim[0]} | {' | '.join(row)} |" for claim, row in zip(CLAIMS, answers, strict=True)]


def fill(page: str, study: Study) -> str:
    """Put the tables between the marks of a page, ``<!-- NAME -->`` and ``<!-- end -->``.

    Raises
    ------
    SystemExit
        The page lacks a mark.
    """
    for name, content in {**tables(study), "claims": "\n".join(claims(study))}.items():
        begin = f"<!-- {name} -->\n"
        if begin not in page:
            raise SystemExit(f"the page has no line {begin.strip()}")
        between = re.compile(rf"(?<={re.escape(begin)}).*?(?=<!-- end -->)", re.DOTALL)
        page = between.sub(lambda _, text=content: text + "\n", page, count=1)  # type: ignore[misc]
    return page
