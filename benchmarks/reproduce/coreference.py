"""Coreference: planted defects under gold and resolved chains, the offline resolver's quality, long stories.

1. LitBank's gold chains, 80 documents to fit and 20 held out. Defects: 20 % of pronouns get the other gender, 20 % of
   mentions are reassigned to another entity, first mentions are dropped; tests are paired by document and unpaired. The
   two halves of the 20 unchanged documents must not differ. Then the same with the offline resolver's chains.
2. The offline resolver on LitBank's person mentions (chains with more pronouns of persons than of things, and two
   mentions or more): MUC, B³, CEAF-e, third-person pronouns with a correct nearest antecedent, words per second;
   compared with ``xrenner`` by --xrenner (pip install --no-deps xrenner six xmltodict).
3. Eight-chapter stories by language models, resolved offline, under the critic of LitBank's novels.

Run:  python benchmarks/reproduce/coreference.py [--parts 123] [--xrenner]
Data: ``litbank`` and ``long-stories`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import tarfile
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from chain_files import write_chains
from conll import read_conll
from damaged_mentions import drop_introductions, reassign_mentions, swap_pronouns
from scipy import stats
from scipy.optimize import linear_sum_assignment
from xrenner_rules import XrennerPersons

from momus import Corpus, read_corpus
from momus.critic.scores import Scores
from momus.errors import MomusError
from momus.text.mentions import FEMALE, MALE, PLURAL, Resolved
from momus.verdicts.judge import judge
from momus.verdicts.verdict import Verdict
from momus_adapters.persons import SpacyPersons
from momus_critics.coreference import Coreference
from momus_critics.coreference.symbols import _is_person, _role

Found = dict[str, Resolved]
Clusters = list[set[tuple[int, int]]]

JUDGED = re.compile(r"\s*\+ Judge Evaluation \(Chapter \d+\)")
"""Start of the judge's evaluation that follows nearly every chapter of the long stories; it is cut off."""


def data() -> Path:
    """Find the folder of real data."""
    named = os.environ.get("MOMUS_DATA")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"


def litbank() -> tuple[Corpus, Found]:
    """Read the gold chains."""
    with tempfile.TemporaryDirectory() as folder, tarfile.open(data() / "litbank" / "coref-conll.tar.gz") as archive:
        archive.extractall(folder, filter="data")
        return read_conll(next(p.parent for p in Path(folder).rglob("*.conll")), "litbank")


# 1. Planted defects


def damaged(corpus: Corpus, found: Found, how: str, name: str) -> tuple[Corpus, Found, int]:
    """Plant a defect in each document; the old ids become prompts."""
    texts, changed, count = [], {}, 0
    for i, d in enumerate(corpus):
        text, r = d.text, found[d.id]
        if how == "pronouns":
            text, r, n = swap_pronouns(text, r, 0.2, i)
        elif how == "mentions":
            r, n = reassign_mentions(r, 0.2, i)
        elif how == "introductions":
            r, n = drop_introductions(r, 1.0, i)
        else:
            n = 0
        texts.append(text)
        changed[f"{name}:{d.id}"] = r
        count += n
    return Corpus.from_texts(texts, ids=list(changed), prompts=list(corpus.ids), name=name), changed, count


def defects(corpus: Corpus, found: Found, label: str) -> None:
    """Fit on 80 documents, and test each defect on the other 20."""
    fit, held = corpus.split(0.8, 0, ("fit", "held-out"))
    made = {how: damaged(held, found, how, how) for how in ("unchanged", "pronouns", "mentions", "introductions")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chains.jsonl"
        write_chains({**found, **{k: r for _, rs, _ in made.values() for k, r in rs.items()}}, path)
        critic = Coreference(resolver="given", model=str(path)).fit(fit)
        print(f"{label}: {critic.notes()[0].text}")
        real = critic.score(made["unchanged"][0])
        half = np.random.default_rng(1).permutation(len(held))
        a, b = (real.take(np.sort(half[s])) for s in (slice(0, 10), slice(10, 20)))
        print(f"   two halves unchanged: {_told(judge(critic, a, b, paired=False))}")
        for how in ("pronouns", "mentions", "introductions"):
            changed, _, count = made[how]
            scores = critic.score(changed)
            for paired in (True, False):
                kind = "paired" if paired else "unpaired"
                print(f"   {how} ({count}), {kind}: {_told(judge(critic, real, scores, paired=paired))}")
            rows: Any = critic.evidence(real.summary, scores.summary)[0]
            print("      leading:", "; ".join(f"{r[0]} ({r[1]:.0f} → {r[2]:.0f})" for r in rows.rows[:5]))
            rows = critic.evidence(real.summary, scores.summary)[3]
            print("      first mentions:", "; ".join(f"{r[0]} {r[3]:+.1f} %" for r in rows.rows[:4]), flush=True)


def _told(verdicts: Sequence[Verdict]) -> str:
    """Latent PPL, the headline and introductions by a pronoun, each with both values and p."""
    by_name = {v.statistic: v for v in verdicts}
    shown = []
    for name, form in (("latent_ppl", ".2f"), ("unlikely_share", ".2%"), ("unintroduced_share", ".1%")):
        v = by_name[name]
        p = "not tested" if v.p is None else f"p = {v.p:.4f}"
        shown.append(f"{name} {v.real_value:{form}} → {v.generated_value:{form}}, {p}")
    return f"{'; '.join(shown)}; n = {v.n_real} + {v.n_generated}"


# 2. Quality of the resolver


def gold_clusters(text: str, r: Resolved) -> tuple[Clusters, set[tuple[int, int]]]:
    """Clusters of persons with two mentions or more, and all other gold mentions (left out on both sides)."""
    votes: dict[int, Counter[str]] = defaultdict(Counter)
    clusters: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for a, b, e in zip(r.starts.tolist(), r.ends.tolist(), r.entities.tolist(), strict=True):
        votes[e][_role(text[a:b].lower())] += 1
        clusters[e].add((a, b))
    persons = {e for e, c in clusters.items() if _is_person(votes[e]) and len(c) > 1}
    others = {m for e, c in clusters.items() if e not in persons for m in c}
    return [clusters[e] for e in sorted(persons)], others


def found_clusters(r: Resolved, left_out: set[tuple[int, int]]) -> Clusters:
    """Clusters of two mentions or more."""
    clusters: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for a, b, e in zip(r.starts.tolist(), r.ends.tolist(), r.entities.tolist(), strict=True):
        if (a, b) not in left_out:
            clusters[e].add((a, b))
    return [c for c in clusters.values() if len(c) > 1]


def totals(gold: Clusters, found: Clusters) -> np.ndarray:
    """Numerators and denominators of precision and recall for MUC, B³ and CEAF-e, shape (3, 4)."""
    out = np.zeros((3, 4))
    for side, (one, other) in enumerate(((found, gold), (gold, found))):
        of = {m: i for i, c in enumerate(other) for m in c}
        for c in one:
            parts = {of.get(m, m) for m in c}
            out[0, 2 * side : 2 * side + 2] += len(c) - len(parts), len(c) - 1
            hits = [len(c & other[of[m]]) for m in c if m in of]
            out[1, 2 * side : 2 * side + 2] += sum(hits) / len(c), len(c)
    if gold and found:
        alike = np.array([[2 * len(g & f) / (len(g) + len(f)) for f in found] for g in gold])
        rows, columns = linear_sum_assignment(-alike)
        out[2, [0, 2]] = alike[rows, columns].sum()
    out[2, [1, 3]] = len(found), len(gold)
    return out


def pronouns_right(text: str, gold: Clusters, found: Clusters) -> tuple[int, int]:
    """Count third-person pronouns with a correct nearest antecedent, and all that are not a chain's first mention."""
    right = whole = 0
    third = {*MALE, *FEMALE, *PLURAL}
    of = {m: c for c in found for m in c}
    for c in gold:
        for m in sorted(c)[1:]:
            if text[m[0] : m[1]].lower() in third:
                whole += 1
                before = [x for x in of.get(m, ()) if x < m]
                right += bool(before) and max(before) in c
    return right, whole


def attempts(corpus: Corpus, resolver: XrennerPersons) -> dict[str, Resolved]:
    """Resolve document by document, and leave out those on which the resolver fails."""
    found = {}
    for i, document in enumerate(corpus):
        try:
            found[document.id] = resolver.resolve(corpus.take(np.array([i])))[0]
        except MomusError as error:
            print(f"   {error}")
    return found


def quality(
    corpus: Corpus, gold: Found, resolve: Callable[[Corpus], list[Resolved]], label: str, spent: float = 0.0
) -> Found:
    """Print the quality of a resolver; ``spent`` is the time already used, in seconds."""
    begun = time.perf_counter() - spent
    found = resolve(corpus)
    seconds = time.perf_counter() - begun
    words = sum(len(d.text.split()) for d in corpus)
    sums, right, whole = np.zeros((len(corpus), 3, 4)), 0, 0
    for i, (d, r) in enumerate(zip(corpus, found, strict=True)):
        clusters, others = gold_clusters(d.text, gold[d.id])
        mine = found_clusters(r, others)
        sums[i] = totals(clusters, mine)
        a, b = pronouns_right(d.text, clusters, mine)
        right, whole = right + a, whole + b

    def f1(total: np.ndarray) -> np.ndarray:
        p, r = total[..., 0] / total[..., 1], total[..., 2] / total[..., 3]
        return np.asarray(2 * p * r / (p + r))

    scores = f1(sums.sum(axis=0))
    rng = np.random.default_rng(0)
    draws = [f1(sums[rng.integers(len(sums), size=len(sums))].sum(axis=0)).mean() for _ in range(2000)]
    low, high = np.quantile(draws, (0.025, 0.975))
    names = ", ".join(f"{n} {x:.3f}" for n, x in zip(("MUC", "B³", "CEAF-e"), scores, strict=True))
    print(
        f"{label}: {names}, CoNLL F1 {scores.mean():.3f} [{low:.3f}, {high:.3f}]; pronouns {right:,} of {whole:,} "
        f"correct ({right / whole:.1%}); {words / seconds:,.0f} words per second",
        flush=True,
    )
    return dict(zip(corpus.ids, found, strict=True))


# 3. Long stories


def stories(corpus: Corpus, resolver: SpacyPersons) -> None:
    """Print Latent PPL by model, exp(Σ NLL / Σ symbols), with an interval over stories."""
    novels = read_corpus(data() / "litbank" / "novels.jsonl.gz")
    begins = [" ".join(d.text.split(" ")[3000:9000]) for d in novels]
    order = np.random.default_rng(0).permutation(len(begins))
    critic = Coreference().fit(Corpus.from_texts([begins[i] for i in order[:60]], name="novels"))
    print(critic.notes()[0].text)
    held = critic.score(Corpus.from_texts([begins[i] for i in order[60:]], name="held"))
    print(f"   held-out novels: {_shown(*latent_ppl(held))} (n = {held.n_scored})")
    groups = defaultdict(list)
    with gzip.open(data() / "long-stories" / "stories.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            story = json.loads(line)
            groups[story["model"]].append("\n\n".join(JUDGED.split(c)[0] for c in story["chapters"])[:35_000])
    rows = []
    least = []
    for model, texts in groups.items():
        if len(texts) >= 4:
            named = Corpus.from_texts(texts, name=model)
            scores = critic.score(named)
            estimate = latent_ppl(scores)
            rows.append((estimate[0], _shown(*estimate), model))
            least += [
                (float(scores.per_step[i]), named.take(np.array([i]))) for i in range(len(texts)) if scores.scored[i]
            ]
    for _, shown, model in sorted(rows):
        print(f"   {model:<45}{shown}")
    for _, document in sorted(least, key=lambda x: -x[0])[:3]:
        marked = critic.explain(document)
        print(document.name, document.ids[0])
        for step in sorted(marked.steps, key=lambda s: -(s.value or 0))[:4] if marked else ():
            print(f"      {step.label} | {step.value:.2f} nats | {step.text} | {step.note}")


def latent_ppl(scores: Scores) -> tuple[float, float, float]:
    """exp(Σ T / Σ M) over scored documents, and its 95 % interval: t on the log, the ratio's error linearised."""
    nll, steps = scores.nll[scores.scored], scores.steps[scores.scored]
    n, rate = len(nll), nll.sum() / steps.sum()
    error = np.sqrt(((nll - rate * steps) ** 2).sum() * n / (n - 1)) / steps.sum()
    half = stats.t.ppf(0.975, n - 1) * error
    return float(np.exp(rate)), float(np.exp(rate - half)), float(np.exp(rate + half))


def _shown(estimate: float, low: float, high: float) -> str:
    return f"Latent PPL {estimate:.2f} [{low:.2f}, {high:.2f}]"


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="123")
    parser.add_argument("--xrenner", action="store_true", help="also measure xrenner")
    a = parser.parse_args()
    corpus, gold = litbank()
    resolver = SpacyPersons()
    if "1" in a.parts:
        defects(corpus, gold, "gold chains")
        resolved = dict(zip(corpus.ids, resolver.resolve(corpus), strict=True))
        defects(corpus, resolved, "offline resolver")
    if "2" in a.parts:
        resolver.resolve(corpus.take(np.array([0])))  # loads the pipeline
        quality(corpus, gold, resolver.resolve, f"offline resolver ({resolver.version})")
        if a.xrenner:
            begun = time.perf_counter()
            theirs = attempts(corpus, XrennerPersons())
            spent = time.perf_counter() - begun
            print(f"xrenner: {len(theirs)} of {len(corpus)} documents in {spent:.0f} s")
            both = corpus.take(np.array([i for i, name in enumerate(corpus.ids) if name in theirs]))
            quality(both, gold, lambda c: [theirs[i] for i in c.ids], "xrenner, on these", spent)
            quality(both, gold, resolver.resolve, "offline resolver, on these")
    if "3" in a.parts:
        stories(corpus, resolver)


if __name__ == "__main__":
    main()
