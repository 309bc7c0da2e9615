"""A comparison of texts that are scored in parts is that of the texts in memory, row by row."""

import json
import shutil
from pathlib import Path

import pytest
from texts import assert_same, contents, plain, records, same, with_oddities, write_lines
from typer.testing import CliRunner

import momus
from momus.cli.app import app
from momus.cli.options import Reading
from momus.cli.sources import NamedTexts
from momus.engine.large import large_texts
from momus.engine.scoring import score_parts
from momus.errors import StoreError, UsageError
from momus.estimator import clone
from momus.progress import Silent
from momus.reading import ReadingOptions

FEW = ("length", "type-token", "sections")
QUICK = {"permutations": 99, "resamples": 19, "top": 3, "jobs": 1, "reporter": Silent()}


def test_all_rows_and_what_is_shown_are_the_same(both, written, tmp_path):
    """Verdicts, evidence, outliers, examples, documents, the run read back."""
    critics = ("length", "unigram", "rank-frequency", "type-token", "sections", "repetition", "keyness")
    memory, parts = both(critics, **written())
    assert any(v.unscored_real > 1 for v in parts.verdicts), "some documents have no score"
    assert_same(memory, parts)
    assert_same(parts, momus.read_comparison(tmp_path / "parts"))
    for critic in critics:
        for corpus in ("real", "a"):
            table = [c.outliers(critic, corpus, top=40) for c in (memory, parts)]
            assert table[0]["id"].tolist() == table[1]["id"].tolist()
    shown = [CliRunner().invoke(app, ["outliers", str(tmp_path / run)]).stdout for run in ("memory", "parts")]
    assert shown[0] == shown[1]
    assert "d" in shown[0]
    corpora = [c.signature["corpora"] for c in (memory, parts)]
    for a, b in zip(*corpora, strict=True):
        for key in ("name", "role", "documents", "characters", "fingerprint", "groups", "prompts"):
            assert a[key] == b[key], key
    assert corpora[1][1]["rows"] == "rows/real"
    assert (tmp_path / "parts/report.html").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize(("documents", "jobs"), [(7, 2), pytest.param(64, 1, marks=pytest.mark.slow)])
def test_two_processes_and_other_parts_change_nothing(both, written, documents, jobs):
    assert_same(*both(FEW, **written(), documents=documents, jobs=jobs))


@pytest.mark.slow
def test_pairs_of_prompts(both, written):
    memory, parts = both(FEW, **written(prompts=1000), control_for=("length",))
    assert {v.method.design for v in parts.verdicts} == {"pairs"}
    assert parts.joint.adjusted
    assert_same(memory, parts)


@pytest.mark.slow
def test_prompts_with_several_answers(both, written):
    memory, parts = both(FEW, **written(prompts=20))
    assert parts.joint.wins
    assert_same(memory, parts)


def test_groups_with_their_checks_and_warnings(both, written):
    memory, parts = both(FEW, **written(groups=20))
    assert 1 < parts.signature["corpora"][1]["groups"] <= 20
    assert_same(memory, parts)
    assert memory.warnings
    assert sorted(memory.warnings) == sorted(parts.warnings)
    for what in ("checks", "languages"):
        same(memory.signature[what], parts.signature[what], what)


@pytest.mark.slow
def test_several_texts_and_their_pairs(both, written):
    memory, parts = both(("length", "type-token"), **written((80, 60, 50, 45, 55), prompts=25), pairwise=True)
    assert len(parts.pairs) == 6
    assert parts.joint.ranking is not None
    assert_same(memory, parts)


@pytest.mark.slow
@pytest.mark.parametrize("labels", [{}, {"groups": 20}, {"prompts": 15}, {"ids": False}])
def test_half_of_the_real_text_is_set_apart(both, written, labels):
    memory, parts = both(FEW, **{**written((80, 90, 50), **labels), "fit": None}, seed=3)
    assert parts.signature["split"]
    assert [w for w in memory.warnings if "split by" in w] == [w for w in parts.warnings if "split by" in w] != []
    assert_same(memory, parts)


def test_ids_that_are_missing(both, written):
    memory, parts = both(("length",), **written(ids=False))
    assert_same(memory, parts)
    assert plain(parts.results[0].to_json()), "numbers that JSON knows"


@pytest.mark.slow
def test_unpaired_and_within_bounds(both, written):
    memory, parts = both(("length", "type-token"), **written(prompts=1000), paired=False)
    assert_same(memory, parts)


@pytest.mark.slow
def test_the_sample_for_analyses_of_all_axes_is_the_same(both, written, monkeypatch):
    monkeypatch.setattr("momus.runs.texts.ANALYSED", 40)
    monkeypatch.setattr("momus.engine.in_parts.ANALYSED", 40)
    memory, parts = both(FEW, **written((80, 90, 80), prompts=40), control_for=("length",))
    few = [row.n_real for row in parts.joint.adjusted]
    assert few
    assert max(few) <= 40 < min(v.n_real for v in parts.verdicts if v.critic == "length")
    assert_same(memory, parts)


@pytest.mark.slow
def test_sequences_topics_and_mixed_code(both, tmp_path):
    """Critics that compute with PyTorch, and those whose evidence needs the latents of documents."""
    texts = {"fit": write_lines(tmp_path / "fit.jsonl", records(150, 0, longest=9))}
    texts["real"] = write_lines(tmp_path / "real.jsonl", with_oddities(records(100, 1, longest=9)))
    texts["generated"] = {"a": write_lines(tmp_path / "a.jsonl", with_oddities(records(80, 2, longest=9, power=1.2)))}
    critics = ("topics", "rhythm", "discourse", "coreference", "stopword-share", "symbol-share", "consistency")
    memory, parts = both(critics, **texts, device="cpu", config={"topics": {"n_topics": 4}})
    assert_same(memory, parts)


@pytest.mark.slow
def test_larger_texts(both, written):
    """More documents than are tested one by one: they are put into blocks."""
    critics = ("length", "unigram", "rank-frequency", "type-token", "sections")
    memory, parts = both(critics, **written((2000, 6000, 5600)), documents=900, jobs=2)
    assert_same(memory, parts)


@pytest.mark.slow
def test_evidence_that_needs_latents_is_made_of_a_sample_of_larger_texts(both, written, monkeypatch):
    monkeypatch.setattr("momus.rows.stored.StoredCorpus.readable", 100)
    memory, parts = both(("repetition",), **written((100, 300, 280)))
    for one, other in zip(memory.verdicts, parts.verdicts, strict=True):
        same(one.row(), other.row(), one.statistic)
    told = [[n.text for n in c.results[0].notes if "at most 100 documents" in n.text] for c in (memory, parts)]
    assert [len(t) for t in told] == [0, 1]


@pytest.mark.slow
def test_critics_that_read_a_text_as_a_whole_run_beside_the_others(both, written):
    texts = written((80, 300, 260))
    memory, parts = both(("heaps", "length"), **texts)
    assert {v.critic for v in parts.verdicts} == {"heaps", "length"}
    for a, b in zip(memory.verdicts, parts.verdicts, strict=True):
        same(a.row(), b.row(), f"{a.critic}/{a.statistic}")


# Rows that were scored before


@pytest.fixture
def fitted(written, tmp_path):
    """Texts, a comparison of them in memory, and the critics that it fitted."""
    texts = written()
    memory = momus.compare(**texts, **QUICK, critics=FEW, out=tmp_path / "memory")
    return texts, memory, [tmp_path / "memory/critics" / name for name in FEW]


def test_rows_for_one_side_and_a_text_for_the_other(fitted, tmp_path):
    texts, memory, critics = fitted
    score_parts(critics, [texts["real"]], tmp_path / "rows", part_size=13)
    kept = contents(tmp_path / "rows")
    of_rows = momus.compare(tmp_path / "rows", texts["generated"], **QUICK, out=tmp_path / "of-rows")
    assert_same(memory, of_rows)
    assert contents(tmp_path / "rows") == kept, "what was scored before is read only"
    assert of_rows.signature["corpora"][1]["rows"] == str(tmp_path / "rows")


@pytest.mark.slow
def test_rows_for_both_sides_and_without_a_folder(fitted, tmp_path):
    texts, memory, critics = fitted
    for name, path in (("real", texts["real"]), ("a", texts["generated"]["a"])):
        score_parts(critics, [path], tmp_path / f"rows-{name}", part_size=19)
    both = tmp_path / "rows-real", {"a": tmp_path / "rows-a"}
    assert_same(memory, momus.compare(*both, **QUICK))
    (few,) = momus.compare(*both, **QUICK, critics=["length"]).results
    # fewer axes need fewer relabellings, so what depends on them is compared with the same critic alone
    (alone,) = momus.compare(**texts, **QUICK, critics=["length"]).results
    for one, other, single in zip(memory.results[0].verdicts, few.verdicts, alone.verdicts, strict=True):
        for key in ("statistic", "generated_value"):
            same(getattr(one, key), getattr(other, key), key)
        for key in ("statistic", "real_value", "effect", "p", "p_axis", "p_in_axis"):
            same(getattr(single, key), getattr(other, key), key)


@pytest.mark.slow
def test_a_run_stands_for_the_rows_of_its_real_text(written, in_parts, tmp_path):
    in_parts()
    texts = written((80, 60, 50, 45))
    first, second = ({"a": texts["generated"]["a"]}, {"b": texts["generated"]["b"]})
    momus.compare(texts["real"], first, fit=texts["fit"], critics=FEW, **QUICK, out=tmp_path / "first")
    again = momus.compare(tmp_path / "first", second, **QUICK, out=tmp_path / "second")
    expected = momus.compare(texts["real"], second, fit=texts["fit"], critics=FEW, **QUICK, out=tmp_path / "third")
    assert_same(expected, again)


@pytest.mark.slow
def test_rows_of_the_real_text_are_reused(written, in_parts, tmp_path, monkeypatch):
    """With the critics of an earlier run, only the generated text is scored."""
    in_parts()
    texts = written()
    first = momus.compare(**texts, **QUICK, critics=FEW, out=tmp_path / "first")
    scored = []

    def counted(critics, paths, out, **options):
        run = score_parts(critics, paths, out, **options)
        scored.append((out.name, len(run.done), run.kept))
        return run

    monkeypatch.setattr("momus.engine.in_parts.score_parts", counted)
    second = momus.compare(**texts, **QUICK, critics=FEW, out=tmp_path / "second", reuse=tmp_path / "first")
    assert scored == [("real", 4, 4), ("a", 4, 0)]
    assert_same(first, second)
    assert not [w for w in second.warnings if "again" in w]
    changed = write_lines(tmp_path / "changed.jsonl", records(40, 9))
    scored.clear()
    third = momus.compare(
        **{**texts, "real": changed}, **QUICK, critics=FEW, out=tmp_path / "third", reuse=tmp_path / "first"
    )
    assert scored == [("real", 3, 0), ("a", 4, 0)], "another real text is scored"
    assert {v.n_real + v.unscored_real for v in third.verdicts} == {40}


@pytest.mark.slow
def test_a_resumed_comparison_keeps_rows_and_results(written, in_parts, tmp_path):
    in_parts()
    texts = written()
    options = {**texts, **QUICK, "critics": FEW, "out": tmp_path / "run"}
    first = momus.compare(**options)
    rows = contents(tmp_path / "run/rows")
    assert_same(first, momus.compare(**options, resume=True))
    assert contents(tmp_path / "run/rows") == rows
    write_lines(texts["generated"]["a"], records(30, 8))
    changed = momus.compare(**options, resume=True)
    assert {v.n_generated + v.unscored_generated for v in changed.verdicts} == {30}
    (tmp_path / "fresh").mkdir()
    assert_same(changed, momus.compare(**{**options, "out": tmp_path / "fresh/run"}))


def test_texts_of_other_critics_are_not_compared(fitted, tmp_path):
    texts, _, critics = fitted
    score_parts(critics, [texts["real"]], tmp_path / "rows")
    momus.compare(**texts, **QUICK, critics=["length"], seed=1, out=tmp_path / "other")
    corpus = momus.read_corpus(texts["real"])
    clone(momus.load_critic(critics[0])).fit(corpus).save(tmp_path / "length")
    score_parts([tmp_path / "length"], [texts["generated"]["a"]], tmp_path / "rows-a")
    sides = tmp_path / "rows", {"a": tmp_path / "rows-a"}
    with pytest.raises(StoreError, match="another fitted"):
        momus.compare(*sides, critics=["length"])
    with pytest.raises(StoreError, match="has no scores of 'sections'"):
        momus.compare(*sides, critics=["sections"])
    with pytest.raises(UsageError, match="no scores of unigram"):
        momus.compare(tmp_path / "rows", {"a": texts["generated"]["a"]}, critics=["unigram"])
    with pytest.raises(UsageError, match="fitted before"):
        momus.compare(tmp_path / "rows", {"a": texts["generated"]["a"]}, fit=texts["fit"])
    with pytest.raises(UsageError, match="a text in memory"):
        momus.compare(tmp_path / "rows", {"a": ["in memory"]})


def test_a_damaged_row_and_a_text_that_changed_are_refused(fitted, tmp_path):
    texts, _, critics = fitted
    score_parts(critics, [texts["real"]], tmp_path / "rows", part_size=20)
    shutil.copytree(tmp_path / "rows", tmp_path / "damaged")
    path = tmp_path / "damaged/parts/00001.parquet"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    with pytest.raises(StoreError, match="SHA-256"):
        momus.compare(tmp_path / "damaged", texts["generated"])
    texts["real"].write_text(texts["real"].read_text().replace("W1 ", "W2 "))
    with pytest.raises(momus.errors.MomusError, match="changed"):
        momus.compare(tmp_path / "rows", texts["generated"], **QUICK)


def test_one_id_in_two_parts_is_refused(fitted, tmp_path):
    texts, _, critics = fitted
    write_lines(tmp_path / "twice.jsonl", [{"id": str(i % 12), "text": "a b"} for i in range(20)])
    score_parts(critics, [tmp_path / "twice.jsonl"], tmp_path / "rows", part_size=10)
    with pytest.raises(StoreError, match="occurs more than once"):
        momus.compare(tmp_path / "rows", texts["generated"])


# Which texts are scored in parts


def test_only_files_of_a_size_are_scored_in_parts(written, monkeypatch):
    texts, options = written(), ReadingOptions()
    sizes = [p.stat().st_size for p in (texts["real"], texts["generated"]["a"])]
    monkeypatch.setattr("momus.engine.large.LARGE", sum(sizes))
    assert large_texts(texts["real"], texts["generated"], options) is None
    monkeypatch.setattr("momus.engine.large.LARGE", sum(sizes) - 1)
    found = large_texts(texts["real"], texts["generated"], options)
    assert found is not None
    assert found.size == sum(sizes)
    assert large_texts(["in memory"], texts["generated"], options) is None
    assert large_texts(texts["real"], {"a": momus.read_corpus(texts["generated"]["a"])}, options) is None


def test_texts_of_one_file_by_a_column_are_scored_in_parts(tmp_path, in_parts, written):
    texts = written((80, 60, 50))
    rows = [
        {**json.loads(line), "model": name}
        for name, path in (("human", texts["real"]), ("a", texts["generated"]["a"]))
        for line in Path(path).read_text().splitlines()
    ]
    one = tmp_path / "one.jsonl"
    one.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def compare(out):
        split = NamedTexts([str(one)], split_by="model").resolved(Reading())
        arguments = {**QUICK, "critics": ["length"], "fit": texts["fit"], "out": tmp_path / out}
        return split, momus.compare(split.real, split.generated, reading=split.reading, **arguments)

    _, memory = compare("memory")
    in_parts(17)
    split, parts = compare("parts")
    assert (split.real, split.generated) == (str(one), {"a": str(one)})
    assert split.reading.where == {"a": "model=a", "real": "model=human"}
    assert (tmp_path / "parts/rows/real/parts").is_dir()
    assert [v.row() for v in parts.verdicts] == [v.row() for v in memory.verdicts]
