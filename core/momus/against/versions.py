"""What changed from one model to another: things that vanished or came, how each predicts the other, and paths.

All of it is kept by critic, as it is found, and put together by `against_of`. Answers that a new version left as they
were are told before.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from statistics import median
from typing import Any, TypeVar

from momus.inference.multiplicity import holm
from momus.schema import build
from momus.text.corpus import Corpus
from momus.verdicts.table import speaking
from momus.verdicts.verdict import Verdict

T = TypeVar("T", bound=Any)
LEAST = 0.02
"""Share of equal answers from which they are told."""
READ = 2000
"""Changed answers whose words are compared."""
KEPT = 8


@dataclass(frozen=True)
class Unchanged:
    """How many answers of a text are those of the reference.

    Attributes
    ----------
    pairs, equal
        Prompts that both texts answer once, not both with nothing, and those with the same answer word for word.
    word
        Median number of the word at which changed answers part from those of the reference, from 1; None without any.
    ids
        Some answers that changed.
    """

    generated: str
    pairs: int
    equal: int
    word: float | None = None
    ids: tuple[str, ...] = ()


def unchanged_answers(old: Corpus, new: Corpus) -> Unchanged | None:
    """Compare the answers of two texts prompt by prompt; None unless a few prompts have equal answers.

    >>> from momus import Corpus
    >>> texts = ["It rained all day.", "She left.", "He stayed here."]
    >>> old, new = (Corpus.from_texts(t, prompts=["a", "b", "c"]) for t in (texts, [*texts[:2], "He went away."]))
    >>> u = unchanged_answers(old, new)
    >>> u.pairs, u.equal, u.word
    (3, 2, 2.0)
    """
    sides = [_single(corpus) for corpus in (old, new)]
    blank = old.blank, new.blank
    common = [p for p, i in sides[0].items() if p in sides[1] and not (blank[0][i] and blank[1][sides[1][p]])]
    equal = sum(old.hashes[sides[0][p]] == new.hashes[sides[1][p]] for p in common)
    if not common or equal < max(2, LEAST * len(common)):
        return None
    changed = [p for p in common if old.hashes[sides[0][p]] != new.hashes[sides[1][p]]]
    words = [_parts_at(old[sides[0][p]].text, new[sides[1][p]].text) for p in changed[:READ]]
    ids = tuple(new.ids[sides[1][p]] for p in changed[:KEPT])
    return Unchanged(new.name, len(common), int(equal), float(median(words)) if words else None, ids)


def _single(corpus: Corpus) -> dict[str, int]:
    """The row of the one answer to each prompt; prompts with several answers are left out."""
    counts = Counter(corpus.prompts)
    return {p: i for i, p in enumerate(corpus.prompts) if p is not None and counts[p] == 1}


def _parts_at(old: str, new: str) -> int:
    """The number of the first word that differs, from 1."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(old.split(), new.split(), strict=False))
    return sum(1 for _ in same) + 1


@dataclass(frozen=True)
class Item:
    """A thing that documents have or lack, such as a phrase: how often in the reference, and how often now.

    Attributes
    ----------
    kind, text
        What it is: ``words and phrases``, ``openings``, …, and itself.
    old, new
        Share of documents that have it (of a topic: its share), mean over prompts.
    change, low, high
        new − old, with its interval at the level of the run, by itself.
    p, q
        Test of equality, and its Benjamini–Hochberg adjustment over all that were ``tested`` of the kind.
    prompt, old_example, new_example
        Passages of both texts that answer the same prompt; no prompt where the texts share none.
    """

    generated: str
    kind: str
    text: str
    old: float
    new: float
    change: float
    low: float
    high: float
    p: float
    q: float
    tested: int
    prompt: str | None = None
    old_example: str = ""
    new_example: str = ""

    @property
    def effect(self) -> float:
        """Cohen's h of both shares: 2 arcsin √new − 2 arcsin √old."""
        old, new = (2 * math.asin(math.sqrt(min(max(share, 0.0), 1.0))) for share in (self.old, self.new))
        return new - old


@dataclass(frozen=True)
class Direction:
    """How predictable each of two texts is under a critic fitted on the other, in nats per step or document.

    Attributes
    ----------
    new_under_old, old_under_new
        Mean Latent NLL; lower is more predictable.
    difference, low, high
        new_under_old − old_under_new, with its interval.
    p_adjusted
        By Holm, over the axes of a text, and no smaller than that of the axis in the table.
    """

    critic: str
    axis: str
    generated: str
    unit: str
    new_under_old: float
    old_under_new: float
    difference: float
    low: float
    high: float
    p: float
    p_adjusted: float = 1.0


@dataclass(frozen=True)
class Path:
    """One statistic over the versions of a chain, the reference first.

    Attributes
    ----------
    values, lows, highs
        The statistic of each version, with its interval.
    rising
        Whether the trend goes up.
    p, p_adjusted
        Page's test of a monotone trend over prompts (over groups of prompts, where there are some), two-sided, and by
        Holm over the axes; None without prompts in common.
    step
        Number of the version after the step with the largest change, from 1.
    """

    critic: str
    axis: str
    statistic: str
    label: str
    unit: str
    share: bool
    values: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    rising: bool
    step: int
    p: float | None = None
    p_adjusted: float | None = None


@dataclass(frozen=True)
class Nearer:
    """How far the reference and a new text are from real text on an axis.

    Attributes
    ----------
    old, new
        Distances, in bands of people where there are ``bands``, else in units of the effect.
    nearer
        ``old`` or ``new``, whichever is significantly nearer; empty where neither is.
    error, freedom
        Standard error of new − old, and its degrees of freedom.
    by, slice
        The field and its value, of documents of which this is said; empty for all.
    """

    critic: str
    axis: str
    generated: str
    old: float
    new: float
    bands: bool
    nearer: str
    error: float = 0.0
    freedom: float = 1.0
    by: str = ""
    slice: str = ""


@dataclass(frozen=True)
class Versions:
    """What one critic says of the versions."""

    items: tuple[Item, ...] = ()
    directions: tuple[Direction, ...] = ()
    paths: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Against:
    """What a comparison with a model says beside its verdicts.

    Attributes
    ----------
    reference, folds
        Name of the reference, and number of folds.
    items
        What significantly vanished or came, by kind, the largest effect first; topics apart.
    topics
        All topics, the largest change first.
    directions, paths, nearer
        One row per axis.
    versions
        Names of the versions of the paths.
    unchanged
        New texts with answers that are those of the reference.
    """

    reference: str
    folds: int
    items: tuple[Item, ...] = ()
    topics: tuple[Item, ...] = ()
    directions: tuple[Direction, ...] = ()
    paths: tuple[Path, ...] = ()
    nearer: tuple[Nearer, ...] = ()
    versions: tuple[str, ...] = ()
    alpha: float = 0.05
    unchanged: tuple[Unchanged, ...] = ()

    def changed(self, generated: str, came: bool) -> dict[str, list[Item]]:
        """What came, or vanished, by kind."""
        items: dict[str, list[Item]] = {}
        for item in self.items:
            if item.generated == generated and (item.change > 0) == came:
                items.setdefault(item.kind, []).append(item)
        return items


TOPICS = "topics"


def against_of(
    signature: Mapping[str, Any], of_critics: Sequence[Versions], verdicts: Sequence[Verdict], nearer: Sequence[Nearer]
) -> Against | None:
    """Put together what critics say of the versions; None where the reference is real text.

    Parameters
    ----------
    signature
        Provenance of the run, as ``run.json`` holds it.
    """
    reference = str(signature.get("against") or "")
    if not reference:
        return None
    alpha = 1 - float(signature.get("confidence", 0.95))
    items = [i for v in of_critics for i in v.items]
    items.sort(key=lambda i: -abs(i.effect))  # stable
    told = {(v.critic, v.generated): v.p_adjusted for v in speaking(verdicts)}
    directions = [
        # its own test takes both fitted critics as known, so a direction is sure only where the table has a difference
        replace(d, p_adjusted=max(d.p_adjusted, 1.0 if p is None else p))
        for d in adjusted_by_text([d for v in of_critics for d in v.directions])
        for p in [told.get((d.critic, d.generated))]
    ]
    spoken = {(v.critic, v.generated): v.statistic for v in speaking(verdicts)}
    names = [c["name"] for c in signature["corpora"] if c["role"] == "generated"]
    chosen = _chosen_paths([p for v in of_critics for p in v.paths], spoken, names)
    return Against(
        reference,
        int(signature.get("folds", 0)),
        tuple(i for i in items if i.kind != TOPICS and i.q <= alpha),
        tuple(sorted((i for i in items if i.kind == TOPICS), key=lambda i: -abs(i.change))),
        tuple(sorted(directions, key=lambda d: (d.p_adjusted, -abs(d.difference)))),
        tuple(sorted(_adjusted_paths(chosen), key=lambda p: 1.0 if p.p_adjusted is None else p.p_adjusted)),
        tuple(nearer),
        (reference, *names) if chosen else (),
        alpha,
        build(tuple[Unchanged, ...], signature.get("unchanged") or [], "unchanged"),
    )


def adjusted_by_text(rows: Sequence[T]) -> list[T]:
    """Adjust p of directions, or wins, by Holm over all of a text, as for verdicts."""
    names = dict.fromkeys(row.generated for row in rows)
    families = [[row for row in rows if row.generated == name] for name in names]
    pairs = [pair for family in families for pair in zip(family, holm([x.p for x in family]).tolist(), strict=True)]
    return [replace(row, p_adjusted=p) for row, p in pairs]


def _chosen_paths(paths: Sequence[Path], spoken: Mapping[tuple[str, str], str], names: Sequence[str]) -> list[Path]:
    """One path per axis: that of the statistic that speaks for the last version that has one, else the first."""
    by_critic: dict[str, list[Path]] = {}
    for p in paths:
        by_critic.setdefault(p.critic, []).append(p)
    chosen = []
    for critic, several in by_critic.items():
        wanted = [spoken.get((critic, name), "") for name in reversed(names)]
        # the path shows what the verdict of the newest version is about
        ranked = sorted(several, key=lambda p: wanted.index(p.statistic) if p.statistic in wanted else len(wanted))
        chosen.append(ranked[0])
    return chosen


def _adjusted_paths(paths: Sequence[Path]) -> list[Path]:
    tested = [p for p in paths if p.p is not None]
    adjusted = dict(zip((p.critic for p in tested), holm([float(p.p or 0.0) for p in tested]).tolist(), strict=True))
    return [replace(p, p_adjusted=adjusted.get(p.critic)) for p in paths]
