"""Filtering: records stay whole, real text stays, odd text goes, whatever the parts; nothing half is written."""

import dataclasses
import gzip
import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import momus
from momus.cli.app import app
from momus.controls import DEFECTS
from momus.critic.registry import critic_class, make_critics
from momus.errors import MomusError, StoreError, UsageError
from momus.outliers.filtering import filter_text
from momus.outliers.originals import read_originals
from momus.outliers.rows import Measure
from momus.reading import ReadingOptions
from momus.reading.parts import cut, list_inputs
from momus.text.corpus import Corpus

CRITICS = ("length", "unigram", "repetition")
WORDS = [f"{a}{b}" for a in ("ta", "ri", "mo", "ne", "lu", "so") for b in ("", "n", "l", "sk", "ve", "ra", "do")]
HOSTILE = {"id": "[red]x[/red]\u001b[31m", "text": "[bold]a <b>bold</b> \u001b]0;claim\u0007 \u202e word" * 30}


def texts(n, seed, mean=60):
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(2, len(WORDS) + 2)
    return [" ".join(rng.choice(WORDS, int(rng.integers(mean // 2, 2 * mean)), p=p / p.sum())) for _ in range(n)]


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def loops(n, seed):
    """Documents that repeat their first words again and again."""
    return [" ".join(t.split()[:12]) + (" " + " ".join(t.split()[5:12])) * 9 for t in texts(n, seed)]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Fitted critics, 400 real documents, and 120 new ones: 24 loops, a hostile, a blank and a broken one."""
    folder = tmp_path_factory.mktemp("filter")
    fit = Corpus.from_texts(texts(300, 0))
    for critic in make_critics(CRITICS):
        critic.fit(fit).save(folder / "run" / "critics" / critic.name)
    write_lines(folder / "real.jsonl", [{"text": t} for t in texts(400, 1)])
    rows = [{"id": f"g{i}", "text": t, "extra": {"n": i, "big": 2**70 + i}} for i, t in enumerate(texts(93, 2))]
    rows[10:10] = [{"id": f"loop{i}", "text": t} for i, t in enumerate(loops(24, 3))]
    write_lines(folder / "new.jsonl", [*rows, {"id": "blank", "text": " "}, {"id": "broken", "text": None}, HOSTILE])
    return folder


def filtered(place, out, new="new.jsonl", suffix=".jsonl", real="real.jsonl", **settings):
    arguments = {"fdr": 0.1, "scores": out / "scores", **settings}
    keep, drop = out / f"keep{suffix}", out / f"drop{suffix}"
    report = filter_text([place / new], [place / "run"], [place / real], keep, drop, **arguments)
    return report, keep, drop


@pytest.fixture(scope="module")
def done(place, tmp_path_factory):
    return filtered(place, tmp_path_factory.mktemp("done"))


def ids(path):
    return [json.loads(line)["id"] for line in path.read_bytes().splitlines()]


def test_records_stay_whole_and_in_order(place, done):
    report, keep, drop = done
    given = (place / "new.jsonl").read_bytes().splitlines()
    kept, dropped = keep.read_bytes().splitlines(), drop.read_bytes().splitlines()
    assert (report.kept, report.dropped, report.documents) == (len(kept), len(dropped), len(given))
    assert sorted(kept + dropped) == sorted(given)
    for some in (kept, dropped):
        assert sorted(some, key=given.index) == some


def test_loops_go_and_what_cannot_be_judged_stays(done):
    report, keep, drop = done
    found = [i for i in ids(drop) if i.startswith("loop")]
    assert len(found) >= 23
    assert len(ids(drop)) - len(found) <= 4
    assert {"blank", "broken"} <= set(ids(keep))
    assert report.judged_by_none == 2
    assert report.unscored["length"] == {"empty": 1, "text is null": 1}
    assert report.by_critic["repetition"][0] > 10
    assert sum(map(sum, report.by_critic.values())) == report.dropped
    assert report.expected == pytest.approx(0.1 * report.dropped)


def test_examples_are_the_oddest_that_went(done):
    report, _, drop = done
    gone = {json.loads(line)["id"]: json.loads(line)["text"] for line in drop.read_bytes().splitlines()}
    for name in CRITICS:
        some = [e for e in report.examples if e.critic == name]
        assert len(some) == min(10, sum(report.by_critic[name]))
    for e in report.examples:
        assert gone[e.id].startswith(e.text[:20])
        assert e.p <= report.p
        assert e.q <= report.fdr
        assert e.small == (e.value < e.typical) or not Measure.of_class(critic_class(e.critic)).two_sided


@pytest.mark.parametrize("size", [90])
def test_any_parts_give_the_same_files(place, done, tmp_path, size):
    report, keep, drop = filtered(place, tmp_path, part_size=size)
    assert report == done[0]
    assert [p.read_bytes() for p in (keep, drop)] == [p.read_bytes() for p in done[1:]]


@pytest.mark.slow
def test_real_text_stays(place, tmp_path):
    shares = []
    for seed in range(4):
        write_lines(tmp_path / f"{seed}.jsonl", [{"id": i, "text": t} for i, t in enumerate(texts(120, 50 + seed))])
        out = tmp_path / str(seed)
        report = filter_text(
            [tmp_path / f"{seed}.jsonl"],
            [place / "run"],
            [place / "real.jsonl"],
            out / "keep.jsonl",
            out / "drop.jsonl",
            fdr=0.2,
            scores=tmp_path / "scores",
            overwrite=True,
        )
        shares.append(report.dropped > 0)
    # where every document is real, the false-discovery rate is the chance to drop any: P(all of 4) < 0.002
    assert sum(shares) <= 3


@pytest.mark.slow
def test_another_rate_scores_nothing_again(place, tmp_path):
    _, keep, drop = filtered(place, tmp_path)
    before = {p: (p.stat().st_mtime_ns, p.stat().st_ino) for p in (tmp_path / "scores").rglob("*.parquet")}
    strict, *_ = filtered(place, tmp_path, fdr=0.02, overwrite=True)
    assert {p: (p.stat().st_mtime_ns, p.stat().st_ino) for p in (tmp_path / "scores").rglob("*.parquet")} == before
    assert strict.dropped <= len(ids(keep)) + len(ids(drop))
    with pytest.raises(StoreError, match="cannot be resumed"):
        filtered(place, tmp_path / "again", new="real.jsonl", scores=tmp_path / "scores")
    assert not (tmp_path / "again" / "keep.jsonl").exists()


def test_refusals_say_how_to_go_on(place, tmp_path):
    def refused(match, **changes):
        given = {
            "paths": [place / "new.jsonl"],
            "critics": [place / "run"],
            "real": [tmp_path / "real.jsonl"],
            "kept": tmp_path / "keep.jsonl",
            "dropped": tmp_path / "drop.jsonl",
            "scores": tmp_path / "scores",
            "overwrite": "dropped" not in changes,
            **changes,
        }
        with pytest.raises(MomusError, match=match) as error:
            filter_text(**given)
        assert error.value.hint
        assert not (tmp_path / "keep.jsonl").exists()

    write_lines(tmp_path / "real.jsonl", [{"text": t} for t in texts(60, 8)])
    write_lines(tmp_path / "few.jsonl", [{"text": t} for t in texts(12, 9)])
    write_lines(tmp_path / "fitted.jsonl", [{"text": t} for t in texts(300, 0)])
    write_lines(tmp_path / "answers.jsonl", [{"id": "a", "text": ["one answer", "another answer"]}])
    (tmp_path / "columns.json").write_text(json.dumps({"text": texts(3, 1)}))
    (tmp_path / "taken.jsonl").write_text("mine")
    refused("too few for a false-discovery rate", real=[tmp_path / "few.jsonl"])
    refused("was fitted on 300 of the 300", real=[tmp_path / "fitted.jsonl"])
    refused("2 documents", paths=[tmp_path / "answers.jsonl"])
    refused("not kept apart", paths=[tmp_path / "columns.json"])
    refused("only rows of Parquet", kept=tmp_path / "keep.parquet")
    refused("unknown ending '.csv'", kept=tmp_path / "keep.csv")
    refused("named twice", kept=tmp_path / "drop.jsonl")
    refused("exists", dropped=tmp_path / "taken.jsonl")
    refused("false-discovery rate is 5", fdr=5)
    assert (tmp_path / "taken.jsonl").read_text() == "mine"
    assert not list(tmp_path.glob(".*"))


def test_real_documents_that_were_fitted_on_are_left_out_and_counted(place, tmp_path):
    unseen = [{"id": f"r{i}", "text": t} for i, t in enumerate(texts(400, 1))]
    fitted = [{"id": f"f{i}", "text": t} for i, t in enumerate(texts(300, 0))]
    mixed = [*fitted[:100], *unseen[:150], *fitted[100:], *unseen[150:]]
    write_lines(tmp_path / "unseen.jsonl", unseen)
    write_lines(tmp_path / "mixed.jsonl", mixed)
    alone, *files = filtered(place, tmp_path / "alone", real=tmp_path / "unseen.jsonl")
    expected = [p.read_bytes() for p in files]
    settings = {"real": tmp_path / "mixed.jsonl", "scores": tmp_path / "scores", "part_size": 90}
    with pytest.raises(UsageError, match="fitted on 300 of the 700 real") as error:
        filtered(place, tmp_path / "mixed", **settings)
    assert "skip_fitted=True" in error.value.hint
    report, *files = filtered(place, tmp_path / "mixed", skip_fitted=True, **settings)
    assert report == dataclasses.replace(alone, left_out=300)
    assert [p.read_bytes() for p in files] == expected


def test_one_real_document_in_a_hundred_may_have_been_fitted_on(place, tmp_path):
    unseen, fitted = texts(396, 1), texts(300, 0)
    write_lines(tmp_path / "few.jsonl", [{"text": t} for t in [*unseen, *fitted[:4]]])
    report, *_ = filtered(place, tmp_path / "few", real=tmp_path / "few.jsonl")
    assert set(report.seen.values()) == {4}
    assert (report.real, report.left_out) == (400, 0)
    write_lines(tmp_path / "many.jsonl", [{"text": t} for t in [*unseen[:395], *fitted[:5]]])
    with pytest.raises(UsageError, match="fitted on 5 of the 400"):
        filtered(place, tmp_path / "many", real=tmp_path / "many.jsonl")


def originals(path, **options):
    reading = ReadingOptions(**options)
    (file,), _ = list_inputs([str(path)], reading)
    found = []
    for part in cut(file, 2, 1 << 20, "utf-8")[1]:
        some = read_originals(file, part, reading)
        found += some.lines(np.arange(len(some.corpus)))
    return found


def test_records_of_each_format_are_kept_whole(tmp_path):
    rows = [{"id": "a", "text": "x é", "n": 1.5}, {"id": "b", "text": "y\nz", "n": None}, {"id": "c", "text": "\ud800"}]
    lines = [json.dumps(row) for row in rows]
    raw = "\ufeff" + "\r\n\r\n".join([*lines[:2], '{"text":  "odd   spacing", "id": 7, "id": 8}'])
    (tmp_path / "a.jsonl").write_bytes(raw.encode("utf-8"))
    assert originals(tmp_path / "a.jsonl") == [x.encode() for x in raw.removeprefix("\ufeff").split("\r\n\r\n")]
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    (tmp_path / "c.json").write_text(json.dumps(rows))
    for name in ("b.jsonl.gz", "c.json"):
        assert [json.loads(x) for x in originals(tmp_path / name)] == rows
    (tmp_path / "d.csv").write_text('id,text,n\na,"x, y",1\nb,z,\n')
    assert [json.loads(x) for x in originals(tmp_path / "d.csv")] == [
        {"id": "a", "text": "x, y", "n": "1"},
        {"id": "b", "text": "z", "n": ""},
    ]
    (tmp_path / "e.txt").write_text("one\n\ntwo\n")
    assert [json.loads(x) for x in originals(tmp_path / "e.txt", fmt="lines")] == [
        {"id": "e:1", "text": "one"},
        {"id": "e:3", "text": "two"},
    ]
    (tmp_path / "f.jsonl").write_text('{"text": "a"}\n{oops\n{"text": "b"}\n')
    assert originals(tmp_path / "f.jsonl", skip_bad_lines=True) == [b'{"text": "a"}', b"{oops", b'{"text": "b"}']


def test_numbers_that_json_lacks_become_null(tmp_path):
    table = pa.table(
        {
            "text": ["a", "b"],
            "score": [float("nan"), 0.5],
            "vector": [[1.0, float("inf")], [2.0, 3.0]],
            "nested": [{"x": -math.inf}, {"x": 1.0}],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    first, second = (json.loads(line, parse_constant=pytest.fail) for line in originals(tmp_path / "a.parquet"))
    assert first == {"text": "a", "score": None, "vector": [1.0, None], "nested": {"x": None}}
    assert second == {"text": "b", "score": 0.5, "vector": [2.0, 3.0], "nested": {"x": 1.0}}


@pytest.mark.slow
def test_parquet_stays_parquet(place, tmp_path):
    lines = [json.loads(line) for line in (place / "new.jsonl").read_bytes().splitlines()]
    table = pa.table(
        {
            "id": [r["id"] for r in lines],
            "text": pa.array([r["text"] for r in lines], pa.large_string()).dictionary_encode(),
            "when": pa.array(range(len(lines)), pa.timestamp("s")),
            "vector": [[math.pi, i] for i in range(len(lines))],
        }
    )
    pq.write_table(table, tmp_path / "new.parquet", row_group_size=40)
    settings = {"new": tmp_path / "new.parquet", "part_size": 90}
    report, keep, drop = filtered(place, tmp_path, suffix=".parquet", **settings)
    kept, dropped = pq.read_table(keep), pq.read_table(drop)
    order = {id: i for i, id in enumerate(table["id"].to_pylist())}
    rows = [order[i] for i in (*kept["id"].to_pylist(), *dropped["id"].to_pylist())]
    assert sorted(rows) == list(range(len(table)))
    assert pa.concat_tables([kept, dropped]).to_pylist() == table.take(rows).to_pylist()
    assert kept.schema.equals(pq.read_schema(tmp_path / "new.parquet"))
    again, keep, drop = filtered(place, tmp_path, suffix=".jsonl", **settings)
    assert (again.dropped, again.kept) == (report.dropped, report.kept)
    assert json.loads(keep.read_text().splitlines()[0])["when"] == "1970-01-01 00:00:00"


def test_planted_loops_of_the_controls_go(place, tmp_path):
    real = momus.read_corpus(place / "real.jsonl")
    planted = DEFECTS["repetition-loop"].plant(real.take(np.arange(40)), 0.6, seed=0)
    rows = [{"id": d.id, "text": d.text} for d in planted]
    clean = [{"id": f"r{i}", "text": t} for i, t in enumerate(texts(160, 77))]
    write_lines(tmp_path / "new.jsonl", [*rows, *clean])
    _, _, drop = filtered(place, tmp_path, new=tmp_path / "new.jsonl")
    gone = ids(drop)
    assert sum(not i.startswith("r") or i.startswith("real") for i in gone) >= 36


def test_kinds_of_faults_are_measures_of_their_own(tmp_path):
    """One sentence of each odd document is said again: no loop, and usual on every other axis."""
    said = [". ".join(" ".join(t.split()[i : i + 9]) for i in range(0, 54, 9)) + "." for t in texts(760, 11, 120)]
    make_critics(["faults"])[0].fit(Corpus.from_texts(said[:300])).save(tmp_path / "run" / "critics" / "faults")
    again = [f"{t} {t[: t.index('.') + 1]}" for t in said[300:330]]
    write_lines(tmp_path / "real.jsonl", [{"text": t} for t in said[400:700]])
    write_lines(tmp_path / "new.jsonl", [{"id": str(i), "text": t} for i, t in enumerate(again + said[700:])])
    report, _, drop = filtered(tmp_path, tmp_path)
    assert report.by_critic["faults (a passage said again)"] == (report.dropped, 0)
    assert len(set(ids(drop)) & {str(i) for i in range(30)}) >= 25
    assert report.dropped <= 36


def test_both_ends_are_odd_of_sequences_alone():
    names = ("unigram", "length", "repetition", "sections")
    assert {name for name in names if Measure.of_class(critic_class(name)).two_sided} == {"unigram"}


def call(*words):
    return CliRunner().invoke(app, [str(w) for w in words])


def test_the_command_reports_what_went_and_hides_nothing(place, tmp_path):
    keep, drop = tmp_path / "k.jsonl", tmp_path / "d.jsonl"
    words = ["filter", place / "run", place / "new.jsonl", "-r", place / "real.jsonl", "--kept", keep,
             "--dropped", drop, "--fdr", "0.1", "--jobs", 1]  # fmt: skip
    done = call(*words, "--quiet")
    assert done.exit_code == 0, done
    assert "kept →" in done.stdout
    assert "could not be scored by any critic: kept" in done.stdout
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert "[red]x[/red]" in done.stdout  # shown as it is, not as markup
    assert (tmp_path / "k.jsonl.scores" / "new" / "manifest.json").exists()
    assert isinstance(call(*words).exception, StoreError)
    report = json.loads(call(*words, "--overwrite", "--json", "--quiet").stdout)
    assert report["kept"] + report["dropped"] == report["documents"] == 120
    over = ["filter", place / "run", place / "new.jsonl", "-r", place / "real.jsonl", "--kept", place / "new.jsonl"]
    assert "own input" in str(call(*over, "--dropped", drop, "--overwrite").exception)
    assert isinstance(call(*over, "--dropped", drop).exception, UsageError)


def test_texts_of_several_writers_are_filtered_together_where_that_is_said(place, tmp_path):
    rows = [{"text": t, "model": ("one", "two")[i % 2]} for i, t in enumerate(texts(40, 5))]
    new = write_lines(tmp_path / "new.jsonl", rows)
    words = ["filter", place / "run", new, "-r", place / "real.jsonl", "--kept", tmp_path / "k.jsonl",
             "--dropped", tmp_path / "d.jsonl", "--jobs", 1, "--quiet"]  # fmt: skip
    refused = call(*words).exception
    assert isinstance(refused, MomusError)
    assert "--keep model" in refused.hint
    assert call(*words, "--keep", "model", "--overwrite").exit_code == 0
    assert sum(len((tmp_path / name).read_text().splitlines()) for name in ("k.jsonl", "d.jsonl")) == 40
