"""Coreference of persons: n-grams over mentions by name or pronoun, with persons numbered within each window."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np

from momus.critic import Counted, Counts, LogPrior, MergeableMixin, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.base import TextCritic
from momus.critic.hooks import AdvancedMixin
from momus.critic.tools import make_adapter, resource
from momus.errors import FittingError, ReadingError, UsageError
from momus.estimator import Estimator, construct, parametrized
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.ragged import float_sums
from momus.numeric.types import Ints
from momus.parameters import Range
from momus.progress import stage
from momus.text.corpus import Corpus
from momus.text.counting import percentage
from momus.text.languages import ANY, Scripts
from momus.text.mentions import Resolved, Resolver, resolve_kept
from momus.text.plain import in_place
from momus_critics.coreference.process import UNLIKELY, ChainProcess, WindowEvidence
from momus_critics.coreference.symbols import KINDS, NAMES_END, Chains, MentionChains, chains_of


@parametrized
class GivenChains(Estimator):
    """A resolver that reads chains from a file.

    Parameters
    ----------
    model
        The file, with one object per line: ``{"id": …, "mentions": [[start, end, entity], …], "sentences": [start,
        …]}`` and optionally ``"persons": [entity, …]``. Offsets are in characters of the document's text (sections
        joined by a blank line).
    """

    model: str = ""

    @property
    def version(self) -> str:
        """Empty: chains from a file are not cached."""
        return ""

    def resolve(self, batch: Corpus) -> list[Resolved]:
        """Look up the chains of each document.

        Raises
        ------
        UsageError
            No file is named, it lacks a document, or a mention ends beyond a document's text.
        ReadingError
            The file cannot be read, or a line is no record of mentions.
        """
        if not self.model:
            raise UsageError("resolver 'given' needs a file of chains", hint="give its path as parameter `model`")
        # part of the key of the cache: a file that was written again is read again
        written = os.stat(self.model).st_mtime_ns if os.path.exists(self.model) else 0
        of_documents = resource(read_chains, self.model, written)
        chains = []
        for document in batch:
            if document.id not in of_documents:
                raise UsageError(f"{self.model}: no chains for document {document.id!r}")
            resolved = of_documents[document.id]
            # offsets of another version of the text would mark arbitrary characters
            if len(resolved.ends) and int(resolved.ends.max()) > len(document.text):
                raise UsageError(f"{self.model}: a mention of document {document.id!r} ends beyond its text")
            chains.append(resolved)
        return chains


def read_chains(path: str | Path, written: int = 0) -> dict[str, Resolved]:
    """Read a file of chains: the mentions of each document, by id.

    Parameters
    ----------
    written
        When it was written, which tells a `resource` that it was written again.

    Raises
    ------
    ReadingError
        The file cannot be read, or a line is no record of mentions.
    """
    chains = {}
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        record = json.loads(line)
                        chains[str(record["id"])] = _resolved(record)
                    except (ValueError, KeyError, TypeError) as error:
                        raise ReadingError(f"{path}, line {number}: no record of mentions ({error})") from error
    except OSError as error:
        raise ReadingError(f"{path}: {error.strerror}") from error
    return chains


def _resolved(record: dict[str, Any]) -> Resolved:
    mentions = [(int(a), int(b), int(e)) for a, b, e in record["mentions"]]
    if any(not 0 <= a < b for a, b, _ in mentions):
        raise ValueError("a mention ends before it starts")
    persons = record.get("persons")
    sentences = sorted(int(s) for s in record["sentences"])
    return Resolved.of(mentions, sentences, None if persons is None else [int(p) for p in persons])


ENGLISH = ("spacy",)
"""Resolvers of English."""
LEAST, LOOKED_AT = 0.2, 2000
"""Least share of documents with *he* or *she* from which a run of all critics parses texts; so many are looked at."""
_PERSON = re.compile(r"\b(?:he|she|him|her|his|hers|himself|herself)\b", re.IGNORECASE)


@parametrized
class Coreference(MergeableMixin, TextCritic[MentionChains], AdvancedMixin):
    """z is the sequence of mentions of persons in a document, P_c(z) an n-gram process over it.

    The symbol of a pronoun is the pronoun; that of any other mention is the majority gender of the pronouns in its
    chain. A symbol marks the start of each sentence. Entities are numbered by first appearance within each window of n
    symbols (Deng et al. 2022, section 5). The posterior is a coreference resolver; its results are cached on disk, and
    a second run, or another n, reuses them. Persons without a gendered pronoun have class None, and persons whose
    pronouns are *they* count as plural.

    Parameters
    ----------
    resolver
        ``given`` (chains in a JSON-lines file), or an adapter: ``spacy`` works offline.
    model, options
        The resolver's model or file, and its further parameters.
    order
        n.
    discounting
        ``kneser-ney`` or ``absolute`` (raw counts in lower orders).
    """

    name = "coreference"
    axis = "references to persons"
    reads = "prose"
    question = (
        "Does text refer back to persons as real text does: does “she” still refer to someone who is there? z is the "
        "sequence of mentions of persons, P_c an n-gram process over it."
    )
    reporting = Reporting(
        headline="unlikely_share",
        directions=directions(
            "more|less probable in references", "more|less usual in references", "less|more varied in references"
        ),
        limits="It cannot see what is said of a person, nor the errors of its resolver, which count as the text's.",
        stepless="no person is mentioned",
    )
    sequence = True
    min_documents = 3

    resolver: str = "spacy"
    model: str = ""
    options: dict[str, Any] | None = None
    order: Annotated[int, Range(1, 6)] = 5
    discounting: Literal["kneser-ney", "absolute"] = "kneser-ney"

    @property
    def scripts(self) -> Scripts:
        """Latin script for the shipped resolvers, which read English; any script for chains that are given."""
        return Scripts(("Latn",)) if self.resolver in ENGLISH else ANY

    def assumed_language(self, corpus: Corpus) -> str:
        """English, for the shipped resolvers."""
        return "en" if self.resolver in ENGLISH else ""

    def nothing_to_see(self, texts: Sequence[Corpus]) -> str:
        """Say so where few documents of each text refer to a person by *he* or *she*: to parse takes longest of all."""
        if self.resolver not in ENGLISH:
            return ""
        looked_at = (text.slice(0, LOOKED_AT) for text in texts)
        most = max(sum(bool(_PERSON.search(d.text)) for d in text) / len(text) for text in looked_at)
        if most >= LEAST:
            return ""
        return f"at most {percentage(most, 0)} of documents say “he” or “she”, and {percentage(LEAST, 0)} are needed"

    def _new_process(self) -> ChainProcess:
        """The unfitted process."""
        return ChainProcess(kinds=len(KINDS), order=self.order, discounting=self.discounting)

    def _resolver(self) -> Resolver:
        """The resolver that the parameters name."""
        settings = {"model": self.model, **(self.options or {})}
        if self.resolver == "given":
            return construct(GivenChains, settings, place="resolver 'given'")
        kinds = (Estimator, Resolver)
        resolver: Resolver = resource(make_adapter, "resolver", self.resolver, settings, ("given",), kinds)
        return resolver

    def fit_counts(self, real: Corpus) -> Counts:
        """Resolve documents, and count the windows of their mentions."""
        chains, _ = self._chains(real)
        return self._new_process().count(chains) + Counts.of(used=[int((np.diff(chains.offsets) > 0).sum())])

    def fit_from(self, counts: Counts) -> Self:
        """Smooth the counts of windows."""
        if not counts.array("used")[0]:
            raise FittingError(
                "critic 'coreference': no document of the text to fit on mentions a person",
                hint="give text about people, or another resolver",
            )
        self.process_ = self._new_process().learn(counts)
        return self

    def _chains(self, corpus: Corpus) -> tuple[Chains, Ints]:
        """Symbols of a corpus, and the character span of each, (N, 2)."""
        # prose in its places: mentions stand where they stand in the text
        texts = [in_place(d.text) for d in corpus]
        prose = Corpus.from_texts(texts, corpus.ids, name=corpus.name)
        with stage(f"coreference in {corpus.name}", len(corpus)) as advance:
            resolved = resolve_kept(self._resolver(), prose, advance)
        return chains_of(texts, resolved)

    def project(self, batch: Corpus) -> MentionChains:
        """Resolve coreference, and map mentions to symbols."""
        chains, spans = self._chains(batch)
        (windows,) = self.process_.coder.windows(chains, (self.order,))  # (N,)
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
            "genders": latents.genders,
        }

    tested = (
        Statistic.share(
            "unlikely_share",
            "unlikely",
            "share of unlikely mentions and sentence starts",
            "poorer|richer in unlikely references",
        ),
        Statistic.share(
            "pronoun_share",
            "pronouns",
            "share of pronouns among mentions",
            "poorer|richer in pronouns",
            needs="a person",
        ),
        Statistic.share(
            "unintroduced_share",
            "introductions",
            "share of persons first mentioned by a pronoun",
            "better|worse at introducing persons",
            needs="a person",
        ),
        Statistic.ratio("mentions_per_sentence", "density", "mentions per sentence", "poorer|richer in persons"),
        Statistic.share(
            "other_gender_share",
            "genders",
            "pronouns of the other gender beside one of he or she in a document",
            "more of one|more mixed in gender",
            needs="two of he or she",
        ),
    )

    def summarize(self, latents: MentionChains) -> Pooled:
        """Counts of windows, and of the kinds of symbols that introduce persons."""
        introduced = np.bincount(latents.states[latents.first], minlength=len(KINDS)).astype(np.float64)
        return Pooled(
            int((latents.lengths > 0).sum()),
            {"first": introduced},
            {"windows": Counted.of_values(latents.windows.astype(np.float64)).total()},
        )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Unlikely windows with the likeliest alternative, windows by contribution and by ratio, and first mentions."""
        return WindowEvidence(self.process_).tables(real, generated)

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the least likely mentions in context, in the order of the text, each with the likeliest alternative."""
        return WindowEvidence(self.process_).marked(document, self.project(document))
