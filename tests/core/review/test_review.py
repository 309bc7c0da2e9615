"""Documents judged by a body of human text: levels, lengths, places, and what is kept."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from momus.cli.app import app
from momus.errors import UsageError
from momus.evidence import MarkedDocument, Step
from momus.report.annotations import sarif, workflow_commands
from momus.report.words.review import review_lines
from momus.review import choose, fit_body, review
from momus.review.contrast import FOLDS
from momus.review.judging import _classes
from momus.review.kept import load_body, save_body
from momus.review.spans import spans_of, stretch, stretches, word_counts
from momus.review.yardstick import Lengths, Yardstick
from momus.text.corpus import Corpus
from momus.text.documents import Document, Section

CRITICS = ["rhythm", "unigram", "repetition", "marks"]
WORDS = np.array([f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in ("", "r", "st")])
FREQUENCIES = 1 / np.arange(2, len(WORDS) + 2)


def prose(rng, sentences):
    return " ".join(
        " ".join(rng.choice(WORDS, 3 + rng.poisson(6), p=FREQUENCIES / FREQUENCIES.sum())).capitalize() + "."
        for _ in range(sentences)
    )


def texts_of(n, seed, least=12, most=30):
    rng = np.random.default_rng(seed)
    return [prose(rng, int(rng.integers(least, most))) for _ in range(n)]


@pytest.fixture(scope="module")
def body():
    return fit_body(Corpus.from_texts(texts_of(220, 0), name="essays"), critics=CRITICS)


def looped(text):
    first, *rest = text.split(". ")
    return ". ".join([first, *[rest[0]] * 8, *rest])


def test_human_documents_are_odd_at_the_level(body):
    judged = review(Corpus.from_texts(texts_of(300, 1), name="new"), body)
    # 132 documents hold out; 88 calibrate: the share varies by about 2.6 % from body to body
    assert 0.005 <= len(judged.odd) / 300 <= 0.12


def test_of_many_documents_those_at_a_false_discovery_rate_are_told(body):
    texts = [*(looped(text) for text in texts_of(12, 5)), *texts_of(60, 6), "Too short."]
    judged = review(Corpus.from_texts(texts, name="new"), body)
    ordered = sorted((d for d in judged.documents if d.p is not None), key=lambda d: d.p)
    assert all(d.q >= d.p for d in ordered)
    assert [d.q for d in ordered] == sorted(d.q for d in ordered)
    assert judged.documents[-1].q is None
    found = sum(d.q <= 0.2 for d in ordered)
    assert found == max((i + 1 for i, d in enumerate(ordered) if d.p <= 0.2 * (i + 1) / len(ordered)), default=0)
    assert any("At a false-discovery rate of 0.05" in line for line in review_lines(judged))


@pytest.mark.parametrize(("least", "most"), [(4, 6), (60, 80)], ids=["shorter", "longer"])
def test_a_human_document_of_another_length_is_not_odd_for_it(body, least, most):
    judged = review(Corpus.from_texts(texts_of(60, 2, least, most), name="new"), body)
    assert all(document.p is not None for document in judged.documents)
    assert len(judged.odd) <= 9


def test_a_loop_is_found_named_and_placed(body):
    text = "A title\n\n" + looped(texts_of(1, 3)[0])
    (document,) = review(Corpus.from_texts([text], name="new"), body).documents
    assert document.odd(0.05)
    assert "repetition" in [axis.critic for axis in document.axes]
    (loop, *_) = next(axis for axis in document.axes if axis.critic == "repetition").spans
    assert loop.line == 3
    assert text[loop.start : loop.stop] == loop.text
    assert text.split(". ")[1] in loop.text


def test_a_loop_late_in_a_long_document_is_placed_there(body):
    rng = np.random.default_rng(5)
    text = prose(rng, 60) + "\n\n" + looped(prose(rng, 14))
    (document,) = review(Corpus.from_texts([text], name="new"), body).documents
    assert document.odd(0.05)
    (loop, *_) = next(axis for axis in document.axes if axis.critic == "repetition").spans
    assert loop.line == 3
    assert text[loop.start : loop.stop] == loop.text


def test_what_is_too_short_is_not_judged(body):
    (document,) = review(Corpus.from_texts(["One two three."], name="new"), body).documents
    assert document.p is None
    assert "25 words" in document.why_not


def test_order_and_company_of_documents_change_nothing(body):
    texts = [*texts_of(6, 5), looped(texts_of(1, 6)[0])]
    together = review(Corpus.from_texts(texts, name="a"), body).documents
    alone = [review(Corpus.from_texts([text], name="a"), body).documents[0] for text in reversed(texts)]
    assert [d.p for d in together] == [d.p for d in reversed(alone)]


@pytest.mark.slow
def test_text_of_models_sharpens_and_its_level_holds():
    """A model whose sentences are a little too even in length is odd more often beside text of that model."""
    rng = np.random.default_rng(7)

    def even(sentences):
        return " ".join(
            " ".join(rng.choice(WORDS, 6 + rng.poisson(3), p=FREQUENCIES / FREQUENCIES.sum())).capitalize() + "."
            for _ in range(sentences)
        )

    models = Corpus.from_texts([even(rng.integers(12, 30)) for _ in range(160)], name="models")
    human = Corpus.from_texts(texts_of(220, 8), name="essays")
    new = Corpus.from_texts([even(rng.integers(12, 30)) for _ in range(60)], name="new")
    other = Corpus.from_texts(texts_of(150, 9), name="other")
    shares = {}
    for name, beside in (("alone", None), ("beside", models)):
        fitted = fit_body(human, beside, critics=CRITICS)
        shares[name] = [len(review(text, fitted).odd) / len(text) for text in (new, other)]
    assert shares["beside"][0] > shares["alone"][0] + 0.1
    assert max(shares["beside"][1], shares["alone"][1]) <= 0.13


def test_a_body_that_is_kept_judges_as_before(body, tmp_path):
    save_body(body, tmp_path / "body")
    again = load_body(tmp_path / "body")
    texts = Corpus.from_texts([*texts_of(4, 10), looped(texts_of(1, 11)[0])], name="new")
    assert review(texts, again) == review(texts, body)


@pytest.fixture(scope="module")
def watched():
    """A body with models' text and a critic that looks for faults; three of its documents break off."""
    texts = texts_of(120, 30)
    texts[:9] = [text[:-9] for text in texts[:9]]
    models = Corpus.from_texts([text.replace("ba", "delve") for text in texts_of(60, 31)], name="models")
    return fit_body(Corpus.from_texts(texts, name="essays"), models, critics=["rhythm", "unigram", "faults"])


def test_a_fault_is_told_with_its_place_whatever_p_is(watched):
    text = texts_of(1, 32)[0]
    judged = review(Corpus.from_texts([text, f"{text}\n\nSo.<|im_end|>", text[:-9]], name="new"), watched)
    clean, token, broken = judged.documents
    assert clean.remarks == ()
    (remark,) = [remark for remark in token.remarks if remark.axis == "control-tokens"]
    assert (remark.critic, remark.axis, remark.spans[0].text, remark.spans[0].line) == (
        "faults",
        "control-tokens",
        "<|im_end|>",
        3,
    )
    assert remark.p == pytest.approx(1 / 121)
    assert token in judged.marked
    lines = list(review_lines(judged))
    assert any("control-tokens" in line for line in lines)
    assert watched.rate("broken-off") > 0.02, "a fault of the body itself is no news"
    assert "broken-off" not in [remark.axis for remark in broken.remarks]


def test_a_broken_off_text_is_marked_at_its_last_words():
    body = fit_body(Corpus.from_texts(texts_of(120, 33), name="essays"), critics=["rhythm", "faults"])
    text = " ".join(texts_of(3, 34)) + " And then she went to the"
    (document,) = review(Corpus.from_texts([text], name="new"), body).documents
    (remark,) = [remark for remark in document.remarks if remark.axis == "broken-off"]
    assert remark.spans[0].text.endswith("she went to the")
    assert remark.spans[0].stop - remark.spans[0].start <= 60


def test_words_of_models_are_placed_and_kept(watched, tmp_path):
    save_body(watched, tmp_path / "body")
    texts = [texts_of(1, 35)[0].replace("ba", "delve"), texts_of(1, 36)[0]]
    judged = review(Corpus.from_texts(texts, name="new"), watched)
    like, unlike = judged.documents
    contrast = like.axes[0]
    assert (contrast.critic, contrast.p) == ("contrast", like.p), "what decides leads"
    assert all("delve" in span.text.lower() and span.line == 1 for span in contrast.spans)
    assert not unlike.odd(0.05)
    assert "Odd means more like the text of models than these" in list(review_lines(judged))[-1]
    (long,) = review(Corpus.from_texts([" ".join(texts_of(9, 37))], name="long"), watched).documents
    assert long.judged == pytest.approx(watched.lengths[1], rel=0.2), "as much as it has in common with the body"
    assert review(Corpus.from_texts(texts, name="new"), load_body(tmp_path / "body")) == judged


def test_one_file_and_a_kept_body_load_no_more_than_they_need(body, tmp_path):
    """scipy.stats takes a third of the time of such a command."""
    save_body(body, tmp_path / "body")
    (tmp_path / "draft.md").write_text(looped(texts_of(1, 13)[0]))
    code = (
        "import sys; from typer.testing import CliRunner; from momus.cli.app import app\n"
        "print(CliRunner().invoke(app, ['review', 'draft.md', '--body', 'body', '-q']).exit_code, *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    exit_code, *modules = done.stdout.split()
    assert exit_code == "7"
    assert not {"scipy.stats", "scipy.optimize", "sklearn", "pandas"} & set(modules)


def test_text_of_models_that_is_like_human_text_does_not_raise_the_level():
    """The log-odds of held-out documents come from regressions that have not seen them."""
    human, models = (Corpus.from_texts(texts_of(120, seed), name=str(seed)) for seed in (37, 38))
    body = fit_body(human, models, critics=["rhythm", "unigram"])
    assert len(review(Corpus.from_texts(texts_of(200, 39), name="new"), body).odd) <= 0.1 * 200


def test_beside_text_of_models_log_odds_decide_and_no_length_is_odd():
    """Short documents are more like text of models here, and each critic finds every new one odd."""

    def documents(n, seed):
        rng = np.random.default_rng(seed)
        words = rng.integers(50, 500, n)
        return rng.normal(size=(n, 2)), np.tile(rng.normal(size=(n, 1)) - 2 * np.log(words)[:, None], 5), words

    folds, weights = np.arange(600) % 5, np.ones(600)
    yardstick = Yardstick.of(*documents(600, 62), folds, weights, [True, True])
    values, odds, words = documents(3000, 63)
    judged = yardstick.judge(values + 9, odds, words)
    assert judged.alone.max() < 0.05
    by_length = [np.mean(judged.p[words // 150 == k] <= 0.05) for k in range(3)]
    assert by_length == pytest.approx([0.05] * 3, abs=0.03)
    assert np.mean(yardstick.judge(values, odds + 3, words).p <= 0.05) > 0.8


def test_a_contrast_of_another_kind_leaves_no_trace_in_the_body_without_it(body):
    texts = texts_of(3, 40, 4, 6)  # shorter than those of the body: judged beside beginnings
    before = review(Corpus.from_texts(texts, name="new"), body)
    people, models = (Corpus.from_texts(texts_of(60, seed, 5, 20), name=str(seed)) for seed in (41, 42))
    beside = body.beside(models, people)
    assert beside.odds.shape == (len(body.held), FOLDS)
    assert np.ptp(beside.odds, axis=1).max() == 0, "no document of the body was learned from: one regression serves all"
    assert all(d.p is not None for d in review(Corpus.from_texts(texts, name="new"), beside).documents)
    assert review(Corpus.from_texts(texts, name="new"), body) == before
    with pytest.raises(UsageError, match="people"):
        fit_body(people, critics=["rhythm"], people=people)


def test_held_out_documents_are_told_from_others_by_text_and_never_by_id(body):
    """The same texts under other ids teach nothing of themselves; other texts under the same ids are no copies."""
    human = Corpus.from_texts(texts_of(220, 0), name="essays")
    models, others = (Corpus.from_texts(texts_of(60, seed), name=str(seed)) for seed in (48, 49))
    renamed = Corpus.from_texts([d.text for d in human], [f"new {i}" for i in range(220)], name="essays")
    np.testing.assert_array_equal(body.beside(models, renamed).odds, body.beside(models, human).odds)
    strangers = Corpus.from_texts([d.text for d in others], body.held.ids[:60], name="others")
    assert np.ptp(body.beside(models, strangers).odds, axis=1).max() == 0


def test_answers_to_one_prompt_share_a_fold_and_keep_it(tmp_path):
    texts = texts_of(120, 64)
    human = Corpus.from_texts(texts, prompts=[str(i // 3) for i in range(120)], name="answers")
    models = Corpus.from_texts(texts_of(40, 65), prompts=[str(i) for i in range(40)], name="models")
    body = fit_body(human, models, critics=["rhythm"])
    folds, prompts = body.folds[0], np.array(body.held.prompts)
    assert all(len(set(folds[prompts == p])) == 1 for p in set(prompts))
    save_body(body, tmp_path / "body")
    np.testing.assert_array_equal(load_body(tmp_path / "body").folds[0], folds)


def test_a_habit_of_models_is_found_in_words_that_none_of_their_texts_has():
    """Words in -ing follow "of" in people's texts and "to" in models', as often; each subject has stems of its own."""

    def texts(subject, ending_after, seed):
        rng = np.random.default_rng(seed)
        stems = [f"{subject}{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "mnrst"]

        def pair():
            word = str(rng.choice(list(ending_after)))
            return f"{word} {rng.choice(stems)}{ending_after[word]}"

        lengths = rng.integers(20, 40, 150)
        texts = [" ".join(f"{pair()} {pair()} {pair()}." for _ in range(n)) for n in lengths]
        return Corpus.from_texts(texts, name=f"{subject} {seed}")

    people, of_models = {"of": "ing", "to": "ed"}, {"to": "ing", "of": "ed"}
    human, models = texts("x", people, 43), texts("x", of_models, 44)
    body = fit_body(texts("q", people, 45), models, critics=["rhythm"], people=human)
    assert len(review(texts("q", of_models, 46), body).odd) >= 0.5 * 150
    assert len(review(texts("q", people, 47), body).odd) <= 0.12 * 150


def test_values_of_documents_that_critics_were_fitted_on_teach_nothing(body):
    human, models = (Corpus.from_texts(texts, name="essays") for texts in (texts_of(220, 0), texts_of(60, 48)))
    contrast = body.beside(models, human).contrast
    values = np.vstack([body.values, body.measure(models)[0]])
    np.testing.assert_allclose(contrast.mean[: values.shape[1]], np.nanmean(values, axis=0))


def test_a_forged_body_is_refused(body, tmp_path):
    save_body(body, tmp_path / "body")
    (tmp_path / "body" / "held-out.parquet").write_bytes(b"no table")
    with pytest.raises(UsageError, match="holds no body"):
        load_body(tmp_path / "body")


def test_too_little_human_text_is_refused_with_the_number_that_it_takes(body):
    with pytest.raises(UsageError, match="at least 60"):
        fit_body(Corpus.from_texts(texts_of(30, 0), name="few"), critics=CRITICS)
    with pytest.raises(UsageError) as error:
        review(Corpus.from_texts(["a"], name="new"), body, level=0.001)
    assert "1667" in error.value.hint


def test_the_command_tells_places_writes_sarif_and_ends_with_7(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"id": f"h{i}", "text": t}) for i, t in enumerate(texts_of(200, 12))]
    (tmp_path / "human.jsonl").write_text("\n".join(lines))
    (tmp_path / "odd.md").write_text(looped(texts_of(1, 13)[0]))
    (tmp_path / "usual.md").write_text(texts_of(1, 14)[0])
    arguments = [
        "odd.md",
        "--body",
        "human.jsonl",
        "-c",
        ",".join(CRITICS),
        "--save",
        "body",
        "--sarif",
        "s.json",
        "-q",
    ]
    done = CliRunner().invoke(app, ["review", *arguments, "--github"])
    assert done.exit_code == 7, done.output
    assert "in 100 texts of" in done.stdout
    assert "::warning file=odd.md,line=1" in done.stdout
    (run,) = json.loads((tmp_path / "s.json").read_text())["runs"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "odd.md"
    done = CliRunner().invoke(app, ["review", "usual.md", "--body", "body", "--json", "-q"])
    assert done.exit_code == 0, done.output
    (document,) = json.loads(done.stdout)["documents"]
    assert document["p"] > 0.05
    assert document["axes"] == []


def test_words_never_speak_of_who_wrote_a_text(body):
    lines = list(review_lines(review(Corpus.from_texts([looped(texts_of(1, 15)[0])], name="new"), body)))
    assert not any(word in line for line in lines for word in ("machine", "written by", "AI"))
    assert "it does not say who wrote" in lines[-1]


def test_hostile_ids_and_texts_are_escaped(body):
    text = looped(texts_of(1, 16)[0]).replace("a", "\x1b[2Ja", 1)
    judged = review(Corpus.from_texts([text], name="a\x1b[2J"), body)
    assert not any("\x1b" in line for line in review_lines(judged))
    assert all("\n" not in line and "\x1b" not in line for line in workflow_commands(judged, {}))
    json.dumps(sarif(judged, {}))


def test_lengths_free_values_of_their_dependence():
    rng = np.random.default_rng(0)
    words = rng.integers(50, 2000, 2000)
    values = 2 + 3 * np.log(words) + rng.normal(size=2000) * words**-0.5 * 30
    freed = Lengths.of(values[:, None], words).freed(values[:, None], words)[:, 0]
    short = words < 300
    assert abs(freed.mean()) < 0.1
    assert freed[short].std() == pytest.approx(freed[~short].std(), rel=0.15)
    assert freed.std() == pytest.approx(1, rel=0.1)


def test_stretches_end_with_sentences_and_cover_the_text():
    text = texts_of(1, 17, 80, 81)[0]
    cut = stretches(text, 60, 99)
    assert all(piece.endswith(".") for _, piece in cut)
    assert all(text[start : start + len(piece)] == piece for start, piece in cut)
    assert np.all(abs(word_counts([piece for _, piece in cut]) - 60) <= 9)
    assert len(stretches(text, 60, 3)) == 3
    assert stretch("下雨了。天黑了。", 3) == "下雨了。"


def test_places_are_found_whatever_the_spaces():
    steps = (Step("copy", "he said  no", 3.0, True), Step("sign", ",", 9.0, True), Step("x", "not there", 2.0, True))
    found = spans_of(MarkedDocument("a", "1", 1.0, "nats", steps), "Yes.\n\nAnd he\nsaid no, no.")
    assert [(span.line, span.text) for span in found] == [(3, "he\nsaid no")]


def tight(rng):
    """A text all of whose sentences have nine words."""
    return " ".join(
        " ".join(rng.choice(WORDS, 9, p=FREQUENCIES / FREQUENCIES.sum())).capitalize() + "." for _ in range(16)
    )


def wide(rng):
    """A text with sentences of any length about its own mean."""
    mean = rng.uniform(4, 16)
    words = [rng.choice(WORDS, 2 + rng.poisson(mean), p=FREQUENCIES / FREQUENCIES.sum()) for _ in range(16)]
    return " ".join(" ".join(sentence).capitalize() + "." for sentence in words)


def two_kinds(n, seed, group=None):
    """n tight and n / 7 wide documents; a group each by name, if one is given."""
    rng = np.random.default_rng(seed)
    kinds = [(make, name) for make, name, of in ((tight, "tight", n), (wide, "wide", n // 7)) for _ in range(of)]
    return [
        Document(f"{seed}:{i}", (Section(make(rng)),), False, group=name if group else None, fields={"kind": name})
        for i, (make, name) in enumerate(kinds)
    ]


@pytest.fixture(scope="module")
def mixed():
    return fit_body(Corpus.from_documents(two_kinds(490, 50), "mixed"), critics=["rhythm", "unigram", "marks"])


def flags(judged, kind):
    return np.mean([d.odd(0.05) for d in judged.documents if d.category == kind])


def test_by_a_field_the_level_holds_in_each_category(mixed):
    new = Corpus.from_documents(two_kinds(700, 51), "new")
    pooled, within = review(new, mixed), review(new, mixed, by="kind")
    kinds = np.array(new.field("kind"))
    of_all = {k: np.mean([d.odd(0.05) for d in np.array(pooled.documents, object)[kinds == k]]) for k in set(kinds)}
    assert of_all["wide"] > 0.12, "judged by all, documents of the rare and wide kind are odd too often"
    assert max(flags(within, "tight"), flags(within, "wide")) <= 0.08
    held = mixed.held.field("kind")
    assert within.categories == {kind: held.count(kind) for kind in ("tight", "wide")}


def test_a_wide_document_among_tight_ones_is_odd_there_alone(mixed):
    """Sentences of thirteen words on average are common in the body, but not in their category."""
    rng = np.random.default_rng(52)
    texts = [wide(rng) for _ in range(40)]
    new = Corpus.from_texts(texts, name="new")
    shares = {k: flags(review(new.with_field("kind", [k] * 40), mixed, by="kind"), k) for k in ("tight", "wide")}
    assert shares["tight"] > 0.8
    assert shares["wide"] < 0.2


def test_documents_of_other_categories_are_judged_by_all_and_that_is_said(mixed):
    texts = [tight(np.random.default_rng(53)), looped(wide(np.random.default_rng(54)))]
    new = Corpus.from_texts([*texts, *texts], name="new").with_field("kind", ["tight", "poem", None, "wide"])
    within, pooled = review(new, mixed, by="kind"), review(new, mixed)
    assert [d.category for d in within.documents] == ["tight", "poem", None, "wide"]
    assert [d.p for d in within.documents[1:3]] == [d.p for d in pooled.documents[1:3]]
    lines = list(review_lines(within))
    assert "; 2 documents with another kind or none by all" in lines[-1]
    assert any("texts of mixed with kind tight" in line for line in lines)
    assert "kind" not in "".join(review_lines(pooled))
    strict = review(new, mixed, level=0.01, by="kind")
    assert list(strict.categories) == ["tight"], "too few wide documents for so small a p"
    with pytest.raises(UsageError, match="no held-out document of mixed has the field 'tone'"):
        review(new, mixed, by="tone")


def test_by_a_field_pairs_are_compared_by_pairs_of_their_category(mixed):
    """Two documents of the body often differ as a wide and a tight one do; two tight ones do not."""
    rng = np.random.default_rng(62)
    new, old = (Corpus.from_texts([write(rng) for _ in range(60)], name="new") for write in (wide, tight))
    new = new.with_field("kind", ["tight"] * 50 + ["wide"] * 10)
    old = old.with_field("kind", ["tight"] * 40 + [None] * 10 + ["tight"] * 10)
    pooled, within = choose(new, old, mixed), choose(new, old, mixed, by="kind")
    told = [
        np.mean([pair.odder == 0 and pair.rate <= 0.02 for pair in choice.pairs[:50]]) for choice in (pooled, within)
    ]
    assert told[0] < 0.4
    assert told[1] > 0.7
    assert within.pairs[50:] == pooled.pairs[50:], "documents of two kinds are compared by all"
    assert [d.category for d in within.reviews[1].documents] == ["tight"] * 50 + [None] * 10


def test_a_writer_who_is_a_group_is_judged_by_single_documents():
    """Whole groups would leave no writer both fitted on and held out."""
    human = Corpus.from_documents(two_kinds(490, 55, group=True), "two")
    body = fit_body(human, critics=["rhythm"], by="kind")
    judged = review(Corpus.from_documents(two_kinds(28, 56), "new"), body, by="kind")
    held = body.held.field("kind")
    assert judged.categories == {kind: held.count(kind) for kind in ("tight", "wide")}
    assert judged.categories["tight"] == pytest.approx(0.6 * 490, abs=40)


def test_a_kept_body_judges_by_its_fields_and_a_fault_of_one_category_is_no_news(tmp_path):
    documents = two_kinds(560, 57)
    rows = [replace(d, sections=(Section(d.text[:-9]),)) if i < 4 else d for i, d in enumerate(documents[560:])]
    human = Corpus.from_documents([*documents[:560], *rows], "essays")
    body = fit_body(human, critics=["rhythm", "faults"])
    new = two_kinds(14, 58)
    new = Corpus.from_documents([replace(d, sections=(Section(d.text[:-9]),)) for d in new], "new")
    judged = review(new, body, by="kind")
    assert all(bool(d.remarks) == (d.category == "tight") for d in judged.documents)
    assert all(d.remarks for d in review(new, body).documents)
    save_body(body, tmp_path / "body")
    assert review(new, load_body(tmp_path / "body"), by="kind") == judged


def test_the_command_judges_by_a_field_of_records_or_by_a_named_category(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, documents in (("human", two_kinds(490, 59)), ("new", two_kinds(7, 60))):
        records = [json.dumps({"id": d.id, "text": d.text, "kind": d.fields["kind"]}) for d in documents]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(records))
    (tmp_path / "draft.md").write_text(wide(np.random.default_rng(61)))
    arguments = ["--body", "human.jsonl", "-c", "rhythm", "--by", "kind", "--save", "body", "-q", "--json"]
    content = json.loads(CliRunner().invoke(app, ["review", "new.jsonl", *arguments]).stdout)
    assert [d["category"] for d in content["documents"]] == ["tight"] * 7 + ["wide"]
    assert sum(content["categories"].values()) == content["calibrating"]
    p = []
    for by in ("tight", "wide"):
        kept = ["review", "draft.md", "--body", "body", "--by", f"kind={by}", "-q", "--json"]
        (document,) = json.loads(CliRunner().invoke(app, kept).stdout)["documents"]
        p.append(document["p"])
    assert p[0] < 0.05 < p[1]
    (tmp_path / "old.md").write_text(tight(np.random.default_rng(63)))
    both = ["review", "draft.md", "--against", "old.md", "--body", "body", "--by", "kind=tight", "-q", "--json"]
    content = json.loads(CliRunner().invoke(app, both).stdout)
    assert [side["documents"][0]["category"] for side in content["reviews"]] == ["tight", "tight"]
    assert content["pairs"][0]["odder"] == 0


def test_documents_of_the_body_are_counted_and_said(body):
    texts = [body.held[0].text, *texts_of(2, 20)]
    judged = review(Corpus.from_texts(texts, name="new"), body)
    assert judged.known == 1
    assert "p says nothing of 1 document of essays itself." in list(review_lines(judged))


def test_a_short_and_a_long_document_are_judged_apart(body):
    """Stretches of the one length may be as long as those of the other."""
    short, long = (texts_of(1, seed, n, n + 1)[0] for seed, n in ((21, 9), (22, 90)))
    together = review(Corpus.from_texts([short, long], name="new"), body).documents
    alone = [review(Corpus.from_texts([text], name="new"), body).documents[0] for text in (short, long)]
    assert [(d.p, d.judged) for d in together] == [(d.p, d.judged) for d in alone]
    classes = _classes(np.array([body.lengths[0] - 1, body.lengths[1] + 1]), [body, body])
    assert all(longer == (row == 1) for (_, longer, _), rows in classes.items() for row in rows)
    assert (body.common, True, id(body)) in classes
    assert np.mean(body.words >= body.common) == pytest.approx(0.8, abs=0.01)


def test_a_record_that_cannot_be_read_says_why(body):
    (unread,) = review(Corpus.from_documents([Document("a", (), problem="no text")], "new"), body).documents
    assert (unread.p, unread.why_not) == (None, "no text")
