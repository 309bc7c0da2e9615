"""Section order on real documents: fitted on Ethereum proposals (EIPs), real text = half of the ERCs.

What must hold (with gold titles): the other half is not told apart (p > 0.05 in at least 18 of 20 random splits);
shuffled sections have a Latent PPL at least 20 times the real one; two neighbours swapped in 20 % of documents are
flagged at p ≤ 0.01; one section repeated in each document is flagged, and repetitions lead the evidence table. The
same through the linear posterior, titles withheld, is printed as found.

Run:  python benchmarks/reproduce/sections_eips.py [--splits 20]
Data: the folder ``sectioned`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

import momus
from momus.judging import judge
from momus_critics.sections import Sections

Titled = list[tuple[str | None, str]]
Change = Callable[[Titled, np.random.Generator], Titled]


def data() -> Path:
    """Find the folder of real data."""
    named = os.environ.get("MOMUS_DATA")
    return (Path(named) if named else Path(__file__).parents[3] / "shared" / "data") / "sectioned"


def change(corpus: momus.Corpus, how: Change, name: str, seed: int = 0) -> momus.Corpus:
    """Apply a defect to every document."""
    rng = np.random.default_rng(seed)
    documents = [how([(s.title, s.text) for s in d.sections], rng) for d in corpus]
    return momus.Corpus.from_sections(documents, ids=corpus.ids, name=name)


def unchanged(sections: Titled, rng: np.random.Generator) -> Titled:
    """Leave a document as it is."""
    return sections


def shuffled(sections: Titled, rng: np.random.Generator) -> Titled:
    """All sections in random order."""
    return [sections[i] for i in rng.permutation(len(sections))]


def swapped(sections: Titled, rng: np.random.Generator) -> Titled:
    """Two neighbouring sections swapped, in 20 % of documents."""
    out = list(sections)
    if len(out) > 1 and rng.random() < 0.2:
        i = int(rng.integers(len(out) - 1))
        out[i], out[i + 1] = out[i + 1], out[i]
    return out


def repeated(sections: Titled, rng: np.random.Generator) -> Titled:
    """One section stands twice."""
    i = int(rng.integers(len(sections)))
    return [*sections[: i + 1], *sections[i:]]


def dropped(sections: Titled, rng: np.random.Generator) -> Titled:
    """One section is missing, in 20 % of documents."""
    if len(sections) < 2 or rng.random() >= 0.2:
        return sections
    i = int(rng.integers(len(sections)))
    return [*sections[:i], *sections[i + 1 :]]


DEFECTS: dict[str, Change] = {
    "other half": unchanged,
    "shuffled": shuffled,
    "20 % swapped": swapped,
    "repeated": repeated,
    "20 % dropped": dropped,
}


def show(critic: Sections, splits: int) -> None:
    """Print false alarms over random splits, and each defect on one split."""
    ercs = momus.read_corpus(data() / "ercs.jsonl.gz", name="ercs")
    alarms = 0
    for seed in range(splits):
        real, other = (critic.score(part) for part in ercs.split(0.5, seed, ("real", "other half")))
        (headline,) = [v for v in judge(critic, real, other, seed=seed, resamples=99) if v.headline]
        alarms += (headline.p or 1.0) <= 0.05
    print(f"\nposterior = {critic.posterior}, expectation = {critic.expectation}; {'; '.join(critic.notes())}")
    print(f"  not told apart (p > 0.05) in {splits - alarms} of {splits} random splits")
    real_text, other_text = ercs.split(0.5, 0, ("real", "other half"))
    real = critic.score(real_text)
    print(f"  {'':<14}{'Latent PPL':>11}{'/ real':>8}{'interval of difference':>26}{'p':>9}  leading transition")
    print(f"  {'real':<14}{real.latent_ppl:11.2f}{1:8.2f}")
    for name, how in DEFECTS.items():
        scores = critic.score(change(other_text, how, name))
        (v,) = [v for v in judge(critic, real, scores) if v.headline]
        first = critic.evidence(real.summary, scores.summary)[0].rows[0]  # type: ignore[union-attr]
        interval = f"[{v.low:.2f}, {v.high:.2f}]"
        ratio = scores.latent_ppl / real.latent_ppl
        print(f"  {name:<14}{scores.latent_ppl:11.2f}{ratio:8.2f}{interval:>26}{v.p:9.4f}  {first[0]} {first[5]}")


def main() -> None:
    """Fit and show each posterior."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    splits = parser.parse_args().splits
    eips = momus.read_corpus(data() / "eips.jsonl.gz", name="eips")
    for options in ({"posterior": "titles"}, {"posterior": "linear"}, {"posterior": "linear", "expectation": "map"}):
        show(Sections(**options).fit(eips), splits)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
