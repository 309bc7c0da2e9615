"""A comparison whose reference is text of a model: levels, what vanished and came, words without people."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import momus
from momus.against.changes import changed_items, page_z
from momus.against.units import OwnBands
from momus.against.versions import Path as ChainPath
from momus.comparison import read_comparison
from momus.critic import Counted
from momus.critic.registry import make_critics
from momus.critic.scores import Scores
from momus.engine.crossfit import cross_scored, fold_numbers, in_reverse
from momus.errors import UsageError
from momus.progress import Silent, Timed
from momus.report.exports import comparison_json, comparison_latex, comparison_markdown
from momus.report.page import render
from momus.report.terminal import comparison_text
from momus.report.words.against import trend
from momus.report.words.trust import trust_items
from momus.runs.texts import Texts
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings

WORDS = [
    *("the", "cat", "sat", "on", "a", "mat", "while", "rain", "fell", "over", "old", "roofs", "and", "small"),
    *("birds", "sang", "in", "every", "tree", "near", "our", "quiet", "house"),
]


def answers(seed: int, n: int = 60, words: int = 30, say: str = "", share: float = 0.0, times: int = 1) -> list[dict]:
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        for k in range(times):
            text = " ".join(rng.choice(WORDS, rng.integers(words // 2, 2 * words)))
            said = f"{say} " if rng.random() < share else ""
            rows.append({"id": f"{i}.{k}", "prompt_id": f"p{i}", "text": f"{said}{text.capitalize()}. It was so."})
    return rows


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> momus.Comparison:
    return momus.compare(
        generated={"new": answers(2, words=60, say="Certainly! Here it is:", share=0.7)},
        against={"old": answers(1, say="I am sorry, but no:", share=0.6)},
        critics=["length", "keyness", "edges", "layout"],
        out=tmp_path_factory.mktemp("against") / "run",
        permutations=999,
    )


def test_names_the_change_first(changed: momus.Comparison) -> None:
    first = comparison_text(changed).splitlines()
    assert first[0].startswith("new differs from old most in length of documents: longer: ")


def test_tells_what_vanished_and_what_came_with_a_passage_of_the_same_prompt(changed: momus.Comparison) -> None:
    against = changed.against
    assert against is not None
    gone = [i.text for i in against.changed("new", False)["words and phrases"]]
    came = [i.text for i in against.changed("new", True)["words and phrases"]]
    assert any("sorry" in t for t in gone)
    assert any("certainly" in t for t in came)
    item = next(i for i in against.items if "sorry" in i.text and i.kind == "words and phrases")
    assert "«" in item.old_example
    assert "sorry" not in item.new_example
    assert item.prompt is not None
    assert item.old > 0.2  # of windows of equal length, of which long documents have several
    assert item.new == 0
    assert item.high < 0


@pytest.fixture(scope="module")
def chained(tmp_path_factory: pytest.TempPathFactory) -> momus.Comparison:
    """A chain with what Momus warns of: documents that cannot be scored, copies, other openings and another layout."""
    first, later, copies = answers(11), answers(12, words=60), answers(11)
    later = [{**row, "text": "" if i % 3 == 0 else row["text"].replace(" ", "\n", 4)} for i, row in enumerate(later)]
    copies = [{**row, "text": f"{row['text']} {row['text']}"} if i % 2 else row for i, row in enumerate(copies)]
    return momus.compare(
        generated={"later": later, "last": copies},
        against={"old": first},
        critics=["length", "repetition", "rhythm", "type-token"],
        chain=True,
        out=tmp_path_factory.mktemp("chained") / "run",
        permutations=199,
    )


def sentences_of(value: object, key: str = "") -> list[str]:
    """All texts of a JSON value but codes of findings and the words of critics, which are for programs."""
    if isinstance(value, dict):
        return [s for k, v in value.items() if k not in ("finding", "wording") for s in sentences_of(v, k)]
    return [s for v in value for s in sentences_of(v)] if isinstance(value, list | tuple) else [str(value)]


@pytest.mark.parametrize("of", ["changed", "chained"])
def test_says_nothing_of_people_in_any_form(of: str, request: pytest.FixtureRequest) -> None:
    comparison: momus.Comparison = request.getfixturevalue(of)
    forms = [
        comparison_text(comparison),
        comparison_text(comparison, every=True),
        comparison_markdown(comparison),
        comparison_latex(comparison),
        re.sub(r"<(style|script)>.*?</\1>", "", render(comparison), flags=re.DOTALL),
        comparison._repr_html_(),
        *sentences_of(comparison_json(comparison)),
    ]
    for form in forms:
        assert not re.search(r"human|people|real text|author", form, re.IGNORECASE)


def test_warnings_name_the_reference(chained: momus.Comparison) -> None:
    said = " ".join([*chained.warnings, chained.signature["layout"]])
    assert "20 documents of 'later' are unscored under 'length' (33 %; old 0 %), and differ from old in that" in said
    # one document of whole lines has no two sentences that end in a mark, so its partner is left out under `rhythm`
    assert "21 documents of old and 1 generated document have no matching partner (same prompt or group)" in said
    assert "are also in 'old'" not in said  # told as unchanged answers
    assert all(0 < u.equal <= u.pairs for u in chained.against.unchanged)
    assert "of documents of old have line breaks" in said
    assert "cross-fitted over 4 folds" in " ".join(i.text for i in trust_items(chained))
    told = comparison_json(chained)
    sentences = told["answer"]["sentences"]
    assert any(s.startswith("Against old, of 4 axes: ") for s in sentences)
    assert [p["critic"] for p in told["against"]["paths"]] == [p.critic for p in chained.against.paths]


def test_is_read_again_as_it_was(changed: momus.Comparison) -> None:
    assert changed.folder is not None
    again = read_comparison(changed.folder)
    assert again.against == changed.against
    assert comparison_text(again) == comparison_text(changed)
    assert json.loads((changed.folder / "run.json").read_text())["against"] == "old"


@pytest.mark.slow
def test_halves_of_one_model_are_rarely_told_apart() -> None:
    alarms = 0
    for seed in range(6):
        c = momus.compare(
            generated={"new": answers(100 + seed, 40)},
            against={"old": answers(200 + seed, 40)},
            critics=["length", "layout"],
            permutations=199,
        )
        alarms += any(v.differs for v in c.verdicts)
    assert alarms <= 2  # 5 % each: more than two of six have a probability of .002


def test_folds_keep_the_answers_to_a_prompt_together() -> None:
    a = Corpus.from_texts("abcdef", prompts=["p", "q", "p", "r", "s", "t"])
    b = Corpus.from_texts("xyz", prompts=["t", "p", "q"])
    folds = fold_numbers([a, b], 3, 0)
    of = {p: f for c, n in zip((a, b), folds, strict=True) for p, f in zip(c.prompts, n.tolist(), strict=True)}
    assert all(of[p] == f for c, n in zip((a, b), folds, strict=True) for p, f in zip(c.prompts, n, strict=True))
    assert len(set(of.values())) == 3


def test_names_are_known_whichever_text_is_the_reference() -> None:
    """Two documents of the reference would else make each other's names known: alarms in 10 % of null splits."""
    people = np.random.default_rng(0).integers(0, 30, (2, 40))
    sides = [
        Corpus.from_texts(
            [f"We saw Name{'abcdefghij'[k % 10] * (1 + k // 10)} there." for k in row],
            prompts=[str(i) for i in range(40)],
            name=n,
        )
        for n, row in zip(("old", "new"), people, strict=True)
    ]
    known = []
    for old, new in (sides, sides[::-1]):
        texts = Texts(Corpus.from_texts([], name="fit"), old, [new], False, [])
        run = make_critics(["names"])[0], texts, Settings(against=old.name), Timed(Silent())
        scored, _ = cross_scored(*run)
        known.append({s.corpus: np.asarray(s.rows["known"]) for s in scored})
        assert not in_reverse(*run, ["old", "new"])
    for name in ("old", "new"):
        assert np.array_equal(known[0][name], known[1][name])
        assert 0 < known[0][name][:, 0].sum() < 40


def test_band_of_repeated_generations_is_that_of_generations() -> None:
    rng = np.random.default_rng(0)
    level = np.repeat(rng.normal(0, 5, 100), 4)  # prompts differ much, generations little
    rows = np.column_stack([level + rng.normal(size=400), np.ones(400)])
    statistic = momus.critic.Statistic("x", "x", "value", momus.critic.statistic.mean)
    repeated = OwnBands([], 0, prompts=[f"p{i // 4}" for i in range(400)]).of(statistic, rows)
    single = OwnBands([], 0, prompts=[None] * 400).of(statistic, rows)
    assert repeated is not None
    assert single is not None
    assert repeated.value == pytest.approx(1.96 * 2 / 20, rel=0.2)
    assert single.value > 4 * repeated.value


def test_items_keep_their_level() -> None:
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(100):
        sides = [sparse.csr_array((rng.random((60, 40)) < 0.3).astype(float)) for _ in range(2)]
        labels = [f"w{i}" for i in range(40)]
        ids = [str(i) for i in range(60)]
        prompts = [f"p{i}" for i in range(60)]
        scores = [Scores("c", n, ids, prompts, np.ones(60), np.ones(60, int), [None] * 60) for n in "ab"]
        texts = [Corpus.from_texts(["a text"] * 60, ids, prompts, n) for n in "ab"]
        tables = [Counted(s, labels) for s in sides]
        found += bool(changed_items("words", (scores[0], scores[1]), (tables[0], tables[1]), (texts[0], texts[1])))
    assert found <= 11  # 5 of 100 expected, P(> 11) = .004


def listed(old: list[float], new: list[float]) -> list[str]:
    """Which of one item's rows are listed, of documents with these shares of windows that have it."""
    n = len(old)
    ids, prompts = [str(i) for i in range(n)], [f"p{i}" for i in range(n)]
    scores = [Scores("c", name, ids, prompts, np.ones(n), np.ones(n, int), [None] * n) for name in "ab"]
    texts = [Corpus.from_texts(["a text"] * n, ids, prompts, name) for name in "ab"]
    tables = [Counted(sparse.csr_array(np.array(side)[:, None]), ["w"]) for side in (old, new)]
    found = changed_items("words", (scores[0], scores[1]), (tables[0], tables[1]), (texts[0], texts[1]))
    return [i.text for i in found]


def test_an_item_of_which_the_mean_tells_nothing_is_not_listed() -> None:
    assert listed([0.1] * 20, [0.2] * 17 + [0.0] * 3) == ["w"]
    assert listed([0.1] * 17 + [0.9] * 3, [0.2] * 17 + [0.0] * 3) == []  # as sure by the sign test


@pytest.mark.parametrize(("rising", "said"), [(True, "↑ p = 0.01"), (False, "↓ in most prompts p = 0.01")])
def test_a_trend_that_the_mean_does_not_follow_says_so(rising: bool, said: str) -> None:
    values = (1.0, 2.0, 3.0)
    path = ChainPath("c", "axis", "s", "mean", "", False, values, values, values, rising, 1, 0.01, 0.01)
    assert trend(path, 0.05) == said
    assert trend(path, 0.001) == "no trend (p = 0.01)"


def test_page_finds_a_trend_and_none_without() -> None:
    rng = np.random.default_rng(2)
    null = np.array([page_z(rng.normal(size=(30, 4))) for _ in range(500)])
    assert abs(null.std() - 1) < 0.1
    assert page_z(rng.normal(size=(30, 4)) - 2 * np.arange(4)) < -5


def test_chain_names_the_step_with_the_largest_change() -> None:
    c = momus.compare(
        generated={"sft": answers(4, words=32), "dpo": answers(5, words=90)},
        against={"base": answers(3)},
        critics=["length"],
        chain=True,
        permutations=199,
    )
    assert c.against is not None
    (path,) = c.against.paths
    assert path.rising
    assert path.step == 2
    assert path.p_adjusted is not None
    assert path.p_adjusted < 0.01
    assert "sft → dpo" in comparison_text(c)
    assert "<svg" in render(c)


def test_empty_answers_are_counted_beside_the_documents() -> None:
    old, new = answers(1), answers(2)
    for side, few in ((old, 7), (new, 9)):
        side[:few] = [{**row, "text": ""} for row in side[:few]]
    c = momus.compare(generated={"new": new}, against={"old": old}, critics=["length"], permutations=99)
    assert "60 of old (7 empty), 60 of new (9 empty)" in " ".join(comparison_text(c).split())


def test_with_real_text_too_says_which_is_nearer() -> None:
    c = momus.compare(
        answers(7, 120, words=30),
        {"new": answers(9, words=80)},
        against={"old": answers(8, words=30)},
        critics=["length"],
        permutations=199,
    )
    assert c.against is not None
    (row,) = c.against.nearer
    assert row.nearer == "old"
    assert row.old < row.new
    assert "nearer to real text" in comparison_text(c)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"against": {"a": ["x"], "b": ["y"]}}, "one text by name"),
        ({"against": {"new": answers(1, 10)}, "critics": ["length"]}, "called 'new'"),
        ({"against": {"old": answers(1, 10)}, "critics": ["heaps"]}, "running text"),
        ({}, "no text to compare with"),
    ],
)
def test_says_what_is_wrong(arguments: dict, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        momus.compare(generated={"new": answers(2, 10)}, **arguments)


def test_compares_logs_of_two_tasks_task_by_task(
    tmp_path: Path, momus: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seed in (("a", 1), ("b", 5)):
        (tmp_path / name).mkdir()
        for task, words in (("short", 30), ("long", 30 if name == "a" else 120)):
            texts = [r["text"] for r in answers(seed, 30, words)]
            rows = [{"doc_id": i, "resps": [[t]], "filtered_resps": [t], "filter": "none"} for i, t in enumerate(texts)]
            log = tmp_path / name / f"samples_{task}_2026-11-01T10-00-00.000000.jsonl"
            log.write_text("\n".join(map(json.dumps, rows)))
    texts = ["--against", f"old=lm-eval:{tmp_path}/a", "-g", f"new={tmp_path}/b", "-c", "length", "--no-out"]
    code, said = momus("compare", *texts, "--by", "task")
    assert code == 0, said
    assert "60 of old, 60 of new; compared prompt by prompt" in said
    assert said.startswith("By task, new differs only in long, 30 of 60 answers: ")
    assert "The ids of" not in said, "tasks in the ids of prompts are no groups"
    monkeypatch.chdir(tmp_path)
    line = ["gate", *texts[:-1]]
    code, said = momus(*line)
    assert code == 7
    verdict, first, power, report = said.splitlines()[:4]
    assert verdict.startswith("new-against-old: the gate failed in ")
    assert first.startswith("By task, new differs only in long, 30 of 60 answers: ")
    assert power.startswith("In 80 % of cases it would have found length of documents changed by ")
    assert report == "Report: momus-runs/new-against-old/report.html"
    written = (tmp_path / "momus-runs/new-against-old/critics/length/result.json").stat().st_mtime_ns
    assert momus(*line)[0] == 7
    assert (tmp_path / "momus-runs/new-against-old/critics/length/result.json").stat().st_mtime_ns == written
    assert momus("gate", "--against", "old=a")[0] == 2


def test_says_that_large_texts_are_read_whole_and_refuses_rows(
    tmp_path: Path, momus: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seed in (("a", 1), ("b", 2)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, answers(seed, 30))))
    texts = ["--against", f"old={tmp_path}/a.jsonl", "-g", f"new={tmp_path}/b.jsonl", "-c", "length", "--no-out"]
    assert "read whole" not in momus("compare", *texts)[1]
    monkeypatch.setattr("momus.engine.large.LARGE", 1000)
    code, said = momus("compare", *texts)
    assert code == 0, said
    assert re.search(r"[\d.]+ kB of text are read whole with --against", " ".join(said.split()))
    momus("fit", "length", "--fit", f"{tmp_path}/a.jsonl", "-o", f"{tmp_path}/critic")
    momus("score", f"{tmp_path}/critic", f"{tmp_path}/b.jsonl", "-o", f"{tmp_path}/rows")
    texts[3] = f"new={tmp_path}/rows"
    code, said = momus("compare", *texts)
    assert code != 0
    assert "give the texts" in said


def test_command_writes_a_report(tmp_path: Path, momus: Callable[..., tuple[int, str]]) -> None:
    paths = []
    for name, rows in (("a", answers(1, 30)), ("b", answers(2, 30, words=60))):
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("\n".join(map(json.dumps, rows)))
    texts = ["--against", f"old={paths[0]}", "-g", f"new={paths[1]}"]
    code, said = momus("compare", *texts, "-c", "length,repetition", "-o", f"{tmp_path}/run")
    assert code == 0, said
    assert re.search("(It|it) differs on ([12])( of|,)", said)
    assert "New against old" in (tmp_path / "run" / "report.html").read_text()
    shown = [["show", "--all"], ["show", "--markdown"], ["show", "--latex"]]
    for command in (
        *shown,
        ["outliers", "-c", "length"],
        ["outliers", "-c", "repetition"],
        ["outliers", "--fdr", "0.5"],
    ):
        code, said = momus(command[0], f"{tmp_path}/run", *command[1:])
        assert code == 0, said
        assert not re.search("human|real", said), command
    code, said = momus("diff", f"{tmp_path}/run", f"{tmp_path}/run")
    assert code != 0
    assert "a chain of texts against the oldest" in said


def test_gate_speaks_of_versions(tmp_path: Path, momus: Callable[..., tuple[int, str]]) -> None:
    for name, rows in (("a", answers(1, 60)), ("same", answers(2, 60)), ("long", answers(3, 60, words=90))):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name, failing in (("same", 0), ("long", 7)):
        folder, texts = f"{tmp_path}/{name}", [f"old={tmp_path}/a.jsonl", "-g", f"new={tmp_path}/{name}.jsonl"]
        momus("compare", "--against", *texts, "-c", "length", "-o", folder)
        code, said = momus("gate", folder)
        assert code == failing, said
        assert said.splitlines()[0].endswith(
            "the gate passed (1 check)" if name == "same" else "the gate failed in 1 of 1 check"
        )
        assert "human" not in said
    for form in ("--json", "--github"):
        assert "human" not in momus("gate", folder, form)[1]
    code, said = momus("gate", folder, "--require", "not-beyond-human")
    assert code != 0
    assert "text of a model" in said
