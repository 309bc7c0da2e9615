"""Fit the weights of the offline resolver's decisions on gold chains: the first 50 documents of LitBank.

Decisions are those about pronouns, noun phrases, speakers and addressees. A candidate is right if its last mention
before a pronoun or noun phrase has the gold chain of that mention (a new person is right if no candidate is), or, for
quotations, if most of its mentions so far have the gold chain of the quotation's first "I" or "you". Weights maximise
the softmax likelihood that a right candidate is chosen, with an L2 penalty. Decisions depend on earlier ones, so
linking and fitting alternate. Prints the weights of each round, and the accuracy on the same decisions.

Run:  python benchmarks/reproduce/persons_weights.py [--rounds 2]
Data: ``litbank`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from typing import Any

import numpy as np
from coreference import litbank
from scipy.optimize import minimize

from momus.text.mentions import Resolved
from momus_adapters.persons import speech
from momus_adapters.persons.antecedents import NEW, NOUN, PRONOUN, Candidates
from momus_adapters.persons.mentions import Mention, find, quotations
from momus_adapters.persons.resolver import WE, Linker
from momus_adapters.tagging import load_pipeline, parse

TABLES = {"PRONOUN": PRONOUN, "NOUN": NOUN, "SPEAKER": speech.SPEAKER, "ADDRESSEE": speech.ADDRESSEE}
FIRST_HALF = 50
Decision = tuple[np.ndarray, np.ndarray]
"""Features of the candidates, (c, f), and which of them are right, (c,)."""


class Watched(Linker):
    """A linker that keeps its decisions with the right answers."""

    def __init__(self, doc: Any, gold: Resolved) -> None:
        inside, quotes = quotations(doc)
        super().__init__(doc, find(doc, inside), quotes)
        rows = zip(gold.starts.tolist(), gold.ends.tolist(), gold.entities.tolist(), strict=True)
        self.chain = {(a, b): e for a, b, e in rows}
        self.seen: dict[str, list[Decision]] = defaultdict(list)

    def gold(self, m: Mention) -> int | None:
        """The gold chain of a mention."""
        last = self.doc[m.end - 1]
        return self.chain.get((self.doc[m.start].idx, last.idx + len(last.text)))

    def decide(self, weights: dict[str, float], of: Mention | int, candidates: Candidates) -> int | None:
        """Keep a decision, and make it."""
        name = next(n for n, table in TABLES.items() if table is weights)
        right = self._mention(of, candidates) if isinstance(of, Mention) else self._quotation(name, of, candidates)
        if len(right) > 1 and any(right):
            self.seen[name].append(
                (np.array([[row.get(f, 0.0) for f in weights] for row in candidates.values()]), np.array(right))
            )
        return super().decide(weights, of, candidates)

    def _mention(self, m: Mention, candidates: Candidates) -> list[bool]:
        chain = self.gold(m)
        if chain is None:
            return []
        last = [self.known.before(n, m.head) if n != NEW else -1 for n in candidates]
        right = [at >= 0 and self.gold(self.known.by_head[at]) == chain for at in last]
        if next(iter(candidates), None) == NEW and not any(right):
            right[0] = True
        return right

    def _quotation(self, name: str, quote: int, candidates: Candidates) -> list[bool]:
        form = "first" if name == "SPEAKER" else "second"
        said = (self.gold(m) for m in self.talk.said[quote] if m.form == form and m.words[0] not in WE)
        chain = next((c for c in said if c is not None), None)
        if chain is None:
            return []
        return [self._majority(n) == chain for n in candidates]

    def _majority(self, number: int) -> int | None:
        chains = Counter(self.gold(self.known.by_head[at]) for at in self.known.all[number].places)
        chains.pop(None, None)
        return chains.most_common(1)[0][0] if chains else None


def fitted(decisions: list[Decision], penalty: float) -> np.ndarray:
    """Weights of the largest penalised likelihood, (f,)."""
    features = np.concatenate([x for x, _ in decisions])  # (candidates of all decisions, f)
    right = np.concatenate([y for _, y in decisions])
    sizes = np.array([len(y) for _, y in decisions])
    starts = np.cumsum(sizes) - sizes

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        scores = features @ w
        mass = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
        whole, hit = (np.add.reduceat(v, starts) for v in (mass, mass * right))
        hit = np.maximum(hit, 1e-300)
        slope = mass / np.repeat(whole, sizes) - mass * right / np.repeat(hit, sizes)
        value = (np.log(whole) - np.log(hit)).sum() + penalty * (w**2).sum() / 2
        return float(value), features.T @ slope + penalty * w

    return np.asarray(minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B").x)


def main() -> None:
    """Alternate linking and fitting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--penalty", type=float, default=1.0)
    options = parser.parse_args()
    corpus, gold = litbank()
    nlp = load_pipeline("")
    parsed = [(parse(nlp, [corpus[i].text])[0], gold[corpus[i].id]) for i in range(FIRST_HALF)]
    for number in range(1, options.rounds + 1):
        seen: dict[str, list[Decision]] = defaultdict(list)
        for doc, chains in parsed:
            linker = Watched(doc, chains)
            linker.run()
            for name, decisions in linker.seen.items():
                seen[name] += decisions
        for name, table in TABLES.items():
            weights = fitted(seen[name], options.penalty)
            right = np.mean([y[np.argmax(x @ weights)] for x, y in seen[name]])
            table.update(zip(table, weights.round(2).tolist(), strict=True))  # the next round links with them
            print(f"round {number}, {name}: {right:.3f} of {len(seen[name]):,} decisions right\n   {table}")


if __name__ == "__main__":
    main()
