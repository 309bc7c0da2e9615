"""Critics against people: do per-document values go with scores of summaries, and with choices between continuations?

Fixed before any value was compared with an answer:

* Summaries (DialSummEval, four qualities): the real text is the human reference summaries (system A). Critics are
  fitted on the references of nine tenths of the dialogues, and value all summaries of the other tenth; references
  themselves are valued, but take no part. Third scores of coherence are left out, since they copy the second.
* Continuations (150 pairs): critics are fitted on 2,000 passages of novels (for books) or WikiText-2, as in `pairs.py`.
* A value is what a study takes from a run: the critic's own measure of oddity if it has one, else its Latent NLL, per
  step for sequences. Higher is odder.
* The statistic is that of `momus study read`: the rank correlation of values and scores within dialogues (within
  pairs), with length, type–token ratio, compression, repetition and entropy held fixed; intervals resample dialogues
  (pairs) and raters. Holm's adjustment is over all critics, qualities and pairs at once.

Run:  python benchmarks/validity/critics_and_people.py [--out DIR]
Data: ``judgements``, ``litbank`` and ``wikitext-2`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from human_answers import COPIED, PUBLISHED_ALPHA, REFERENCE, continuations, summaries, through_files
from human_answers import pairs as published_pairs
from pairs import real_texts

from momus import Corpus
from momus.critic import Critic
from momus.inference import holm
from momus.numeric.types import Floats
from momus_critics.coreference import Coreference
from momus_critics.discourse import Discourse
from momus_critics.keyness import Keyness
from momus_critics.length import Length
from momus_critics.perplexity import Perplexity
from momus_critics.rank_frequency import RankFrequency
from momus_critics.repetition import Repetition
from momus_critics.rhythm import Rhythm
from momus_critics.shares import StopwordShare, SymbolShare
from momus_critics.type_token import TypeToken
from momus_critics.unigram import Unigram
from momus_people.answers import scores_of
from momus_people.axis import AxisRow, axis_rows
from momus_people.study import Study

FOLDS, MOST = 10, 2000
Make = Callable[[], Critic[Any]]
BOTH: dict[str, Make] = {
    "length": Length,
    "type-token": TypeToken,
    "type-token, bigrams": partial(TypeToken, order=2),
    "unigram": Unigram,
    "rank-frequency": RankFrequency,
    "perplexity": Perplexity,
    "repetition": Repetition,
    "keyness": Keyness,
    "discourse": Discourse,
    "stopword-share": StopwordShare,
    "symbol-share": SymbolShare,
}
OF_SUMMARIES: dict[str, Make] = {**BOTH, "coreference": Coreference}
"""Without rhythm, which needs documents of two sentences to be fitted."""
OF_PAIRS: dict[str, Make] = {**BOTH, "rhythm": Rhythm}


def values(make: Make, fit: Sequence[str], texts: Sequence[str]) -> Floats:
    """Value of each text under a critic that is fitted on others, (n,); NaN where it has none."""
    critic = make().fit(Corpus.from_texts(list(fit), name="fit"))
    scores = critic.score(Corpus.from_texts(list(texts), name="texts"))
    if scores.oddity is not None:
        return np.asarray(scores.oddity)
    return np.asarray(scores.per_step if critic.sequence else scores.nll)


def of_summaries(study: Study) -> dict[str, Floats]:
    """Values of all summaries under critics of the references of other dialogues."""
    passages = study.design.passages
    texts = np.array([e.parts[0] for e in passages], dtype=object)
    dialogues = np.unique([e.prompt for e in passages], return_inverse=True)[1]
    fold = np.random.default_rng(0).permutation(int(dialogues.max()) + 1)[dialogues] % FOLDS
    is_reference = np.array([e.corpus == REFERENCE for e in passages])
    found = {}
    for name, make in OF_SUMMARIES.items():
        column = np.full(len(texts), np.nan)
        for k in range(FOLDS):
            held = fold == k
            column[held] = values(make, texts[is_reference & ~held], texts[held])
        column[is_reference] = np.nan
        found[name] = column
        print(f"{name}: {np.isfinite(column).sum()} summaries", flush=True)
    return found


def of_pairs(study: Study) -> dict[str, Floats]:
    """Values of all continuations, under critics of passages of the same kind."""
    texts = np.array([e.parts[0] for e in study.design.passages], dtype=object)
    is_book = np.repeat([p["domain"] == "book" for p in published_pairs()], 2)
    real = real_texts()
    found = {}
    for name, make in OF_PAIRS.items():
        column = np.full(len(texts), np.nan)
        for kind, inside in (("book", is_book), ("wikitext", ~is_book)):
            column[inside] = values(make, real[kind][0][:MOST], texts[inside])
        found[name] = column
        print(f"{name}: {np.isfinite(column).sum()} continuations", flush=True)
    return found


def kept(path: Path, make: Callable[[], dict[str, Floats]]) -> dict[str, list[float | None]]:
    """Values from a file, or made and written to it."""
    if not path.exists():
        content = {k: [float(v) if np.isfinite(v) else None for v in column] for k, column in make().items()}
        path.write_text(json.dumps(content), encoding="utf-8")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def rows_of(study: Study, files: Sequence[dict[str, Any]], table: dict[str, Any], folder: Path) -> list[AxisRow]:
    """Correlations of values with the answers of a study."""
    again, answers = through_files(study, files, folder)
    passages = again.design.passages
    scores = scores_of(again, answers.items(range(again.protocol.raters)))
    return axis_rows(scores, table, {}, [e.yardsticks for e in passages])


def show(found: dict[str, list[AxisRow]]) -> None:
    """Print one row per critic and yardstick, one column per kind of answer."""
    tested = [(answers, r) for answers, rows in found.items() for r in rows if not r.is_yardstick and np.isfinite(r.p)]
    adjusted = dict(zip([(a, r.critic) for a, r in tested], holm([r.p for _, r in tested]).tolist(), strict=True))
    names = list(dict.fromkeys((r.critic, r.is_yardstick) for rows in found.values() for r in rows))
    for title, full in (("within dialogues or pairs", True), ("with yardsticks held fixed", False)):
        print(f"\nρ {title}; Holm over {len(tested)} tests\n| value | {' | '.join(found)} |")
        print("|---" * (1 + len(found)) + "|")
        for name, is_yardstick in names:
            cells = []
            for answers, rows in found.items():
                row = next((r for r in rows if (r.critic, r.is_yardstick) == (name, is_yardstick)), None)
                if row is None:
                    cells.append("–")
                elif full:
                    cells.append(f"{row.rho:.2f} [{row.low:.2f}, {row.high:.2f}]")
                else:
                    p = "" if is_yardstick else f" p {adjusted.get((answers, name), float('nan')):.3f}"
                    cells.append(f"{row.partial:.2f} [{row.partial_low:.2f}, {row.partial_high:.2f}]{p}")
            print(f"| {'yardstick: ' * is_yardstick}{name} | {' | '.join(cells)} |")


def main() -> None:
    """Print the correlations of all critics with all answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("validity-critics-and-people"), help="folder; values are kept")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    table = kept(out / "summaries.json", lambda: of_summaries(summaries("coherence")[0]))
    found: dict[str, list[AxisRow]] = {}
    for quality in PUBLISHED_ALPHA:
        without = [COPIED[quality]] if quality in COPIED else []
        found[quality] = rows_of(*summaries(quality, without=without), table, out / quality)
    study, files = continuations()
    table = kept(out / "pairs.json", lambda: of_pairs(study))
    found["pairs"] = rows_of(study, files, table, out / "pairs")
    show(found)


if __name__ == "__main__":
    main()
