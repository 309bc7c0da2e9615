"""The critic of coreference: n-grams over chains of mentions, whose entities are numbered within each window."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self

import numpy as np

from momus.critic import (
    Critic,
    EvidenceMixin,
    ExplanationMixin,
    LogPrior,
    Note,
    Pooled,
    Rows,
    StateSequences,
    Statistic,
    StatisticsMixin,
    mean,
)
from momus.critic.tools import adapter_names, make_adapter
from momus.errors import FittingError, UsageError
from momus.estimator import Estimator
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.types import Floats, Ints
from momus.progress import stage
from momus.text.corpus import Corpus
from momus.text.mentions import Resolver
from momus.text.resolved import resolve_kept
from momus_critics.coreference import evidence
from momus_critics.coreference.annotated import GivenChains
from momus_critics.coreference.process import ChainProcess
from momus_critics.coreference.symbols import Alphabet, chains_of
from momus_critics.coreference.windows import Chains

NAMES_END, THIRD = 5, 8
"""The last kind of symbol that is no pronoun, and how many kinds of pronouns of one person (he, she) follow it."""
UNLIKELY = -7.0
"""log P_c of a symbol below which it is unlikely (Deng et al. 2022, table 13)."""


@dataclass(frozen=True)
class MentionChains(StateSequences):
    """Kinds of symbols, with their entities, windows and places.

    Attributes
    ----------
    entities
        int64 (N,), −1 for sentence starts.
    windows
        int64 (N,): the window of n symbols that ends here.
    spans
        int64 (N, 2): offsets of characters in the document.
    """

    entities: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    windows: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    spans: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))


class Coreference(Critic[MentionChains], StatisticsMixin, EvidenceMixin, ExplanationMixin):
    """z is the chain of mentions of persons in a document, P_c(z) an n-gram process over it.

    A pronoun stands as itself, any other mention as the gender that most pronouns of its own chain have, and each
    sentence begins with a symbol. Entities are numbered by first appearance within each window of n symbols (Deng et
    al. 2022, section 5). The posterior is a resolver of coreference; what it found is kept on disk, so that a second
    run, or another n, does not resolve again. Classes by pronouns say nothing of persons whom no gendered pronoun names
    to (they are None), and call persons whose pronouns are *they* plural; ``classes="form"`` does not look at gender.

    Parameters
    ----------
    resolver
        ``given`` (chains in a JSON-lines file), or an adapter: ``spacy`` works offline.
    model, options
        The resolver's model or file, and more parameters of it.
    order
        n.
    smoothing
        ``kneser-ney`` or ``absolute`` (raw counts in lower orders, as in the paper's code).
    classes
        ``gender`` or ``form``, see `Alphabet`.
    """

    name = "coreference"
    axis = "coreference of persons"
    question = (
        "Are persons taken up again as in real text: does “she” still mean someone who is there? z is the chain of "
        "mentions of persons, P_c an n-gram process over it."
    )
    sequence = True
    no_steps = "no person is mentioned"
    needs = 3

    def __init__(
        self,
        *,
        resolver: str = "spacy",
        model: str = "",
        options: dict[str, Any] | None = None,
        order: int = 5,
        smoothing: str = "kneser-ney",
        classes: str = "gender",
    ) -> None:
        self.resolver = resolver
        self.model = model
        self.options = options
        self.order = order
        self.smoothing = smoothing
        self.classes = classes

    def component(self, attribute: str) -> Estimator:
        """Make an unfitted part."""
        if attribute == "process_":
            kinds = len(Alphabet(self.classes).kinds)
            return ChainProcess(kinds=kinds, order=self.order, smoothing=self.smoothing)
        return super().component(attribute)

    def _resolver(self) -> Resolver:
        settings = {"model": self.model, **(self.options or {})}
        if self.resolver == "given":
            return GivenChains.with_params(settings, place="resolver 'given'")
        return _loaded(self.resolver, json.dumps(settings, sort_keys=True))

    def fit(self, real: Corpus) -> Self:
        """Resolve real documents, and count windows of their chains."""
        if self.classes not in ("gender", "form"):
            raise UsageError(f"coreference: classes is {self.classes!r}", hint="choose one of gender, form")
        if self.resolver not in ("given", *adapter_names("resolver")):
            names = ", ".join(("given", *adapter_names("resolver")))
            raise UsageError(f"coreference: resolver is {self.resolver!r}", hint=f"choose one of {names}")
        process: Any = self.component("process_")
        chains, _ = self.chains(real)
        self.used_ = int((np.diff(chains.offsets) > 0).sum())
        if not self.used_:
            raise FittingError(
                f"critic 'coreference': no document of {real.name!r} mentions a person",
                hint="give text about people, or another resolver",
            )
        self.symbols_, self.mentions_ = len(chains.kinds), int((chains.entities >= 0).sum())
        self.process_: ChainProcess = process.fit(chains)
        return self

    def chains(self, corpus: Corpus) -> tuple[Chains, Ints]:
        """Symbols of a corpus, and their spans of characters (N, 2)."""
        with stage(f"coreference in {corpus.name}", len(corpus)) as advance:
            resolved = resolve_kept(self._resolver(), corpus, advance)
        return chains_of(Alphabet(self.classes), [d.text for d in corpus], resolved)

    def project(self, batch: Corpus) -> MentionChains:
        """Resolve coreference, and write mentions as symbols."""
        chains, spans = self.chains(batch)
        (windows,) = self.process_.coder.windows(chains, (self.order,))
        return MentionChains(chains.kinds, chains.offsets, None, chains.entities, windows, spans)

    def log_prior(self, latents: MentionChains) -> LogPrior:
        """Sum of log P_c over the symbols of a document; documents without a person have none."""
        each = self.process_.of_windows(latents.windows)
        lengths = latents.lengths
        return LogPrior(_sums(each, latents.offsets), lengths)

    def sufficient_statistics(self, latents: MentionChains) -> Mapping[str, Rows]:
        """Unlikely symbols, mentions, pronouns and introductions, beside the numbers that they are shares of."""
        each = self.process_.of_windows(latents.windows)
        mention = latents.entities >= 0
        pronoun = mention & (latents.states > NAMES_END)
        total = latents.lengths.astype(np.float64)
        mentions = _sums(mention.astype(np.float64), latents.offsets)
        return {
            "unlikely": np.column_stack([_sums((each < UNLIKELY).astype(np.float64), latents.offsets), total]),
            "pronouns": np.column_stack([_sums(pronoun.astype(np.float64), latents.offsets), mentions]),
            "density": np.column_stack([mentions, total - mentions]),
            "introductions": _introductions(latents),
        }

    def statistics(self) -> Sequence[Statistic]:
        """Shares of unlikely symbols, pronouns, and persons whom a pronoun mentions first; mentions a sentence."""
        return (
            Statistic("unlikely_share", "unlikely", "value", mean),
            Statistic("pronoun_share", "pronouns", "value", mean),
            Statistic("unintroduced_share", "introductions", "value", mean),
            Statistic("mentions_per_sentence", "density", "value", mean),
        )

    def summarize(self, latents: MentionChains) -> Pooled:
        """How often each window occurs, and with which kind of symbol persons are mentioned first."""
        keys, counts = np.unique(latents.windows, return_counts=True)
        table: dict[str | float, float] = {
            float(k): float(c) for k, c in zip(keys.tolist(), counts.tolist(), strict=True)
        }
        size = len(Alphabet(self.classes).kinds)
        first = np.bincount(latents.states[_first(latents)], minlength=size).astype(np.float64)
        return Pooled(int((latents.lengths > 0).sum()), {"first": first}, {"windows": table})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Windows by what they add to the difference, by ratio, and the unlikely ones with a better alternative."""
        return evidence.show(self, real, generated)

    def notes(self) -> list[Note]:
        """Size of what was fitted on."""
        discounts = ", ".join(f"{d:.2f}" for d in self.process_.discounts_)
        return [
            Note(
                f"{self.order}-grams ({self.smoothing}, discounts {discounts}) of {self.symbols_:,} symbols, "
                f"{self.mentions_:,} of them mentions, in {self.used_:,} documents that mention a person; resolver "
                f"{self.resolver}."
            )
        ]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the unlikely mentions in the text around them, with the critic's alternative."""
        return evidence.explain(self, document)


@lru_cache(maxsize=4)
def _loaded(name: str, settings: str) -> Resolver:
    """Make a resolver once for all batches: loading its model takes a second or more."""
    made = make_adapter("resolver", name, json.loads(settings), own=("given",))
    if not isinstance(made, Resolver):
        raise UsageError(f"resolver {name!r} gives {type(made).__name__}, which resolves nothing")
    return made


def _first(latents: MentionChains) -> Ints:
    """Symbols that mention an entity for the first time in their document."""
    rows = np.flatnonzero(latents.entities >= 0)
    pairs = np.stack([latents.documents[rows], latents.entities[rows]])
    return rows[np.unique(pairs, axis=1, return_index=True)[1]]


def _introductions(latents: MentionChains) -> Floats:
    """Persons whom a pronoun of the third person mentions first, and all persons, (n, 2)."""
    first = _first(latents)
    n, document = len(latents), latents.documents[first]
    third = (latents.states[first] > NAMES_END) & (latents.states[first] <= NAMES_END + THIRD)
    counts = [np.bincount(document, w, n) for w in (third.astype(np.float64), np.ones(len(first)))]
    return np.column_stack(counts)


def _sums(values: Floats, offsets: Ints) -> Floats:
    total = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(total[offsets[1:]] - total[offsets[:-1]])
