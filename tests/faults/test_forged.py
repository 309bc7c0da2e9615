"""Every kind of JSON that is read, changed by somebody who makes the digests fit: refused with words, or read."""

import collections
import copy
import json
import random
import shutil
import traceback
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from simulated_raters import Truth, simulated_answers

import momus
from momus.calibration.store import CellFolder
from momus.comparison import read_comparison
from momus.critic.base import notes_of
from momus.critic.saved import DIGESTS, JSON_NAME, _content_digest
from momus.engine.scoring import score_parts
from momus.errors import MomusError
from momus.history.diff import diff_runs
from momus.history.gate import add_look, gate_run, read_looks
from momus.history.rules import Limit, Rules
from momus.history.view import diff_blocks, gate_blocks, in_markdown
from momus.outliers.listing import listed
from momus.reading import read_corpus
from momus.report.exports import comparison_json
from momus.report.page import render
from momus.report.terminal import comparison_text
from momus.rows.packing import SHARED
from momus.rows.plan import digest_of
from momus.rows.store import StoredText
from momus.runs.kept import SCORED, read_kept_texts, read_scores
from momus.runs.manifest import write_manifest
from momus.runs.result import RunRecord
from momus.schema import SEAL, seal
from momus.text.sketches import METADATA
from momus_people.answers import read_answers
from momus_people.protocol import Protocol
from momus_people.result import analysed
from momus_people.study import make_study, read_study, write_study

from .mutations import ODD, _spots
from .test_sealed import CELL

QUICK, MANY = 40, 500
"""Mutations of the default run, and of each of the ten slow ones, over all kinds together."""
LOGS = Path(__file__).parents[1] / "data" / "logs"
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "the", "dog", "ran", "all", "day", "in", "rain", "that", "fell"]
MORE = [*ODD, 10**9, "../x", "\0", "real", "g", [None], {"a": 1}, 0.5, False, -(2**63), "1e5", [1, "x"], "NaN"]


@dataclass
class Target:
    """Files of one kind, how to make their digests fit, and what reads them."""

    folder: Path
    files: list[Path]
    fit: object
    read: object


def mutated(content, rng):
    """JSON with one to three values changed, left out, renamed or exchanged."""
    content = copy.deepcopy(content)
    for _ in range(rng.choice([1, 1, 2, 3])):
        spots = list(_spots(content)) or [()]
        path = rng.choice(spots)
        if not path:
            return copy.deepcopy(rng.choice(MORE))
        inner = content
        for step in path[:-1]:
            inner = inner[step]
        last, old, kind = (
            path[-1],
            inner[path[-1]],
            rng.choice(["odd", "odd", "gone", "renamed", "nudged", "other", "more"]),
        )
        if kind == "gone":
            del inner[last]
        elif kind == "renamed" and isinstance(inner, dict):
            inner[rng.choice(["name", "x", "kind", "critic"])] = inner.pop(last)
        elif kind == "nudged" and isinstance(old, int | float) and not isinstance(old, bool):
            inner[last] = old * rng.choice([-1, 2, 1000, 0]) + rng.choice([0, 1])
        elif kind == "other":
            other = content
            for step in rng.choice(spots):
                other = (
                    other[step] if isinstance(other, dict) or (isinstance(other, list) and step < len(other)) else other
                )
                if not isinstance(other, dict | list):
                    break
            inner[last] = copy.deepcopy(other)
        elif kind == "more" and isinstance(inner, list):
            inner.insert(rng.randrange(len(inner) + 1), copy.deepcopy(old))
        else:
            inner[last] = copy.deepcopy(rng.choice(MORE))
    return content


def change(path, rng):
    """Change one JSON value of a file: of an object, of a line, or of the metadata of a table."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        metadata = dict(table.schema.metadata)
        key = rng.choice([k for k in (SHARED, METADATA, SCORED) if k in metadata])
        metadata[key] = json.dumps(mutated(json.loads(metadata[key]), rng)).encode()
        pq.write_table(table.replace_schema_metadata(metadata), path)
    elif path.suffix == ".jsonl":
        lines = path.read_text(encoding="utf-8").splitlines()
        number = rng.randrange(len(lines))
        lines[number] = json.dumps(mutated(json.loads(lines[number]), rng))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        content = mutated(json.loads(path.read_text(encoding="utf-8")), rng)
        path.write_text(json.dumps(content), encoding="utf-8")


def reseal(path):
    """Make the digest of a sealed file fit."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(content, dict):
        content.pop(SEAL, None)
        path.write_text(json.dumps({**content, SEAL: seal(content)}), encoding="utf-8")


def refit_run(folder):
    for critic in (folder / "critics").iterdir():
        write_manifest(critic)
    write_manifest(folder)


def refit_rows(folder):
    manifest = folder / "manifest.json"
    reseal(manifest)
    content = json.loads(manifest.read_text(encoding="utf-8"))
    try:
        del content[SEAL]
        digest = digest_of(content)
    except (MomusError, TypeError, KeyError):
        digest = None
    for path in (folder / "records").iterdir():
        record = json.loads(path.read_text(encoding="utf-8"))
        rows = folder / "parts" / f"{path.stem}.parquet"
        if isinstance(record, dict):
            if digest is not None and "plan" in record:
                record["plan"] = digest
            if isinstance(record.get("rows"), dict):
                data = rows.read_bytes()
                record["rows"] |= {"bytes": len(data), "sha256": momus_digest(data)}
            path.write_text(json.dumps(record), encoding="utf-8")
            reseal(path)


def momus_digest(data):
    from hashlib import sha256

    return sha256(data).hexdigest()


def texts(folder):
    rng = random.Random(0)
    found = {}
    for name, extra in (("fit", 0), ("real", 0), ("g", 5), ("h", 12)):
        path = folder / f"{name}.jsonl"
        rows = [
            {
                "id": f"{name}{i}",
                "text": " ".join(rng.choices(WORDS, k=rng.randint(5, 30) + extra)),
                "prompt_id": f"p{i}",
            }
            for i in range(24)
        ]
        path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
        found[name] = str(path)
    return found


def kept_scores(run):
    real = read_corpus(run.folder.parents[1] / "real.jsonl", name="real").sorted()
    return [read_scores(run.folder / "critics" / result.name, real) for result in run.results]


VIEWS = (
    lambda run, other: comparison_text(run, every=True),
    lambda run, other: json.dumps(comparison_json(run)),
    lambda run, other: run.to_markdown() + run.to_latex(),
    lambda run, other: kept_scores(run),
    lambda run, other: listed(run, top=3),
    lambda run, other: in_markdown(diff_blocks(diff_runs(other, run.folder))),
    lambda run, other: in_markdown(gate_blocks(gate_run(run.folder, replace(RULES, baseline=str(other))))),
    lambda run, other: read_kept_texts(run.folder),
    lambda run, other: render(run),
)
"""What shows a run; each mutation is read by two of them."""
RULES = Rules(max=(Limit("*", 0.5),), max_worse=(Limit("*", 1.0),))


def read_run(folder, other, number):
    comparison = read_comparison(folder)
    for view in {number % len(VIEWS), (5 * number + 3) % len(VIEWS)}:
        VIEWS[view](comparison, other)


def read_rows(folder, critics):
    text = StoredText(folder, "real")
    for name in critics:
        scores = text.scores(name)
        assert len(scores) == len(text)
    assert len(text.sketch) == len(text)
    text.documents(text.order[:2], "x")
    _ = text.odd


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forged")
    paths = texts(folder)
    options = {"critics": ["length", "unigram", "keyness"], "permutations": 99, "resamples": 9, "top": 2}
    for name, first in (("run", "g"), ("other", "h")):
        generated = {"g": paths[first], "h": paths["h"]}
        momus.compare(paths["real"], generated, fit=paths["fit"], out=folder / "runs" / name, pairwise=True, **options)
    run, other, found = folder / "runs" / "run", folder / "runs" / "other", {}
    files = [p for p in run.rglob("*.json*") if p.name not in ("manifest.json", "critic.json")]
    files += run.rglob("real.parquet")
    found["run"] = Target(run, files, lambda: refit_run(run), lambda i: read_run(run, other, i // 2))
    files = [run / "manifest.json"]
    found["manifest"] = Target(run, files, lambda: None, lambda i: read_comparison(run))
    rows = folder / "rows"
    score_parts([run / "critics" / "length", run / "critics" / "keyness"], [paths["real"]], rows, part_size=10)
    files = [rows / "manifest.json", *(rows / "records").iterdir(), *(rows / "parts").iterdir()]
    found["rows"] = Target(rows, files, lambda: refit_rows(rows), lambda i: read_rows(rows, ("length", "keyness")))
    found |= dict(study_targets(folder))
    state, cells = folder / "looks.json", folder / "cells"
    for i in range(2):
        add_look(state, read_looks(state, 0.05, f"run {i}"), 0.3, f"run {i}")
    found["gate"] = Target(
        state, [state], lambda: reseal(state), lambda i: add_look(state, read_looks(state, 0.05, "run 1"), 0.5, "r")
    )
    kept = CellFolder(cells, {})
    kept.keep(CELL)
    (cell,) = cells.rglob("*.json")
    found["cell"] = Target(cells, [cell], lambda: reseal(cell), lambda i: kept.find("none", 0.0, (12, 12)))
    found |= dict(log_targets(folder))
    found |= dict(other_targets(folder, paths, run))
    return found


def other_targets(folder, paths, run):
    """Saved critics, and a folder that ``datasets`` saved."""
    critics = folder / "critics"
    shutil.copytree(run / "critics", critics)
    files = sorted(critics.glob(f"*/{JSON_NAME}"))
    few = read_corpus(paths["real"])

    def refit():
        for path in files:
            content = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(content, dict) and isinstance(content.get(DIGESTS), dict):
                content[DIGESTS]["content"] = _content_digest(content)
                path.write_text(json.dumps(content), encoding="utf-8")

    def read(i):
        for path in files:
            critic = momus.load_critic(path.parent)
            critic.score(few)
            notes_of(critic)

    yield "critic", Target(critics, files, refit, read)

    place = folder / "datasets"
    shutil.copytree(LOGS / "datasets", place)
    files = sorted(place.glob("*.json"))
    yield "datasets", Target(place, files, lambda: None, lambda i: read_corpus(place, field="answer"))


def study_targets(folder):
    corpora = {
        name: momus.Corpus.from_texts([" ".join(WORDS * 4) + f" {i} {name}." for i in range(30)], name=name)
        for name in ("real", "a")
    }
    study, _ = make_study(None, corpora, Protocol(items=12, raters=3, words=30))
    drawn = folder / "study"
    write_study(study, drawn)
    answers = []
    for content in simulated_answers(study, Truth({"real": 0.0, "a": -1.0})):
        answers.append(folder / f"{content['rater']}.json")
        answers[-1].write_text(json.dumps(content), encoding="utf-8")
    task = {
        "data": {"study": study.name, "rater": "rater-1", "trial": study.design.trials[0].code},
        "annotations": [{"result": [{"from_name": "answer", "type": "choices", "value": {"choices": ["fair"]}}]}],
    }
    export = folder / "export.json"
    export.write_text(json.dumps([task]), encoding="utf-8")
    key = drawn / "key.json"

    def read(i):
        again = read_study(drawn)
        found = read_answers(again, answers)
        if i % 5 == 0:
            analysed(again, found).to_json()

    yield "study", Target(drawn, [key], lambda: reseal(key), read)
    yield "answers", Target(drawn, answers, lambda: None, read)
    yield "export", Target(drawn, [export], lambda: None, lambda i: read_answers(study, [export]))


def log_targets(folder):
    copied = folder / "logs" / "lm_eval"
    shutil.copytree(LOGS / "lm_eval", copied)
    files = sorted(p for p in copied.iterdir() if p.suffix in (".json", ".jsonl"))
    (path,) = copied.glob("samples_explain_*")
    yield f"lm-eval {path.name[:20]}", Target(copied, files, lambda: None, lambda i: read_corpus(f"lm-eval:{path}"))


def attack(target, number, rng):
    """One mutation: its outcome, or the traceback of what is no error with words."""
    path = rng.choice(target.files)
    kept = {
        p: p.read_bytes()
        for p in (target.folder.rglob("*") if target.folder.is_dir() else [target.folder])
        if p.is_file()
    }
    kept |= {p: p.read_bytes() for p in target.files}
    try:
        change(path, rng)
        target.fit()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.read(number)
    except MomusError as error:
        return "refused" if error.hint else f"{path.name}: no hint: {error}"
    except Exception:
        return f"{path.name}: {traceback.format_exc()}"
    finally:
        for p, data in kept.items():
            p.write_bytes(data)
    return "read"


@pytest.mark.parametrize("name", sorted(RunRecord.__required_keys__ - {"icu", "left_out"}))
def test_a_run_without_a_setting_that_readers_need_is_refused(name, targets):
    target = targets["run"]
    path = target.folder / "run.json"
    before = {p: p.read_bytes() for p in target.folder.rglob("*") if p.is_file()}
    content = json.loads(before[path])
    del content[name]
    path.write_text(json.dumps(content), encoding="utf-8")
    target.fit()
    try:
        with pytest.raises(MomusError, match=f"{name} is missing"):
            read_comparison(target.folder)
    finally:
        for p, data in before.items():
            p.write_bytes(data)


def test_a_list_in_place_of_a_number_of_documents_is_refused(targets):
    target = targets["run"]
    path = target.folder / "critics" / "length" / "result.json"
    before = {p: p.read_bytes() for p in target.folder.rglob("*") if p.is_file()}
    content = json.loads(path.read_text(encoding="utf-8"))
    content["fitted_on"]["documents"] = [1]
    path.write_text(json.dumps(content), encoding="utf-8")
    target.fit()
    try:
        with pytest.raises(MomusError, match=r"fitted_on\.documents is \[1\], expected a whole number"):
            read_comparison(target.folder)
    finally:
        for p, data in before.items():
            p.write_bytes(data)


@pytest.mark.parametrize(
    ("part", "times"), [(0, QUICK), *(pytest.param(i, MANY, marks=pytest.mark.slow) for i in range(10))]
)
def test_forged_json_is_refused_with_words_or_read(part, times, targets):
    rng = random.Random(1000 * part + times)
    names = sorted(targets)
    outcomes, faults = collections.Counter(), collections.Counter()
    # runs hold most of what is read, and take every second mutation
    for number in range(part * times, (part + 1) * times):
        name = "run" if number % 2 else names[number // 2 % len(names)]
        outcome = attack(targets[name], number, rng)
        outcomes[outcome if outcome in ("refused", "read") else "fault"] += 1
        if outcome not in ("refused", "read"):
            faults[f"{name}: {outcome}"] += 1
    assert not faults, "\n\n".join(f"{n} × {fault}" for fault, n in faults.most_common(20))
    assert outcomes["refused"] > times / 4
    print(dict(outcomes))
