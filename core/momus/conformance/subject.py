"""The critic under test, with fits and scores that several checks share, and the outcomes of the checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from momus.conformance import corpora
from momus.critic import Critic, RunningTextCritic
from momus.critic.hooks import row_unit, scored_units
from momus.critic.powers import fields_read, unused
from momus.critic.rows import Counted, Rows, aligned
from momus.critic.scores import Scores
from momus.critic.splitting import usable_documents
from momus.estimator import Estimator, clone, fitted_state
from momus.numeric.types import Ints
from momus.text.corpus import Corpus
from momus.text.counting import percentage

Status = Literal["passed", "failed", "skipped", "stopped"]
LEAST_SHARE = 0.7
"""A report passes only if at least this share of the checks has run."""


class Skip(Exception):
    """Raised by a check that does not apply to a critic, with the reason."""


@dataclass(frozen=True)
class Record:
    """The outcome of one check.

    Attributes
    ----------
    name
        Name of the check.
    status
        ``stopped``: the same error as in an earlier check, ``by``.
    detail
        Why the check failed or does not apply.
    by
        The check that failed by the same error, of a check that is ``stopped``.
    """

    name: str
    status: Status
    detail: str = ""
    by: str = ""


@dataclass(frozen=True)
class Report:
    """The outcome of all checks of one critic.

    >>> Report("c", [Record("a", "passed"), Record("b", "skipped", "no states")]).ok
    False
    """

    critic: str
    records: Sequence[Record]

    @property
    def counts(self) -> dict[str, int]:
        """Number of checks per status."""
        counter = Counter(r.status for r in self.records)
        usual = {s: counter[s] for s in ("passed", "failed", "skipped")}
        return usual | ({"stopped": counter["stopped"]} if counter["stopped"] else {})

    @property
    def enough(self) -> bool:
        """Whether enough checks ran for a pass to mean something."""
        return sum(r.status != "skipped" for r in self.records) >= LEAST_SHARE * len(self.records)

    @property
    def ok(self) -> bool:
        """Whether no check failed and enough ran."""
        return self.enough and not self.counts["failed"]

    def failures(self) -> list[str]:
        """Names of the checks that failed, those among them that an earlier error stopped."""
        return [r.name for r in self.records if r.status in ("failed", "stopped")]

    def shown(self) -> list[Record]:
        """The records for readers: one error is shown once, with the checks that it stopped.

        >>> error = "AttributeError: no 'lenght' (mine.py, line 7)"
        >>> records = [Record("a", "failed", error), Record("b", "stopped", error, "a"), Record("c", "passed")]
        >>> [r.detail for r in Report("mine", records).shown()]
        ["AttributeError: no 'lenght' (mine.py, line 7); the same error stopped 1 other check: b", '']
        """
        rows = []
        for record in self.records:
            stopped = [r.name for r in self.records if r.by == record.name]
            if stopped:
                others = "1 other check" if len(stopped) == 1 else f"{len(stopped)} other checks"
                detail = f"{record.detail}; the same error stopped {others}: {', '.join(stopped)}"
                record = replace(record, detail=detail)
            if record.status != "stopped":
                rows.append(record)
        return rows

    def __str__(self) -> str:
        lines = [f"{r.status:<9}{r.name}{': ' + r.detail if r.detail else ''}" for r in self.shown()]
        counts = ", ".join(f"{n} {s}" for s, n in self.counts.items())
        few = (
            "" if self.enough else f"; too few ran (at least {percentage(LEAST_SHARE, 0)} of {len(self.records)} must)"
        )
        return "\n".join([f"critic {self.critic!r}: {counts}{few}", *lines])


RTOL, ATOL = 1e-6, 1e-8
"""Tolerance between scores of the same text in other batches, in another order or on another device."""


@dataclass
class Subject:
    """A critic and the text for its checks.

    Attributes
    ----------
    critic
        The critic as the caller constructed it; checks work on clones.
    corpus
        Real text; the critic is fitted on one half, and scores the other.
    records
        Outcomes of the checks that have run, by name.
    returned
        What `Critic.fit` returned when `fitted` was fitted; None before.
    """

    critic: Critic[Any]
    corpus: Corpus
    records: dict[str, Record] = field(default_factory=dict)
    returned: object = None

    @cached_property
    def halves(self) -> tuple[Corpus, Corpus]:
        """Random halves: text to fit on, and held-out text."""
        return self.corpus.split(0.5, 0, ("fit", "held out"))

    @property
    def fit_text(self) -> Corpus:
        """Text to fit on."""
        return self.halves[0]

    @property
    def held_out(self) -> Corpus:
        """Text to score."""
        return self.halves[1]

    @cached_property
    def fitted(self) -> Critic[Any]:
        """A fitted clone, which no check may change."""
        critic: Critic[Any] = clone(self.critic)
        self.returned = critic.fit(self.fit_text)
        return critic

    @cached_property
    def refitted(self) -> Critic[Any]:
        """A second clone fitted on the same text, which checks may score with and move."""
        return self.fit(self.fit_text)

    def beside(self, corpus: Corpus) -> Corpus:
        """A synthetic text with the fields that the critic reads beside it."""
        return corpora.beside(corpus, fields_read(self.critic))

    def fit(self, corpus: Corpus) -> Critic[Any]:
        """Fit a new clone."""
        critic: Critic[Any] = clone(self.critic)
        critic.fit(corpus)
        return critic

    @cached_property
    def scores(self) -> Scores:
        """Scores of held-out text under the fitted critic."""
        return self.fitted.score(self.held_out)

    @cached_property
    def latents(self) -> Any:
        """Latents of the held-out documents that can be scored."""
        units = scored_units(self.fitted, usable_documents(self.held_out))
        reasons = self.fitted.unscored(units)
        return self.fitted.project(units.take([i for i, r in enumerate(reasons) if r is None]))


def same_scores(a: Scores, b: Scores) -> bool:
    """Whether two tables of scores agree, reasons included."""
    return (
        list(a.ids) == list(b.ids)
        and list(a.reasons) == list(b.reasons)
        and np.array_equal(a.steps, b.steps)
        and np.allclose(a.nll, b.nll, rtol=RTOL, atol=ATOL, equal_nan=True)
        and (a.parts is None or b.parts is None or np.allclose(a.parts, b.parts, rtol=RTOL, atol=ATOL, equal_nan=True))
        and all(same_rows(a.rows[key], b.rows[key]) for key in a.rows.keys() & b.rows.keys())
    )


def same_rows(a: Rows, b: Rows) -> bool:
    """Whether two tables of sufficient statistics agree, whatever the order of their columns."""
    if isinstance(a, Counted) and isinstance(b, Counted):
        one, other = (table.matrix for table in aligned([a, b]))
        return bool(abs(one - other).max() <= ATOL) if one.nnz + other.nnz else True
    return bool(np.allclose(np.asarray(a), np.asarray(b), rtol=RTOL, atol=ATOL, equal_nan=True))


def bare_rows(scores: Scores, rows: Sequence[int] | Ints) -> Scores:
    """Some rows of scores by number, without parts of log P(x)."""
    return replace(scores.take(np.asarray(rows)), parts=None)


def assert_same(expected: Scores, scores: Scores, when: str) -> None:
    """Raise `AssertionError` unless two tables of scores agree."""
    assert same_scores(expected, scores), f"scores change {when}: {worst(expected, scores)}"


def worst(a: Scores, b: Scores) -> str:
    """Describe the largest difference between two tables of scores."""
    if list(a.ids) != list(b.ids):
        return "ids differ"
    for i, (x, y) in enumerate(zip(a.reasons, b.reasons, strict=True)):
        if x != y:
            return f"document {a.ids[i]!r}: reason {x!r} and {y!r}"
    gap = np.abs(np.nan_to_num(a.nll) - np.nan_to_num(b.nll))
    if gap.max() <= ATOL:
        rows = (key for key in a.rows.keys() & b.rows.keys() if not same_rows(a.rows[key], b.rows[key]))
        return f"sufficient statistics {next(rows, '')!r}"
    i = int(gap.argmax())
    values = f"Latent NLL {float(a.nll[i])!r} and {float(b.nll[i])!r}"
    return f"document {a.ids[i]!r}: {values}, steps {a.steps[i]} and {b.steps[i]}"


def same_values(a: Any, b: Any, exact: bool = False) -> bool:
    """Whether two fitted attributes agree; floats within a tolerance unless ``exact``."""
    from scipy import sparse

    if isinstance(a, Estimator) and isinstance(b, Estimator):
        x, y = fitted_state(a), fitted_state(b)
        return x.keys() == y.keys() and all(same_values(x[k], y[k], exact) for k in x)
    if sparse.issparse(a):
        return bool(a.shape == b.shape and abs(a - b).sum() == 0)
    if isinstance(a, np.ndarray):
        if a.shape != np.shape(b) or a.dtype.kind not in "fc" or exact:
            return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
        return bool(np.allclose(a, b, rtol=1e-5, atol=1e-7, equal_nan=True))
    if isinstance(a, dict):
        same_keys = isinstance(b, dict) and a.keys() == b.keys()
        return same_keys and same_values(list(a.values()), [b[k] for k in a], exact)
    if isinstance(a, float):
        return bool(a == b or (not exact and np.isclose(a, b, rtol=1e-5, equal_nan=True)))
    if isinstance(a, list | tuple):
        if {type(x) for x in (*a, *b)} <= {str, int}:
            return list(a) == list(b)
        return len(a) == len(b) and all(same_values(x, y, exact) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def not_used(critic: Critic[Any], mixin: type[Any]) -> str:
    """Point out methods that a critic has and nothing calls, since it does not inherit their mixin; empty if none."""
    names = unused(critic, mixin)
    return f"; {', '.join(names)} would be used if it inherited {mixin.__name__}" if names else ""


def default_corpus(critic: Critic[Any]) -> Corpus:
    """Synthetic text for a critic: sectioned documents, answers to prompts, or running prose for critics of blocks."""
    if isinstance(critic, RunningTextCritic):
        text = corpora.prose()
    else:
        text = corpora.answers() if row_unit(critic) == "prompt" else corpora.documents()
    return corpora.beside(text, fields_read(critic))
