"""Faults: what is broken in documents, before any statistic of how they are written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Self

import numpy as np

from momus.critic import LogPrior, Pooled, Reporting, Rows, Statistic, directions
from momus.evidence import Evidence, Faulty, MarkedDocument, Step, Table
from momus.numeric.ragged import owners_of
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus.text.languages import ANY, only_language
from momus_critics.evidence import marked, percent
from momus_critics.faults.sheet import KINDS, NUMBER, Sheet, Usual, read_sheet
from momus_critics.faults.signs import USUAL, scripts_of
from momus_critics.faults.words import WordModel
from momus_critics.prose.examples import Exampled
from momus_critics.prose.reading import ProseCritic

NAMED = 8
"""Documents of each kind of fault that are named."""
QUOTES = "/quotes"


class Faults(ProseCritic[Sheet]):
    """z says of each kind of fault whether a document has it; P_c(z) is independent rates of real text.

    Faults are documents that break off, loop, hold control tokens, another script or language, garbled signs, several
    misspelt words or words in disorder, that refuse, and that are one word (`momus_critics.faults.sheet`). z is
    observed: each document is read by itself. A field ``finish_reason`` that is kept decides whether it breaks off.
    Rates are (k + ½) / (n + 1), where k of n real documents have a fault; of words, by the words of others.

    >>> from momus import Corpus
    >>> critic = Faults().fit(Corpus.from_texts(["It rained. She left.", "He came, and they ate."]))
    >>> z = critic.project(Corpus.from_texts(["It rained. She left.", "Then she left the", "No! " * 20]))
    >>> [[critic.state_names[k] for k in z.states[a:b]] for a, b in zip(z.offsets, z.offsets[1:])]
    [[], ['broken-off'], ['loop']]
    """

    name = "faults"
    axis = "broken documents"
    question = "Is something broken: do documents break off, loop, or hold what no reader should see? z is the faults."
    scripts = ANY
    reporting = Reporting(
        headline="faulty_share",
        directions=directions("less|more broken"),
        limits="It cannot see what is false, nor whether an answer fits its question: only what is broken by its form.",
        aggregated=False,
        faulty=True,
        oddities=(*(kind.name for kind in KINDS), "slips of spelling", "a passage said again"),
        together="summaries",
    )

    state_names = tuple(kind.name for kind in KINDS)

    _new_words = WordModel

    def fit(self, real: Corpus) -> Self:
        """Learn the words, language and scripts of real text, and its rates of faults."""
        prose = self._prose(real)
        self.words_ = self._new_words()
        misspelt, salad = self.words_.learn(prose)
        self.language_ = only_language(real)
        self.scripts_ = scripts_of([d.text for d in real])
        self.rates_ = np.full(len(KINDS), 0.5)
        flags = read_sheet(real, prose, self._usual).flags
        # no document that a model of words has seen is odd to it
        flags[:, NUMBER["misspelt"]], flags[:, NUMBER["word-salad"]] = misspelt, salad
        self.rates_ = (flags.sum(axis=0) + 0.5) / (len(flags) + 1.0)
        return self

    @property
    def _usual(self) -> Usual:
        common = frozenset(w for w in self.words_.words_[:USUAL] if w[:1].isalpha())
        return Usual(self.scripts_, common, self.language_, self.words_)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Every document has a sheet."""
        return [None] * len(batch)

    def project(self, batch: Corpus) -> Sheet:
        """Find the faults."""
        return read_sheet(batch, self._prose(batch), self._usual)

    def log_prior(self, latents: Sheet) -> LogPrior:
        """log P_c(z), a sum over kinds of faults."""
        yes, no = np.log(self.rates_), np.log1p(-self.rates_)
        return LogPrior.of_vectors(no.sum() + latents.flags @ (yes - no))

    def sufficient_statistics(self, latents: Sheet) -> Mapping[str, Rows]:
        """Whether documents have each kind of fault, and any."""
        flags, ones = latents.flags, np.ones(len(latents))
        rows = {kind.row: np.column_stack([has, ones]) for kind, has in zip(KINDS, flags.T, strict=True)}
        # a fault counts −log of its rate in real text
        rows["oddities"] = np.hstack([flags * -np.log(self.rates_), latents.graded])
        return {"faulty": np.column_stack([flags.any(axis=1), ones]), **rows}

    tested = (
        Statistic.having("faulty_share", "faulty", "a fault"),
        *(
            Statistic.share(
                f"{kind.row}_share",
                kind.row,
                f"documents {kind.label}",
                f"less|more often {kind.state}",
                clause=f"{{}} of documents {kind.clause}",
            )
            for kind in KINDS
        ),
    )

    def summarize(self, latents: Sheet) -> Exampled:
        """Documents by kind of fault, and the ids and quotes of some; of loops, the longest."""
        examples: list[tuple[str, float, str]] = []
        owners = owners_of(latents.offsets).tolist()
        for i, (row, kind) in enumerate(zip(owners, latents.states.tolist(), strict=True)):
            rank = _fraction(latents.ids[row]) - int(latents.places[i, 2])  # most often first, then in no order
            name = KINDS[kind].name
            examples += [(name, rank, latents.ids[row]), (name + QUOTES, rank, latents.quotes[i])]
        pooled = Pooled(len(latents), {"flags": latents.flags.sum(axis=0)})
        return Exampled.of(pooled, examples, NAMED)

    def evidence(self, real: Exampled, generated: Exampled) -> list[Evidence]:
        """Each kind of fault: how many documents of both texts have it, which, and what it says."""
        sides = [(t.arrays["flags"], t.documents) for t in (real, generated)]
        rows, faults = [], []
        fitted = self.fitted_on_["documents"]
        of_fitted = np.rint(self.rates_ * (fitted + 1) - 0.5).astype(int).tolist()  # as `fit` counted them
        for i, kind in enumerate(KINDS):
            (a, of_a), (b, of_b) = ((int(flags[i]), n) for flags, n in sides)
            if not a + b:
                continue
            ids, quotes = generated.texts(kind.name), generated.texts(kind.name + QUOTES)
            shares = percent(a / max(of_a, 1)), percent(b / max(of_b, 1))
            rows.append((kind.name, *shares, ", ".join(ids or real.texts(kind.name)), next(iter(quotes), "")))
            most = -int(np.floor(generated.examples[kind.name][0][0])) if ids else 0
            told = kind.name, f"{kind.row}_share", kind.clause, (a, of_a), (b, of_b), ids, quotes, most
            faults.append(Faulty(*told, (of_fitted[i], fitted)))
        heads = ("fault", "real, % of documents", "generated, % of documents", "documents", "the first says")
        return [Table("faults", "What is broken", heads, rows, faults=faults)]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark each fault where it stands."""
        sheet, text = self.project(document), document[0].text
        yes = -np.log(self.rates_)
        steps: list[Step] = []
        at = 0
        spans = sorted(zip(sheet.places.tolist(), sheet.states.tolist(), sheet.quotes, strict=True))
        for (start, stop, _), kind, quote in spans:
            if start > at:
                steps.append(Step("", text[at:start]))
            note = f"in {percent(float(self.rates_[kind])):g} % of the fitted documents"
            steps.append(Step(KINDS[kind].name, text[max(start, at) : stop] or quote, float(yes[kind]), True, note))
            at = max(at, stop)
        if at < len(text):
            steps.append(Step("", text[at:]))
        return marked(self, document, sheet, steps)

    words_: WordModel
    language_: str
    scripts_: list[str]
    rates_: Floats


def _fraction(text: str) -> float:
    """A number in (0, 1) of a text, the same everywhere."""
    return (int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).digest()) + 1) / (2**48 + 2)
