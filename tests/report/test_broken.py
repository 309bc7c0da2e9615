"""The first lines of an answer: what is broken, with documents, and what is unchanged."""

import json
import random
import re
from dataclasses import asdict, replace

import pytest
from scipy.stats import hypergeom

import momus
from momus import Corpus, Document, Section
from momus.comparison import read_comparison
from momus.evidence import Faulty, Table, from_json, to_json
from momus.joint.dependence import Dependence
from momus.report.words.leads import broken_lines, dependence_lines, first_sentences
from momus.runs.answer import answer_of
from momus.runs.broken import LEVEL, broken_of, exceeds, level_of, mended_of
from momus.runs.result import CriticResult, Unscored

SAME = (
    [f"The rain {'fell ' * (i % 9)}on the roof of house {i}." for i in range(40)],
    {"new": [f"The rain {'fell ' * (i % 9)}on the door of barn {i}." for i in range(40)]},
)


def faulty(name, real, generated, ids=("a1", "a2"), times=1):
    quotes = ["!"] * len(ids)
    return Faulty(name, f"{name}_share", "break off", (real, 200), (generated, 200), list(ids), quotes, times)


def result(*faults):
    table = Table("faults", "What is broken", ("fault",), [("x",)], faults=faults)
    return CriticResult("faults", "broken documents", "", None, {}, (), evidence=[("new", [table])])


def test_faults_survive_json():
    table = result(faulty("loop", 0, 3)).evidence[0][1][0]
    again = from_json(json.loads(json.dumps(to_json(table))))
    assert again.faults[0].name == "loop"
    assert tuple(again.faults[0].generated) == (3, 200)


@pytest.mark.parametrize(
    ("real", "generated", "is_told"), [(0, 10, True), (4, 68, True), (4, 10, False), (60, 4, False)]
)
def test_a_fault_is_told_where_generated_text_has_it_more_often(real, generated, is_told):
    assert bool(broken_of([result(faulty("broken-off", real, generated))])) == is_told


@pytest.mark.parametrize(("fitted", "against", "is_told"), [(0, None, True), (0, "old", False), (9, None, False)])
def test_the_text_that_was_fitted_on_shows_how_often_real_text_is_broken(fitted, against, is_told):
    fault = replace(faulty("misspelt", 2, 8), fitted=(fitted, 200))
    assert bool(broken_of([result(fault)], {"against": against, "corpora": []})) == is_told


@pytest.mark.parametrize(
    ("old", "new", "against", "is_told"),
    [(9, 0, "old", True), (9, 0, None, False), (5, 0, "old", False), (0, 9, "old", False)],
)
def test_what_was_broken_before_is_told_of_versions(old, new, against, is_told):
    mended = mended_of([result(faulty("loop", old, new))], {"against": against, "corpora": []}, "old")
    lines = broken_lines(mended, heads=("Broken before", "Also broken before"))
    assert lines == ["Broken before: 4.5 % of old break off (2.4 to 8.3 %; new: 0 %)."] * is_told
    answer = replace(answer_of(momus.compare(*SAME, critics=["length"], resamples=99)), mended=mended)
    assert [s for s in first_sentences(answer) if "before" in s] == lines
    assert first_sentences(answer)[-1].startswith("Otherwise, ") == is_told, "nothing else differs"


@pytest.mark.parametrize("totals", [(1,), (4, 1, 1), (12, 3, 2, 1), (60, 20, 8, 5, 4, 3, 2, 1), (80,) * 6])
def test_any_fault_is_told_by_chance_no_more_often_than_the_level(totals):
    n, m, none = 400, 200, 1.0
    for total in totals:
        level = level_of([((max(t - m, 0), n), (min(t, m), m)) for t in totals])
        told = [b for b in range(total + 1) if exceeds((total - b, n), (b, m)) <= level]
        none *= 1 - float(hypergeom(n + m, total, m).pmf(told).sum())
    assert 1 - none <= 1.2 * LEVEL


def test_one_document_that_is_one_long_loop_is_named():
    (line,) = broken_lines(broken_of([result(faulty("loop", 0, 1, ("a512",), 9291))]))
    assert line == "Broken: 1 document of new says “!” 9,291 times (a512)."


def test_there_are_two_lines_at_most():
    broken = broken_of([result(*(faulty(f"kind-{i}", 0, 20 + i) for i in range(7)))])
    lines = broken_lines(broken)
    assert [line.split(":")[0] for line in lines] == ["Broken", "Also broken"]
    assert lines[1].endswith("3 faults more.")


def test_the_slice_that_is_broken_most_is_told_and_nothing_twice():
    rng = random.Random(3)

    def sentence():
        return " ".join(rng.sample(["rain", "stone", "cat", "runs", "under", "tree"], 5)).capitalize()

    def text(name, shares):
        kinds = [("code", "letters")[i % 2] for i in range(120)]
        cut = [rng.random() < shares[kind] for kind in kinds]
        texts = [f"{sentence()}. {sentence()}{' the' if c else '.'}" for c in cut]
        documents = [
            Document(f"{name}{i}", (Section(t),), fields={"task": k})
            for i, (t, k) in enumerate(zip(texts, kinds, strict=True))
        ]
        return Corpus.from_documents(documents, name)

    run = momus.compare(
        text("real", {"code": 0, "letters": 0}),
        {"new": text("new", {"code": 0.8, "letters": 0.05})},
        fit=text("fit", {"code": 0, "letters": 0}),
        critics=["faults", "length"],
        by=["task"],
        permutations=199,
        resamples=99,
        reporter=momus.progress.Silent(),
    )
    first, *others = first_sentences(answer_of(run))
    assert re.search(r"^Broken: .* of new break off \(.*; in code [78]\d %; new", first)
    assert not any("break off" in line for line in others)


def test_nobody_looked_is_not_nothing_broken():
    assert broken_of([]) is None
    assert broken_of([result()]) == ()


def test_empty_documents_and_copies_are_broken_too():
    corpora = [{"name": n, "role": r, "documents": 200} for n, r in (("old", "real"), ("new", "generated"))]
    counts = (("old", 1, False), ("new", 40, True))
    checks = [{"kind": "repeated", "corpus": n, "documents": k, "total": 200, "warns": warns} for n, k, warns in counts]
    unscored = [Unscored("new", "empty", 12), Unscored("new", "no known word", 50)]
    found = broken_of([replace(result(), unscored=unscored)], {"corpora": corpora, "checks": checks})
    assert broken_lines(found, "old") == [
        "Broken: 40 of 200 of new repeat another one (old: 0.5 %) · 6 % of new are empty (3.5 to 10 %; old: 0 %)."
    ]
    checks[0]["documents"] = 40
    (empty,) = broken_of([replace(result(), unscored=unscored)], {"corpora": corpora, "checks": checks})
    assert empty.fault.name == "empty", "real text repeats as much"


def test_equal_shares_are_told_in_few_of_many_splits():
    rng = random.Random(0)
    flags = [rng.random() < 0.1 for _ in range(400)]
    told = 0
    for _ in range(200):
        rng.shuffle(flags)
        told += exceeds((sum(flags[:200]), 200), (sum(flags[200:]), 200)) <= LEVEL
    assert told <= 6


def test_versions_tell_how_many_answers_changed():
    from momus.against.versions import Unchanged, unchanged_answers
    from momus.files import plain
    from momus.schema import build

    texts = [f"It rained for {n} days and then they left." for n in range(40)]
    prompts = [f"p{n}" for n in range(40)]
    old = Corpus.from_texts(texts, prompts=prompts, name="old")
    new = Corpus.from_texts([*texts[:38], "It rained for 38 years.", "No."], prompts=prompts, name="new")
    told = unchanged_answers(old, new)
    assert (told.pairs, told.equal, told.word) == (40, 38, 3.0)
    assert build(Unchanged, json.loads(json.dumps(plain(asdict(told)))), "run.json") == told
    assert unchanged_answers(old, Corpus.from_texts(["so"] * 40, prompts=prompts)) is None
    silent = [
        Corpus.from_texts([*texts[:10], *[f"{word} {t}" for t in texts[10:30]], *[" "] * 10], prompts=prompts)
        for word in ("So", "And")
    ]
    told = unchanged_answers(*silent)
    assert (told.pairs, told.equal) == (30, 10), "prompts that neither text answers are no equal answers"


def test_faults_of_few_groups_are_not_told_by_their_documents():
    """Two of twelve authors never end their texts: 20 of 120 documents, and no more than chance among authors."""

    def text(broken, seed, name):
        rng = random.Random(seed)
        words = ["rain", "stone", "cat", "runs", "under", "the", "old", "tree"]

        def sentence(rng=rng, words=words):
            return " ".join(rng.sample(words, 6)).capitalize()

        rows = [(f"{name}{a}-{i}", f"{name}{a}", a < broken) for a in range(12) for i in range(10)]
        texts = [f"{sentence()}. {sentence()}{' the' if cut else '.'}" for *_, cut in rows]
        return Corpus.from_texts(texts, [r[0] for r in rows], groups=[r[1] for r in rows], name=name)

    told = {}
    for broken in (2, 9):
        run = momus.compare(
            text(0, 1, "real"),
            {"new": text(broken, 2, "new")},
            fit=text(0, 3, "fit"),
            critics=["faults"],
            permutations=199,
            resamples=99,
            reporter=momus.progress.Silent(),
        )
        assert exceeds((0, 120), (10 * broken, 120)) < LEVEL / 100
        told[broken] = broken_of(run.results)
    assert told[2] == ()
    (found,) = told[9]
    assert found.fault.name == "broken-off"
    assert found.high - found.low > 0.3, "twelve authors, not 120 documents"


def cut_versions(cut):
    """Two versions of 120 texts; those of the new one in ``cut`` end after half of their sentences, within one."""
    rng = random.Random(5)

    def sentence():
        return " ".join(rng.sample(["rain", "stone", "cat", "runs", "under", "tree"], 5)).capitalize()

    old = [". ".join(sentence() for _ in range(rng.randint(6, 9))) + "." for _ in range(120)]
    new = [f"{t[: len(t) // 2].rstrip('. ')} the" if i in cut else t for i, t in enumerate(old)]
    ids = [f"a{i}" for i in range(120)]
    return (Corpus.from_texts(texts, ids, prompts=ids, name=n) for n, texts in (("old", old), ("new", new)))


@pytest.mark.parametrize(("cut", "is_told"), [(range(40), True), ((), False)])
def test_what_goes_with_broken_documents_is_told_behind_them(tmp_path, cut, is_told):
    old, new = cut_versions(cut)
    quick = {"permutations": 999, "resamples": 99, "reporter": momus.progress.Silent()}
    critics = ["faults", "length"]
    run = momus.compare(against={"old": old}, generated={"new": new}, critics=critics, out=tmp_path / "run", **quick)
    told = first_sentences(answer_of(run))
    assert ("Without them, new does not differ in length of documents." in told) == is_told
    if is_told:
        assert told[told.index("Without them, new does not differ in length of documents.") - 1].startswith("Broken: ")
    again = read_comparison(tmp_path / "run")
    assert again.joint.dependences == run.joint.dependences
    assert first_sentences(answer_of(again)) == told
    assert [d["critic"] for d in again.joint.to_json()["dependences"]] == ["length"] * is_told
    assert not run.behind


def test_words_misspelt_alike_in_all_of_a_version_are_told_of_it():
    """A critic that was fitted on both versions would know the misspelt words."""
    rng = random.Random(3)
    words = ["".join(rng.choices("abdeiklmnorstu", k=rng.randint(6, 9))) for _ in range(200)]
    slips = {w: w[:2] + w[3] + w[2] + w[4:] for w in words}
    old, typed = ([" ".join(rng.choices(words, k=60)).capitalize() + "." for _ in range(80)] for _ in range(2))
    new = [" ".join(slips.get(w, w) if rng.random() < 0.1 else w for w in t.split()) for t in typed]
    a, b = (Corpus.from_texts(t, [f"{n}{i}" for i in range(80)], name=n) for n, t in (("old", old), ("new", new)))
    run = momus.compare(
        against={"old": a}, generated={"new": b}, critics=["faults"], permutations=199, resamples=99,
        reporter=momus.progress.Silent(),
    )  # fmt: skip
    told = first_sentences(answer_of(run))
    assert any(t.startswith("Broken: ") and "are misspelt" in t for t in told), told


def test_one_sentence_names_the_document_that_carries_most():

    def row(axis, document, left, vanishes):
        return Dependence("new", axis, axis, "mean", document, left, vanishes)

    told = [row("length", "a1", 0.2, False), row("marks", "a512", 0.1, True), row("rhythm", "a512", 1.8, False)]
    assert dependence_lines(told) == [
        "1 document of new carries a difference (a512): without it, new does not differ in marks."
    ]
    five = [row(axis, "", 0.1, True) for axis in ("a", "b", "c", "d", "e")]
    assert dependence_lines(five, single=True) == ["Without it, new does not differ in a, b, c or 2 other axes."]
