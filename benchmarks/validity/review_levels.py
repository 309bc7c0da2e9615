"""Human documents that `momus review` calls odd at .05, over many bodies; and by register, in bodies of several.

One body says little: 120 documents that calibrate let the share vary with a standard deviation of .02 about its mean.
So human documents of each register of ``registers`` and ``rewrites`` (``MOMUS_DATA``) are assigned at random,
``--bodies`` times, to a body (200, or 120 of ``rewrites``) and others (400, or 80). Then bodies of 100 documents of
each of five registers judge 100 others of each, and 60 of models: by the whole body, and ``by`` the register.

    nice python benchmarks/validity/review_levels.py [--bodies 20] [--mixed 4]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from review import LARGE, LEVEL, documents

from momus.review import fit_body, review
from momus.text.corpus import Corpus
from momus.text.documents import Document, Section

MIXED = ("xsum", "yelp_review", "arxiv", "PersonalCommunication", "LegalDocument")
Pairs = Sequence[tuple[str, str]]


def corpus(texts: Pairs, register: str) -> list[Document]:
    """Documents of a register, with distinct ids."""
    fields = {"register": register}
    return [Document(f"{register}:{i}", (Section(text),), False, fields=fields) for i, (_, text) in enumerate(texts)]


def levels(human: Pairs, register: str, bodies: int, large: bool) -> str:
    """A line of the table: the share over bodies, by quarter of length, and the share of bodies above .07."""
    size, others = (200, 400) if large else (120, 80)
    shares, quarters = [], []
    for seed in range(bodies):
        order = np.random.default_rng(1000 + seed).permutation(len(human))[: size + others]
        dealt = corpus([human[i] for i in order], register)
        body = fit_body(Corpus.from_documents(dealt[:size], register))
        judged = review(Corpus.from_documents(dealt[size:], "new"), body, LEVEL).documents
        odd, words = (np.array([of(d) for d in judged]) for of in (lambda d: d.odd(LEVEL), lambda d: d.words))
        quarter = np.searchsorted(np.quantile(words, [0.25, 0.5, 0.75]), words, side="right")
        shares.append(odd.mean())
        quarters.append([odd[quarter == q].mean() for q in range(4)])
    half = 1.96 * np.std(shares, ddof=1) / bodies**0.5
    by_length = " ".join(f"{share:.3f}" for share in np.mean(quarters, axis=0))
    mean, above = np.mean(shares), np.mean(np.array(shares) > 0.07)
    return f"| {register} | {size} | {mean:.3f} ± {half:.3f} | {np.std(shares):.3f} | {above:.2f} | {by_length} |"


def mixed(texts: dict[str, dict[str, list[tuple[str, str]]]], bodies: int) -> list[str]:
    """Lines of the table of bodies of several registers."""
    counts: dict[tuple[str, str, str], list[float]] = {}
    for seed in range(bodies):
        rng = np.random.default_rng(2000 + seed)
        of_body, new = [], []
        for register in MIXED:
            writers = {name: [rows[i] for i in rng.permutation(len(rows))] for name, rows in texts[register].items()}
            human = writers.pop("human")
            models = [d for rows in writers.values() for d in rows[: 60 // len(writers)]]
            dealt = corpus([*human[:200], *models], register)
            of_body += dealt[:100]
            new += dealt[100:]
        body = fit_body(Corpus.from_documents(of_body, "mixed"))
        of_human = np.array([int(d.id.split(":")[1]) < 200 for d in new])
        for way in ("", "register"):
            judged = review(Corpus.from_documents(new, "new"), body, LEVEL, by=way).documents
            odd = np.array([d.odd(LEVEL) for d in judged])
            for register in MIXED:
                mine = np.array([d.fields["register"] == register for d in new])
                for side, rows in (("human", mine & of_human), ("models", mine & ~of_human)):
                    counts.setdefault((register, side, way), []).append(float(odd[rows].mean()))
    columns = [(side, way) for side in ("human", "models") for way in ("", "register")]
    return [f"| {r} | " + " | ".join(f"{np.mean(counts[r, s, w]):.3f}" for s, w in columns) + " |" for r in MIXED]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bodies", type=int, default=20)
    parser.add_argument("--mixed", type=int, default=4)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/review-levels.md"))
    options = parser.parse_args()
    texts = documents()
    lines = [
        "# Human documents that are odd at .05, over bodies",
        "",
        f"`benchmarks/validity/review_levels.py`: mean share over {options.bodies} bodies, 95 % interval; standard",
        "deviation between bodies; share of bodies in which it is above .07; by quarter of length.",
        "",
        "| register | body | human, odd | between bodies | above .07 | quarters of length |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for register, of in texts.items():
        lines.append(levels(of["human"], register, options.bodies, register in LARGE))
        print(lines[-1], flush=True)
    lines += [
        "",
        f"Bodies of 100 documents of each of {len(MIXED)} registers, mean of {options.mixed}: by all, and by register.",
        "",
        "| register | human, by all | human, by register | models, by all | models, by register |",
        "|---|---:|---:|---:|---:|",
        *mixed(texts, options.mixed),
    ]
    print("\n".join(lines[-len(MIXED) :]))
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
