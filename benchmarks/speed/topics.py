"""The correlated topic model compared with ``tomotopy``'s in one run: fit, held-out likelihood, inference, memory.

Texts: novels cut into chapters of about 1,000 words, and EIPs with ERCs. Both sides get the same counts. Held-out
likelihood is by document completion: the topics of a document are inferred from a random half of its tokens, and the
other half is scored as Σ log Σ_k θ_k φ_kv (Wallach et al. 2009), by the same code for both sides, with θ of each side.

Run:  python benchmarks/speed/topics.py [--texts eips] [--topics 50] [--workers 1]     (peer: pip install tomotopy)
Data: the folders ``litbank`` and ``sectioned`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.special import softmax

import momus
from momus.text.tokens import get_tokenizer
from momus.text.vocabulary import VocabularyRules, build_vocabulary, count_words
from momus_critics.stopword_lists import stopwords
from momus_critics.topics.fitting import Model, Options, completed, fit, halves, infer, log_likelihoods


def data() -> Path:
    """Find the folder of real data."""
    named = os.environ.get("MOMUS_DATA")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"


def load(texts: str) -> momus.Corpus:
    """Read chapters of novels, or proposals."""
    if texts == "eips":
        found = [momus.read_corpus(data() / "sectioned" / f) for f in ("eips.jsonl.gz", "ercs.jsonl.gz")]
        return momus.Corpus.from_texts([d.text for c in found for d in c], name="eips")
    chapters = []
    for novel in momus.read_corpus(data() / "litbank" / "novels.jsonl.gz"):
        words = novel.text.split()
        chapters += [" ".join(words[i : i + 1000]) for i in range(0, len(words) - 500, 1000)]
    return momus.Corpus.from_texts(chapters, name="novels")


def simulated(documents: int, topics: int) -> sparse.csr_array:
    """Draw documents of 200 words from a known process over 20,000 words; returns counts (documents, 20,000)."""
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(20_000, 0.02), size=topics)
    cumulated = phi.cumsum(axis=1)
    theta = softmax(2 * rng.normal(size=(documents, topics)), axis=1).cumsum(axis=1)
    ids = np.empty((documents, 200), dtype=np.int64)
    for i in range(documents):
        z = np.minimum(np.searchsorted(theta[i], rng.random(200)), topics - 1)
        u = rng.random(200)
        for k in np.unique(z):
            ids[i, z == k] = np.minimum(np.searchsorted(cumulated[k], u[z == k]), 19_999)
    offsets = np.arange(documents + 1) * 200
    counts = sparse.csr_array((np.ones(ids.size), ids.ravel(), offsets), shape=(documents, 20_000))
    counts.sum_duplicates()
    return counts


def words_of(counts: sparse.csr_array) -> list[list[str]]:
    """Return documents as lists of word numbers, for the peer."""
    rows = zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    return [
        [str(v) for v, c in zip(counts.indices[a:b], counts.data[a:b], strict=True) for _ in range(int(c))]
        for a, b in rows
    ]


def ours(a: argparse.Namespace, train: sparse.csr_array, test: tuple[sparse.csr_array, sparse.csr_array]) -> None:
    """Fit and score our model, and print held-out likelihood during the fit."""
    options = Options(a.topics, steps=a.steps, seed=0, point=a.point, device=a.device)
    began = time.perf_counter()
    spent = [0.0]
    curve = []

    def report(step: int, model: Model) -> None:
        nonlocal began
        spent[0] += time.perf_counter() - began
        if step % 5 == 0:
            curve.append((step, spent[0], score(model)))
        began = time.perf_counter()

    def score(model: Model) -> float:
        return float(completed(model, test, options).sum() / test[1].sum())

    model = fit(train, options, report=report)
    for step, seconds, value in curve:
        print(f"  ours, step {step:3d}: {seconds:7.1f} s, {value:.4f} nats per held-out token")
    for rounds in (1, 2, 5, 20, 60):
        start = time.perf_counter()
        lam, _, _ = infer(test[0], model.weights, model.mean, model.covariance, options, rounds)
        seconds = time.perf_counter() - start
        theta = softmax(np.concatenate([lam, np.zeros((len(lam), 1))], axis=1), axis=1)
        value = log_likelihoods(theta, model.phi, test[1]).sum() / test[1].sum()
        print(f"  ours: inference of {len(lam):,} documents, {rounds} rounds: {seconds:.2f} s, {value:.4f}")


def peer(a: argparse.Namespace, train: sparse.csr_array, test: tuple[sparse.csr_array, sparse.csr_array]) -> None:
    """Fit and score tomotopy's model in the same way."""
    import tomotopy  # type: ignore[import-not-found]

    model = tomotopy.CTModel(k=a.topics, seed=1)
    for words in words_of(train):
        model.add_doc(words)
    spent = 0.0
    size = train.shape[1]
    for iterations in range(a.every, a.iterations + 1, a.every):
        start = time.perf_counter()
        model.train(a.every, workers=a.workers)
        spent += time.perf_counter() - start
        phi = np.zeros((a.topics, size))
        order = np.array([int(w) for w in model.used_vocabs])
        for k in range(a.topics):
            phi[k, order] = model.get_topic_word_dist(k)
        phi = (phi + 1e-9) / (phi + 1e-9).sum(axis=1, keepdims=True)
        docs = [model.make_doc(w) if w else None for w in words_of(test[0])]
        start = time.perf_counter()
        known = [d for d in docs if d is not None]
        found, _ = model.infer(known, workers=a.workers, iterations=100)
        inference = time.perf_counter() - start
        theta = np.full((test[0].shape[0], a.topics), 1 / a.topics)
        theta[[i for i, d in enumerate(docs) if d is not None]] = np.array(found)
        value = log_likelihoods(theta, phi, test[1]).sum() / test[1].sum()
        print(
            f"  tomotopy, {iterations:4d} iterations: {spent:7.1f} s, {value:.4f}; inference {inference:.2f} s",
            flush=True,
        )


def main() -> None:
    """Compare both models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", choices=("novels", "eips", "simulated"), default="eips")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--point", action="store_true", help="point estimates instead of Dirichlet posteriors of words")
    parser.add_argument("--iterations", type=int, default=200, help="iterations of the peer; 0 skips it")
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    a = parser.parse_args()
    if a.texts == "simulated":
        begun = time.perf_counter()
        counts = simulated(100_000, a.topics)
        print(
            f"100,000 documents of 200 words, K = {a.topics}, made in {time.perf_counter() - begun:.0f} s", flush=True
        )
        begun = time.perf_counter()
        model = fit(counts, Options(a.topics, steps=a.steps, seed=0, device=a.device))
        seconds = time.perf_counter() - begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"  ours: {len(model.curve)} steps in {seconds:.0f} s, peak memory {peak:.2f} GB, data included")
        return
    corpus = load(a.texts)
    train_text, test_text = corpus.split(0.8, 0, ("train", "test"))
    table = train_text.tokens(get_tokenizer("words"))
    vocabulary = build_vocabulary(table, VocabularyRules(dropped=stopwords("en")))
    train = count_words(table, vocabulary)
    train = sparse.csr_array(train[np.flatnonzero(np.diff(train.indptr))])
    test = halves(count_words(test_text.tokens(get_tokenizer("words")), vocabulary), 0)
    print(
        f"{a.texts}: {train.shape[0]:,} documents to fit, {test[0].shape[0]:,} held out, {train.shape[1]:,} words, "
        f"{int(train.sum()):,} tokens, K = {a.topics}, {a.workers} workers"
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ours(a, train, test)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"  ours: peak memory {after / 2**20:.2f} GB ({(after - before) / 2**20:.2f} GB more than the data)")
    if a.iterations:
        peer(a, train, test)


if __name__ == "__main__":
    main()
