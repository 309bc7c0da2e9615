"""The process over chains of mentions against a literal reading of its definition, and defects that it must find."""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momus import Corpus
from momus.errors import FittingError, ReadingError, UsageError
from momus.text.mentions import Resolved
from momus.verdicts.judge import judge
from momus_critics.coreference import Coreference, read_chains
from momus_critics.coreference.process import ChainProcess
from momus_critics.coreference.symbols import KINDS as KINDS_OF_SYMBOLS
from momus_critics.coreference.symbols import Chains, relabel, symbols_of

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))
from chain_files import write_chains
from damaged_mentions import drop_introductions, swap_pronouns

KINDS = 5  # padding, sentence, and three that have entities


def named(window):
    """A window with its entities numbered by first appearance: tuples (kind, number)."""
    numbers = {}
    return tuple((k, -1 if e < 0 else numbers.setdefault(e, len(numbers))) for k, e in window)


class Literal:
    """The definition, word by word, with dictionaries."""

    def __init__(self, documents, order, smoothing):
        self.order = order
        raw = [Counter() for _ in range(order + 1)]
        for d in documents:
            padded = [(0, -1)] * (order - 1) + d
            for i in range(order - 1, len(padded)):
                for m in range(1, order + 1):
                    raw[m][named(padded[i - m + 1 : i + 1])] += 1
        self.counts = list(raw)
        if smoothing == "kneser-ney":
            for m in range(order - 1, 0, -1):
                self.counts[m] = Counter(named(g[1:]) for g in self.counts[m + 1])
        self.back = {}
        for m in range(2, order + 1):
            back = new = 0
            for g, c in raw[m].items():
                leaver, is_back, is_new = self.leaves(g)
                back += c * is_back
                new += c * (leaver and (is_back or is_new))
            self.back[m] = (back + 0.5) / (new + 1)

    @staticmethod
    def leaves(g):
        entity, last = g[0][1], g[-1][1]
        leaver = entity >= 0 and all(e != entity for _, e in g[1:-1])
        is_new = last >= 0 and all(e != last for _, e in g[:-1])
        return leaver, leaver and last == entity, is_new

    def discount(self, m):
        one, two = (sum(c == k for c in self.counts[m].values()) for k in (1, 2))
        return one / (one + 2 * two) if one else 0.5

    def probability(self, g):
        m = len(g)
        if m == 1:
            lower = 1 / (KINDS - 1)
        else:
            lower = self.probability(named(g[1:]))
            leaver, is_back, is_new = self.leaves(g)
            if leaver and is_back:
                lower *= self.back[m]
            elif leaver and is_new:
                lower *= 1 - self.back[m]
        followers = {w: c for w, c in self.counts[m].items() if w[:-1] == g[:-1]}
        total = sum(followers.values())
        if not total:
            return lower
        d = self.discount(m)
        return max(followers.get(g, 0) - d, 0) / total + d * len(followers) / total * lower


def chains_of(documents):
    flat = [s for d in documents for s in d]
    ends = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    kinds, entities = (np.array([s[i] for s in flat], dtype=np.int64) for i in (0, 1))
    return Chains(kinds, entities, ends)


symbol = st.one_of(st.just((1, -1)), st.tuples(st.integers(2, KINDS - 1), st.integers(0, 3)))
documents = st.lists(st.lists(symbol, min_size=1, max_size=12), min_size=1, max_size=5)


@settings(max_examples=60)
@given(documents, documents, st.sampled_from([1, 2, 3, 5]), st.sampled_from(["kneser-ney", "absolute"]))
def test_probabilities_are_those_of_the_definition(fitted, scored, order, smoothing):
    process = ChainProcess(kinds=KINDS, order=order, discounting=smoothing).fit(chains_of(fitted))
    literal = Literal(fitted, order, smoothing)
    found = np.exp(process.log_probabilities(chains_of(scored)))
    i = 0
    for d in scored:
        padded = [(0, -1)] * (order - 1) + d
        for j in range(len(d)):
            assert found[i] == pytest.approx(literal.probability(named(padded[j : j + order])))
            i += 1
    assert (found > 0).all()


@settings(max_examples=60)
@given(documents, documents, st.sampled_from([1, 2, 5]), st.sampled_from(["kneser-ney", "absolute"]))
def test_every_distribution_sums_to_one(fitted, scored, order, smoothing):
    process = ChainProcess(kinds=KINDS, order=order, discounting=smoothing).fit(chains_of(fitted))
    for key in np.unique(process.coder.windows(chains_of(fitted + scored))[-1]).tolist():
        outcomes = process.outcomes(key)
        assert len(np.unique(outcomes)) == len(outcomes)
        assert np.exp(process.of_windows(outcomes)).sum() == pytest.approx(1.0)


def test_entities_are_numbered_within_the_window():
    rows = np.array([[3, 3, -1, 8, 3], [9, 1, 9, 1, 4]])
    assert relabel(rows).tolist() == [[0, 0, -1, 1, 0], [0, 1, 0, 1, 2]]
    one = chains_of([[(2, 7), (3, 7), (2, 5)]])
    other = chains_of([[(2, 1), (3, 1), (2, 0)]])
    process = ChainProcess(kinds=KINDS, order=3).fit(one)
    assert process.log_probabilities(one) == pytest.approx(process.log_probabilities(other))


def test_wrong_orders_are_errors():
    with pytest.raises(UsageError, match="order is 0"):
        ChainProcess(kinds=5, order=0)
    with pytest.raises(UsageError, match="order is 12"):
        ChainProcess(kinds=40, order=12)
    with pytest.raises(UsageError, match="discounting is"):
        ChainProcess(kinds=5, discounting="none")


# From mentions to symbols

TEXT = "Mr. Hale saw Margaret. He knew her. They met. It rained on the house."


def resolved(text, mentions, sentences=None, persons=None):
    """Mentions by their words: (word, which occurrence, entity)."""
    rows = []
    for word, nth, entity in mentions:
        start = -1
        for _ in range(nth + 1):
            start = text.index(word, start + 1)
        rows.append((start, start + len(word), entity))
    starts = [0] + [i + 2 for i, c in enumerate(text[:-2]) if c == "." and text[i + 1] == " " and text[i - 2] != "M"]
    return Resolved.of(rows, sentences or starts, persons)


def test_names_stand_as_the_gender_of_their_pronouns():
    found = resolved(
        TEXT,
        [
            ("Mr. Hale", 0, 4),
            ("Margaret", 0, 9),
            ("He", 0, 4),
            ("her", 0, 9),
            ("They", 0, 2),
            ("house", 0, 3),
            ("It", 0, 5),
        ],
    )
    kinds, entities, spans = symbols_of(TEXT, found)
    names = [KINDS_OF_SYMBOLS[k] for k in kinds]
    assert names == [".", "Male", "Female", ".", "he", "her", ".", "they", "."]
    assert entities == [-1, 0, 1, -1, 0, 1, -1, 2, -1]
    assert TEXT[slice(*spans[1])] == "Mr. Hale"


def test_things_are_no_persons_unless_the_resolver_says_so():
    text = "The dog slept. It dreamt."
    mentions = [("The dog", 0, 0), ("It", 0, 0)]
    assert symbols_of(text, resolved(text, mentions))[0] == []
    kinds, *_ = symbols_of(text, resolved(text, mentions, persons=[0]))
    assert [KINDS_OF_SYMBOLS[k] for k in kinds] == [".", "None", ".", "None"]


# The critic

NAMES = ("Anna", "Bea", "Carl", "Dan")


def story(rng, wrong=0.0):
    """Sentences about two persons in turn; a share of pronouns is of the wrong gender."""
    text, mentions, sentences = "", [], []
    pair = rng.permutation(4)[:2]
    for _ in range(12):
        sentences.append(len(text))
        person = int(rng.choice(pair))
        female = person < 2
        for i, word in enumerate(("name", "went and", "pronoun", "sat.")):
            if i == 2:
                word = "she" if female != (rng.random() < wrong) else "he"
            if i == 0:
                word = NAMES[person]
            if i in (0, 2):
                mentions.append((len(text), len(text) + len(word), person))
            text += word + " "
    return text, Resolved.of(mentions, sentences)


def stories(tmp_path, n, seed, wrong=0.0):
    rng = np.random.default_rng(seed)
    made = [story(rng, wrong) for _ in range(n)]
    corpus = Corpus.from_texts([t for t, _ in made], ids=[f"s{seed}:{i}" for i in range(n)], name=f"s{seed}")
    return corpus, dict(zip(corpus.ids, (r for _, r in made), strict=True))


@pytest.fixture
def made(tmp_path):
    parts = [
        stories(tmp_path, 60, 0),
        stories(tmp_path, 40, 1),
        stories(tmp_path, 40, 2),
        stories(tmp_path, 40, 3, 0.2),
    ]
    path = tmp_path / "chains.jsonl"
    write_chains({k: r for _, found in parts for k, r in found.items()}, path)
    return [c for c, _ in parts], str(path)


def test_wrong_pronouns_are_found_and_lead_the_evidence(made):
    (fit, real, other, wrong), path = made
    critic = Coreference(resolver="given", model=path, order=3).fit(fit)
    scores = [critic.score(c) for c in (real, other, wrong)]

    def p(generated):
        rows = judge(critic, scores[0], generated, paired=False, permutations=999, resamples=99)
        return next(v.p for v in rows if v.headline)

    assert p(scores[1]) is None  # neither text has an unlikely symbol: there is nothing to test
    assert p(scores[2]) <= 0.01
    tables = critic.evidence(scores[0].summary, scores[2].summary)
    assert [t.name for t in tables] == [
        "mention-unlikely",
        "mention-windows",
        "mention-introductions",
    ]
    unlikely, contributions = tables[:2]
    assert all(log_p < -7 and better > log_p for *_, log_p, _, better in unlikely.rows)
    assert unlikely.rows[0][2] >= unlikely.rows[0][1]
    leading = contributions.rows[0][0].split()
    assert (leading[-2].split(":")[0], leading[-1].split(":")[0]) in {("Male", "she"), ("Female", "he")}
    shown = critic.explain(wrong.take(np.array([0])))
    assert all("likeliest instead" in s.note for s in shown.steps)
    assert "[" in shown.steps[0].text
    assert critic.score(real).n_scored == 40


def test_persons_that_are_not_introduced_are_counted(made, tmp_path):
    (fit, real, *_), path = made
    critic = Coreference(resolver="given", model=path, order=3).fit(fit)
    chains = read_chains(path)
    dropped = {i: drop_introductions(chains[i], 1.0, 0)[0] for i in real.ids}
    write_chains(dropped, tmp_path / "dropped.jsonl")
    before = critic.score(real)
    assert (before.rows["introductions"][:, 0] == 0).all()
    assert (before.rows["introductions"][:, 1] == [len(set(chains[i].entities.tolist())) for i in real.ids]).all()
    critic.model = str(tmp_path / "dropped.jsonl")
    after = critic.score(real)
    assert after.rows["introductions"][:, 0].sum() > 60
    assert critic.evidence(before.summary, after.summary)[2].rows[0][0] in ("he", "she", "Male", "Female")


@given(st.integers(0, 99), st.floats(0, 1))
def test_swapped_pronouns_leave_all_other_text(seed, share):
    text, found = story(np.random.default_rng(seed))
    changed, moved, count = swap_pronouns(text, found, share, seed)
    words, new = text.split(), changed.split()
    assert sum(a != b for a, b in zip(words, new, strict=True)) == count
    for i in range(len(found.starts)):
        before, after = text[found.starts[i] : found.ends[i]], changed[moved.starts[i] : moved.ends[i]]
        assert after == before or {after, before} == {"he", "she"}
    assert [changed[s] for s in moved.sentences] == [text[s] for s in found.sentences]


def test_documents_without_persons_are_unscored(made, tmp_path):
    (fit, *_), path = made
    empty = Corpus.from_texts(["It rained."], ids=["rain"])
    with open(path, "a", encoding="utf-8") as out:
        out.write(json.dumps({"id": "rain", "mentions": [[0, 2, 0]], "sentences": [0]}) + "\n")
    critic = Coreference(resolver="given", model=path).fit(fit)
    scores = critic.score(empty)
    assert scores.unscored == {"no person is mentioned": 1}
    with pytest.raises(FittingError, match="no document of"):
        Coreference(resolver="given", model=path).fit(_rain(path))


def _rain(path):
    with open(path, "a", encoding="utf-8") as out:
        for i in range(3):
            out.write(json.dumps({"id": f"r{i}", "mentions": [[0, 2, 0]], "sentences": [0]}) + "\n")
    return Corpus.from_texts(["It rained."] * 3, ids=["r0", "r1", "r2"])


def test_wrong_files_of_chains_are_errors(tmp_path, made):
    (fit, *_), _ = made
    with pytest.raises(UsageError, match="needs a file of chains"):
        Coreference(resolver="given").fit(fit)
    for line, message in (
        ('{"id": "a"}', "line 1: no record"),
        ('{"id": "a", "mentions": [[5, 2, 0]], "sentences": []}', "ends before"),
        ("[", "line 1"),
    ):
        path = tmp_path / "bad.jsonl"
        path.write_text(line)
        with pytest.raises(ReadingError, match=message):
            Coreference(resolver="given", model=str(path)).fit(fit)
    path.write_text('{"id": "x", "mentions": [], "sentences": []}')
    with pytest.raises(UsageError, match="no chains for document"):
        Coreference(resolver="given", model=str(path)).fit(fit)
    with pytest.raises(UsageError, match="resolver is 'none'"):
        Coreference(resolver="none").fit(fit)


def test_resolved_mentions_pack():
    for persons in (None, [], [2]):
        r = Resolved.of([(0, 3, 2), (5, 9, 1)], [0, 4], persons)
        again = Resolved.unpack(r.pack())
        assert again.entities.tolist() == [2, 1]
        assert (again.persons is None) == (persons is None)
    with pytest.raises(ValueError, match="sizes"):
        Resolved.unpack(r.pack()[:-8])


def test_texts_that_hardly_refer_to_persons_leave_nothing_to_see():
    plain, he = Corpus.from_texts(["The sun rose."] * 10), Corpus.from_texts(["He saw her."] * 2 + ["It rained."] * 8)
    few = Corpus.from_texts(["Heat melts the ice."] * 9 + ["She left."])
    assert (
        Coreference().nothing_to_see([plain, few]) == "at most 10 % of documents say “he” or “she”, and 20 % are needed"
    )
    assert Coreference().nothing_to_see([plain, he]) == "", "one text with persons is enough"
    assert Coreference(resolver="given", model="chains.jsonl").nothing_to_see([plain]) == "", "chains cost nothing"
