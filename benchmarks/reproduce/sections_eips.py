"""Section order on real documents: fitted on Ethereum proposals (EIPs), real text = half of the ERCs.

Required with gold titles: the other half does not differ (p > 0.05 in at least 18 of 20 random splits); shuffled
sections have a Latent PPL at least 20 times the real one; two neighbours swapped in 20 % of documents are detected at
p ≤ 0.01; one section repeated in each document is detected, and repetitions lead the evidence table. Each defect is
tested twice: unpaired (one half against the other half, damaged), and paired (each document of a half against its own
damaged version: two texts with the same prompts). The same is printed, without requirements, with titles withheld
(linear posterior; fine-tuned encoder with --encoder), and with section breaks withheld too; there the agreement of
states with the true titles is measured.

Run:  python benchmarks/reproduce/sections_eips.py [--splits 20] [--expectations chain] [--encoder FOLDER]
Data: the folder ``sectioned`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import normalized_mutual_info_score

import momus
from momus.critic.powers import headline_of
from momus.critic.scores import Scores
from momus.text.vocabulary import OTHER, normalize_title
from momus.verdicts.judge import judge
from momus_critics.chains.base import ChainCritic
from momus_critics.passages import Passages
from momus_critics.passages.pieces import spans
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
    return momus.Corpus.from_sections(documents, ids=corpus.ids, prompts=corpus.ids, name=name)


def unchanged(sections: Titled, rng: np.random.Generator) -> Titled:
    """Return the sections unchanged."""
    return sections


def shuffled(sections: Titled, rng: np.random.Generator) -> Titled:
    """Put all sections into random order."""
    return [sections[i] for i in rng.permutation(len(sections))]


def swapped(sections: Titled, rng: np.random.Generator) -> Titled:
    """Swap two neighbouring sections."""
    out = list(sections)
    if len(out) > 1:
        i = int(rng.integers(len(out) - 1))
        out[i], out[i + 1] = out[i + 1], out[i]
    return out


def repeated(sections: Titled, rng: np.random.Generator) -> Titled:
    """Repeat one section."""
    i = int(rng.integers(len(sections)))
    return [*sections[: i + 1], *sections[i:]]


def dropped(sections: Titled, rng: np.random.Generator) -> Titled:
    """Drop one section."""
    if len(sections) < 2:
        return sections
    i = int(rng.integers(len(sections)))
    return [*sections[:i], *sections[i + 1 :]]


def some(how: Change, share: float = 0.2) -> Change:
    """Apply a defect to a random share of the documents."""

    def change_some(sections: Titled, rng: np.random.Generator) -> Titled:
        return how(sections, rng) if rng.random() < share else sections

    return change_some


DEFECTS: dict[str, Change] = {
    "unchanged": unchanged,
    "shuffled": shuffled,
    "swapped": swapped,
    "20 % swapped": some(swapped),
    "repeated": repeated,
    "20 % repeated": some(repeated),
    "dropped": dropped,
    "20 % dropped": some(dropped),
}


def show(critic: ChainCritic, label: str, splits: int) -> None:
    """Print each defect's Latent PPL, and its detections over random halves, one real and the other damaged."""
    ercs = change(momus.read_corpus(data() / "ercs.jsonl.gz", name="ercs"), unchanged, "ercs")
    whole = critic.score(ercs)
    print(f"\n{label}: {' '.join(n.text for n in critic.notes())}")
    heads = "".join(f"{name:<16}" for name in compared(critic, whole))
    print(
        f"  {'ERCs':<14}{'Latent PPL':>11}{'/ real':>8}   found at p <= 0.01 in {splits} splits (median p): "
        f"{heads}leading transition"
    )
    for name, how in DEFECTS.items():
        scores = whole if name == "unchanged" else critic.score(change(ercs, how, name))
        p = _over_splits(critic, whole, scores, ercs, splits)
        pairs = _over_splits(critic, whole, scores, ercs, splits, paired=True)
        first = critic.evidence(whole.summary, scores.summary)[0].rows  # type: ignore[union-attr]
        leading = f"{first[0][0]} {first[0][5]}" if first else ""
        counts = "".join(f"{f'{(v <= 0.01).sum():2d} ({np.median(v):.4f})':<16}" for v in p.values())
        ratio = scores.latent_ppl / whole.latent_ppl
        print(f"  {name:<14}{scores.latent_ppl:11.2f}{ratio:8.2f}{'':>49}{counts}{leading}", flush=True)
        each = ", ".join(f"{k} {(v <= 0.01).sum()} ({np.median(v):.4f})" for k, v in pairs.items())
        print(f"  {'':<14}paired, each document against its damaged version: {each}")
        if name == "unchanged":
            alarms = {k: int((v <= 0.05).sum()) for k, v in p.items()}
            print(f"  {'':<14}false alarms at p <= 0.05 in {splits} splits: {alarms}")


def compared(critic: ChainCritic, scores: Scores) -> list[str]:
    """Statistics that are tested: the headline, Latent PPL, disorder and, of passages, the share that returns."""
    names = [headline_of(critic), "latent_ppl", "disorder"]
    return list(dict.fromkeys([*names, "return_share"] if "returns" in scores.rows else names))


def _over_splits(
    critic: ChainCritic, real: Scores, damaged: Scores, corpus: momus.Corpus, splits: int, paired: bool = False
) -> dict[str, NDArray[np.float64]]:
    """Return p-values of one half against the other half, damaged, or if paired, against its own damaged version."""
    row = {name: i for i, name in enumerate(real.ids)}
    found: dict[str, list[float]] = {name: [] for name in compared(critic, real)}
    for seed in range(splits):
        one, other = (np.array([row[i] for i in half.ids]) for half in corpus.split(0.5, seed))
        sides = real.take(one), damaged.take(one if paired else other)
        for v in judge(critic, *sides, paired=paired, seed=seed, permutations=1999, resamples=99):
            if v.statistic in found:
                found[v.statistic].append(1.0 if v.p is None else v.p)
    return {k: np.array(v) for k, v in found.items()}


def agreement(critic: Passages, types: set[str], corpus: momus.Corpus) -> tuple[float, float, int]:
    """NMI of states with true section types, by section (its most frequent state) and by piece; number of sections."""
    titles, states, piece_titles, piece_states = [], [], [], []
    for document, found in zip(corpus, critic.segment(corpus), strict=True):
        # sections joined as the critic joins them; a piece belongs to the section that its middle lies in
        borders = np.cumsum([len(s.text) + 2 for s in document.sections])
        pieces = spans("\n\n".join(s.text for s in document.sections), critic.piece_length)[: critic.max_pieces]
        owner = np.searchsorted(borders, [(a + b) / 2 for a, b in pieces], side="right")
        for i, s in enumerate(document.sections):
            part = found[owner == i]
            title = normalize_title(s.title)
            title = title if title in types else OTHER
            if len(part):
                titles.append(title)
                states.append(int(np.bincount(part).argmax()))
                piece_titles += [title] * len(part)
                piece_states += part.tolist()
    score = normalized_mutual_info_score
    return float(score(titles, states)), float(score(piece_titles, piece_states)), len(titles)


def marks_withheld(eips: momus.Corpus, titles: Sections, device: str, splits: int) -> None:
    """Fit and show `passages`, and the agreement of its states with titles."""
    passages = Passages().to(device).fit(eips)
    show(passages, "no marks (sections joined to running text)", splits)
    by_section, by_piece, n = agreement(passages, set(titles.titles_), momus.read_corpus(data() / "ercs.jsonl.gz"))
    print(f"  states and true types of {n:,} ERC sections: NMI {by_section:.3f} by section, {by_piece:.3f} by piece")


def main() -> None:
    """Fit each posterior and print its results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--expectations", nargs="*", default=["chain", "exact", "map"], help="of the linear posterior")
    parser.add_argument("--encoder", help="folder of an encoder to fine-tune, such as all-MiniLM-L6-v2")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--only-neural", action="store_true", help="skip titles and the linear posterior")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only-passages", action="store_true", help="only running text without marks")
    parser.add_argument("--no-passages", action="store_true", help="only sectioned text")
    a = parser.parse_args()
    eips = momus.read_corpus(data() / "eips.jsonl.gz", name="eips")
    titles = Sections(posterior="titles").fit(eips)
    if not a.only_neural and not a.only_passages:
        show(titles, "titles", a.splits)
    for expectation in () if a.only_neural or a.only_passages else a.expectations:
        show(Sections(expectation=expectation).fit(eips), f"breaks only, linear posterior, {expectation}", a.splits)
    if not a.no_passages:
        marks_withheld(eips, titles, a.device, a.splits)
    if a.encoder:
        options = {"epochs": a.epochs, "rate": 3e-4, "max_tokens": 128, "layers": 3, "batch": 16}
        if a.device != "cpu":
            options = {"epochs": a.epochs, "rate": 5e-5, "max_tokens": 256, "batch": 32}
        encoder = Sections(posterior="transformers", model=a.encoder, options=options).to(a.device)
        start = time.perf_counter()
        encoder.fit(eips)
        print(f"\nencoder fine-tuned in {time.perf_counter() - start:.0f} s: {options}")
        show(encoder, "breaks only, fine-tuned encoder, chain", a.splits)


if __name__ == "__main__":
    main()
