"""Texts scored in parts: the parts are the whole text, the rows are those of one pass, and changes are refused."""

import gzip
import json
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import momus
from momus.critic import Counted
from momus.critic.registry import make_critics
from momus.engine.comparing import compare_shards
from momus.engine.scoring import score_parts
from momus.errors import ReadingError, StoreError, UsageError
from momus.reading import ReadingOptions
from momus.reading.parts import cut, list_inputs, read_part
from momus.runs.packing import columns_of, keys_of, pack, unpack
from momus.runs.row_folder import RowFolder
from momus.runs.row_plan import Plan
from momus.runs.row_store import StoredText
from momus.text.corpus import Corpus
from momus.verdicts.judge import judge

CRITICS = ("length", "unigram", "rank-frequency", "type-token", "sections")
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
    """Fitted critics, and a real and a generated text."""
    folder = tmp_path_factory.mktemp("parts")
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


# Parts


def same_as_whole(path, options=None, documents=3, size=1 << 20):
    options = options or ReadingOptions()
    (file,), _ = list_inputs([str(path)], options)
    _, parts = cut(file, documents, size, options.encoding)
    tables = [read_part(file, part, options).table for part in parts]
    whole = momus.read_corpus(path, field=options.field, fmt=options.fmt, skip_bad_lines=options.skip_bad_lines)
    assert pa.concat_tables(tables).combine_chunks().equals(whole.table.combine_chunks())
    return len(parts)


def test_parts_of_lines_are_the_file(tmp_path):
    path = tmp_path / "a.jsonl"
    lines = ['{"text": "a"}', "", '{"text": "b", "id": "x"}', '["no object"]', '{"text": "c\\u2028d"}', '{"text": "é"}']
    path.write_bytes(b"\xef\xbb\xbf" + "\n".join(lines).encode())
    assert same_as_whole(path, documents=2) == 3
    assert same_as_whole(path, documents=100) == 1
    assert same_as_whole(path, documents=100, size=20) >= 3


def test_parts_of_plain_lines_and_of_other_files(tmp_path):
    (tmp_path / "a.txt").write_text("one\n\ntwo\r\nthree")
    assert same_as_whole(tmp_path / "a.txt", ReadingOptions(fmt="lines"), documents=1) == 4
    (tmp_path / "b.csv").write_text("text\none\ntwo\n")
    assert same_as_whole(tmp_path / "b.csv", documents=1) == 1
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a"}\n{"text": "b"}\n'))
    assert same_as_whole(tmp_path / "c.jsonl.gz", documents=1) == 1


@pytest.mark.parametrize(("rows", "group", "documents"), [(10, 3, 3), (10, 3, 7), (10, 10, 4), (5, 1, 2), (1, 1, 1)])
def test_parts_of_parquet_are_the_file(tmp_path, rows, group, documents):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"text {i}" for i in range(rows)]}), path, row_group_size=group)
    assert same_as_whole(path, documents=documents) >= rows / documents


def test_a_fault_in_a_part_names_the_line_of_the_file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n' * 5 + "{broken\n")
    (file,), _ = list_inputs([str(path)], ReadingOptions())
    _, parts = cut(file, 2, 1 << 20, "utf-8")
    with pytest.raises(ReadingError, match="line 6"):
        read_part(file, parts[-1], ReadingOptions())


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [{"text": "a"}] * 3)
    (file,), _ = list_inputs([str(path)], ReadingOptions())
    _, parts = cut(file, 2, 1 << 20, "utf-8")
    write_lines(path, [{"text": "longer"}] * 3)
    with pytest.raises(ReadingError, match="changed while it was read"):
        read_part(file, parts[0], ReadingOptions())


@pytest.mark.parametrize("path", ["-", "https://host/a.jsonl"])
def test_only_files_are_read_in_parts(path):
    with pytest.raises(UsageError, match="only files and folders"):
        list_inputs([path], ReadingOptions())


def test_a_file_given_twice_is_refused(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [{"text": "a"}])
    with pytest.raises(UsageError, match="named twice"):
        list_inputs([str(path), str(tmp_path)], ReadingOptions())


def test_files_of_one_name_get_different_ids(tmp_path):
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        write_lines(tmp_path / name / "a.jsonl", [{"text": name}])
    files, _ = list_inputs([str(tmp_path / n / "a.jsonl") for n in "xy"], ReadingOptions())
    assert len({read_part(f, None, ReadingOptions()).ids[0] for f in files}) == 2


# Rows


def equal_rows(one, other):
    if isinstance(one, Counted):
        a, b = momus.critic.aligned([one, other])
        return (a.matrix != b.matrix).nnz == 0
    return np.array_equal(one, other)


def test_packed_rows_are_read_back(place):
    corpus = momus.read_corpus(place / "real.jsonl")
    scored = {c.name: c for c in (momus.load_critic(p) for p in critics_of(place))}
    scored = {name: critic.score(corpus) for name, critic in scored.items()}
    table = pack(corpus, scored)
    for name, scores in scored.items():
        assert set(keys_of(table.schema, name)) == set(scores.rows)
        for key, rows in scores.rows.items():
            kept = unpack(table.select(columns_of(table.schema, name, key)), name, key)
            assert equal_rows(kept, rows), (name, key)
    words = [n for n in table.column_names if n.endswith(".counts") and "unigram" in n]
    assert len(words) == 1
    assert "rank-frequency:words.counts" not in table.column_names, "the same counts are stored once"


def test_shards_hold_the_rows_of_one_pass(place, tmp_path):
    names = ("unigram", "type-token", "sections")
    run = score_parts(critics_of(place, *names), [place / "real.jsonl"], tmp_path / "out", part_size=30)
    assert len(run.done) == 3
    assert run.documents == 72
    text, corpus = StoredText(tmp_path / "out", "real"), momus.read_corpus(place / "real.jsonl")
    for path in critics_of(place, *names):
        critic = momus.load_critic(path)
        whole, kept = critic.score(corpus), text.scores(critic.name)
        np.testing.assert_allclose(kept.nll, whole.nll, rtol=1e-12)
        assert list(kept.ids) == corpus.ids
        assert list(kept.reasons) == list(whole.reasons)
        n = len(corpus)
        for key, rows in whole.rows.items():
            if isinstance(rows, Counted):
                assert equal_rows(text.summed(critic.name, key, np.arange(n), n, np.ones(n)), rows), key
            else:
                np.testing.assert_allclose(kept.rows[key], rows, rtol=1e-12, atol=1e-12)
        assert run.unscored(critic.name) == whole.unscored
    assert run.unscored("sections")["no sections"] == 1


def test_sums_by_unit_are_sums_of_rows(place, tmp_path):
    score_parts(critics_of(place, "unigram"), [place / "real.jsonl"], tmp_path / "out", part_size=9)
    text, corpus = StoredText(tmp_path / "out", "real"), momus.read_corpus(place / "real.jsonl")
    rows = momus.load_critic(place / "critics" / "unigram").score(corpus).rows["aggregated_posterior"]
    rng = np.random.default_rng(0)
    units, weights = rng.integers(-1, 5, len(corpus)), rng.random(len(corpus))
    sums = text.summed("unigram", "aggregated_posterior", units, 5, weights)
    expected = np.array([(weights[:, None] * rows.matrix.toarray())[units == u].sum(axis=0) for u in range(5)])
    a, b = momus.critic.aligned([sums, Counted(momus.critic.rows.sparse.csr_array(expected), rows.labels)])
    np.testing.assert_allclose(a.matrix.toarray(), b.matrix.toarray())


def test_two_processes_and_ranks_write_the_same_files(place, tmp_path):
    texts, critics = [place / "real.jsonl", place / "generated.jsonl"], critics_of(place, "length")
    score_parts(critics, texts, tmp_path / "one", part_size=20)
    score_parts(critics, texts, tmp_path / "two", part_size=20, workers=2)
    for rank in (2, 0, 1):
        score_parts(critics, texts, tmp_path / "three", part_size=20, rank=rank, world=3)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "three")


# What was changed


@pytest.fixture
def begun(place, tmp_path):
    """A folder of parts, its critics and its text, which may be changed."""
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
        (None, {"part_size": 30}, "the size of parts (20 documents, now 30)"),
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


def test_shards_are_not_replaced_without_asking(begun):
    with pytest.raises(StoreError, match="already holds parts"):
        score_parts([begun / "critics/length"], [begun / "real.jsonl"], begun / "out")
    run = score_parts([begun / "critics/length"], [begun / "real.jsonl"], begun / "out", overwrite=True)
    assert len(run.done) == 1
    assert len(list((begun / "out/parts").glob("*.parquet"))) == 1, "the parts of before are gone"


def test_a_folder_of_other_files_is_left_alone(begun):
    (begun / "other").mkdir()
    (begun / "other" / "mine.txt").write_text("mine")
    with pytest.raises(StoreError, match="do not belong"):
        score_parts([begun / "critics/length"], [begun / "real.jsonl"], begun / "other", overwrite=True)
    assert contents(begun / "other") == {"mine.txt": b"mine"}


def test_a_cut_manifest_is_written_again_and_shards_are_kept(begun):
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
def test_a_damaged_shard_is_computed_again(begun, damage):
    before, folder = contents(begun / "out"), RowFolder(begun / "out")
    path = folder.rows(2) if damage.startswith("rows") else folder.record(2)
    if damage.endswith("missing"):
        path.unlink()
    elif damage.endswith("cut"):
        path.write_bytes(path.read_bytes()[:-7])
    else:
        path.write_text(path.read_text().replace('"documents": 20', '"documents": 21'))
    with pytest.raises(StoreError, match="1 of 4 parts"):
        StoredText(begun / "out", "real")
    assert resumed(begun).kept == 3
    assert contents(begun / "out") == before


def test_rows_edited_in_place_are_refused_by_a_comparison(begun):
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
        score_parts([tmp_path], [place / "real.jsonl"], tmp_path / "out")


# Comparisons


@pytest.fixture(scope="module")
def scored(place):
    for name in ("real", "generated"):
        score_parts(critics_of(place), [place / f"{name}.jsonl"], place / f"out-{name}", part_size=25)
    return place


def test_a_comparison_from_shards_is_that_of_the_scores(scored):
    found = compare_shards(scored / "out-real", {"g": scored / "out-generated"}, permutations=199, resamples=99)
    corpora = [
        momus.read_corpus(scored / f"{name}.jsonl", name=n) for name, n in (("real", "real"), ("generated", "g"))
    ]
    for path in critics_of(scored):
        critic = momus.load_critic(path)
        expected = judge(critic, *(critic.score(c) for c in corpora), permutations=199, resamples=99, family=5)
        verdicts = [v for v in found.verdicts if v.critic == critic.name]
        assert [v.statistic for v in verdicts] == [v.statistic for v in expected]
        for v, e in zip(verdicts, expected, strict=True):
            for name in ("real_value", "generated_value", "effect", "low", "high", "p", "n_real", "unscored_real"):
                one, other = getattr(v, name), getattr(e, name)
                assert (one is None) == (other is None), (v.critic, v.statistic, name)
                if one is not None:
                    assert one == pytest.approx(other, rel=1e-9, abs=1e-9), (v.critic, v.statistic, name)


def test_a_run_from_shards_is_read_and_shown(scored, tmp_path):
    found = compare_shards(
        scored / "out-real", {"g": scored / "out-generated"}, critics=["length", "unigram"], out=tmp_path / "run",
        permutations=99, resamples=99, top=3,
    )  # fmt: skip
    again = momus.read_comparison(tmp_path / "run")
    assert [v.row() for v in again.verdicts] == [v.row() for v in found.verdicts]
    assert [len(r.outliers) for r in again.results] == [3, 3]
    critic = momus.load_critic(scored / "critics/length")
    scores = critic.score(momus.read_corpus(scored / "generated.jsonl"))
    odd = [scores.ids[i] for i in scores.ranked(False)[:3]]
    assert [o.id for o in again.results[0].outliers] == odd
    assert all(r.evidence for r in again.results)
    assert "from parts" in (tmp_path / "run/report.html").read_text()
    with pytest.raises(StoreError, match="compared from parts"):
        again.outliers("length")


def test_texts_of_other_critics_are_not_compared(scored, tmp_path):
    corpus = momus.read_corpus(scored / "real.jsonl")
    make_critics(["length"])[0].fit(corpus).save(tmp_path / "length")
    score_parts([tmp_path / "length"], [scored / "generated.jsonl"], tmp_path / "out")
    with pytest.raises(StoreError, match="another fitted"):
        compare_shards(scored / "out-real", {"g": tmp_path / "out"}, critics=["length"])
    with pytest.raises(StoreError, match="no scores of"):
        compare_shards(scored / "out-real", {"g": tmp_path / "out"}, critics=["unigram"])
    with pytest.raises(UsageError, match="refits"):
        compare_shards(scored / "out-real", {"g": scored / "out-generated"}, refits=3)


def test_one_id_in_two_shards_is_refused(place, tmp_path):
    rows = [{"id": str(i % 12), "text": "a b"} for i in range(20)]
    write_lines(tmp_path / "a.jsonl", rows)
    score_parts(critics_of(place, "length"), [tmp_path / "a.jsonl"], tmp_path / "out", part_size=10)
    with pytest.raises(StoreError, match="occurs more than once"):
        compare_shards(tmp_path / "out", {"g": tmp_path / "out"})


def test_pairs_of_prompts_stay_pairs_in_shards(place, tmp_path):
    texts = {}
    for name, seed in (("real", 5), ("g", 6)):
        rows = [{**r, "prompt_id": f"p{i}"} for i, r in enumerate(records(40, seed))]
        write_lines(tmp_path / f"{name}.jsonl", rows[:: 1 if name == "g" else -1])
        score_parts(critics_of(place, "length"), [tmp_path / f"{name}.jsonl"], tmp_path / name, part_size=15)
        texts[name] = momus.read_corpus(tmp_path / f"{name}.jsonl", name=name)
    found = compare_shards(tmp_path / "real", {"g": tmp_path / "g"}, permutations=499, resamples=99)
    critic = momus.load_critic(place / "critics/length")
    expected = judge(critic, critic.score(texts["real"]), critic.score(texts["g"]), permutations=499, resamples=99)
    assert {v.method.design for v in found.verdicts} == {"pairs"}
    for v, e in zip(found.verdicts, expected, strict=True):
        assert v.generated_value == pytest.approx(e.generated_value)
        assert v.real_value == pytest.approx(e.real_value, rel=0.2), "of a distance, a mean over permutations"


def test_corpora_in_memory_have_no_shards():
    from momus.engine.comparing import is_shard_folder

    assert not is_shard_folder(Corpus.from_texts(["a"]))
    assert not is_shard_folder("nowhere")
