"""The study of texts in groups: its texts have the stated dependence, and its runs resume and count as it says."""

import json
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "validity"
sys.path.insert(0, str(FOLDER))

import grouped_texts as made  # noqa: E402
import texts_in_groups as study  # noqa: E402

from momus import Corpus  # noqa: E402
from momus.checks.dependence import guess_groups  # noqa: E402
from momus.text.sketches import TextSketch  # noqa: E402

NOVELS, EACH = 100, 12


def novel(rng, number):
    """Passages of a novel, which prefers some of the words."""
    words = np.array([f"w{k}" for k in range(2000)])
    odds = rng.gamma(2.0, 1 / np.arange(1, 2001))
    odds /= odds.sum()
    return [" ".join(rng.choice(words, 120, p=odds)) for _ in range(EACH)]


@pytest.fixture(scope="module")
def pool():
    rng = np.random.default_rng(0)
    texts = [(n, k, t) for n in range(NOVELS) for k, t in enumerate(novel(rng, n))]
    pieces = Corpus.from_texts([t for *_, t in texts], ids=[f"{n}_novel {k}" for n, k, _ in texts], name="real")
    pieces.tokens(made.WORDS)
    return made.Pool(pieces, np.repeat(np.arange(NOVELS), EACH))


def drawn(pool, monkeypatch, draw):
    """Whatever texts a draw checks."""
    texts = []

    def check(*given):
        texts.extend(c.documents(np.arange(len(c))) if isinstance(c, TextSketch) else c for c in given)
        return []

    monkeypatch.setattr(made, "dependence_checks", check)
    monkeypatch.setattr(made, "compared", check)
    draw(pool, np.random.default_rng(1))
    assert texts
    return texts


def test_rows_are_those_of_whole_draws(pool):
    rows = pool.rows(np.random.default_rng(0), 20, 10)
    owners = pool.novels[rows].reshape(20, 10)
    assert (owners == owners[:, :1]).all()
    assert len(set(owners[:, 0].tolist())) == 20
    assert (np.diff(rows.reshape(20, 10)) > 0).all()


@pytest.mark.parametrize(("name", "guessable", "ordered"), [
    ("40x5", True, True), ("20x10-shuffled", True, False), ("40x5-unnamed", False, True), ("chapters", True, True),
    ("20x10-unknowable", False, False),
])  # fmt: skip
def test_ids_and_order_tell_what_the_label_says(pool, monkeypatch, name, guessable, ordered):
    where = dict(zip((d.text for d in pool.pieces), pool.novels.tolist(), strict=True))
    for text in drawn(pool, monkeypatch, made.KINDS[name].draw):
        owners = [where[d.text] for d in text]
        novels = 10 if name == "chapters" else int(name.split("x")[0])
        sizes = Counter(owners)
        assert len(sizes) == novels
        groups = guess_groups(text.ids)
        assert (groups is not None) == guessable
        if guessable:
            assert len(set(zip(groups, owners, strict=True))) == len(sizes)
        changes = sum(a != b for a, b in pairwise(owners))
        assert (changes == len(sizes) - 1) == ordered


def test_independent_documents_come_from_a_novel_each(pool, monkeypatch):
    where = dict(zip((d.text for d in pool.pieces), pool.novels.tolist(), strict=True))
    sides = drawn(pool, monkeypatch, made.KINDS["alone-prefixed"].draw)
    owners = [where[d.text] for side in sides for d in side]
    assert len(owners) == len(set(owners)) == 2 * made.ALONE
    assert all(len(set(guess_groups(side.ids))) == 10 for side in sides)


@pytest.mark.parametrize("share", [0.5, 0.75])
def test_the_stated_share_are_copies(pool, monkeypatch, share):
    real, generated = drawn(pool, monkeypatch, lambda p, r: made.copied(p, r, share))
    assert len(generated) == made.ALONE
    assert len({d.text for d in generated}) == made.ALONE - round(share * made.ALONE)
    assert not set(real.hashes.tolist()) & set(generated.hashes.tolist())
    tokens = generated.tokens(made.WORDS)
    first = [tokens.vocabulary[i] for i in tokens.ids[: tokens.offsets[1]]]
    assert first == generated[0].text.split(), "cached tokens are those of the renamed documents"


def test_near_copies_differ_in_the_stated_share_of_words():
    text, donor = " ".join(["a"] * 100), " ".join(["b"] * 50)
    assert made.with_other_words(np.random.default_rng(0), text, donor, 0.02).split().count("b") == 2


def test_suggested_groups_have_nothing_to_do_with_order():
    ids = made.prefixed(np.random.default_rng(0), 50)
    groups = guess_groups(ids)
    assert sorted(Counter(groups).values()) == [5] * 10
    assert groups != sorted(groups)


@pytest.mark.parametrize(
    ("name", "hit"), [("40x5", True), ("40x5-shuffled", True), ("near-50", True), ("alone", False)]
)
def test_warnings_tell_novels_and_copies_from_independent_documents(pool, name, hit):
    found = [made.KINDS[name].draw(pool, np.random.default_rng(k)) for k in range(4)]
    assert [f.hit for f in found] == [hit] * 4


def test_each_text_must_be_warned_of():
    def check(kind, corpus, warns=True):
        return made.TrustCheck(kind, corpus, None, 1, 2, warns, None)

    checks = [check("groups", "real"), check("order", "generated", False)]
    assert made.Warned.of(checks) == made.Warned(True, ("groups",))
    assert not made.Warned.of(checks, ("real", "generated")).hit
    assert not made.Warned.of(checks, ("real",), ("repeated",)).hit
    assert made.Warned.of(checks, ("real",), ("groups",)).hit


def test_runs_resume_with_the_same_draws(tmp_path):
    def once(rng):
        return {"x": float(rng.random())}

    study.replicate(tmp_path / "a.jsonl", 5, once, "a")
    study.replicate(tmp_path / "b" / "a.jsonl", 2, once, "a")
    study.replicate(tmp_path / "b" / "a.jsonl", 5, once, "a")
    assert study.kept(tmp_path / "a.jsonl") == study.kept(tmp_path / "b" / "a.jsonl")
    assert len({row["x"] for row in study.kept(tmp_path / "a.jsonl")}) == 5


def test_null_splits_of_a_law_take_whole_novels(pool, monkeypatch):
    monkeypatch.setattr(study, "pool", lambda name: pool)
    seen = []

    class Judge(study.LawJudge):
        def test(self, real, generated, groups=None):
            seen.append((real, generated, groups))
            return super().test(real, generated, groups)

    monkeypatch.setattr(study, "LawJudge", Judge)
    row = study.null_split("heaps")(np.random.default_rng(0))
    assert 0 <= row["whole"] <= 1
    assert 0 <= row["without"] <= 1
    (real, generated, groups), (*_, none) = seen
    assert none is None
    sides = [Counter(pool.novels[rows].tolist()) for rows in (real, generated)]
    assert [sorted(s.values()) for s in sides] == [[study.CHAPTERS] * study.NOVELS] * 2
    assert not sides[0].keys() & sides[1].keys()
    assert (np.bincount(groups[0]) == study.CHAPTERS).all()


def test_tables_count_rows_and_mark_missed_goals(tmp_path):
    for folder, name, rows in (
        ("warnings", "40x5", [{"hit": k < 5, "kinds": ["groups"] if k < 5 else []} for k in range(100)]),
        ("laws", "heaps", [{"whole": 0.04 if k < 50 else None, "without": 0.04 + k} for k in range(100)]),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    assert "| 100 | 0.050 [0.016, 0.113] **!** | 0.050 | 0.000 | 0.000 | ≥ 0.95 |" in study.warning_table(tmp_path)
    assert "| heaps | 100 | 0.010 [0.000, 0.054] | 1.000 [0.929, 1.000] **!**; 50 undetermined |" in study.law_table(
        tmp_path
    )
    page = tmp_path / "page.md"
    page.write_text(f"before\n{study.START}old\n{study.END}\nafter\n")
    study.write(page, "new")
    assert page.read_text() == f"before\n{study.START}new\n{study.END}\nafter\n"
    page.write_text("no markers")
    with pytest.raises(SystemExit, match="lacks the markers"):
        study.write(page, "new")
