"""Rows of texts that are scored in parts: packed and read back, those of one pass, resumed, and changes refused."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import momus
from momus.critic import Counted
from momus.critic.registry import make_critics
from momus.critic.rows import aligned
from momus.engine.scoring import score_parts
from momus.errors import StoreError, UsageError
from momus.reading import ReadingOptions
from momus.rows.folder import RowFolder
from momus.rows.packing import columns_of, keys_of, pack, unpack
from momus.rows.plan import Plan
from momus.rows.store import StoredText
from momus.rows.stored import sample_rows
from momus.text.corpus import Corpus

CRITICS = ("length", "unigram", "rank-frequency", "type-token", "sections", "repetition", "keyness")
WORDS = ["the", "of", "rain", "house", "hill", "town", "and", "river", "light", "stone", "a", "wind"]
TITLES = ("Summary", "Motivation", "Notes")


def records(n, seed, mean=30, swapped=0.1):
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(2, len(WORDS) + 2)
    rows = []
    for _ in range(n):
        parts = [
            " ".join(rng.choice(np.roll(WORDS, 4 * k), rng.integers(mean // 6, mean // 2), p=p / p.sum()))
            for k in range(len(TITLES))
        ]
        order = [0, 1, 2] if rng.random() > swapped else [0, 2, 1]
        rows.append({"sections": [parts[k] for k in order], "section_names": [TITLES[k] for k in order]})
    return rows


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Fitted critics, and two texts."""
    folder = tmp_path_factory.mktemp("rows")
    fit = momus.read_corpus(write_lines(folder / "fit.jsonl", records(80, 0)))
    for critic in make_critics(CRITICS):
        critic.fit(fit).save(folder / "critics" / critic.name)
    real = records(70, 1)
    real.insert(33, {"text": None})
    real.insert(50, {"text": "no sections here"})
    write_lines(folder / "real.jsonl", real)
    write_lines(folder / "generated.jsonl", records(60, 2, mean=40, swapped=0.5))
    return folder


def critics_of(place, *names):
    return [place / "critics" / name for name in names or CRITICS]


def contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def equal_rows(one, other):
    if isinstance(one, Counted):
        a, b = aligned([one, other])
        return (a.matrix != b.matrix).nnz == 0
    return np.array_equal(one, other)


def test_packed_rows_are_read_back(place):
    corpus = momus.read_corpus(place / "real.jsonl")
    scored = {c.name: c.score(corpus) for c in (momus.load_critic(p) for p in critics_of(place))}
    table = pack(corpus, scored)
    for name, scores in scored.items():
        assert set(keys_of(table.schema, name)) == set(scores.rows)
        for key, rows in scores.rows.items():
            kept = unpack(table.select(columns_of(table.schema, name, key)), name, key)
            assert equal_rows(kept, rows), (name, key)
    words = [n for n in table.column_names if n.endswith(".counts") and "unigram" in n]
    assert len(words) == 1
    assert "rank-frequency:words.counts" not in table.column_names, "the same counts are stored once"


# Any cut into parts gives the scores of one pass


@pytest.fixture(scope="module")
def whole(place):
    """The text in canonical order, and its scores under each critic."""
    corpus = momus.read_corpus(place / "real.jsonl", name="real").sorted()
    return corpus, {p.name: momus.load_critic(p).score(corpus) for p in critics_of(place)}


def check_scores(text, corpus, scores):
    assert text.corpus.ids == corpus.ids
    assert text.corpus.fingerprint == corpus.fingerprint
    assert (text.corpus.hashes == corpus.hashes).all()
    for name, one in scores.items():
        kept = text.scores(name)
        assert list(kept.ids) == corpus.ids
        assert list(kept.reasons) == list(one.reasons)
        assert (kept.steps == one.steps).all()
        np.testing.assert_allclose(kept.nll, one.nll, rtol=1e-12, err_msg=name)
        assert kept.z is one.z is None or kept.z.to_pylist() == one.z.to_pylist()
        assert kept.rows.keys() == one.rows.keys()
        for key, rows in one.rows.items():
            if isinstance(rows, Counted):
                found = Counted(sparse.csr_array(kept.rows[key].matrix), kept.rows[key].labels)
                assert equal_rows(found, rows), (name, key)
            else:
                np.testing.assert_allclose(kept.rows[key], rows, rtol=1e-12, atol=1e-12)
        if one.summary is not None and kept.summary is not None:
            check_summaries(kept.summary, one.summary, name)


def check_summaries(kept, one, name):
    assert kept.documents == one.documents
    assert kept.counts.keys() == one.counts.keys()
    for key, counts in one.counts.items():
        assert {k: v for k, v in kept.counts[key].items() if v} == pytest.approx({k: v for k, v in counts.items() if v})
    for key, array in one.arrays.items():
        np.testing.assert_allclose(kept.arrays[key], array, rtol=1e-9, atol=1e-9, err_msg=f"{name} {key}")


@pytest.mark.slow
@settings(max_examples=3)
@given(size=st.integers(5, 80))
def test_any_cut_into_parts_gives_the_scores_of_one_pass(place, whole, tmp_path_factory, size):
    out = tmp_path_factory.mktemp("cut") / "out"
    run = score_parts(critics_of(place), [place / "real.jsonl"], out, part_size=size)
    assert len(run.done) == -(-72 // size)
    assert run.documents == 72
    check_scores(StoredText(out, "real"), *whole)
    for name, scores in whole[1].items():
        assert run.unscored(name) == scores.unscored
    assert run.unscored("sections")["no sections"] == 1


def test_a_text_in_several_files_is_one_text(place, whole, tmp_path):
    lines = (place / "real.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "text").mkdir()
    for k, stretch in enumerate((lines[:20], lines[20:21], lines[21:])):
        (tmp_path / "text" / f"{k}.jsonl").write_text("".join(stretch))
    score_parts(critics_of(place, "length"), [tmp_path / "text"], tmp_path / "out", part_size=30)
    text, (corpus, scores) = StoredText(tmp_path / "out", "real"), whole
    read = text.documents(np.arange(len(text)), "real").sorted()
    assert read.fingerprint == corpus.fingerprint
    found, expected = (np.sort(one.nll) for one in (text.scores("length"), scores["length"]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)  # documents without ids have others


@settings(max_examples=20)
@given(st.data())
def test_documents_are_read_again_in_any_order(cut, whole, data):
    corpus, _ = whole
    rows = data.draw(st.lists(st.integers(0, len(corpus) - 1), max_size=20, unique=True))
    found, expected = cut.corpus.take(rows), corpus.take(rows)
    assert found.table.equals(expected.table)
    few = cut.corpus.subset(np.sort(np.array(rows, dtype=np.int64)))
    assert few.ids == [corpus.ids[row] for row in sorted(rows)]


@pytest.fixture(scope="module")
def cut(place):
    """The text in parts of nine documents."""
    score_parts(critics_of(place, "unigram", "length"), [place / "real.jsonl"], place / "cut", part_size=9)
    return StoredText(place / "cut", "real")


@settings(max_examples=20)
@given(units=st.integers(1, 6), seed=st.integers(0, 1000))
def test_sums_by_unit_are_sums_of_rows(cut, whole, units, seed):
    corpus, scores = whole
    rows = scores["unigram"].rows["aggregated_posterior"]
    rng = np.random.default_rng(seed)
    of, weights = rng.integers(-1, units, len(corpus)), rng.random(len(corpus))
    taken = np.flatnonzero(of >= 0)
    stored = cut.scores("unigram").rows["aggregated_posterior"]
    assert stored.on_disk
    sums = stored.take(taken).summed(of[taken], units, weights[taken])
    expected = np.array([(weights[:, None] * rows.matrix.toarray())[of == u].sum(axis=0) for u in range(units)])
    a, b = aligned([sums, Counted(sparse.csr_array(expected), rows.labels)])
    np.testing.assert_allclose(a.matrix.toarray(), b.matrix.toarray())


@pytest.mark.slow
def test_two_processes_write_the_same_files(place, tmp_path):
    texts, critics = [place / "real.jsonl", place / "generated.jsonl"], critics_of(place, "length")
    score_parts(critics, texts, tmp_path / "one", part_size=20)
    score_parts(critics, texts, tmp_path / "two", part_size=20, workers=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


# What was changed


@pytest.fixture
def begun(place, tmp_path):
    """A folder of rows, its critic and its text, which may be changed."""
    shutil.copytree(place / "critics" / "length", tmp_path / "critics" / "length")
    shutil.copy(place / "real.jsonl", tmp_path / "real.jsonl")
    score_parts([tmp_path / "critics" / "length"], [tmp_path / "real.jsonl"], tmp_path / "out", part_size=20)
    return tmp_path


def resumed(begun, **options):
    critics = options.pop("critics", [begun / "critics" / "length"])
    texts = options.pop("texts", [begun / "real.jsonl"])
    return score_parts(critics, texts, begun / "out", resume=True, **options)


def test_nothing_changed_computes_nothing(begun):
    before = contents(begun / "out")
    assert resumed(begun).kept == 4
    (begun / "real.jsonl").touch()
    assert resumed(begun).kept == 4, "another time of the same content"
    after = contents(begun / "out")
    assert {k: v for k, v in after.items() if k != "manifest.json"} == {
        k: v for k, v in before.items() if k != "manifest.json"
    }


def change_critic(begun):
    corpus = momus.read_corpus(begun / "real.jsonl")
    make_critics(["length"])[0].fit(corpus).save(begun / "critics" / "length")


def change_text(begun):
    path = begun / "real.jsonl"
    path.write_text(path.read_text().replace("rain", "snow"))


@pytest.mark.parametrize(
    ("change", "options", "named"),
    [
        (change_critic, {}, "the fitted critic 'length'"),
        (change_text, {}, "the content of"),
        (None, {"part_size": 30}, "(20 documents, now 30)"),
        (None, {"reading": ReadingOptions(field="sections")}, "the reading option field"),
        (None, {"texts": ["real.jsonl", "more.jsonl"]}, "more.jsonl (new)"),
    ],
)
def test_a_change_is_refused_by_name(begun, change, options, named):
    write_lines(begun / "more.jsonl", records(3, 9))
    if change is not None:
        change(begun)
    options = {k: [begun / t for t in v] if k == "texts" else v for k, v in options.items()}
    before = contents(begun / "out")
    with pytest.raises(StoreError, match="cannot be resumed") as error:
        resumed(begun, **options)
    assert named in error.value.message
    assert contents(begun / "out") == before


def test_another_version_is_refused_by_name(begun):
    path = begun / "out/manifest.json"
    plan = Plan.read(path)
    replace(plan, versions={**plan.versions, "numpy": "0"}, digest="").write(path)
    with pytest.raises(StoreError, match=r"the version of numpy \(0, now .*\)"):
        resumed(begun)


def test_rows_are_not_replaced_without_asking(begun):
    with pytest.raises(StoreError, match="already holds"):
        score_parts([begun / "critics/length"], [begun / "real.jsonl"], begun / "out")
    run = score_parts([begun / "critics/length"], [begun / "real.jsonl"], begun / "out", overwrite=True)
    assert len(run.done) == 1
    assert len(StoredText(begun / "out", "real").paths) == 1
    assert not RowFolder(begun / "out").rows(1).exists(), "the rows of before are gone"


def test_a_folder_of_other_files_is_left_alone(begun):
    (begun / "other").mkdir()
    (begun / "other" / "mine.txt").write_text("mine")
    with pytest.raises(StoreError, match="do not belong"):
        score_parts([begun / "critics/length"], [begun / "real.jsonl"], begun / "other", overwrite=True)
    assert contents(begun / "other") == {"mine.txt": b"mine"}


def test_a_cut_manifest_is_written_again_and_rows_are_kept(begun):
    before = contents(begun / "out")
    path = begun / "out" / "manifest.json"
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(StoreError, match="not readable"):
        StoredText(begun / "out", "real")
    run = resumed(begun, part_size=20)
    assert run.kept == 4
    assert "damaged" in run.notes[0]
    assert contents(begun / "out") == before


@pytest.mark.parametrize("damage", ["rows cut", "rows missing", "record cut", "record edited", "record missing"])
def test_a_damaged_part_is_computed_again(begun, damage):
    before, folder = contents(begun / "out"), RowFolder(begun / "out")
    path = folder.rows(2) if damage.startswith("rows") else folder.record(2)
    if damage.endswith("missing"):
        path.unlink()
    elif damage.endswith("cut"):
        path.write_bytes(path.read_bytes()[:-7])
    else:
        path.write_text(path.read_text().replace('"documents": 20', '"documents": 21'))
    with pytest.raises(StoreError, match="1 of 4"):
        StoredText(begun / "out", "real")
    assert resumed(begun).kept == 3
    assert contents(begun / "out") == before


def test_rows_edited_in_place_are_refused(begun):
    path = RowFolder(begun / "out").rows(1)
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    with pytest.raises(StoreError, match="SHA-256"):
        StoredText(begun / "out", "real")


def test_running_text_and_unknown_critics_are_refused(place, tmp_path):
    corpus = momus.read_corpus(place / "fit.jsonl")
    make_critics(["heaps"])[0].fit(corpus).save(tmp_path / "heaps")
    with pytest.raises(UsageError, match="running text"):
        score_parts([tmp_path / "heaps"], [place / "real.jsonl"], tmp_path / "out")
    with pytest.raises(StoreError, match=r"no critic\.json"):
        score_parts([tmp_path / "heaps" / "none"], [place / "real.jsonl"], tmp_path / "out")


# The sample that all axes are analysed on together

LABELS = st.lists(st.one_of(st.none(), st.sampled_from("uvwxyz")), min_size=1, max_size=40)


@settings(max_examples=60)
@given(LABELS, st.integers(1, 30), st.booleans(), st.randoms(use_true_random=False))
def test_a_sample_holds_whole_units_in_any_order(labels, limit, grouped, random):
    """Documents of one group, or of one prompt, are drawn together, and no more than asked for."""
    texts = [f"text {i}" for i in range(len(labels))]
    ids = [f"d{i}" for i in range(len(labels))]
    given_as = {"groups" if grouped else "prompts": labels}
    rows = sample_rows(Corpus.from_texts(texts, ids=ids, **given_as), limit)
    if rows is None:
        assert len(labels) <= limit
        return
    sizes = [labels.count(label) for label in {*labels} - {None}]
    chosen = [labels[row] for row in rows]
    assert 0 < len(rows) <= limit
    if max(sizes, default=1) <= limit:
        assert all(chosen.count(label) == labels.count(label) for label in {*chosen} - {None})
    order = list(range(len(labels)))
    random.shuffle(order)
    shuffled = Corpus.from_texts(
        [texts[i] for i in order],
        ids=[ids[i] for i in order],
        **{name: [values[i] for i in order] for name, values in given_as.items()},
    )
    again = sample_rows(shuffled, limit)
    assert again is not None
    if max(sizes, default=1) <= limit:
        assert {ids[row] for row in rows} == {ids[order[row]] for row in again}


def test_texts_with_the_same_prompts_are_sampled_alike():
    prompts = [f"p{i}" for i in range(50)]
    one, other = (Corpus.from_texts([f"{name} {i}" for i in range(50)], prompts=prompts, name=name) for name in "ab")
    drawn = [{prompts[row] for row in sample_rows(corpus, 20)} for corpus in (one, other)]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 20
