"""Files of earlier releases are read as they were, or refused with words; those of this one hold what they promise."""

import json
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import momus
from momus.errors import StoreError
from momus.version import __version__

KEPT = Path(__file__).parents[1] / "data" / "formats"
VERDICT = {
    *("critic", "statistic", "unit", "generated", "real_value", "generated_value", "difference", "low", "high"),
    *("effect", "p", "p_adjusted", "n_real", "n_generated", "unscored_real", "unscored_generated"),
}
"""Keys of ``verdicts.jsonl`` that other tools rely on; so are those below."""
DOCUMENT = {"corpus", "id", "critic", "nll", "states", "reason"}
RUN = {"momus", "command", "seed", "critics", "corpora", "started"}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """The folder of a release, unpacked."""
    root = tmp_path_factory.mktemp("formats")

    def unpacked(version):
        if not (root / version).exists():
            with zipfile.ZipFile(KEPT / f"{version}.zip") as kept:
                kept.extractall(root)
        return root / version

    return unpacked


@pytest.mark.parametrize("version", sorted(p.stem for p in KEPT.glob("*.zip")))
def test_saved_critics_that_read_texts_otherwise_are_refused_with_words(release, version):
    with pytest.raises(StoreError, match=rf"saved critic of format 2; Momus {__version__} reads 3") as error:
        momus.load_critic(release(version) / "critic")
    assert "again" in error.value.hint


def test_runs_of_the_first_release_are_refused_with_words(release):
    with pytest.raises(StoreError, match=rf"run folder of format 1; Momus {__version__} reads format 2") as error:
        momus.read_comparison(release("0.1.0") / "run")
    assert "run `momus compare` again" in error.value.hint


def test_rows_of_the_last_release_are_refused_with_words(release, monkeypatch):
    monkeypatch.chdir(release("0.2.0"))  # rows name their texts by paths
    with pytest.raises(StoreError, match=r"parts of format 2; Momus .* reads format 3"):
        momus.compare("rows", {"mine": "rows"}, permutations=99, resamples=99)


def names_of(run):
    """Every name that a program may rely on: files, keys of JSON (of lists, those of the first), and columns."""
    found = {str(p.relative_to(run)) for p in run.rglob("*") if p.is_file()}
    lines = (run / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    found |= {f"verdicts.jsonl: {key}" for key in keys_of(json.loads(lines[0]))}
    for path in (run / "run.json", *run.glob("critics/*/critic.json")):
        found |= {f"{path.relative_to(run)}: {key}" for key in keys_of(json.loads(path.read_text(encoding="utf-8")))}
    return found | {f"documents.parquet: {name}" for name in pq.read_schema(run / "documents.parquet").names}


def keys_of(value, place=""):
    if isinstance(value, dict):
        return {key for k, v in value.items() for key in {f"{place}{k}", *keys_of(v, f"{place}{k}.")}}
    return keys_of(value[0], f"{place}0.") if isinstance(value, list) and value else set()


def test_a_run_written_now_holds_every_name_of_the_release(release, tmp_path):
    """A renamed file, key or column fails here: it needs a new number of the format, and a kept run of it."""
    folder, run = release(__version__), tmp_path / "run"
    texts = {name: momus.read_corpus(folder / f"{name}.jsonl") for name in ("fit", "real", "mine")}
    momus.compare(
        texts["real"],
        {"mine": texts["mine"]},
        fit=texts["fit"],
        critics=["length", "stopword-share"],
        permutations=99,
        resamples=99,
        out=run,
    )
    # settings that are gone, which no promise names; `by` took the place of `subgroups`
    gone = {"run.json: subgroups", "critics/stopword-share/critic.json: params.lists"}
    gone |= {"run.json: refits", "run.json: equivalence", "verdicts.jsonl: delta", "verdicts.jsonl: equivalent"}
    assert names_of(folder / "run") - names_of(run) == gone


def test_a_run_of_this_release_holds_the_promised_names(release):
    run = release(__version__) / "run"
    rows = [json.loads(line) for line in (run / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(row.keys() >= VERDICT for row in rows)
    assert set(pq.read_schema(run / "documents.parquet").names) >= DOCUMENT
    assert json.loads((run / "run.json").read_text(encoding="utf-8")).keys() >= RUN
    assert {"report.html", "critics"} <= {p.name for p in run.iterdir()}
    now = [json.loads(json.dumps(v.row())) for v in momus.read_comparison(run).verdicts]
    for row, kept in zip(now, rows, strict=True):
        assert row["wording"].items() >= kept["wording"].items()
        beside = {"method": {}, "wording": {}, "delta": None, "equivalent": None}  # of an option that is gone
        assert kept | beside == {k: v for k, v in row.items() if k in kept} | beside
        assert kept["method"].items() <= row["method"].items()
