"""Code mixing: mixed and switched languages in German, French and Spanish manual pages with aligned paragraphs.

The critic is fitted on one half of the pages, with one document per page and language; the other half is scored. A
mixture draws each word from one of the three languages at random. A switch changes to another language at mid-length.

1. Each topic is one language: share of a topic's tokens (of held-out pages) in its main language, ≥ 0.99.
2. Mixed against pure pages by the mixing index: area under the ROC curve, ≥ 0.99; also by paragraph.
3. The detected switch is within 5 words of the true one on average.
4. Fitting methods on equal counts: our Gibbs sampler, gensim (variational), tomotopy (collapsed Gibbs, if installed):
   held-out completion, purity, time, and whether a second run gives the same result.
5. Generators (Deng et al. 2022, appendix C): English paragraphs translated word by word, each word alone or given the
   words before it, compared with translations by people: Latent NLL, mixing index, switches of language.

Run:  python benchmarks/reproduce/code_mixing.py [--only generators]

Data: ``code-mixing`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score
from word_translation import WordTranslation

import momus
from momus import Corpus
from momus.numeric.ragged import offsets_of
from momus.text.tokens import get_tokenizer
from momus.text.vocabulary import VocabularyRules, build_vocabulary, count_words
from momus_critics.code_mixing import CodeMixing, lda
from momus_critics.fits.mixtures import mixtures
from momus_critics.stopword_lists import stopwords
from momus_critics.topics.fitting import halves, log_likelihoods

LANGUAGES = ("de", "fr", "es")
Rows = list[dict[str, str]]


def data() -> Path:
    """Find the folder of real data."""
    named = os.environ.get("MOMUS_DATA")
    return (Path(named) if named else Path(__file__).parents[3] / "shared" / "data") / "code-mixing"


def pages(paragraphs: Rows) -> Rows:
    """Join the paragraphs of each page."""
    groups = defaultdict(list)
    for row in paragraphs:
        groups[row["page"]].append(row)
    return [{k: "\n\n".join(r[k] for r in g) for k in LANGUAGES} for g in groups.values()]


def translated(row: dict[str, str]) -> bool:
    """Whether no version has more stopwords of another language than of its own; some were left in English."""
    lists = {k: stopwords(k) for k in (*LANGUAGES, "en")}
    for own in LANGUAGES:
        words = row[own].lower().split()
        counts = {k: sum(w in found for w in words) for k, found in lists.items()}
        if max(counts.values()) > counts[own]:
            return False
    return True


def pure(rows: Rows, name: str) -> Corpus:
    """One document per row and language."""
    return Corpus.from_texts([row[k] for row in rows for k in LANGUAGES], name=name)


def mixture(row: dict[str, str], rng: np.random.Generator) -> str:
    """Draw each word from a random language."""
    words = [row[k].split() for k in LANGUAGES]
    n = min(map(len, words))
    return " ".join(words[k][i] for i, k in enumerate(rng.integers(3, size=n)))


def purity(critic: CodeMixing, rows: Rows) -> tuple[list[float], float, float]:
    """Share of tokens in their topic's main language, by topic and overall; the same for documents by main topic."""
    latents = critic.project(pure(rows, "pages"))
    each = latents.counts.mean(axis=(1, 2)).reshape(len(rows), len(LANGUAGES), -1)
    tokens = each.sum(axis=0)
    main = tokens.argmax(axis=0)
    right = main[each.argmax(axis=2)] == np.arange(len(LANGUAGES))
    whole = tokens.max(axis=0).sum() / tokens.sum()
    return [float(x) for x in tokens.max(axis=0) / tokens.sum(axis=0)], float(whole), float(right.mean())


def told_apart(critic: CodeMixing, rows: Rows, least: int, rng: np.random.Generator) -> str:
    """Area under the ROC curve of the mixing index, with a bootstrap interval over documents."""
    mixed = Corpus.from_texts([mixture(row, rng) for row in rows], name="mixed")
    index = []
    for corpus in (pure(rows, "pure"), mixed):
        enough = np.diff(critic.known(corpus).offsets) >= least
        index.append(critic.score(corpus).rows["mixing"][enough, 0])
    truth = np.repeat([0, 1], [len(x) for x in index])
    values = np.concatenate(index)
    area = roc_auc_score(truth, values)
    draws = []
    for _ in range(500):
        i = [rng.choice(len(x), len(x)) for x in index]
        draws.append(roc_auc_score(truth, np.concatenate([x[j] for x, j in zip(index, i, strict=True)])))
    low, high = np.quantile(draws, (0.025, 0.975))
    return f"AUC {area:.4f} [{low:.4f}, {high:.4f}], n = {len(index[0]):,} pure and {len(index[1]):,} mixed"


def switches(critic: CodeMixing, rows: Rows, least: int) -> str:
    """Mean distance, in tokens, between the true switch at mid-length and the nearest detected one."""
    gaps, counts = [], []
    for i, row in enumerate(rows):
        first, second = (row[LANGUAGES[(i + k) % 3]].split() for k in (0, 1))
        half = min(len(first), len(second)) // 2
        if half < least:
            continue
        parts = [" ".join(first[:half]), " ".join(second[half : 2 * half])]
        document = Corpus.from_texts([" ".join(parts)])
        true = int(Corpus.from_texts([parts[0]]).tokens(critic.tokenizer).lengths[0])
        found = [s.start for s in critic.spans(document)[1:]]
        gaps.append(min((abs(s - true) for s in found), default=true))
        counts.append(len(found))
    error = np.std(gaps) / np.sqrt(len(gaps))
    return (
        f"off by {np.mean(gaps):.2f} ± {1.96 * error:.2f} tokens on average, median {np.median(gaps):.0f} (n = "
        f"{len(gaps)}); {np.mean(counts):.2f} switches detected per document (1 is true)"
    )


def ways(fit_rows: Rows, test_rows: Rows) -> None:
    """Compare fitting methods."""
    critic = CodeMixing(n_topics=3)
    corpus, held = pure(fit_rows, "fit"), pure(test_rows, "held out")
    critic.vocabulary_ = build_vocabulary(
        corpus.tokens(critic.tokenizer), VocabularyRules(2, most_documents=1.0, without=())
    )
    tokens, size = critic.known(corpus), len(critic.vocabulary_)
    first, second = halves(count_words(held.tokens(critic.tokenizer), critic.vocabulary_), 0)

    def ours(seed: int) -> tuple[np.ndarray, np.ndarray]:
        starts = mixtures(count_words(corpus.tokens(critic.tokenizer), critic.vocabulary_), 3, seed, 24)[:4]
        found = lda.fit_best(tokens, starts, 0.01, 200, seed)
        return found.alpha, found.phi

    def gensim(seed: int) -> tuple[np.ndarray, np.ndarray]:
        from gensim.models import LdaModel

        counts = count_words(corpus.tokens(critic.tokenizer), critic.vocabulary_)
        bags = [
            list(zip(counts.indices[a:b].tolist(), counts.data[a:b].astype(int).tolist(), strict=True))
            for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
        ]
        names = {i: str(i) for i in range(size)}
        model = LdaModel(bags, 3, names, alpha="auto", eta=0.01, passes=20, random_state=seed)
        return np.asarray(model.alpha, dtype=float), np.asarray(model.get_topics(), dtype=float)

    def tomotopy(seed: int) -> tuple[np.ndarray, np.ndarray]:
        import tomotopy  # type: ignore[import-not-found]

        model = tomotopy.LDAModel(k=3, alpha=1 / 3, eta=0.01, seed=seed + 1)
        for a, b in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True):
            model.add_doc([str(w) for w in tokens.words[a:b]])
        model.train(600, workers=1)
        order = np.array([int(w) for w in model.used_vocabs])
        phi = np.full((3, size), 1e-12)
        for k in range(3):
            phi[k, order] = model.get_topic_word_dist(k)
        return np.asarray(model.alpha, dtype=float), phi

    for name, fit in (
        ("our Gibbs sampler", ours),
        ("gensim, 20 passes", gensim),
        ("tomotopy, 600 iterations", tomotopy),
    ):
        try:
            begun = time.perf_counter()
            found = [fit(seed) for seed in (0, 0, 1, 2)]
            seconds = (time.perf_counter() - begun) / 4
        except ImportError:
            print(f"   {name}: not installed")
            continue
        lines = []
        for alpha, phi in found[1:]:
            model = CodeMixing(n_topics=3).adopt(alpha, phi, critic.vocabulary_, name)
            theta = _theta(model, first)
            value = log_likelihoods(theta, model.phi_, second).sum() / second.sum()
            lines.append(f"{value:.4f} (purity {purity(model, test_rows)[1]:.3f})")
        same = np.array_equal(found[0][1], found[1][1])
        print(f"   {name}: {seconds:.1f} s per fit; same twice: {same}; nats per held-out token: {', '.join(lines)}")


def _theta(model: CodeMixing, counts: object) -> np.ndarray:
    from momus_critics.code_mixing.lda import Sampling, Tokens, sample

    words = np.repeat(counts.indices, counts.data.astype(int)).astype(np.int64)  # type: ignore[attr-defined]
    ends = offsets_of(counts.data)[counts.indptr].astype(np.int64)  # type: ignore[attr-defined]
    shape = sample(Tokens(words, ends), model.phi_, model.alpha_, Sampling()) + model.alpha_
    return np.asarray((shape / shape.sum(axis=-1, keepdims=True)).mean(axis=(1, 2)))


def changes(critic: CodeMixing, corpus: Corpus, rng: np.random.Generator) -> str:
    """Detected switches per hundred known words, with a bootstrap interval over documents."""
    found = [len(critic.spans(Corpus.from_texts([d.text]))) - 1 for d in corpus]
    switches, words = np.maximum(found, 0), np.diff(critic.known(corpus).offsets)
    rows = rng.integers(0, len(words), (2000, len(words)))
    draws = switches[rows].sum(axis=1) / words[rows].sum(axis=1)
    low, high = 100 * np.quantile(draws, (0.025, 0.975))
    return f"{100 * switches.sum() / words.sum():.2f} [{low:.2f}, {high:.2f}]"


def generators(seed: int) -> None:
    """Compare translations of people, and of word-by-word models with and without context, by paragraph."""
    with gzip.open(data() / "manpages-aligned_en_de_fr_es.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if translated(row)]
    rng = np.random.default_rng(seed)
    names = sorted({r["page"] for r in rows})
    chosen = set(rng.permutation(names)[: len(names) // 2])
    fit_rows, test_rows = ([r for r in rows if (r["page"] in chosen) == inside] for inside in (True, False))
    words = get_tokenizer("words")
    sources = [words.split(row["en"].lower()) for row in fit_rows for _ in LANGUAGES]
    targets = [words.split(row[k].lower()) for row in fit_rows for k in LANGUAGES]
    model = WordTranslation().fit(sources, targets)
    # at least ten words to translate, so that a document says something of its language
    long = [(r, words.split(r["en"].lower())) for r in test_rows]
    long = [(r, source) for r, source in long if len(model.known(source)) >= 10]
    print(
        f"generators: {len(fit_rows)} paragraphs of {len(chosen)} pages to fit, {len(long)} of {len(test_rows)} "
        f"paragraphs of {len(names) - len(chosen)} other pages have ten known words or more, seed {seed}"
    )
    of_mixture = np.random.default_rng(seed + 1)
    ways = {
        "each word given two before": lambda s: model.after_two(s, rng),
        "each word alone": lambda s: model.alone(s, rng),
        "each word alone, most probable": lambda s: model.alone(s, rng, best=True),
        "each word given all before": lambda s: model.after_all(s, of_mixture),
    }
    people = [row[LANGUAGES[k]] for (row, _), k in zip(long, rng.integers(3, size=len(long)), strict=True)]
    real = Corpus.from_texts(people, name="people")
    written = {name: Corpus.from_texts([way(s) for _, s in long], name=name) for name, way in ways.items()}
    fit = pure(fit_rows, "fit")
    compared = momus.compare(
        real, written, fit=fit, critics=["code-mixing"], config={"code-mixing": {"n_topics": 3}}, seed=seed
    )
    critic = CodeMixing(n_topics=3, seed=seed).fit(fit)
    print(f"   people: {changes(critic, real, rng)} switches per 100 words")
    for name, corpus in written.items():
        print(f"   {name}: {changes(critic, corpus, rng)} switches per 100 words; e.g. {corpus[0].text[:150]}")
    for row in compared.rows():
        if row["statistic"] in ("latent_nll", "mixing_index", "mixed_share"):
            figures = "{real_value:.4g} against {generated_value:.4g}, {difference:+.4g} [{low:.4g}, {high:.4g}]"
            print(
                f"   {row['generated']}, {row['statistic']}: people "
                + figures.format(**row)
                + f", p = {row['p']:.2g}, n = {row['n_real']} and {row['n_generated']}"
            )


def main() -> None:
    """Fit, score, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["generators"], help="run this part alone")
    arguments = parser.parse_args()
    seed = arguments.seed
    if arguments.only == "generators":
        generators(seed)
        return
    with gzip.open(data() / "manpages-aligned_de_fr_es.jsonl.gz", "rt", encoding="utf-8") as lines:
        paragraphs = [json.loads(line) for line in lines]
    whole = len(paragraphs)
    paragraphs = [row for row in paragraphs if translated(row)]
    print(f"{len(paragraphs):,} of {whole:,} paragraphs; the others are untranslated, judging by stopwords")
    rng = np.random.default_rng(seed)
    names = sorted({r["page"] for r in paragraphs})
    chosen = set(rng.permutation(names)[: len(names) // 2])
    halves_ = [[r for r in paragraphs if (r["page"] in chosen) == inside] for inside in (True, False)]
    for label, (fit_rows, test_rows) in (("pages", tuple(map(pages, halves_))), ("paragraphs", tuple(halves_))):
        begun = time.perf_counter()
        critic = CodeMixing(n_topics=3, seed=seed).fit(pure(fit_rows, "fit"))
        print(f"{label}: fitted on {3 * len(fit_rows):,} documents in {time.perf_counter() - begun:.1f} s, seed {seed}")
        print(f"   {critic.notes()[0].text} {' | '.join(critic.topic_words(5))}")
        each, whole_, by_documents = purity(critic, test_rows)
        tokens_ = ", ".join(f"{p:.4f}" for p in each)
        print(f"   purity of topics: {tokens_} of their tokens, {whole_:.4f} of all; {by_documents:.4f} of documents")
        for least in (1,) if label == "pages" else (1, 5, 10, 20):
            print(f"   at least {least} known words: {told_apart(critic, test_rows, least, rng)}")
        print(f"   switch at mid-length (5 words or more before it): {switches(critic, test_rows, 5)}")
        ways(fit_rows, test_rows)
    generators(seed)


if __name__ == "__main__":
    main()
