"""Answers of real people, read as studies: agreement beside the published figures, and estimates per system.

1. 150 pairs of continuations, four annotators (Su & Xu 2022, arXiv:2211.10797). Published, in the README of its
   repository: the share of votes for each decoder, by domain.
2. 1,400 summaries by 14 systems, three annotators, four qualities (Gao & Wan 2022, *DialSummEval*, NAACL). Published
   (Table 2): Krippendorff's α (interval) of the *cleaned* scores, from which a score is removed where the two others of
   the same summary are equal, and the number of scores left.

`critics_and_people.py` compares critics with these answers.

Run:  python benchmarks/validity/human_answers.py [--out DIR]
Data: ``judgements`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from yardsticks import data, yardsticks

from momus.inference.agreement import Agreement, Level, agreement
from momus_people.answers import RaterAnswers, read_answers
from momus_people.design import StudyDesign, Trial
from momus_people.excerpts import Excerpt
from momus_people.protocol import Protocol
from momus_people.result import analysed
from momus_people.study import Study, name_of, read_study, write_study
from momus_people.view import finding_sentences

VOTES = {"system a is more": "left", "system b is more": "right", "two systems are ": "equal"}
PUBLISHED_SHARES = {"wikinews": (68.5, 2.0, 29.5), "wikitext": (65.0, 2.0, 33.0), "book": (67.0, 1.0, 32.0)}
"""Percent of votes for contrastive search, for neither, and for contrastive decoding."""
PUBLISHED_ALPHA = {
    "coherence": (3161, 0.7564),
    "consistency": (3360, 0.6709),
    "fluency": (3050, 0.6782),
    "relevance": (3439, 0.5621),
}
"""Scores left after cleaning, and their α."""
COPIED = {"coherence": 2}
"""Annotators, from 0, whose scores are those of another one, for all 1,400 summaries."""
REFERENCE = "A"
"""The system of the human reference summaries."""


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
    design = StudyDesign(passages, items, trials)
    study = Study(name_of(protocol, design), protocol, sorted({e.corpus for e in passages}), design)
    return study, [{**f, "study": study.name} for f in files]


def pairs() -> list[dict[str, Any]]:
    """The pairs as they were published."""
    with gzip.open(data() / "judgements" / "contrastive-pairs.json.gz", "rt", encoding="utf-8") as file:
        return list(json.load(file))


def votes(pair: dict[str, Any]) -> list[str]:
    """What the four annotators said of a pair: left, right or equal."""
    return [VOTES[pair["human_annotation"][f"annotator_{k}"][:16]] for k in range(1, 5)]


def continuations() -> tuple[Study, list[dict[str, Any]]]:
    """Choices between contrastive decoding and contrastive search; passages 2i and 2i + 1 are pair i."""
    found = pairs()
    passages = []
    for i, p in enumerate(found):
        for s in "ab":
            text = p[f"system_{s}_result"].removeprefix(p["prompt"]).strip()
            passages.append(Excerpt(p[f"system_{s}_name"], f"{i}{s}", str(i), (text,), (), yardsticks(text)))
    protocol = Protocol(question="humanness", kind="pair", ties=True, items=len(found), raters=4, judgements=4)
    return study_of(protocol, passages, [(2 * i, 2 * i + 1) for i in range(len(found))], [votes(p) for p in found])


def rows_of_summaries() -> list[dict[str, Any]]:
    """One row per summary, as published."""
    with gzip.open(data() / "judgements" / "dialsummeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def cleaned(scores: Sequence[int]) -> list[int | None]:
    """Scores of one summary, without the one that differs from two equal ones.

    >>> cleaned([4, 2, 4]), cleaned([1, 2, 3]), cleaned([5, 5, 5])
    ([4, None, 4], [1, 2, 3], [5, 5, 5])
    """
    counts = Counter(scores)
    return [None if len(counts) == 2 and counts[s] == 1 else s for s in scores]


def summaries(quality: str, *, clean: bool = False, without: Sequence[int] = ()) -> tuple[Study, list[dict[str, Any]]]:
    """Scores of summaries, one study per quality; ``without`` names annotators to leave out, from 0."""
    found = rows_of_summaries()
    passages = [
        Excerpt(r["model_id"], f"{r['model_id']}/{r['id']}", r["id"], (r["summary"],), (), yardsticks(r["summary"]))
        for r in found
    ]
    given: list[list[int | None]] = []
    for r in found:
        scores = [int(a[quality]) - 1 for a in r["annotations"]]
        row = cleaned(scores) if clean else list(scores)
        given.append([s for k, s in enumerate(row) if k not in without])
    protocol = Protocol(
        question=quality if quality in ("coherence", "fluency") else f"How good is the {quality}?",
        items=len(found),
        raters=3 - len(without),
    )
    return study_of(protocol, passages, [(i,) for i in range(len(found))], given)


def through_files(study: Study, files: Sequence[dict[str, Any]], folder: Path) -> tuple[Study, RaterAnswers]:
    """Write a study and its answers, and read both as `momus study read` does."""
    write_study(study, folder / "study")
    paths = []
    for f in files:
        paths.append(folder / f"answers-{f['rater']}.json")
        paths[-1].write_text(json.dumps(f), encoding="utf-8")
    again = read_study(folder / "study")
    return again, read_answers(again, paths)


def alpha(study: Study, answers: RaterAnswers, level: Level) -> Agreement:
    """Krippendorff's α of all answers, at a level of measurement."""
    items = answers.items(range(study.protocol.raters))
    found = agreement(items.unit, items.category, level)
    assert found is not None
    return found


def answers_without_ties(answers: RaterAnswers) -> Any:
    """The rows of answers to pairs that are not “alike”."""
    return answers.table[answers.table.category != 1]


def _shown(a: Agreement) -> str:
    return f"{a.alpha:.4f} [{a.low:.3f}, {a.high:.3f}]"


def of_continuations(folder: Path) -> None:
    """Print shares of votes beside the published ones, agreement, and the preference."""
    print("| domain | votes | search, neither, decoding: here | published |")
    print("|---|---:|---|---|")
    for domain, published in PUBLISHED_SHARES.items():
        counts: Counter[str] = Counter()
        for p in (p for p in pairs() if p["domain"] == domain):
            names = {"left": p["system_a_name"], "right": p["system_b_name"], "equal": "neither"}
            counts.update(names[v] for v in votes(p))
        n = counts.total()
        here = [counts[k] / n for k in ("contrastive_search", "neither", "contrastive_decoding")]
        print(f"| {domain} | {n} | {', '.join(f'{v:.1%}' for v in here)} | {', '.join(f'{v} %' for v in published)} |")
    study, answers = through_files(*continuations(), folder / "continuations")
    print(*finding_sentences(analysed(study, answers)), sep="\n")
    voted = answers_without_ties(answers)
    plain = agreement(voted.unit, voted.category, "nominal")
    assert plain is not None
    print(f"votes for neither left out, nominal: α {_shown(plain)}")


def of_summaries(folder: Path) -> None:
    """Print α beside the published one, and the mean scores of the systems."""
    print(
        "| quality | scores left: here, published | α, cleaned: here | published | α, all scores: interval | ordinal |"
    )
    print("|---|---|---|---|---|---|")
    for quality, (count, published) in PUBLISHED_ALPHA.items():
        left = alpha(*through_files(*summaries(quality, clean=True), folder / f"{quality}-cleaned"), "interval")
        study, answers = through_files(*summaries(quality), folder / quality)
        whole = [_shown(alpha(study, answers, level)) for level in ("interval", "ordinal")]
        print(
            f"| {quality} | {left.values}, {count} | {_shown(left)} | {published} | {' | '.join(whole)} |", flush=True
        )
    for quality in PUBLISHED_ALPHA:
        without = [COPIED[quality]] if quality in COPIED else []
        folder_of = folder / f"{quality}-without-copies" if without else folder / f"{quality}-again"
        study, answers = through_files(*summaries(quality, without=without), folder_of)
        result = analysed(study, answers)
        a = result.agreement
        assert a is not None
        print(f"{quality}, {study.protocol.raters} annotators: α (ordinal) {_shown(a)}")
        for c in sorted(result.corpora, key=lambda c: -c.value):
            print(f"  {c.corpus} {c.value:.2f} [{c.low:.2f}, {c.high:.2f}]", end="")
        print(flush=True)


def main() -> None:
    """Print what real annotators say, beside the published figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("validity-human-answers"), help="a new folder of studies")
    folder = parser.parse_args().out
    of_continuations(folder)
    of_summaries(folder)


if __name__ == "__main__":
    main()
