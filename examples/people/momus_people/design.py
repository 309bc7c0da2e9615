"""Draw what is judged, and who judges it: items balanced over corpora and prompts, in incomplete blocks of raters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from momus.arguments import arg
from momus.errors import UsageError
from momus.numeric.types import Ints
from momus.text.counting import counted
from momus_people.excerpts import Excerpt
from momus_people.protocol import Protocol

Role = Literal["item", "check", "repeat", "training"]


@dataclass(frozen=True)
class Trial:
    """One screen of one rater.

    Attributes
    ----------
    code
        Its name in what the rater gets; it says nothing about the texts.
    rater
        Number of the rater.
    role
        ``item``; a ``repeat`` of an item; an attention ``check``; ``training``.
    passages
        Numbers of the passages, in the order shown.
    unit
        Number of the item; −1 for checks and training.
    expected
        What an attention check asks for: a category, ``left`` or ``right``.
    inserted
        The instruction of an attention check, which is put into its first expected passage.
    """

    code: str
    rater: int
    role: Role
    passages: tuple[int, ...]
    unit: int = -1
    expected: object = None
    inserted: str = ""


@dataclass(frozen=True)
class StudyDesign:
    """A study: all passages, the items (tuples of passage numbers), and the trials of all raters in their order."""

    passages: Sequence[Excerpt]
    items: Sequence[tuple[int, ...]]
    trials: Sequence[Trial]


def drawn(pool: Mapping[str, Sequence[Excerpt]], protocol: Protocol, labels: Sequence[str] = ()) -> StudyDesign:
    """Draw a study from the passages of each corpus; training passages have titles among the labels only.

    Raises
    ------
    UsageError
        There are too few corpora or passages.
    """
    if len(pool) < 2:
        raise UsageError(
            "a study compares two corpora or more", hint=f"pass {arg('real')}, or more {arg('generated')} texts"
        )
    rng = np.random.default_rng([protocol.seed, 23])
    groups = corpora_of_items(list(pool), protocol, rng)
    _check_enough(pool, groups, protocol)
    chosen = _passages(pool, groups, rng)
    passages = [e for item in chosen for e in item]
    ends = np.cumsum([len(item) for item in chosen])
    items = [tuple(range(end - len(item), end)) for item, end in zip(chosen, ends, strict=True)]
    used = {(e.corpus, e.id) for e in passages}
    spare = [e for name in pool for e in pool[name] if (e.corpus, e.id) not in used]
    spare = [spare[i] for i in rng.permutation(len(spare))]
    blocks = assigned([tuple(sorted(groups[i])) for i in range(len(items))], protocol.raters, protocol.per_item, rng)
    trials: list[Trial] = []
    training = _training(spare, passages, protocol, labels)
    for rater in range(protocol.raters):
        mine = np.flatnonzero((blocks == rater).any(axis=1))
        trials += [replace(t, rater=rater) for t in training]
        trials += _trials(rater, mine, items, passages, spare, protocol, rng)
    codes = rng.choice(16**6, len(trials), replace=False)
    trials = [replace(t, code=f"t{c:06x}") for t, c in zip(trials, codes, strict=True)]
    return StudyDesign(passages, items, trials)


def corpora_of_items(names: list[str], protocol: Protocol, rng: np.random.Generator) -> list[tuple[str, ...]]:
    """The corpora of the passages of each item: as even as possible, also over pairs of corpora that meet.

    >>> p = Protocol(kind="pair", items=6)
    >>> groups = corpora_of_items(["a", "b", "c"], p, np.random.default_rng(0))
    >>> sorted(Counter(groups).values())
    [2, 2, 2]
    """
    blocks = list(combinations(names, protocol.width))
    used, met, times = Counter[str](), Counter[tuple[str, str]](), Counter[tuple[str, ...]]()

    def need(block: tuple[str, ...]) -> tuple[float, ...]:
        """How little a block is needed: how often it, its corpora, and pairs of its corpora have been used."""
        whole = times[block] if len(blocks) <= protocol.items else 0
        uses, pairs = [used[n] for n in block], combinations(sorted(block), 2)
        return whole, max(uses), sum(uses), sum(met[p] for p in pairs), rng.random()

    items = []
    for _ in range(protocol.items):
        best = min(blocks, key=need)
        times[best] += 1
        used.update(best)
        met.update(combinations(sorted(best), 2))
        items.append(best)
    return items


def _check_enough(pool: Mapping[str, Sequence[Excerpt]], groups: Sequence[tuple[str, ...]], protocol: Protocol) -> None:
    needed = Counter(n for g in groups for n in g)
    for name, count in needed.items():
        if len(pool[name]) < count:
            raise UsageError(
                f"{name!r} has {counted(len(pool[name]), 'passage')}, and the study needs {count:,}",
                hint=f"ask for fewer {arg('items')} or shorter {arg('words')}",
            )
    spare = sum(len(p) for p in pool.values()) - needed.total()
    if spare < protocol.checks * protocol.width + protocol.training:
        raise UsageError(
            f"{counted(spare, 'passage')} remain for attention checks and training",
            hint=f"ask for fewer {arg('items')}, or for no {arg('checks')}",
        )


def _passages(
    pool: Mapping[str, Sequence[Excerpt]], groups: Sequence[tuple[str, ...]], rng: np.random.Generator
) -> list[tuple[Excerpt, ...]]:
    """A passage for each place of each item: of one prompt within an item, of the same prompts over corpora, at random.

    Prompts that more corpora have come first, so that the corpora are compared on the same prompts as far as possible.
    """
    free: dict[str, dict[str, list[Excerpt]]] = {name: {} for name in pool}
    for name, excerpts in pool.items():
        for i in rng.permutation(len(excerpts)):
            e = excerpts[i]
            free[name].setdefault(e.prompt if e.prompt is not None else f"\0{name}\0{e.id}", []).append(e)
    prompts = sorted({p for by in free.values() for p in by})
    order = [prompts[i] for i in rng.permutation(len(prompts))]
    order.sort(key=lambda p: -sum(p in by for by in free.values()))
    begun = Counter[str]()  # of ratings, where each corpus goes on among the prompts, in the order of all corpora
    chosen = []
    for group in groups:
        wanted = Counter(group)
        shared = (p for p in order if all(len(free[n].get(p, ())) >= k for n, k in wanted.items()))
        prompt = next(shared, None) if len(group) > 1 else None
        item = []
        for name in group:
            rest = (*order[begun[name] :], *order[: begun[name]])
            p = next(q for q in rest if free[name].get(q)) if prompt is None else prompt
            begun[name] = order.index(p) + 1 if len(group) == 1 else 0
            item.append(free[name][p].pop())
        chosen.append(tuple(item))
    return chosen


def assigned(kinds: Sequence[object], raters: int, per_item: int, rng: np.random.Generator) -> Ints:
    """Raters of each item, (items, per_item), in an incomplete block design: even loads, corpora and concurrences.

    Each item takes the raters who have the fewest items of its kind, then the fewest items, then the fewest in common
    with those chosen already.

    >>> blocks = assigned(["a", "b"] * 10, 5, 3, np.random.default_rng(0))
    >>> np.bincount(blocks.ravel()).tolist()
    [12, 12, 12, 12, 12]
    """
    load, of_kind = np.zeros(raters), {k: np.zeros(raters) for k in set(kinds)}
    common = np.zeros((raters, raters))
    blocks = np.empty((len(kinds), per_item), dtype=np.int64)
    for i in rng.permutation(len(kinds)):
        chosen: list[int] = []
        for _ in range(per_item):
            shared, taken = common[:, chosen].sum(axis=1), np.isin(range(raters), chosen)
            keys = (rng.random(raters), shared, of_kind[kinds[i]], load, taken)  # the last one counts first
            chosen.append(int(np.lexsort(keys)[0]))
        load[chosen] += 1
        of_kind[kinds[i]][chosen] += 1
        common[np.ix_(chosen, chosen)] += 1
        blocks[i] = sorted(chosen)
    return blocks


def _trials(
    rater: int,
    mine: Ints,
    items: Sequence[tuple[int, ...]],
    passages: list[Excerpt],
    spare: list[Excerpt],
    protocol: Protocol,
    rng: np.random.Generator,
) -> list[Trial]:
    """The trials of a rater in random order: repeats come in the last third, checks anywhere but first."""
    order = [int(u) for u in rng.permutation(mine)]
    trials = [Trial("", rater, "item", tuple(rng.permutation(items[u]).tolist()), u) for u in order]
    # repeated items come from the first half, so that others lie between
    half = order[: max(len(order) // 2, 1)] if order else []
    again = [half[k] for k in rng.permutation(len(half))[: protocol.repeats]]
    for u in again:
        first = next(t.passages for t in trials if t.unit == u and t.role == "item")
        place = int(rng.integers(max(2 * len(trials) // 3, 1), len(trials) + 1))
        trials.insert(place, Trial("", rater, "repeat", first[::-1], u))
    for number in range(protocol.checks):
        at = (rater * protocol.checks + number) * protocol.width
        fresh = [spare[(at + k) % len(spare)] for k in range(protocol.width)]
        passages.extend(fresh)
        numbers = tuple(range(len(passages) - len(fresh), len(passages)))
        expected, words = _instruction(protocol, rng)
        place = int(rng.integers(min(1, len(trials)), len(trials) + 1))
        trials.insert(place, Trial("", rater, "check", numbers, -1, expected, words))
    return trials


def _instruction(protocol: Protocol, rng: np.random.Generator) -> tuple[object, str]:
    """What an attention check asks for, and the sentence in its passage."""
    reads = "To show that you read this, whatever you think of the passage"
    if protocol.kind == "rating":
        answer = int(rng.integers(len(protocol.scale)))
        return answer, f"{reads}, answer “{protocol.scale[answer]}”."
    side, letter = (("left", "A"), ("right", "B"))[int(rng.integers(2))]
    return side, f"{reads}s, choose Passage {letter}."


def _training(spare: list[Excerpt], passages: list[Excerpt], protocol: Protocol, labels: Sequence[str]) -> list[Trial]:
    """Training trials: real documents all of whose sections have one of the labels; they are then not spare."""
    fit = [e for e in spare if e.corpus == "real" and e.titles and all(t in labels for t in e.titles)]
    chosen = fit[: protocol.training]
    if len(chosen) < protocol.training:
        raise UsageError(
            f"training needs {protocol.training} more real documents whose titles are labels; {len(chosen)} are left",
            hint=f"pass {arg('real')} with titled sections, or fewer items",
        )
    for e in chosen:
        spare.remove(e)
    passages.extend(chosen)
    first = len(passages) - len(chosen)
    return [Trial("", 0, "training", (first + k,)) for k in range(len(chosen))]


def balance(design: StudyDesign, protocol: Protocol, names: Sequence[str]) -> dict[str, Any]:
    """How even a design is: numbers of passages, by corpus, and of items, by rater and shared by two raters.

    ``items_of_one_prompt`` counts pairs whose passages answer one prompt; of ratings, prompts that all corpora answer.
    """
    judged = [design.passages[k] for item in design.items for k in item]
    member = np.zeros((len(design.items), protocol.raters))
    for t in design.trials:
        if t.role == "item":
            member[t.unit, t.rater] = 1
    common = (member.T @ member)[np.triu_indices(protocol.raters, 1)].astype(int).tolist() or [0]
    groups: dict[object, set[str]] = {}
    for k, e in enumerate(judged):
        if e.prompt is not None:
            groups.setdefault((k // protocol.width if protocol.width > 1 else 0, e.prompt), set()).add(e.corpus)
    whole = protocol.width if protocol.width > 1 else len(names)
    return {
        "passages": {n: sum(e.corpus == n for e in judged) for n in names},
        "items_per_rater": member.sum(axis=0).astype(int).tolist(),
        "items_shared_by_two_raters": [min(common), max(common)],
        "items_of_one_prompt": sum(len(corpora) == whole for corpora in groups.values()),
    }
