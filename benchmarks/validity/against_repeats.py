"""Two decodings of one model with several answers per prompt: power of Momus' axes beside single numbers.

    python benchmarks/validity/against_repeats.py --data ../shared/data --out repeats.jsonl

GPT-3 answered 13 prompts ten times (two of them nine times) at temperatures 0.7, 1.0 and 1.2. A draw takes 11 of the
prompts, and 1, 3 or 10 answers to each at either temperature (5 and 5 of one temperature for the level). Every test
exchanges answers within prompts, 999 times (axes 359 times, compression 199 times), at a level of 5 %:

* Momus: axes by `momus.inference.axis_test`, p by Holm over the axes; critics are fitted once on all answers together;
* MMD with the Hamming kernel of the first 1,000 characters, over all answers and, as Gao, Liang & Guestrin (2025) have
  it, over answers to the same prompt; with the cosine of counts of character trigrams;
* MAUVE, the area under the divergence curve of the regions of the critic `mauve`;
* the numbers of the package `diversity`: distinct n-grams of up to four words over all, and the compression ratio.
"""

from __future__ import annotations

import argparse
import json
import re
import tarfile
import time
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
from against import LEVEL, done, dot, hamming, letters, p_of_axis, quick_critics, trigrams
from scipy import sparse

from momus.critic.hooks import settled
from momus.critic.registry import critic_class
from momus.errors import MomusError
from momus.inference import holm
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings
from momus_critics.mauve import frontier_area

TEMPERATURES = ("0_7", "1_0", "1_2")
LEAST, PROMPTS = 9, 11
"""Fewest answers to a prompt at each temperature; prompts of a draw."""
NOT_READ = ("kubernetes",)
"""Answers that hold the line by which answers are told apart."""
RELABELLINGS, SLOWLY = 999, 199


def read(data: Path) -> dict[tuple[str, str], list[str]]:
    """Answers by prompt and temperature."""
    found = {}
    with tarfile.open(data / "decoding" / "gpt3-temperatures.tar.gz") as archive:
        for member in archive.getmembers():
            match = re.fullmatch(r"\./([\w-]+)/output_(\d_\d)\.\w+", member.name)
            file = archive.extractfile(member) if match else None
            if match is None or file is None or match[1] in NOT_READ or match[2] not in TEMPERATURES:
                continue
            parts = re.split(r"^(?:-{3,}|={3,})\s*$", file.read().decode("utf-8"), flags=re.MULTILINE)
            texts = [re.sub(r"^\s*\*\*.*?\*\*", "", p, flags=re.DOTALL).strip() for p in parts]  # without the prompt
            found[match[1], match[2]] = [t for t in texts if t]
    prompts = {p for p, _ in found if all(len(found[p, t]) >= LEAST for t in TEMPERATURES)}
    return {key: texts[:10] for key, texts in found.items() if key[0] in prompts}


def n_grams(words: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


class Peers:
    """Numbers of all answers, from which the tests of a draw are made."""

    def __init__(self, texts: list[str], regions: np.ndarray) -> None:
        self.texts = texts
        coded = letters(texts)
        self.hamming, self.trigram = hamming(coded, coded), dot(trigrams(texts), trigrams(texts))
        self.regions = regions
        grams = [Counter(g for n in range(1, 5) for g in n_grams(t.split(), n)) for t in texts]
        number: dict[tuple[str, ...], int] = {}
        cells = [(i, number.setdefault(g, len(number)), c) for i, of in enumerate(grams) for g, c in of.items()]
        rows, columns, counts = np.array(cells).T
        self.grams = sparse.csr_array((counts, (rows, columns)), shape=(len(texts), len(number)))
        self.order = np.array([len(g) for g in number])

    def p(self, chosen: np.ndarray, sides: np.ndarray, blocks: np.ndarray) -> dict[str, float]:
        """p of each test; ``sides`` are labels of the chosen answers, the real ones first, (1 + B, n)."""
        inside = blocks[:, None] == blocks[None, :]
        found = {
            "MMD, Hamming": self._mmd(self.hamming, chosen, sides, None),
            "MMD, Hamming within prompts": self._mmd(self.hamming, chosen, sides, inside),
            "MMD, trigrams": self._mmd(self.trigram, chosen, sides, None),
            "MAUVE": -frontier_area((1 - sides) @ self.regions[chosen], sides @ self.regions[chosen]),
        }
        found["n-gram diversity"] = np.abs(np.subtract(*(self._distinct(s, chosen) for s in (sides, 1 - sides))))
        few = sides[: 1 + SLOWLY]
        found["compression ratio"] = np.abs([self._ratio(chosen[s > 0]) - self._ratio(chosen[s < 1]) for s in few])
        return {name: float(np.mean(x >= x[0] - 1e-12)) for name, x in found.items()}

    def _mmd(self, kernel: np.ndarray, chosen: np.ndarray, sides: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
        k = kernel[np.ix_(chosen, chosen)] * (1.0 if mask is None else mask)
        np.fill_diagonal(k, 0.0)
        s = 2 * sides - 1
        return np.einsum("ri,ri->r", s @ k, s)

    def _distinct(self, sides: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Sum over n of distinct ÷ all n-grams of the answers on one side, (1 + B,)."""
        table = self.grams[chosen].tocsc()
        kept = np.flatnonzero(np.diff(table.indptr))
        table, order = table[:, kept], self.order[kept]
        value = np.zeros(len(sides))
        for n in range(1, 5):
            part = table[:, np.flatnonzero(order == n)]
            for i in range(0, len(sides), 100):
                counts = (part.T @ sides[i : i + 100].T).T
                value[i : i + 100] += (counts > 0).sum(axis=1) / counts.sum(axis=1)
        return value

    def _ratio(self, rows: np.ndarray) -> float:
        data = " ".join(self.texts[i] for i in rows).encode()
        return len(data) / len(zlib.compress(data))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("repeats.jsonl"))
    parser.add_argument("--draws", type=int, default=50)
    a = parser.parse_args()
    answers = read(a.data)
    keys = [(p, t, i) for (p, t), texts in sorted(answers.items()) for i in range(len(texts))]
    texts = [answers[p, t][i] for p, t, i in keys]
    whole = Corpus.from_texts(texts, [f"{p} {t} {i}" for p, t, i in keys], [p for p, _, _ in keys], "all")
    prompts = sorted({p for p, _, _ in keys})
    scored = {}
    for critic in [*quick_critics(), critic_class("mauve")()]:
        try:
            critic.fit(whole)
            settled(critic, [whole])
            scored[critic.name] = critic, critic.score(whole)
        except MomusError as error:
            print(f"{critic.name}: left out: {error.message[:80]}", flush=True)
    regions = next(iter(scored.pop("mauve")[1].rows.values()))
    peers = Peers(texts, np.asarray(regions.matrix.toarray() if hasattr(regions, "matrix") else regions))
    print(f"{len(texts)} answers to {len(prompts)} prompts; {len(scored)} axes", flush=True)
    found = done(a.out)
    known = {(r["one"], r["other"], r["k"], r["draw"]) for r in found}
    cells = [(x, y, k) for k in (1, 3, 10) for i, x in enumerate(TEMPERATURES) for y in TEMPERATURES[i:]]
    for draw in range(a.draws):
        for one, other, k in cells:
            if (one, other, k, draw) in known:
                continue
            rng = np.random.default_rng([draw, k, TEMPERATURES.index(one), TEMPERATURES.index(other)])
            rows: list[int] = []
            sides: list[int] = []
            for p in rng.choice(prompts, PROMPTS, replace=False):
                at = [[n for n, key in enumerate(keys) if key[:2] == (p, t)] for t in (one, other)]
                if one == other:  # halves of one temperature
                    mixed = rng.permutation(at[0])
                    at = [list(mixed[: len(mixed) // 2]), list(mixed[len(mixed) // 2 :])]
                for side, of in enumerate(at):
                    drawn = rng.permutation(of)[:k].tolist()
                    rows += drawn
                    sides += [side] * len(drawn)
            row = test(scored, peers, keys, np.array(rows), np.array(sides, dtype=float), rng)
            row |= {"one": one, "other": other, "k": k, "draw": draw}
            found.append(row)
            with a.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
        if (draw + 1) % 10 == 0:
            report(found)
    report(found)


def test(scored: dict, peers: Peers, keys: list, rows: np.ndarray, sides: np.ndarray, rng: np.random.Generator) -> dict:
    """p of all axes and of the other tests on one draw."""
    start = time.perf_counter()
    ps = {}
    for name, (critic, scores) in scored.items():
        a, b = (scores.take(np.sort(rows[sides == k]), n) for k, n in ((0, "old"), (1, "new")))
        ps[name] = p_of_axis(critic, a, b, Settings())
    spent = time.perf_counter() - start
    blocks = np.unique([keys[i][0] for i in rows], return_inverse=True)[1]
    labels = np.empty((1 + RELABELLINGS, len(rows)))
    labels[0] = sides
    for block in np.unique(blocks):
        inside = np.flatnonzero(blocks == block)
        labels[1:, inside] = rng.permuted(np.tile(sides[inside], (RELABELLINGS, 1)), axis=1)
    return {"p": ps, "peers": peers.p(rows, labels, blocks), "seconds": spent}


def report(found: list[dict]) -> None:
    """Share of draws that are told apart, by answers per prompt."""
    for k in (1, 3, 10):
        for pair in sorted({(r["one"], r["other"]) for r in found}):
            rows = [r for r in found if r["k"] == k and (r["one"], r["other"]) == pair]
            if not rows:
                continue
            tests = {"Momus": np.mean([holm(list(r["p"].values())).min() <= LEVEL for r in rows])}
            tests |= {n: np.mean([r["peers"][n] <= LEVEL for r in rows]) for n in rows[0]["peers"]}
            print(
                f"k = {k}, {pair[0]} | {pair[1]}, {len(rows)} draws:", {n: round(float(x), 3) for n, x in tests.items()}
            )
    print(flush=True)


if __name__ == "__main__":
    main()
