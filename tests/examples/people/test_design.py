"""Trials, balance and passages of a design by hand; words of checks and tasks; yardsticks of known texts."""

import json
import math
import re
import zlib
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from momus.errors import UsageError
from momus.text.corpus import Corpus, Document
from momus_people.design import StudyDesign, Trial, balance, corpora_of_items, drawn
from momus_people.excerpts import LONGEST, Excerpt, Stripped, cut, excerpts_of, stripped, yardsticks
from momus_people.protocol import Protocol
from momus_people.study import make_study, page_data, with_instruction

from .studies import study


def pool(counts, prompts=True):
    """So many passages of each corpus, which answer the same prompts."""
    return {
        name: [Excerpt(name, f"{name}{i}", f"p{i}" if prompts else None, (f"Text {i} of {name}.",)) for i in range(n)]
        for name, n in counts.items()
    }


@pytest.mark.parametrize("kind", ["rating", "pair"])
def test_as_many_passages_as_items_and_checks_need_are_enough(kind):
    protocol = Protocol(kind=kind, items=12, raters=2, checks=3, repeats=1)
    width = protocol.width
    each = 12 * width // 4
    fits = {"a": each, "b": each, "c": each, "d": each + 3 * width}
    design = drawn(pool(fits), protocol)
    assert Counter(t.role for t in design.trials) == {"item": 24, "check": 6, "repeat": 2}
    with pytest.raises(UsageError, match="remain for attention checks"):
        drawn(pool({**fits, "d": each + 3 * width - 1}), protocol)
    with pytest.raises(UsageError, match=f"'a' has {each - 1} passages, and the study needs {each}"):
        drawn(pool({**fits, "a": each - 1}), protocol)
    with pytest.raises(UsageError, match="two corpora"):
        drawn(pool({"a": 200}), protocol)


@pytest.mark.parametrize("kind", ["rating", "pair"])
def test_checks_and_repeats_stand_where_they_should(kind):
    places, roles = [], Counter()
    for seed in range(12):
        protocol = Protocol(kind=kind, items=12, raters=1, checks=2, repeats=3, seed=seed)
        design = drawn(pool(dict.fromkeys("abcd", 60)), protocol)
        used = {k for item in design.items for k in item}
        trials = list(design.trials)
        assert all(re.fullmatch("t[0-9a-f]{6}", t.code) for t in trials)
        assert len({t.code for t in trials}) == len(trials) == 17
        assert trials[0].role == "item", "no check comes first"
        order = [t.unit for t in trials if t.role == "item"]
        assert sorted(order) == list(range(12))
        repeats = [t for t in trials if t.role == "repeat"]
        assert len({t.unit for t in repeats}) == 3
        assert all(t.unit in order[:6] for t in repeats), "of the first half, so that others lie between"
        plain = [t for t in trials if t.role != "check"]
        # inserted in a list of 12, 13, 14: in its last third, and later ones move it back only
        for t in repeats:
            assert plain.index(t) >= 8
            first = next(o for o in plain if o.unit == t.unit and o.role == "item")
            assert sorted(first.passages) == sorted(t.passages) == sorted(design.items[t.unit])
            assert plain.index(first) < plain.index(t)
        places += [plain.index(t) for t in repeats]
        for t in trials:
            roles[t.role] += 1
            if t.role == "check":
                assert len(set(t.passages)) == protocol.width
                assert not used & set(t.passages), "of passages that nobody judges"
                assert (t.unit, t.rater) == (-1, 0)
        fresh = [k for t in trials if t.role == "check" for k in t.passages]
        assert len(set(fresh)) == len(fresh)
        documents = [(design.passages[k].corpus, design.passages[k].id) for k in (*used, *fresh)]
        assert len(set(documents)) == len(documents)
    assert {8, 14} <= set(places), "anywhere in the last third, the end included"


def test_checks_ask_for_every_answer():
    expected = {
        "rating": set(range(5)),
        "pair": {"left", "right"},
    }
    words = {"rating": "answer “", "pair": "choose Passage "}
    for kind, answers in expected.items():
        found = set()
        for seed in range(12):
            protocol = Protocol(kind=kind, items=2, raters=6, checks=4, repeats=0, seed=seed)
            design = drawn(pool(dict.fromkeys("abcd", 40)), protocol)
            for t in design.trials:
                if t.role == "check":
                    found.add(t.expected)
                    assert words[kind] in t.inserted
                    if kind == "rating":
                        assert f"“{protocol.scale[t.expected]}”" in t.inserted
        assert found == answers


def test_ratings_of_all_corpora_go_through_the_prompts_that_most_of_them_have():
    texts = pool({"a": 8, "b": 8})
    texts["b"] = [Excerpt("b", e.id, f"p{i + 4}", e.parts) for i, e in enumerate(texts["b"])]  # p4 … p7 are shared
    protocol = Protocol(items=8, raters=1, checks=0, repeats=0)
    design = drawn(texts, protocol)
    prompts = Counter(design.passages[k].prompt for (k,) in design.items)
    assert prompts == {"p4": 2, "p5": 2, "p6": 2, "p7": 2}
    assert balance(design, protocol, list("ab"))["items_of_one_prompt"] == 4


def test_the_balance_counts_what_raters_and_passages_share():
    passages = [
        Excerpt(c, str(i), p, ("x",))
        for i, (c, p) in enumerate([("a", "p"), ("b", "p"), ("a", None), ("b", None), ("a", "q"), ("b", "r")])
    ]

    def of(items, raters, **settings):
        trials = [Trial("", r, "item", items[u], u) for u, block in enumerate(raters) for r in block]
        return balance(StudyDesign(passages, items, trials), Protocol(raters=3, **settings), list("ab"))

    assert of([(0, 1), (2, 3), (4, 5)], [[0, 1], [0, 2], [0, 1]], kind="pair") == {
        "passages": {"a": 3, "b": 3},
        "items_per_rater": [3, 2, 1],
        "items_shared_by_two_raters": [0, 2],
        "items_of_one_prompt": 1,  # neither without a prompt nor of two
    }
    single = of([(0,), (1,), (4,)], [[0], [0], [0]])
    assert (single["passages"], single["items_of_one_prompt"]) == ({"a": 2, "b": 1}, 1)
    assert single["items_shared_by_two_raters"] == [0, 0]


def test_corpora_meet_as_evenly_as_they_can():
    rng = np.random.default_rng(0)
    for count, items in ((3, 7), (4, 9), (5, 4)):
        names = "abcde"[:count]
        groups = corpora_of_items(list(names), Protocol(kind="pair", items=items), rng)
        used = Counter(n for g in groups for n in g)
        assert max(used.values()) - min(used[n] for n in names) <= 1
        met = Counter(tuple(sorted(g)) for g in groups)
        assert max(met.values()) == math.ceil(items / math.comb(count, 2))


def test_instructions_stand_at_the_end_of_the_sentence_nearest_to_the_middle():
    assert with_instruction("One two three four. Five. Six.", "X.") == "One two three four. X. Five. Six."
    assert with_instruction("One. Two. Three four five six.", "X.") == "One. Two. X. Three four five six."
    assert with_instruction("No end", "X.") == "No end X."
    made = study(60, kind="pair", checks=2)
    for t in made.design.trials:
        (shown,) = [s for s in page_data(made, t.rater)["trials"] if s["id"] == t.code]
        texts = [parts[0] for parts in shown["passages"]]
        originals = [made.design.passages[k].parts[0] for k in t.passages]
        assert texts[1] == originals[1]
        assert (texts[0] == originals[0]) == (t.role != "check")
        assert t.inserted in texts[0]


def test_frequent_titles_are_sorted_by_name():
    sections = [("b", "x"), ("a", "x"), ("c", "x")], [("a", "x"), ("c", "x"), (None, "x")], [("c", "x"), ("a", "x")]
    texts = {name: Corpus.from_sections(list(sections), name=name) for name in ("real", "m")}
    settings = {"items": 2, "raters": 1, "checks": 0, "words": 0, "labels": ("titles",)}
    labels = [make_study(None, texts, Protocol(most_labels=most, **settings))[0].labels for most in (2, 3, 9)]
    assert labels == [["a", "c"], ["a", "b", "c"], ["a", "b", "c"]]


def test_yardsticks_of_known_texts():
    text = "The cat saw the cat. The cat saw the cat again."
    found = yardsticks(text)
    words = text.split()
    assert found["length"] == 11
    assert found["type–token ratio"] == pytest.approx(4 / 11)  # the, cat, saw, again
    assert found["compression"] == len(zlib.compress(text.encode())) / len(text)
    # of nine trigrams, "The cat saw" and "cat saw the" occurred before
    assert found["repetition"] == pytest.approx(1 - len({*zip(words, words[1:], words[2:], strict=False)}) / 9)
    counts = np.array(list(Counter(pairwise(words)).values())) / 10
    assert found["entropy"] == pytest.approx(-(counts * np.log2(counts)).sum())
    assert yardsticks("") == {
        "length": 0.0,
        "type–token ratio": 0.0,
        "compression": 8.0,
        "repetition": 1.0,
        "entropy": 0.0,
    }
    long = " ".join(f"w{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{chr(97 + i // 676)}" for i in range(7_000))
    assert yardsticks(long)["type–token ratio"] == 1.0
    assert yardsticks(long + " waaa" * 9_000)["type–token ratio"] == 1.0, "of the first 5,000 words"
    assert yardsticks(long)["entropy"] == pytest.approx(np.log2(4_999))
    assert yardsticks(long)["compression"] == len(zlib.compress(long.encode()[:30_000])) / 30_000


def test_cuts_end_with_a_sentence_of_the_last_two_fifths():
    words = [f"w{i}" for i in range(12)]
    for end in range(12):
        text = " ".join(w + "." * (i == end) for i, w in enumerate(words))
        kept = len(cut(text, 10).removesuffix(" […]").split())
        assert kept == (end + 1 if 5 <= end < 10 else 10)
    assert cut(" ".join(words), 12) == " ".join(words) + " […]"
    assert cut(" ".join(words), 13) is None
    assert cut(" ".join(words), 0) == " ".join(words)


def test_what_is_stripped():
    assert stripped("Tell me a story. Once there was", "Tell me a story.")[0] == "Once there was"
    assert stripped("Once there. It was", "Once there.")[1] == set(), "two words may open any text"
    assert stripped("a\n\n\n\nb")[0] == "a\n\nb"
    assert len(stripped("x" * (LONGEST + 5))[0]) == LONGEST
    document = Document.plain("d", "One two three. Four.", prompt="p")
    counts = Stripped()
    (made,) = excerpts_of(Corpus.from_documents([document], "c"), 4, False, counts)
    assert (made.text, made.id, made.prompt, made.corpus) == ("One two three. Four. […]", "d", "p", "c")
    assert (counts.stripped, counts.left_out) == ({"c": {}}, {"c": {}})
    assert json.loads(json.dumps(made.yardsticks)) == yardsticks("One two three. Four.")
