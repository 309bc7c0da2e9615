"""What differences are said to depend on: broken documents, one document, or nothing.

Halves (200 | 200) of 400 answers of one model, critics fitted on its others. The new half is unchanged; one of its
answers says "!" 9,291 times; 35 % are cut off; it is of another model, as it is, with the loop, or cut off. Usage:
``python benchmarks/validity/dependence.py --splits 200``; two lines for each kind. With ``--screen``, one whole
comparison of such answers by prompts.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

import momus
from faults import answers, cut
from momus import Corpus
from momus.critic.registry import make_critics
from momus.critic.rows import stack, take_rows
from momus.joint.axes import AxisRows, axis_of
from momus.joint.dependence import dependences
from momus.report.words.leads import first_sentences
from momus.runs.answer import answer_of
from momus.verdicts.judge import judge
from momus.verdicts.settings import Settings
from momus.verdicts.table import adjust
from momus.verdicts.verdict import Verdict

CRITICS = ["faults", "length", "layout", "symbol-share", "stopword-share"]
N = 200
LOOP = "!" * 9291
SETTINGS = Settings(permutations=999, resamples=99)
KINDS = {
    "nothing": "plain",
    "one loop": "plain",
    "cut": "cut",
    "other model": "other",
    "other model, one loop": "other",
    "other model, cut": "other, cut",
}


def variants(rng: np.random.Generator) -> tuple[list[str], dict[str, list[str]]]:
    """Texts to fit on, and every variant of 400 others."""
    texts, others = answers(), answers("claude-3-opus-20240229")[: 2 * N]
    plain = texts[: 2 * N]
    return texts[2 * N :], {
        "plain": plain,
        "cut": [cut(t, rng) if rng.random() < 0.35 else t for t in plain],
        "other": others,
        "other, cut": [cut(t, rng) if rng.random() < 0.35 else t for t in others],
        "loop": [f"{t[:200]} {LOOP}" for t in plain],
    }


def compared(
    variant: str, loop: bool, critics: list[Any], scored: list[dict[str, Any]], order: Any
) -> tuple[list[Verdict], list[AxisRows]]:
    """Adjusted verdicts on the halves of an order, and the rows of documents of all statistics that may differ."""
    verdicts, axes = [], []
    for critic, by_variant in zip(critics, scored, strict=True):
        new = by_variant[variant].take(order[N:])
        if loop:
            one = by_variant["loop"].take(order[N : N + 1])
            rows = {key: stack([one.rows[key], take_rows(new.rows[key], np.arange(1, N))]) for key in new.rows}
            arrays = {a: np.concatenate([getattr(one, a), getattr(new, a)[1:]]) for a in ("nll", "steps")}
            new = replace(new, rows=rows, reasons=[*one.reasons, *new.reasons[1:]], **arrays)
        scores = [by_variant["plain"].take(order[:N], "real"), replace(new, corpus="new")]
        of_critic = judge(critic, scores[0], scores[1], SETTINGS, family=len(critics))
        names = {v.statistic for v in of_critic if v.p_in_axis is not None}
        axes += [a for name in names if (a := axis_of(critic, scores, name)) is not None]
        verdicts += of_critic
    return adjust(verdicts), axes


def measure(kind: str, critics: list[Any], scored: list[dict[str, Any]], splits: int, seed: int) -> None:
    """Print how often axes differ over the splits, and how often they are said to depend on documents.

    Of axes that are said to go with cuts, ``wrong`` differ where nothing is cut.
    """
    rng = np.random.default_rng(seed)
    counts: tuple[Counter[str], ...] = Counter(), Counter(), Counter(), Counter()
    named, is_cut, variant = 0, "cut" in kind, KINDS[kind]
    for _ in range(splits):
        order = rng.permutation(2 * N)
        verdicts, axes = compared(variant, "loop" in kind, critics, scored, order)
        corpora = [Corpus.from_texts(["a"] * N, [f"{n}{i}" for i in range(N)], name=n) for n in ("real", "new")]
        broken = [("new", "faults", "broken_off_share", "")] if is_cut else []
        told = dependences(verdicts, axes, corpora, broken, SETTINGS)
        differ = {v.critic for v in verdicts if v.is_finding and v.leads}
        go = {d.critic for d in told if not d.document}
        counts[0].update(differ)
        counts[1].update(go)
        counts[2].update({d.critic for d in told if d.document})
        if go:
            whole, _ = compared("other" if "other" in variant else "plain", False, critics, scored, order)
            counts[3].update(go & {v.critic for v in whole if v.is_finding})
        named += any(d.document for d in told)
    said = (", ".join(f"{k} {n}" for k, n in sorted(c.items())) or "none" for c in counts)
    heads = "differ", "go with the cuts", "one document", "wrong"
    print(kind, *(f"{head}: {counted}" for head, counted in zip(heads, said, strict=True)), sep=" | ")
    print(f"{kind}: names a document in {named / splits:.3f} of {splits} splits", flush=True)


def screen(old: str, new: str, change: str) -> None:
    """Compare 200 answers of two models, all critics, the new ones changed, and print what is said of broken ones."""
    rng = np.random.default_rng(0)
    texts, others = answers(old), answers(new)
    some = rng.permutation(len(texts))[:N].tolist()
    changed = [others[i] for i in some]
    if change == "cut":
        changed = [cut(t, rng) if rng.random() < 0.35 else t for t in changed]
    if change == "one loop":
        changed[7] = f"{changed[7][:200]} {LOOP}"
    ids, prompts = [f"a{i}" for i in some], [f"p{i}" for i in some]
    versions = {"old": [texts[i] for i in some], "new": changed}
    pair = {name: Corpus.from_texts(of, ids, prompts=prompts, name=name) for name, of in versions.items()}
    run = momus.compare(against={"old": pair["old"]}, generated={"new": pair["new"]}, reporter=momus.progress.Silent())
    answer, seconds = answer_of(run), run.signature["seconds"]
    differing = [a.axis for a in answer.axes if a.worst.differs]
    print(f"{old}, {new}: {change}; {len(differing)} axes differ: {', '.join(differing)}")
    print(*(line for line in first_sentences(answer) if line.startswith(("Broken", "Without", "1 document"))), sep="\n")
    print(f"{seconds.get('all axes', 0.0)} of {seconds['total']} s", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--screen", nargs=3, help="old and new model, and nothing, cut or one loop: a whole comparison")
    options = parser.parse_args()
    if options.screen:
        screen(*options.screen)
        return
    fitted, texts = variants(np.random.default_rng(options.seed))
    critics = make_critics(CRITICS, {})
    scored = []
    for critic in critics:
        critic.fit(Corpus.from_texts(fitted))
        scored.append({name: critic.score(Corpus.from_texts(of)) for name, of in texts.items()})
    for kind in options.kinds:
        measure(kind, critics, scored, options.splits, options.seed)


if __name__ == "__main__":
    main()
