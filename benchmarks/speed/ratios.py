"""Momus beside the fastest packages for the same computation, on equal inputs and one thread, in one run: a table.

1. Semi-Markov model: log-partition of a forward pass, beside ``flash-semicrf`` (streaming) and ``torch-struct``. Values
   must agree to 1e-4.
2. MinHash: 64 hashes of the same shingles, beside ``rensa``.
3. Correlated topics: fitted until held-out tokens are as likely as after 100 iterations of ``tomotopy``, one worker.
4. MAUVE: clusters, histograms and area from given features of 1,000 | 1,000 documents, beside ``mauve-text``.

Run:  OMP_NUM_THREADS=1 python benchmarks/speed/ratios.py [semi-markov minhash topics mauve]
Needs: pip install --no-deps flash-semicrf==0.2.0 torch-struct tomotopy==0.14.0 rensa==0.5.0 mauve-text==0.4.0; pip
install faiss-cpu. What is not installed is said and left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

HEAD = "| computation | Momus | beside | ratio |\n|---|---:|---:|---:|"


def best(work: Callable[[], Any], rounds: int = 3) -> tuple[float, Any]:
    """Least wall-clock seconds of some runs, and what the last returned."""
    seconds, result = [], None
    for _ in range(rounds):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def line(what: str, ours: float, package: str, theirs: float) -> None:
    """Print a line of the table."""
    print(f"| {what} | {ours:.3f} s | `{package}` {theirs:.3f} s | {theirs / ours:.1f} |", flush=True)


def semi_markov() -> None:
    """Log-partitions by three packages."""
    import torch
    from hsmm import inputs, peer_potentials, scorer

    from momus_critics.hsmm import forward

    for states in (24, 100, 256):
        size = (states, 64, 11, 1)
        p, each = inputs(*size)
        lengths = torch.tensor([64])
        with torch.no_grad():
            ours, value = best(lambda: forward(p, scorer(each), lengths).log_likelihood)  # noqa: B023
        what = f"semi-Markov forward pass, {states} states × 64 × 11"
        try:
            from flash_semicrf.streaming import semi_crf_streaming_forward as streaming
        except ImportError:
            print("flash-semicrf is not installed")
        else:
            # its first segment comes from any state: what that adds is taken off the first boundary again
            boundaries = torch.zeros(2, 1, 64, states, dtype=torch.float64)
            boundaries[0, :, 0] = p.initial.double() - p.transition.double().logsumexp(dim=0)
            boundaries[1, :, 63] = p.final.double()
            total = torch.cat([torch.zeros(1, 1, states), each], dim=1).double().cumsum(dim=1)
            model = p.transition.double(), p.duration.T.contiguous().double()
            ends = {"proj_start": boundaries[0], "proj_end": boundaries[1]}
            with torch.no_grad():
                theirs, other = best(lambda: streaming(total, *model, lengths, 11, **ends))  # noqa: B023
            assert abs(float(value) - float(other)) < 1e-4 * abs(float(other)), (value, other)
            line(what, ours, "flash-semicrf", theirs)
        if states == 24:
            try:
                from torch_struct.semimarkov import SemiMarkov  # type: ignore[import-not-found]
            except ImportError:
                print("torch-struct is not installed")
                continue
            edges = peer_potentials(p, each)
            theirs, other = best(lambda: SemiMarkov().logpartition(edges)[0].detach(), 1)  # noqa: B023
            assert abs(float(value) - float(other)) < 1e-4 * abs(float(other)), (value, other)
            line(what, ours, "torch-struct", theirs)


def minhash() -> None:
    """Signatures of the same shingles."""
    import rensa
    from checks import made_corpus

    from momus.text.shingles import batches, shingles_of, signatures_of, word_hashes
    from momus.text.tokens import get_tokenizer

    for documents, length in ((1_000, 500), (20_000, 26)):
        table = made_corpus("a", documents, 0, length).tokens(get_tokenizer("words"))
        words = word_hashes(table)
        parts = [shingles_of(table.slice(a, b), words) for a, b in batches(table)]
        ours, _ = best(lambda: [signatures_of(s) for s in parts])  # noqa: B023
        what = f"MinHash, 64 hashes, {documents:,} documents of {length} words"
        digest = rensa.RMinHash.digest_matrix_from_flat_token_hashes
        theirs, _ = best(lambda: [digest(s.values, s.offsets.astype(np.uint64), 64, 42) for s in parts])  # noqa: B023
        line(what, ours, "rensa", theirs)
        theirs, _ = best(
            lambda: [
                np.array(digest(s.values, s.offsets.astype(np.uint64), 64, 42).to_rows(), dtype=np.uint32)  # noqa: B023
                for s in parts  # noqa: B023
            ]
        )
        line(f"{what}, as an array", ours, "rensa", theirs)


def topics() -> None:
    """Fits of the correlated topic model to one held-out likelihood."""
    import tomotopy  # type: ignore[import-not-found]
    from topics import simulated, words_of

    from momus_critics.topics.fitting import Options, completed, fit, halves, log_likelihoods

    count = 20
    counts = simulated(1_200, count)
    train, test = counts[:1_000], halves(counts[1_000:], 0)
    model = tomotopy.CTModel(k=count, seed=1)
    for words in words_of(train):
        model.add_doc(words)
    theirs, _ = best(lambda: model.train(100, workers=1), 1)
    phi = np.zeros((count, train.shape[1]))
    order = np.array([int(w) for w in model.used_vocabs])
    for k in range(count):
        phi[k, order] = model.get_topic_word_dist(k)
    phi = (phi + 1e-9) / (phi + 1e-9).sum(axis=1, keepdims=True)
    theta, _ = model.infer([model.make_doc(w) for w in words_of(test[0])], workers=1, iterations=100)
    bar = log_likelihoods(np.array(theta), phi, test[1]).sum() / test[1].sum()
    options = Options(count, steps=40, seed=0)
    spent, reached, began = 0.0, float("nan"), time.perf_counter()

    def report(step: int, found: Any) -> None:
        nonlocal spent, reached, began
        spent += time.perf_counter() - began
        if np.isnan(reached) and completed(found, test, options).sum() / test[1].sum() >= bar:
            reached = spent
        began = time.perf_counter()

    fitted = fit(train, options, report=report)
    value = completed(fitted, test, options).sum() / test[1].sum()
    line(
        f"correlated topics, 1,000 documents of 200 words, K = {count}, to {bar:.3f} nats", reached, "tomotopy", theirs
    )
    print(f"at the end: Momus {value:.3f} nats per held-out token after {spent:.1f} s")


def area() -> None:
    """MAUVE of given features."""
    import mauve  # type: ignore[import-not-found]

    from momus import Corpus
    from momus_critics.mauve import Mauve, gap

    rng = np.random.default_rng(0)
    mixture = rng.normal(size=(60, 384))
    real, generated = (m[rng.integers(0, k, 1_000)] + rng.normal(size=(1_000, 384)) for m, k in ((mixture, 60),) * 2)
    texts = {"real": real, "generated": generated}
    corpora = {n: Corpus.from_texts([f"{n} {i}" for i in range(1_000)], name=n) for n in texts}

    class Given:
        """Gives the features of these corpora."""

        device = "cpu"

        def fit(self, documents: list[str]) -> Given:
            return self

        def embed(self, documents: list[str]) -> Any:
            return np.array([texts[name][int(i)] for name, i in (d.split() for d in documents)])

    def ours() -> float:
        critic = Mauve(n_states=100, clusterings=1)
        critic.component = lambda attribute: Given()  # type: ignore[method-assign,assignment,return-value]
        critic.fit(corpora["real"])
        p, q = (critic.score(c).rows["regions"].sum(axis=0)[None] for c in corpora.values())
        return float(gap(p, q)[0])

    mine, value = best(ours)
    theirs, found = best(
        lambda: mauve.compute_mauve(p_features=real, q_features=generated, num_buckets=100, seed=0, verbose=False)
    )
    line("MAUVE of given features, 1,000 × 1,000 × 384, 100 clusters", mine, "mauve-text", theirs)
    print(f"1 − MAUVE: {value:.3f} here (clusters of real text), {1 - found.mauve:.3f} there (of both)")


def main() -> None:
    """Print the table."""
    kinds: dict[str, Callable[[], None]] = {
        "semi-markov": semi_markov,
        "minhash": minhash,
        "topics": topics,
        "mauve": area,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[*kinds, []], default=[])
    a = parser.parse_args()
    print(HEAD)
    for name in a.what or kinds:
        try:
            kinds[name]()
        except ImportError as error:
            print(f"{name}: {error.name} is not installed")


if __name__ == "__main__":
    main()
