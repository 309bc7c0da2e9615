"""Ready chains of symbols: scored as the mentions that they come from, with errors that name what is wrong."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from momus import Corpus, read_corpus
from momus.cli.app import app
from momus.critic import Counted
from momus.errors import ReadingError, UsageError
from momus.text.mentions import Resolved
from momus_critics.coreference import Coreference

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))
from chain_files import write_chains, write_symbols

from .measured import measured

PERSONS = (("Anna", "she"), ("Bea", "she"), ("Carl", "he"))


def story(rng, wrong):
    """Ten sentences “Anna sat and she slept.”; a share of the pronouns is of the wrong gender."""
    text, mentions, sentences = "", [], []
    for person in rng.integers(0, 3, size=10).tolist():
        sentences.append(len(text))
        name, pronoun = PERSONS[person]
        if rng.random() < wrong:
            pronoun = "he" if pronoun == "she" else "she"
        for word, mention in ((name, True), ("sat and", False), (pronoun, True), ("slept.", False)):
            if mention:
                mentions.append((len(text), len(text) + len(word), person))
            text += word + " "
    return text, Resolved.of(mentions, sentences)


def stories(n, seed, wrong):
    rng = np.random.default_rng(seed)
    made = [story(rng, wrong) for _ in range(n)]
    corpus = Corpus.from_texts([t for t, _ in made], ids=[f"s{seed}:{i}" for i in range(n)], name=f"s{seed}")
    return corpus, dict(zip(corpus.ids, (r for _, r in made), strict=True))


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Gold mentions of three sets of stories, and the chains of symbols made of them, by set."""
    folder = tmp_path_factory.mktemp("chains")
    parts = [stories(n, seed, wrong) for n, seed, wrong in ((60, 0, 0.0), (40, 1, 0.0), (40, 2, 0.2))]
    mentions = folder / "mentions.jsonl"
    write_chains({k: r for _, found in parts for k, r in found.items()}, mentions)
    corpora = [c for c, _ in parts]
    critic = Coreference(resolver="given", model=str(mentions))
    for corpus in corpora:
        write_symbols(corpus, critic.symbols(corpus), folder / f"{corpus.name}.jsonl")
    return folder, corpora, str(mentions)


def test_chains_of_symbols_score_as_the_mentions_they_come_from(paths):
    folder, corpora, mentions = paths
    chains = [read_corpus(f"symbols:{folder}/{c.name}.jsonl") for c in corpora]
    by_mentions = Coreference(resolver="given", model=mentions).fit(corpora[0])
    by_symbols = Coreference(resolver="symbols").fit(chains[0])
    for corpus, chain in zip(corpora, chains, strict=True):
        expected, found = by_mentions.score(corpus), by_symbols.score(chain)
        assert found.ids == expected.ids
        assert found.nll.tolist() == expected.nll.tolist()
        assert found.latent_ppl == expected.latent_ppl
        assert found.rows.keys() == expected.rows.keys()
        for name, rows in expected.rows.items():
            one, other = (r.matrix.toarray() if isinstance(r, Counted) else r for r in (found.rows[name], rows))
            assert np.array_equal(one, other), name
    shown = by_symbols.explain(chains[2].take(np.array([0])))
    assert "[" in shown.steps[0].text


def test_lists_and_objects_and_both_spellings_are_read(tmp_path):
    one, other = ["[M]4", ".", "[he]4", "Female:9"], ["Male:0", ".", "he:0", "female:1"]
    lines = tmp_path / "chains.jsonl"
    lines.write_text(f"{json.dumps(one)}\n{json.dumps({'id': 'b', 'symbols': other, 'year': 1813})}\n")
    corpus = read_corpus(f"symbols:{lines}")
    assert corpus.ids[1] == "b"
    assert Coreference(resolver="symbols").symbols(corpus) == [["Male:0", ".", "he:0", "Female:1"]] * 2


def test_genders_of_pronouns_of_one_document_are_compared_with_each_other(tmp_path):
    def share(*documents):
        path = tmp_path / "chains.jsonl"
        path.write_text("".join(json.dumps({"id": str(i), "symbols": d}) + "\n" for i, d in enumerate(documents)))
        corpus = read_corpus(f"symbols:{path}")
        return measured(Coreference(resolver="symbols").fit(corpus), corpus)["other_gender_share"]

    he, she = ["Male:0", "he:0", "his:0"], ["Female:0", "she:0", "her:0"]
    assert share(he, she, he) == pytest.approx(0, abs=1e-6)
    # of two male and two female pronouns, each meets two others of three
    assert share([*he, "she:1", "her:1"], ["Male:0"], she) == pytest.approx(4 * 2 / 3 / 6, rel=1e-5)


WRONG = {
    '["Male:0", "Mail:0"]': "a symbol has the unknown kind 'Mail'",
    '["he"]': "a symbol is neither KIND:NUMBER nor “.”",
    '["he:-1"]': "a symbol is neither KIND:NUMBER nor “.”",
    '["he:99999999999999999999"]': "a symbol is neither KIND:NUMBER nor “.”",
    '["he:٣"]': "a symbol is neither KIND:NUMBER nor “.”",
    '["he:0 he:1"]': "a symbol is empty or holds a blank",
    '["he:0", 3]': "a symbol is not a string (found number)",
    '{"chain": []}': "no field 'symbols'",
    '{"symbols": "he:0"}': "symbols is not a list (found string)",
    '"he:0"': "a chain is not a list (found string)",
}


def test_wrong_symbols_are_counted_and_named(paths, tmp_path):
    folder, corpora, _ = paths
    path = tmp_path / "wrong.jsonl"
    good = (folder / f"{corpora[0].name}.jsonl").read_text()
    path.write_text(good + "\n".join(WRONG) + '\n[]\n["."]\n')
    corpus = read_corpus(f"symbols:{path}")
    assert [p for p in corpus.problems if p] == list(WRONG.values())
    critic = Coreference(resolver="symbols").fit(corpus)
    assert critic.fitted_on_["left_out"] == len(WRONG) + 1
    unscored = critic.score(corpus).unscored
    assert unscored.pop("empty") == 1
    assert unscored.pop("no person is mentioned") == 1
    assert sum(unscored.values()) == len(WRONG)
    assert set(unscored) == set(WRONG.values())
    path.write_text("\n".join(WRONG))
    with pytest.raises(ReadingError, match="none of the 10 records is a document"):
        read_corpus(f"symbols:{path}")


def test_texts_are_no_chains(paths):
    folder, corpora, _ = paths
    with pytest.raises(UsageError, match=r"document 's0:0' is no chain of symbols: .* \(symbol 1, '\w+'\)"):
        Coreference(resolver="symbols").fit(corpora[0].take(np.array([0, 1, 2])))
    chains = read_corpus(f"symbols:{folder}/{corpora[0].name}.jsonl")
    critic = Coreference(resolver="symbols").fit(chains)
    mixed = Corpus.from_texts(["She went home.", "Female:0 . she:0", "Name:0 . third:0"])
    assert critic.score(mixed).unscored == {
        "a symbol is neither KIND:NUMBER nor “.”": 1,
        "a symbol has the unknown kind 'Name'": 1,
    }


def test_the_command_line_compares_chains(paths, tmp_path):
    folder, (fit, real, wrong), _ = paths
    config = tmp_path / "momus.toml"
    config.write_text('[coreference]\nresolver = "symbols"\norder = 3\n')
    texts = {role: f"symbols:{folder}/{c.name}.jsonl" for role, c in (("fit", fit), ("real", real))}
    generated = f"model=symbols:{folder}/{wrong.name}.jsonl"
    result = CliRunner().invoke(
        app,
        f"compare --fit {texts['fit']} --real {texts['real']} --generated {generated} "
        f"--critics coreference --config {config} --no-out --json --permutations 199".split(),
    )
    assert result.exit_code in (0, 1), result.output
    rows = json.loads(result.stdout)["verdicts"]
    headline = next(r for r in rows if r["statistic"] == "unlikely_share")
    assert (headline["n_real"], headline["n_generated"]) == (40, 40)
    assert headline["generated_value"] > headline["real_value"]
