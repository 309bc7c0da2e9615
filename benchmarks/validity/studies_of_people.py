"""Studies with people: are known preferences recovered, and what do real annotators say?

1. Simulated raters with known preferences, noise and bias answer whole studies (`momus.study.simulated`), which are
   read as real answers are. Reported: how often the 95 % intervals of the contrasts of corpora hold the truth, each by
   itself and all at once, and how often a critic without any bearing on the answers gets p ≤ 0.05.
2. The power that `momus study new` predicts, and the one reached.
3. Human choices between continuations, and human scores of summaries, go through `momus study read`.

Run:  python benchmarks/validity/studies_of_people.py [--studies 500] [--part coverage|power|real] [--kind pair]
Data: ``judgements`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from momus.study.answers import Answers, _joined, read_answers
from momus.study.axis import axis_rows
from momus.study.design import Design, Trial, drawn
from momus.study.excerpts import Excerpt
from momus.study.judged import counted_answers, judgements_of, scores_of
from momus.study.models import estimate
from momus.study.power import logits_of, needs
from momus.study.protocol import Protocol
from momus.study.result import StudyResult, analysed
from momus.study.simulated import Truth, simulated_answers
from momus.study.store import Study, name_of, write_study
from momus.text.yardsticks import YARDSTICKS

SETTINGS = {
    "ratings of five": (Protocol(items=60, raters=5), 3, Truth({}, 0.8, 0.3, 0.5)),
    "ratings of two": (Protocol(items=90, raters=3, scale=("no", "yes")), 3, Truth({}, 0.8, 0.5, 0.5)),
    "pairs": (Protocol(kind="pair", items=60, raters=5), 3, Truth({}, 0.8, 0.3, 0.5)),
    "pairs with ties": (Protocol(kind="pair", items=80, raters=8, ties=True), 2, Truth({}, 0.5, 0.2, 0.3)),
    "best and worst": (Protocol(kind="set", items=40, raters=5), 3, Truth({}, 0.8, 0.3, 0.5)),
}
"""Protocol, number of corpora, and standard deviations of each kind of simulated study."""
TESTED = 60
"""Studies in which a critic without bearing on the answers is tested."""
SPREAD = 0.7
"""Standard deviation of the true effects of corpora, in logits."""


def pool(corpora: int, size: int, rng: np.random.Generator) -> dict[str, list[Excerpt]]:
    """Passages without texts, with prompts that all corpora share, and with random yardsticks."""
    names = ["real", *(f"model-{k}" for k in range(1, corpora))]
    return {
        n: [
            Excerpt(n, f"{n}:{i}", f"p{i}", ("…",), (), dict.fromkeys(YARDSTICKS, 0.0) | _random(rng))
            for i in range(size)
        ]
        for n in names
    }


def _random(rng: np.random.Generator) -> dict[str, float]:
    return dict(zip(YARDSTICKS, rng.normal(size=len(YARDSTICKS)).tolist(), strict=True))


def simulated_study(protocol: Protocol, corpora: int, rng: np.random.Generator) -> Study:
    """Draw a study of such passages."""
    found = pool(corpora, 4 * protocol.items, rng)
    design = drawn(found, protocol)
    return Study(name_of(protocol, design), protocol, list(found), design)


def answered(study: Study, truth: Truth, seed: int) -> Answers:
    """Read the answers of simulated raters, without files."""
    found = Answers()
    for rater, content in enumerate(simulated_answers(study, truth, seed)):
        found.by_rater[rater], found.invalid[rater], _ = _joined(study, rater, [content])
        found.missing[rater] = 0
    return found


def one_study(name: str, s: int, tested: bool) -> dict[str, Any]:
    """Simulate and read one study; its seed says everything about it."""
    protocol, corpora, base = SETTINGS[name]
    rng = np.random.default_rng([s, 1])
    study = simulated_study(replace(protocol, seed=s), corpora, rng)
    effects = rng.normal(size=corpora) * SPREAD
    effects -= effects.mean()
    truth = replace(base, effects=dict(zip(study.corpora, effects.tolist(), strict=True)))
    answers = counted_answers(answered(study, truth, s), range(protocol.raters))
    fitted = estimate(judgements_of(study, answers))
    matrix = np.array([np.eye(corpora)[k] - np.eye(corpora)[0] for k in range(1, corpora)])
    values, low, high = fitted.contrasts(matrix)
    true = matrix @ effects
    error = np.sqrt(np.diag(matrix @ fitted.covariance @ matrix.T))
    row = {
        "seed": s,
        "each": (np.abs(values - true) <= 1.959964 * error).tolist(),
        "together": bool(((low <= true) & (true <= high)).all()),
        "bias": (np.sign(true) * (values - true)).tolist(),
        "z": ((values - true) / error).tolist(),
        "sds": fitted.sds,
    }
    if tested:
        passages = study.design.passages
        chance = {"x": rng.normal(size=len(passages)).tolist()}
        rows = axis_rows(
            scores_of(study, answers), chance, {}, [e.yardsticks for e in passages], [e.corpus for e in passages], s
        )
        row["p"] = next(r.p for r in rows if r.critic == "x")
    return row


def coverage(name: str, studies: int, folder: Path, minutes: float) -> None:
    """Print how often intervals hold the truth; studies that the folder holds are not simulated again."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"coverage-{name.replace(' ', '-')}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    started = time.monotonic()
    with path.open("a") as file:
        for s in range(len(rows), studies):
            if time.monotonic() - started > 60 * minutes:
                break
            rows.append(one_study(name, s, s < TESTED))
            file.write(json.dumps(rows[-1]) + "\n")
    each = np.mean([v for r in rows for v in r["each"]])
    together = np.mean([r["together"] for r in rows])
    bias, z = ([v for r in rows for v in r[k]] for k in ("bias", "z"))
    sds = ", ".join(f"{k} {np.mean([r['sds'].get(k, 0.0) for r in rows]):.2f}" for k in rows[0]["sds"])
    p = np.array([r["p"] for r in rows if "p" in r])
    shares = (f"{each:.1%}", f"{together:.1%}", f"{np.mean(bias):+.3f}", f"{np.std(z):.2f}")
    print(f"| {name} | {len(rows)} | {' | '.join(shares)} | {sds} | {(p <= 0.05).mean():.1%} of {len(p)} |", flush=True)


def power(studies: int) -> None:
    """Print the power that is predicted and the one that is reached."""
    print("| kind | corpora | items | difference | predicted | reached | n |")
    print("|---|---|---|---|---|---|---|")
    for kind, corpora in (("rating", 2), ("pair", 2), ("pair", 3), ("set", 2), ("set", 4)):
        protocol = Protocol(kind=kind, items=60, raters=6)
        truth = Truth({}, 0.8, 0.3, 0.5)
        sds = {"passage": truth.passage, "taste": truth.taste}
        (need, *_) = needs(protocol, corpora, 0.65, sds)
        delta = logits_of(0.65, sds, protocol.width)
        hits = 0
        for s in range(studies):
            rng = np.random.default_rng([s, 2])
            study = simulated_study(replace(protocol, seed=s), corpora, rng)
            effects = {n: delta * (k == 1) for k, n in enumerate(study.corpora)}
            answers = counted_answers(answered(study, replace(truth, effects=effects), s), range(protocol.raters))
            fitted = estimate(judgements_of(study, answers))
            matrix = np.array([np.eye(corpora)[k] - np.eye(corpora)[0] for k in range(1, corpora)])
            _, low, high = fitted.contrasts(matrix)
            hits += bool(low[0] > 0 or high[0] < 0)
        print(f"| {kind} | {corpora} | 60 | 65 % | {need.power:.2f} | {hits / studies:.2f} | {studies} |", flush=True)


# Real answers


def data() -> Path:
    """Find the folder of real data."""
    named = os.environ.get("MOMUS_DATA")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"


def study_of(
    protocol: Protocol, passages: Sequence[Excerpt], items: Sequence[tuple[int, ...]], given: Sequence[Sequence[Any]]
) -> tuple[Study, list[dict[str, Any]]]:
    """Make a study of answers that exist: ``given`` has one row per item and one answer per rater, or None."""
    trials, files = [], []
    for rater in range(protocol.raters):
        answers = []
        for unit, row in enumerate(given):
            code = "t" + hashlib.sha256(f"{rater}/{unit}".encode()).hexdigest()[:10]
            trials.append(Trial(code, rater, "item", items[unit], unit))
            if row[rater] is not None:
                answers.append({"trial": code, "answer": row[rater], "seconds": None, "at": ""})
        files.append({"format": "momus-answers-1", "rater": f"rater-{rater + 1}", "comment": "", "answers": answers})
    design = Design(passages, items, trials)
    study = Study(name_of(protocol, design), protocol, sorted({e.corpus for e in passages}), design)
    return study, [{**f, "study": study.name} for f in files]


VOTES = {"system a is more": "left", "system b is more": "right", "two systems are ": "equal"}


def continuations() -> tuple[Study, list[dict[str, Any]]]:
    """Choices between contrastive decoding and contrastive search: 150 pairs, four annotators."""
    with gzip.open(data() / "judgements" / "contrastive-pairs.json.gz", "rt", encoding="utf-8") as file:
        found = json.load(file)
    passages = [
        Excerpt(p[f"system_{s}_name"], f"{i}{s}", str(i), (p[f"system_{s}_result"],))
        for i, p in enumerate(found)
        for s in "ab"
    ]
    given = [[VOTES[p["human_annotation"][f"annotator_{k}"][:16]] for k in range(1, 5)] for p in found]
    protocol = Protocol(question="humanness", kind="pair", ties=True, items=len(found), raters=4, judgements=4)
    return study_of(protocol, passages, [(2 * i, 2 * i + 1) for i in range(len(found))], given)


def summaries(quality: str) -> tuple[Study, list[dict[str, Any]]]:
    """Scores of summaries by 14 systems: 1,400 summaries, three annotators."""
    with gzip.open(data() / "judgements" / "dialsummeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    passages = [Excerpt(r["model_id"], f"{r['model_id']}/{i}", r["id"], (r["summary"],)) for i, r in enumerate(found)]
    given = [[int(a[quality]) - 1 for a in r["annotations"]] for r in found]
    protocol = Protocol(
        question=quality if quality in ("coherence", "fluency") else f"How good is the {quality}?",
        items=len(found),
        raters=3,
    )
    return study_of(protocol, passages, [(i,) for i in range(len(found))], given)


def through_files(study: Study, files: Sequence[dict[str, Any]], folder: Path) -> StudyResult:
    """Write a study and its answers, and read them as `momus study read` does."""
    from momus.study.store import read_study

    write_study(study, folder, {})
    paths = []
    for f in files:
        paths.append(folder / f"answers-{f['rater']}.json")
        paths[-1].write_text(json.dumps(f), encoding="utf-8")
    again = read_study(folder)
    return analysed(again, read_answers(again, paths))


def real(folder: Path) -> None:
    """Print agreement and estimates of real annotators."""
    from momus.study.agreement import agreement
    from momus.study.judged import values_of_units
    from momus.study.words import finding_sentences

    study, files = continuations()
    result = through_files(study, files, folder / "continuations")
    print("continuations:", *finding_sentences(result), sep="\n  ")
    answers = counted_answers(read_answers(study, sorted((folder / "continuations").glob("answers-*"))), range(4))
    values = values_of_units(study, answers)
    voted = values.value != 1
    plain = agreement(values.unit[voted], values.value[voted], "nominal")
    assert plain is not None
    print(f"  votes for neither left out, nominal: α {plain.alpha:.3f} [{plain.low:.3f}, {plain.high:.3f}]")
    for quality in ("coherence", "consistency", "fluency", "relevance"):
        study, files = summaries(quality)
        result = through_files(study, files, folder / quality)
        a = result.agreement
        assert a is not None
        order = sorted(result.corpora, key=lambda c: -c.effect)
        print(f"{quality}: α (ordinal) {a.alpha:.3f} [{a.low:.3f}, {a.high:.3f}], sds {result.sds}")
        print(
            "  " + "; ".join(f"{c.corpus} {c.shown:.2f} [{c.shown_low:.2f}, {c.shown_high:.2f}]" for c in order),
            flush=True,
        )


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--part", choices=("coverage", "power", "real"), action="append")
    parser.add_argument("--kind", choices=tuple(SETTINGS), action="append")
    parser.add_argument("--out", type=Path, default=Path("validity-studies-of-people"))
    parser.add_argument("--minutes", type=float, default=60, help="stop each kind of simulated study after this time")
    options = parser.parse_args()
    parts = options.part or ["coverage", "power", "real"]
    if "coverage" in parts:
        print(
            "| study | n | each interval | all intervals | bias | sd of z | estimated sds | p ≤ 0.05 without effect |"
        )
        print("|---|---|---|---|---|---|---|---|", flush=True)
        for name in options.kind or SETTINGS:
            coverage(name, options.studies, options.out, options.minutes)
    if "power" in parts:
        power(min(options.studies, 300))
    if "real" in parts:
        real(options.out)


if __name__ == "__main__":
    main()
