"""Nothing that a command does not own is overwritten, merged or left out without a word."""

import json
import shutil

import pytest
from typer.testing import CliRunner

import momus
from momus.cli.app import app
from momus.comparison import read_comparison
from momus.critic.registry import critic_class
from momus.critic.saved import reserved
from momus.errors import MomusError, ReadingError, StoreError, UsageError
from momus.reading import read_corpus
from momus.runs.folder import VERDICTS

QUICK = {"critics": ["length"], "permutations": 99, "resamples": 99}


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


def refusal(*words):
    """The error of a command that must be refused."""
    result = run(*words)
    assert isinstance(result.exception, MomusError), result.output
    return result.exception


@pytest.mark.parametrize("names", [("a", "a "), ("a", "\ta"), ("é", "e\u0301"), ("", "b"), (" ", "b"), ("a", 3)])
def test_names_that_readers_cannot_tell_apart(names, texts):
    generated = dict.fromkeys(names, str(texts / "gen.jsonl"))
    with pytest.raises(UsageError, match=r"called"):
        momus.compare(str(texts / "real.jsonl"), generated, fit=str(texts / "fit.jsonl"), **QUICK)


def test_an_empty_path_is_not_the_current_folder(texts, monkeypatch):
    monkeypatch.chdir(texts)
    with pytest.raises(UsageError, match="empty"):
        read_corpus("")


def test_a_linked_subfolder_is_not_skipped_without_a_word(texts, tmp_path):
    (tmp_path / "all").mkdir()
    shutil.copy(texts / "gen.jsonl", tmp_path / "all")
    (tmp_path / "all" / "more").symlink_to(texts)
    with pytest.raises(ReadingError, match="subfolder 'more' is a link"):
        read_corpus(tmp_path / "all")


@pytest.fixture
def critic(texts, tmp_path):
    assert run("fit", "length", "--fit", texts / "fit.jsonl", "--out", tmp_path / "critic").exit_code == 0
    return tmp_path / "critic"


def test_outputs_are_not_inputs(texts, critic, tmp_path):
    data = tmp_path / "data.jsonl"
    shutil.copy(texts / "gen.jsonl", data)
    (tmp_path / "link.jsonl").symlink_to(data)
    before = data.read_bytes()
    for out in (data, tmp_path / "link.jsonl", tmp_path / "critic" / ".." / "data.jsonl"):
        assert "own input" in str(refusal("score", critic, data, "--out", out))
        assert "own input" in str(refusal("prepare", data, "--out", out, "--overwrite"))
    assert "own input" in str(refusal("score", critic, f"{data}#text", "--out", data))
    assert "a part of the fitted critic" in str(refusal("score", critic, data, "--out", critic / "critic.json"))
    assert data.read_bytes() == before


def test_a_critic_is_not_written_among_other_files(texts, critic, tmp_path):
    foreign = tmp_path / "mine"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("x", encoding="utf-8")
    assert "files that do not belong to a fitted critic" in str(
        refusal("fit", "length", "--fit", texts / "fit.jsonl", "--out", foreign)
    )
    assert [p.name for p in foreign.iterdir()] == ["thesis.tex"]


def test_a_critic_is_replaced_if_asked_for_and_if_it_is_as_momus_wrote_it(texts, critic):
    fit = ("fit", "unigram", "--fit", texts / "fit.jsonl", "--out", critic)
    before = {p.name: p.read_bytes() for p in critic.iterdir()}
    told = str(refusal(*fit))
    assert "holds a fitted critic already" in told
    assert "replace it with --overwrite" in told
    content = json.loads(before["critic.json"])
    changed = (
        ("critic.json", b'{"critic": "length", "class": "mine"}'),
        ("critic.json", json.dumps(content).encode()),
        ("critic.json", before["critic.json"] + b"\n"),
        ("arrays.safetensors", before["arrays.safetensors"] + b"\n"),
    )
    for name, edited in changed:
        (critic / name).write_bytes(edited)
        assert "did not write, or that was changed since" in str(refusal(*fit, "--overwrite"))
        assert (critic / name).read_bytes() == edited
        (critic / name).write_bytes(before[name])
    (critic / "notes.txt").write_text("mine", encoding="utf-8")
    assert run(*fit, "--overwrite").exit_code == 0
    assert momus.load_critic(critic).name == "unigram"
    assert sorted(p.name for p in critic.iterdir()) == ["arrays.safetensors", "critic.json", "notes.txt"]


def test_arrays_of_others_are_no_critic(texts, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "arrays.safetensors").write_bytes(b"mine")
    for overwrite in ((), ("--overwrite",)):
        fit = ("fit", "length", "--fit", texts / "fit.jsonl", "--out", tmp_path / "model", *overwrite)
        assert "files that do not belong to a fitted critic" in str(refusal(*fit))
    with pytest.raises(StoreError, match="did not write"):
        critic_class("length")().fit(["a b", "c"]).save(tmp_path / "model")
    assert [(p.name, p.read_bytes()) for p in (tmp_path / "model").iterdir()] == [("arrays.safetensors", b"mine")]


def test_a_critic_is_fitted_by_one_process_at_a_time(texts, tmp_path):
    folder = tmp_path / "critic"
    fit = ("fit", "length", "--fit", texts / "fit.jsonl", "--out", folder)
    with reserved(folder):
        for overwrite in ((), ("--overwrite",)):
            assert "in use by process" in str(refusal(*fit, *overwrite))
        assert [p.name for p in folder.iterdir()] == [".lock"]
    assert not folder.exists(), "nothing came into it"
    assert isinstance(refusal("fit", "length", "--fit", tmp_path / "none.jsonl", "--out", folder), MomusError)
    assert not folder.exists()


LINE_ENDS = "a\u2028b\u0085c\x0bd"


@pytest.fixture(scope="module")
def finished(texts, tmp_path_factory):
    """A run with line ends of Unicode in the name of a corpus."""
    out = tmp_path_factory.mktemp("run") / "run"
    generated = {LINE_ENDS: str(texts / "gen.jsonl")}
    momus.compare(str(texts / "real.jsonl"), generated, fit=str(texts / "fit.jsonl"), out=out, **QUICK)
    return out


def test_line_ends_of_unicode_in_names_are_read_back(finished):
    rows = (finished / VERDICTS).read_bytes().removesuffix(b"\n").split(b"\n")
    assert {json.loads(row)["generated"] for row in rows} == {LINE_ENDS}
    assert {v.generated for v in read_comparison(finished).verdicts} == {LINE_ENDS}


def test_a_report_replaces_reports_only(finished, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<html>mine</html>", encoding="utf-8")
    assert "is not a report as Momus wrote it" in str(refusal("show", finished, "--html", "--out", page))
    assert page.read_text(encoding="utf-8") == "<html>mine</html>"
    page.unlink()
    for _ in range(2):
        assert run("show", finished, "--html", "--out", page).exit_code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--permutations", "1000000000"),
        ("--resamples", "1000000000"),
        ("--seed", str(2**80)),
        ("--seed", "-1"),
        ("--max-document", "many"),
    ],
)
def test_numbers_beyond_the_stated_limits_are_refused(words, texts):
    real, generated = texts / "real.jsonl", f"a={texts / 'gen.jsonl'}"
    result = run("compare", "-r", real, "-g", generated, "-c", "length", "--no-out", *words)
    assert result.exit_code == 2 or isinstance(result.exception, UsageError)
