"""Coreference of persons: n-grams over mentions by name or pronoun, with persons numbered within each window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from momus.critic import (
    Counts,
    Critic,
    LogPrior,
    MergeableMixin,
    Note,
    Pooled,
    PowersMixin,
    Reporting,
    Rows,
    Statistic,
    resource,
)
from momus.critic.fitted import Fitted
from momus.critic.hooks import LanguageMixin, NotesMixin, ScriptsMixin
from momus.critic.tools import make_adapter
from momus.errors import FittingError, UsageError
from momus.estimator import ComponentsMixin, construct, parametrized
from momus.evidence import Evidence, MarkedDocument, Step, Table
from momus.numeric.ragged import float_sums
from momus.numeric.types import Floats, Ints
from momus.parameters import OneOf, Range
from momus.progress import stage
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.languages import ANY, Scripts
from momus.text.mentions import Resolver, resolve_kept
from momus_critics.coreference.process import UNLIKELY, ChainProcess
from momus_critics.coreference.reader import GivenChains, chains_of_symbols, spelled_chains, wrong_symbol
from momus_critics.coreference.symbols import (
    NAMES_END,
    Alphabet,
    Chains,
    MentionChains,
    chains_of,
)
from momus_critics.evidence import percent

OWN = ("given", "symbols")
"""Resolvers that are no adapters."""
ENGLISH = ("spacy",)
"""Resolvers of English."""
SHOWN, LEAST = 15, 5
"""Rows of a table, and occurrences of a window in both texts for a ratio."""
AROUND = 90
"""Characters of context on each side of a mention."""


@parametrized
class Coreference(
    MergeableMixin,
    Critic[MentionChains],
    PowersMixin,
    ComponentsMixin,
    NotesMixin,
    LanguageMixin,
    ScriptsMixin,
):
    """z is the sequence of mentions of persons in a document, P_c(z) an n-gram process over it.

    The symbol of a pronoun is the pronoun; that of any other mention is the majority gender of the pronouns in its
    chain. A symbol marks the start of each sentence. Entities are numbered by first appearance within each window of n
    symbols (Deng et al. 2022, section 5). The posterior is a coreference resolver; its results are cached on disk, and
    a second run, or another n, reuses them. Persons without a gendered pronoun have class None, and persons whose
    pronouns are *they* count as plural; ``classes="form"`` ignores gender.

    Parameters
    ----------
    resolver
        ``given`` (chains in a JSON-lines file), ``symbols`` (each document is a chain, which the reader ``symbols:``
        reads), or an adapter: ``spacy`` works offline.
    model, options
        The resolver's model or file, and its further parameters.
    order
        n.
    discounting
        ``kneser-ney`` or ``absolute`` (raw counts in lower orders).
    classes
        ``gender`` or ``form``, see `Alphabet`.
    """

    name = "coreference"
    axis = "references to persons"
    question = (
        "Does text refer back to persons as real text does: does “she” still refer to someone who is there? z is the "
        "sequence of mentions of persons, P_c an n-gram process over it."
    )
    reporting = Reporting(
        headline="unlikely_share",
        directions={
            "latent_nll": ("more probable in references", "less probable in references"),
            "latent_ppl": ("more usual in references", "less usual in references"),
            "posterior_entropy": ("less varied in references", "more varied in references"),
        },
        limits="It cannot see what is said of a person, nor the errors of its resolver, which count as the text's.",
        stepless="no person is mentioned",
    )
    sequence = True
    scripts: ClassVar[Scripts] = Scripts(("Latn",))
    min_documents = 3

    resolver: str = "spacy"
    model: str = ""
    options: dict[str, Any] | None = None
    order: Annotated[int, Range(1, 6)] = 5
    discounting: Annotated[str, OneOf("kneser-ney", "absolute")] = "kneser-ney"
    classes: Annotated[str, OneOf("gender", "form")] = "gender"

    def claims(self) -> Scripts:
        """Latin script for the shipped resolvers, which read English; any script for chains that are given."""
        return self.scripts if self.resolver in ENGLISH else ANY

    def assumed_language(self, corpus: Corpus) -> str:
        """English, for the shipped resolvers."""
        return "en" if self.resolver in ENGLISH else ""

    @property
    def _alphabet(self) -> Alphabet:
        return Alphabet(self.classes)

    @property
    def _legend(self) -> str:
        """What the symbols stand for."""
        return self._alphabet.legend

    def new_process(self) -> ChainProcess:
        """The unfitted process."""
        kinds = len(self._alphabet.kinds)
        return ChainProcess(kinds=kinds, order=self.order, discounting=self.discounting)

    def _resolver(self) -> Resolver:
        """The resolver that the parameters name."""
        settings = {"model": self.model, **(self.options or {})}
        if self.resolver == "given":
            return construct(GivenChains, settings, place="resolver 'given'")
        return resource(_resolver, self.resolver, settings)

    def fit_counts(self, real: Corpus) -> Counts:
        """Resolve documents, and count the windows of their mentions."""
        chains, _ = self.chains(real)
        totals = [int((np.diff(chains.offsets) > 0).sum()), len(chains.kinds), int((chains.entities >= 0).sum())]
        return self.new_process().count(chains) + Counts.of(totals=totals)

    def fit_from(self, counts: Counts) -> Self:
        """Smooth the counts of windows."""
        self.used_, self.symbols_, self.mentions_ = counts.array("totals").tolist()
        if not self.used_:
            raise FittingError(
                "critic 'coreference': no document of the text to fit on mentions a person",
                hint="give text about people, or another resolver",
            )
        self.process_ = self.new_process().learn(counts)
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        state.component("process_", ChainProcess)
        for name in ("used_", "symbols_", "mentions_"):
            state.integer(name)

    def chains(self, corpus: Corpus) -> tuple[Chains, Ints]:
        """Symbols of a corpus, and the character span of each, (N, 2)."""
        if self.resolver == "symbols":
            return chains_of_symbols(corpus.ids, [d.text for d in corpus], self.classes)
        with stage(f"coreference in {corpus.name}", len(corpus)) as advance:
            resolved = resolve_kept(self._resolver(), corpus, advance)
        return chains_of(self._alphabet, [d.text for d in corpus], resolved)

    def symbols(self, corpus: Corpus) -> list[list[str]]:
        """The symbols of each document, such as ``["Male:0", ".", "he:0"]``, which the resolver ``symbols`` reads."""
        return spelled_chains(self.chains(corpus)[0], self.classes)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Where documents should be chains of symbols: those that are not."""
        if self.resolver != "symbols":
            return super().unscored(batch)
        wrong = (wrong_symbol(document.text, self.classes) for document in batch)
        return [None if fault is None else fault.reason for fault in wrong]

    def project(self, batch: Corpus) -> MentionChains:
        """Resolve coreference, and map mentions to symbols."""
        chains, spans = self.chains(batch)
        (windows,) = self.process_.coder.windows(chains, (self.order,))
        return MentionChains(chains.kinds, chains.offsets, None, chains.entities, windows, spans)

    def log_prior(self, latents: MentionChains) -> LogPrior:
        """Sum of log P_c over the symbols of each document; documents without a person have none."""
        log_p = self.process_.of_windows(latents.windows)
        return LogPrior(float_sums(log_p, latents.offsets), latents.lengths)

    def sufficient_statistics(self, latents: MentionChains) -> Mapping[str, Rows]:
        """Numbers of unlikely symbols, pronouns, mentions and introductions, each beside its denominator, (n, 2)."""
        log_p = self.process_.of_windows(latents.windows)
        # masks over symbols, (N,); sums over each document, (n,)
        mention = latents.entities >= 0
        pronoun = mention & (latents.states > NAMES_END)
        total = latents.lengths.astype(np.float64)
        mentions = float_sums(mention, latents.offsets)
        return {
            "unlikely": np.column_stack([float_sums(log_p < UNLIKELY, latents.offsets), total]),
            "pronouns": np.column_stack([float_sums(pronoun, latents.offsets), mentions]),
            "density": np.column_stack([mentions, total - mentions]),
            "introductions": latents.introductions,
            **({"genders": latents.genders} if self.classes == "gender" else {}),
        }

    def statistics(self) -> Sequence[Statistic]:
        """Shares of unlikely symbols, of pronouns, and of persons that a pronoun introduces; mentions; genders."""
        mixed = Statistic.share(
            "other_gender_share",
            "genders",
            "pronouns of the other gender beside one of he or she in a document",
            ("more of one gender", "more mixed in gender"),
        )
        return (
            Statistic.share(
                "unlikely_share",
                "unlikely",
                "share of unlikely mentions and sentence starts",
                ("poorer in unlikely references", "richer in unlikely references"),
            ),
            Statistic.share(
                "pronoun_share",
                "pronouns",
                "share of pronouns among mentions",
                ("poorer in pronouns", "richer in pronouns"),
            ),
            Statistic.share(
                "unintroduced_share",
                "introductions",
                "share of persons first mentioned by a pronoun",
                ("better at introducing persons", "worse at introducing persons"),
            ),
            Statistic.ratio(
                "mentions_per_sentence", "density", "mentions per sentence", ("poorer in persons", "richer in persons")
            ),
            *((mixed,) if self.classes == "gender" else ()),
        )

    def summarize(self, latents: MentionChains) -> Pooled:
        """Counts of windows, and of the kinds of symbols that introduce persons."""
        keys, counts = np.unique(latents.windows, return_counts=True)
        table: dict[str | float, float] = {
            float(k): float(c) for k, c in zip(keys.tolist(), counts.tolist(), strict=True)
        }
        size = len(self._alphabet.kinds)
        introduced = np.bincount(latents.states[latents.first], minlength=size).astype(np.float64)
        return Pooled(int((latents.lengths > 0).sum()), {"first": introduced}, {"windows": table})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Unlikely windows with the likeliest alternative, windows by contribution and by ratio, and first mentions."""
        # counts of each window in both texts, (2, W), and its part of the difference in Latent NLL per symbol, (W,)
        a, b = (s.counts.get("windows", {}) for s in (real, generated))
        keys = np.array(sorted({*map(int, a), *map(int, b)}), dtype=np.int64)
        counts = np.array([[float(t.get(float(k), 0.0)) for k in keys.tolist()] for t in (a, b)]).reshape(2, len(keys))
        totals = np.maximum(counts.sum(axis=1), 1.0)
        share = counts / totals[:, None]
        log_p = self.process_.of_windows(keys) if len(keys) else np.zeros(0)
        gain = (share[1] - share[0]) * -log_p
        return [
            self._unlikely_table(keys, counts, totals, log_p),
            self._contributions_table(keys, counts, gain, log_p),
            self._ratios_table(keys, counts, totals),
            self._introductions_table(real, generated),
        ]

    def notes(self) -> list[Note]:
        """Size of the training data, and the discounts."""
        discounts = ", ".join(f"{d:.2f}" for d in self.process_.discounts_)
        return [
            Note(
                f"{self.order}-grams ({self.discounting}, discounts {discounts}) of {self.symbols_:,} symbols, "
                f"{self.mentions_:,} of them mentions, in {counted(self.used_, 'document')} that mention a person; "
                "resolver "
                f"{self.resolver}."
            )
        ]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the least likely mentions in context, in the order of the text, each with the likeliest alternative."""
        latents = self.project(document)
        if not len(latents.states):
            return None
        log_p = self.process_.of_windows(latents.windows)
        mentions = np.flatnonzero(latents.entities >= 0)
        chosen = np.sort(mentions[np.argsort(log_p[mentions], kind="stable")][:SHOWN])
        text = document[0].text
        windows, better = self.spelled(latents.windows[chosen]), self.best(latents.windows[chosen])
        steps = []
        for i, window, (name, p) in zip(chosen.tolist(), windows, better, strict=True):
            start, end = (int(x) for x in latents.spans[i])
            before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
            note = f"characters {start:,}–{end:,}; likeliest instead: {name} (log P {p:.2f})"
            shown = f"…{before}[{text[start:end]}]{after}…".replace("\n", " ")
            steps.append(Step(window, shown, -float(log_p[i]), bool(log_p[i] < UNLIKELY), note))
        return MarkedDocument(document.name, document.ids[0], float(-log_p.sum()), "nats", steps, self._legend)

    def spelled(self, keys: Ints) -> list[str]:
        """Windows as text, such as ``Male:0 . he:0``, without the padding before a document."""
        names = self._alphabet.kinds
        kinds, entities = self.process_.coder.symbols(keys, self.order)
        rows = zip(kinds.tolist(), entities.tolist(), strict=True)
        return [
            " ".join(names[k] if e < 0 else f"{names[k]}:{e}" for k, e in zip(*row, strict=True) if k) for row in rows
        ]

    def best(self, keys: Ints) -> list[tuple[str, float]]:
        """The likeliest last symbol of each window, with its log-probability."""
        likeliest = []
        for key in keys.tolist():
            outcomes = self.process_.outcomes(key)
            log_p = self.process_.of_windows(outcomes)
            top = int(log_p.argmax())
            likeliest.append((self.spelled(outcomes[top : top + 1])[0].rsplit(" ", 1)[-1], float(log_p[top])))
        return likeliest

    def _contributions_table(self, keys: Ints, counts: Floats, gain: Floats, log_p: Floats) -> Table:
        top = np.argsort(-gain, kind="stable")[:SHOWN]
        words = self.spelled(keys[top])
        rows = [
            (w, float(counts[0, i]), float(counts[1, i]), float(np.exp(log_p[i])), float(gain[i]))
            for w, i in zip(words, top, strict=True)
        ]
        return Table(
            "mention-contributions",
            "Windows of mentions that contribute most to the difference in Latent NLL",
            ("window", "real", "generated", "P of the last symbol", "contribution, nats per symbol"),
            rows,
            note=f"{self._legend} Contribution: (share in generated − share in real text) × −log P.",
        )

    def _ratios_table(self, keys: Ints, counts: Floats, totals: Floats) -> Table:
        # log-ratio of the shares of the windows frequent in both texts; the largest and the smallest are shown
        often = np.flatnonzero((counts >= LEAST).all(axis=0))
        ratio = np.log(counts[1, often] / totals[1]) - np.log(counts[0, often] / totals[0])
        order = np.argsort(-ratio, kind="stable")
        chosen = np.unique(np.concatenate([order[:SHOWN], order[-SHOWN:]])) if len(order) else order
        chosen = chosen[np.argsort(-ratio[chosen], kind="stable")]
        words = self.spelled(keys[often[chosen]])
        rows = [
            (w, float(counts[0, often[i]]), float(counts[1, often[i]]), float(ratio[i]))
            for w, i in zip(words, chosen, strict=True)
        ]
        title = f"Windows by log-ratio of their shares (at least {LEAST} occurrences in both texts)"
        return Table("mention-ratios", title, ("window", "real", "generated", "log-ratio"), rows, note=self._legend)

    def _unlikely_table(self, keys: Ints, counts: Floats, totals: Floats, log_p: Floats) -> Table:
        """Unlikely windows, those first that contribute most to the difference of the headline."""
        unlikely = np.flatnonzero(log_p < UNLIKELY)
        # occurrences per 1,000 symbols in each text, (2, U); the side with more of them is shown first
        rate = 1000 * counts[:, unlikely] / totals[:, None]
        sums = rate.sum(axis=1)
        excess = (rate[1] - rate[0]) * (1.0 if sums[1] >= sums[0] else -1.0)
        top = unlikely[np.lexsort((log_p[unlikely], -excess))][:SHOWN]
        words, better = self.spelled(keys[top]), self.best(keys[top])
        rows = [
            (w, float(counts[0, i]), float(counts[1, i]), float(log_p[i]), name, p)
            for w, i, (name, p) in zip(words, top, better, strict=True)
        ]
        return Table(
            "mention-unlikely",
            f"Unlikely mentions (log P below {UNLIKELY:.0f}) that contribute most to the difference",
            ("window", "real", "generated", "log P", "likeliest instead", "its log P"),
            rows,
            note=f"Of 1,000 symbols, {sums[0]:.1f} are unlikely in real and {sums[1]:.1f} in generated text. "
            f"{self._legend}",
        )

    def _introductions_table(self, real: Pooled, generated: Pooled) -> Table:
        """Kinds of first mentions, the largest difference first."""
        names = self._alphabet.kinds
        counts = [s.arrays.get("first", np.zeros(len(names))) for s in (real, generated)]
        share = [c / max(c.sum(), 1.0) for c in counts]
        order = np.argsort(-np.abs(share[1] - share[0]), kind="stable")
        rows = [
            (names[k], percent(share[0][k]), percent(share[1][k]), percent(share[1][k] - share[0][k]))
            for k in order
            if counts[0][k] + counts[1][k] > 0
        ]
        return Table(
            "mention-introductions",
            "How persons are first mentioned",
            ("first mention", "real %", "generated %", "difference"),
            rows,
            note=f"Of {counts[0].sum():,.0f} persons in real and {counts[1].sum():,.0f} in generated text. "
            f"{self._legend}",
        )


def _resolver(name: str, settings: Mapping[str, Any]) -> Resolver:
    """Make a resolver."""
    resolver = make_adapter("resolver", name, settings, builtin=OWN)
    if not isinstance(resolver, Resolver):
        raise UsageError(f"resolver {name!r} gives {type(resolver).__name__}, not a momus.text.mentions.Resolver")
    return resolver
