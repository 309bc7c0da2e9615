"""Files of earlier releases are read as they were, or refused with words; those of this one hold what they promise."""

import csv
import json
import math
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import momus
from momus.cli.app import app
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


def scores_of(folder):
    """Latent NLL of each document by the critic of the release, and as the release printed it."""
    with (folder / "scores.csv").open(encoding="utf-8", newline="") as file:
        printed = {row[1]: float(row[3]) for row in list(csv.reader(file))[1:]}
    scores = momus.load_critic(folder / "critic").score(momus.read_corpus(folder / "mine.jsonl"))
    return dict(zip(scores.ids, scores.nll.tolist(), strict=True)), printed


@pytest.mark.parametrize("version", sorted(p.stem for p in KEPT.glob("*.zip")))
def test_saved_critics_of_every_release_score_as_they_did(release, version):
    now, then = scores_of(release(version))
    assert now.keys() == then.keys()
    assert all(math.isclose(now[k], then[k], rel_tol=1e-9) for k in then)


def test_runs_of_the_first_release_are_refused_with_words(release):
    with pytest.raises(StoreError, match=rf"run folder of format 1; Momus {__version__} reads format 2") as error:
        momus.read_comparison(release("0.1.0") / "run")
    assert "run `momus compare` again" in error.value.hint


def test_rows_of_a_release_are_read_and_compared_with_no_others(release, tmp_path, monkeypatch):
    """Rows of its generated text have the values of its run; beside rows that other code wrote, they are refused."""
    monkeypatch.chdir(release(__version__))  # rows name their texts by paths
    score = ["score", "critic", "real.jsonl", "-o", str(tmp_path / "real"), "--quiet"]
    assert CliRunner().invoke(app, score).exit_code == 0
    with pytest.raises(StoreError, match="scored by other code of 'length'"):
        momus.compare(tmp_path / "real", {"mine": "rows"})
    compared = momus.compare("rows", {"mine": "rows"}, permutations=99, resamples=99)
    kept = momus.read_comparison("run")
    assert values_of(compared) == pytest.approx(values_of(kept), rel=1e-9)


def values_of(comparison):
    """Values of the rows of length that no random split enters."""
    rows = [v for v in comparison.verdicts if v.critic == "length"]
    assert {v.statistic for v in rows} == {"latent_nll", "ks", "mean_length", "spread"}
    return [x for v in rows for x in [v.generated_value] * (v.statistic != "ks")]


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
    assert names_of(folder / "run") - names_of(run) == {"run.json: subgroups"}


def test_a_run_of_this_release_holds_the_promised_names(release):
    run = release(__version__) / "run"
    rows = [json.loads(line) for line in (run / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(row.keys() >= VERDICT for row in rows)
    assert set(pq.read_schema(run / "documents.parquet").names) >= DOCUMENT
    assert json.loads((run / "run.json").read_text(encoding="utf-8")).keys() >= RUN
    assert {"report.html", "critics"} <= {p.name for p in run.iterdir()}
    now = [json.loads(json.dumps(v.row())) for v in momus.read_comparison(run).verdicts]
    for row, kept in zip(now, rows, strict=True):
        assert kept | {"method": {}} == {k: v for k, v in row.items() if k in kept} | {"method": {}}
        assert kept["method"].items() <= row["method"].items()
