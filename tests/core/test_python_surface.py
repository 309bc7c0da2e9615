"""What a user of Python and of notebooks meets: names, texts in memory, frames, plots and tables of a comparison."""

import io
import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import momus
from momus import Corpus, Document, MomusError, ReadingOptions
from momus.critic import EvidenceMixin
from momus.critic.latents import shown_latents
from momus.errors import ReadingError, StoreError, UsageError
from momus.reading import read_corpus
from momus.runs.kept import COLUMNS
from momus.runs.manifest import write_manifest

mpl.use("Agg")
WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "a",
    "is",
    "that",
    "for",
    "it",
    "as",
    "was",
    "with",
    "be",
    "by",
    "on",
    "not",
    "he",
]
HOSTILE = "<script>alert(1)</script>$\\frac{ [red]|&_%\x1b[31m"
QUICK = {"permutations": 199, "resamples": 99, "seed": 3}


def texts(n, seed, length=60):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(length // 2, length))) for _ in range(n)]


def records(n, seed, length=60):
    return [
        {"id": f"d{i}", "text": t, "prompt_id": f"p{i}", "group_id": f"g{i % 8}"}
        for i, t in enumerate(texts(n, seed, length))
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A comparison of two texts, one of them half as long and with an unreadable document, and its folder."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    short = [*records(24, 1, 30), {"id": "none", "text": None}]
    comparison = momus.compare(
        records(24, 0),
        {"alike": pd.DataFrame(records(24, 2)), HOSTILE: short},
        fit=texts(30, 9),
        critics=["length", "unigram"],
        out=folder,
        **QUICK,
    )
    return comparison, folder


# Names


def test_public_names_are_listed_before_their_first_use():
    code = "import sys, momus; names = dir(momus); print(*names); print(*(m for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names, modules = (set(line.split()) for line in done.stdout.splitlines())
    assert {"compare", "Critic", "read_corpus", "Corpus", "ReadingOptions", "read_comparison", "__version__"} <= names
    assert not names & {"Any", "TYPE_CHECKING", "import_module", "_HOMES"}
    assert not modules & {"numpy", "pyarrow", "pandas", "momus.engine", "momus.runs", "momus.critic"}


def test_every_public_name_is_there():
    for name in momus.__all__:
        assert getattr(momus, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'compere'"):
        _ = momus.compere


# Texts in memory

SAME = [{"text": "To be.", "prompt_id": 1, "group_id": "x"}, {"text": None, "prompt_id": 2, "group_id": "y"}]
FORMS = {
    "dicts": lambda: SAME,
    "generator": lambda: (row for row in SAME),
    "columns": lambda: {k: [row[k] for row in SAME] for k in SAME[0]},
    "pandas": lambda: pd.DataFrame(SAME),
    "pandas index": lambda: pd.DataFrame(SAME).set_index(["prompt_id", "group_id"]),
    "pandas with other columns": lambda: pd.DataFrame(SAME).assign(vector=[np.zeros(3)] * 2, other=["a", 1.5]),
    "arrow": lambda: pa.Table.from_pylist(SAME),
    "record batch": lambda: pa.RecordBatch.from_pylist(SAME),
    "reader": lambda: pa.Table.from_pylist(SAME).to_reader(),
    "dictionary": lambda: pa.Table.from_pylist(SAME).set_column(
        0, "text", pa.array(["To be.", None]).dictionary_encode()
    ),
    "polars": lambda: pytest.importorskip("polars").DataFrame(SAME),
    "datasets": lambda: pytest.importorskip("datasets").Dataset.from_list([*SAME, *SAME]).select([0, 1]),
    "datasets, numpy": lambda: pytest.importorskip("datasets").Dataset.from_list(SAME).with_format("numpy"),
    "datasets, iterable": lambda: pytest.importorskip("datasets").Dataset.from_list(SAME).to_iterable_dataset(),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_the_same_records_are_the_same_corpus(form):
    corpus = read_corpus(FORMS[form](), "g")
    assert corpus.ids == ["g:1", "g:2"]
    assert corpus.problems == [None, "text is null"]
    assert (corpus.prompts, corpus.groups) == (["1", "2"], ["x", "y"])
    assert corpus[0].text == "To be."


STRINGS = {
    "list": lambda: ["a", "b"],
    "tuple": lambda: ("a", "b"),
    "generator": lambda: (c for c in "ab"),
    "numpy": lambda: np.array(["a", "b"]),
    "series": lambda: pd.Series(["a", "b"]),
    "arrow": lambda: pa.chunked_array([["a"], ["b"]]),
    "polars": lambda: pytest.importorskip("polars").Series(["a", "b"]),
    "datasets": lambda: pytest.importorskip("datasets").Dataset.from_dict({"text": ["a", "b"]})["text"],
    "documents": lambda: [Document.plain("g:1", "a"), Document.plain("g:2", "b")],
}


@pytest.mark.parametrize("form", STRINGS)
def test_all_forms_of_strings(form):
    corpus = read_corpus(STRINGS[form](), "g", field="ignored" if form == "list" else None)
    assert list(corpus) == list(Corpus.from_texts(["a", "b"], name="g"))


def test_documents_keep_what_they_have():
    before = Corpus.from_sections([[("A", "x"), (None, "y")]], ids=["k"], prompts=["p"], groups=["h"])
    broken = Document("z", (), problem="text is null")
    corpus = read_corpus([*before, broken], "g")
    assert corpus[0] == before[0]
    assert corpus.problems == [None, "text is null"]


def test_sections_and_answers_are_read_as_in_files():
    corpus = read_corpus([{"sections": np.array(["x", "y"]), "section_names": ["A", None]}], "g")
    assert [(s.title, s.text) for s in corpus[0].sections] == [("A", "x"), (None, "y")]
    several = read_corpus(pa.table({"id": ["k"], "replies": [["yes", "no"]]}), "g", field="replies")
    assert several.ids == ["k#1", "k#2"]
    assert several.prompts[0] == several.prompts[1] is not None
    assert several.answers[0].documents == 2


def test_fields_within_fields_and_kept_metadata():
    table = pa.table({"id": [1], "reply": [{"text": "x"}], "meta": [{"topic": "ships"}]})
    corpus = read_corpus(table, "g", field="reply.text", keep=["meta.topic"])
    assert (corpus[0].text, corpus.ids, corpus.field("meta.topic")) == ("x", ["1"], ["ships"])


def test_prompts_that_pandas_made_fractional_are_whole_again():
    frame = pd.DataFrame({"text": list("abc"), "prompt_id": [1, None, 3], "group_id": [0.5, 1.0, None]})
    corpus = read_corpus(frame, "g")
    assert corpus.prompts == ["1", None, "3"]
    assert corpus.groups == ["0.5", "1.0", None]


def test_items_without_text_keep_their_rows():
    corpus = read_corpus(["a", None, float("nan"), b"x", 3, ("a", "b"), {"id": 7, "text": pd.NA}, {"text": b"x"}], "g")
    assert corpus.problems == [
        None,
        "text is null",
        "text is not a string (found number NaN)",
        "text is not a string (found bytes)",
        "record is neither a text nor a dict (found int)",
        "record is neither a text nor a dict (found tuple)",
        "text is null",
        "text is not a string (found bytes)",
    ]
    assert corpus.ids[6] == "7"


@pytest.mark.parametrize(
    ("source", "message", "hint"),
    [
        (None, "'g' is None, which is not a source of texts", "a data frame"),
        (3, "'g' is int", "a list of dicts"),
        (b"text", "'g' is bytes", "a list of texts"),
        ({"a", "b"}, "'g' is set, whose order is not settled", "a list of texts"),
        (io.StringIO("a\n"), "'g' is _io.StringIO", "give a path"),
        ({"text": "a"}, "'g' is dict whose values are not all lists", "wrap it in a list"),
        ({"text": ["a"], "id": [1, 2]}, "columns differ in length", "one length"),
        ({"train": pd.DataFrame(), "test": pd.DataFrame()}, "holds the tables 'train', 'test'", "['train']"),
        (pd.DataFrame([["a", "b"]], columns=["text", "text"]), "several columns called 'text'", "rename"),
        ([{"id": 1, "text": "a"}, {"id": 1, "text": "b"}], "the id '1' is already used in g, row 1", "unique id"),
        ([pd.DataFrame()], "found pandas.*DataFrame", "no field holds text"),
        ([None, None], "none of the 2 records is a document: text is null (2 times)", "no field holds text"),
    ],
)
def test_other_objects_are_refused_in_words(source, message, hint):
    with pytest.raises(MomusError) as caught:
        read_corpus(source, "g")
    assert re.search(message if ".*" in message else re.escape(message), caught.value.message)
    assert hint in caught.value.hint


@pytest.mark.parametrize("make", [pd.DataFrame, pa.Table.from_pylist, list], ids=["pandas", "arrow", "dicts"])
def test_an_error_names_the_fields_that_hold_text(make):
    rows = make([{"id": "a", "answer": "Yes.", "score": 3}])
    with pytest.raises(ReadingError, match="no field 'text' or 'sections'") as caught:
        read_corpus(rows, "g")
    assert "field='answer'" in caught.value.hint
    with pytest.raises(ReadingError, match="no field 'anwser'") as caught:
        read_corpus(rows, "g", field="anwser")
    assert "field='answer'" in caught.value.hint


def test_splits_of_datasets_and_frames_that_are_not_computed():
    splits = pytest.importorskip("datasets").DatasetDict(
        {name: pytest.importorskip("datasets").Dataset.from_dict({"text": ["a"]}) for name in ("train", "test")}
    )
    with pytest.raises(UsageError, match="'train', 'test', expected one"):
        read_corpus(splits, "g")
    lazy = pytest.importorskip("polars").LazyFrame({"text": ["a"]})
    with pytest.raises(UsageError, match=r"LazyFrame(.|\n)*collect\(\)"):
        read_corpus(lazy, "g")


def test_only_needed_columns_are_converted():
    class Untouchable(list):
        def __iter__(self):
            raise AssertionError("this column is not needed")

    frame = pd.DataFrame({"text": ["a"]}).assign(vector=pd.Series([Untouchable([1])], dtype=object))
    assert read_corpus(frame, "g").problems == [None]
    with pytest.raises(AssertionError, match="not needed"):
        read_corpus(frame, "g", field="vector")


def test_a_comparison_takes_each_form_and_the_field(run):
    frame = pd.DataFrame(records(24, 0)).rename(columns={"text": "answer"})
    generated = {"alike": pa.Table.from_pandas(pd.DataFrame(records(24, 2)).rename(columns={"text": "answer"}))}
    again = momus.compare(
        frame,
        generated,
        fit=(t for t in texts(30, 9)),
        critics=["length"],
        reading=ReadingOptions(field="answer"),
        **QUICK,
    )
    mine = {v.statistic: v.difference for v in run[0].verdicts if (v.critic, v.generated) == ("length", "alike")}
    assert {v.statistic: v.difference for v in again.verdicts} == mine


@pytest.mark.parametrize("generated", [["a"], pd.DataFrame({"text": ["a"]}), "file.jsonl", None])
def test_generated_texts_without_names_are_refused_in_words(generated):
    with pytest.raises(UsageError, match=r"expected a dict of names and texts(.|\n)*model"):
        momus.compare(texts(10, 0), generated)


# Latents in a few words


def test_states_are_named_and_runs_are_counted():
    from momus import StateSequences

    z = StateSequences(np.array([0, 0, 0, 1, *range(10)]), np.array([0, 4, 4, 14]))
    names = list("ABCDEFGHIJ")
    assert shown_latents(z, names) == ["A ×3 → B", "", "A → B → C → D → E → F → G → H → …"]
    assert shown_latents(z)[0] == "0 ×3 → 1"
    assert shown_latents(object()) is None


def test_z_follows_its_document_through_batches_and_unscored_rows():
    class Orders(momus.Critic, EvidenceMixin):
        name, axis, sequence = "orders", "order of letters", True

        def fit(self, real):
            self.seen_ = len(real)
            return self

        def project(self, batch):
            states = [[ord(c) - 97 for c in d.text] for d in batch]
            return momus.StateSequences(
                np.concatenate(states).astype(np.int64), np.cumsum([0, *map(len, states)]).astype(np.int64)
            )

        def log_prior(self, latents):
            return momus.LogPrior(-np.ones(len(latents)), latents.lengths)

        @property
        def state_names(self):
            return ["Summary", "Notes"]

    corpus = Corpus.from_texts(["ab", "", "ba", "aab", "b"], name="x")
    critic = Orders().fit(corpus)
    for size in (None, 1, 2):
        scores = critic.score(corpus, batch_size=size)
        words = ["Summary → Notes", None, "Notes → Summary", "Summary ×2 → Notes", "Notes"]
        assert scores.table()["z"].to_pylist() == words
        assert scores.take(np.array([4, 1])).table()["z"].to_pylist() == ["Notes", None]


# A comparison as frames


def test_documents_are_one_tidy_row_each(run):
    documents = run[0].documents
    assert tuple(documents.columns) == COLUMNS
    assert len(documents) == 2 * (24 + 24 + 25)
    row = documents[(documents["critic"] == "length") & (documents["corpus"] == "real")].iloc[3]
    words = len(records(24, 0)[3]["text"].split())
    assert (row["id"], row["prompt"], row["group"], row["z"]) == ("d3", "p3", "g3", str(words))
    scores = run[0].scores["length", "real"]
    assert row["nll"] == row["nll_per_step"] == scores.nll[3]
    unread = documents[documents["id"] == "none"]
    assert unread["reason"].tolist() == ["text is null"] * 2
    assert unread[["z", "prompt", "group"]].isna().all(axis=None)
    assert unread[["nll", "nll_per_step"]].isna().all(axis=None)
    unigram = documents[(documents["critic"] == "unigram") & (documents["corpus"] == "alike")].iloc[0]
    assert unigram["z"].startswith(records(24, 2)[0]["text"].split()[0])
    assert unigram["nll_per_step"] == pytest.approx(unigram["nll"] / unigram["steps"])


def test_a_run_that_is_read_back_has_the_same_documents_and_outliers(run):
    comparison, folder = run
    again = momus.read_comparison(folder)
    pd.testing.assert_frame_equal(again.documents, comparison.documents)
    pd.testing.assert_frame_equal(again.outliers(), comparison.outliers())
    assert again.answer == comparison.answer


def test_documents_that_cannot_be_read_are_an_error(run, tmp_path):
    import shutil

    old = shutil.copytree(run[1], tmp_path / "old")
    (old / "documents.parquet").write_bytes(b"PAR1")
    with pytest.raises(StoreError, match="not what the run wrote"):
        momus.read_comparison(old)
    (old / "manifest.json").unlink()
    shutil.copy(run[1] / "documents.parquet", old)
    write_manifest(old)
    kept = momus.read_comparison(old)
    (old / "documents.parquet").write_bytes(b"PAR1")
    with pytest.raises(StoreError, match=r"documents\.parquet: not readable"):
        _ = kept.documents
    with pytest.raises(StoreError, match="neither in memory nor in a folder"):
        _ = momus.Comparison(results=run[0].results).documents


def test_outliers_are_the_least_likely_documents(run):
    comparison = run[0]
    outliers = comparison.outliers(top=4)
    assert len(outliers) == 2 * 2 * 4
    for (critic, corpus), rows in outliers.groupby(["critic", "corpus"]):
        documents = comparison.documents
        documents = documents[(documents["critic"] == critic) & (documents["corpus"] == corpus)]
        column = "nll_per_step" if critic == "unigram" else "nll"
        # values that agree in nine digits are equal, which orders documents by id
        assert rows["value"].tolist() == pytest.approx(sorted(documents[column].dropna(), reverse=True)[:4], rel=1e-8)
        assert set(rows["unit"]) == {"nats per step" if critic == "unigram" else "nats"}
    assert set(comparison.outliers("length", "real")["corpus"]) == {"real"}
    assert len(comparison.outliers("length", "real", top=10**6)) == 24


def test_outliers_of_one_value_share_a_rank_and_are_sorted_by_id():
    same = [{"id": i, "text": "a b c"} for i in "zyx"]
    comparison = momus.compare(
        texts(20, 0), {"g": [{"id": "a", "text": texts(1, 5)[0]}, *same]}, fit=texts(20, 1), critics=["length"], **QUICK
    )
    for top in (2, 3, 4):
        rows = comparison.outliers(top=top)
        assert list(zip(rows["rank"], rows["id"], strict=True)) == [(1, "x"), (1, "y"), (1, "z"), (4, "a")][:top]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"critic": "lenght"}, r"no critic 'lenght'(.|\n)*length, unigram"),
        ({"corpus": "other"}, r"no corpus 'other'(.|\n)*real, alike"),
        ({"top": 0}, "top is 0"),
    ],
)
def test_outliers_that_cannot_be(run, options, message):
    with pytest.raises(UsageError, match=message):
        run[0].outliers(**options)


# What a notebook shows


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.links += [v for k, v in attrs if k == "href"]
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_summary_is_small_escaped_html_without_scripts(run, monkeypatch):
    comparison, folder = run
    html = comparison._repr_html_()
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert not set(tags.seen) & {"script", "img", "link", "iframe", "style"}
    assert "&lt;script&gt;alert(1)" in html
    assert "\x1b" not in html
    assert "human bands" in html.lower()
    assert len(html) < 20_000
    assert tags.links == [(folder / "report.html").as_uri()]
    monkeypatch.chdir(folder.parent)
    assert f'href="{folder.name}/report.html"' in comparison._repr_html_()
    assert "without verdicts" in momus.Comparison()._repr_html_()


@pytest.mark.parametrize("kind", ["overview", "axis", "ranks"])
def test_plots_are_drawn_into_given_and_into_new_axes(run, kind):
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert run[0].plot(kind, ax=axes) is axes
    new = run[0].plot(kind)
    assert new is not axes
    for drawn in (axes, new):
        drawn.figure.savefig(io.BytesIO(), format="svg")  # also that a name with $ and \ is no formula
        assert drawn.patches
        assert drawn.texts
    plt.close(new.figure)


def test_the_plot_of_an_axis_is_that_of_the_critic(run):
    from matplotlib.figure import Figure

    axes = run[0].plot("axis", critic="length", ax=Figure().add_subplot())
    assert any("words" in t.get_text() or "length" in t.get_text() for t in axes.texts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "pie"}, r"no plot 'pie'(.|\n)*overview, axis, ranks"),
        ({"kind": "axis", "critic": "x"}, "no critic 'x'"),
        ({"kind": "overview", "critic": "length"}, "shows all critics"),
    ],
)
def test_plots_that_cannot_be(run, options, message):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    with pytest.raises(UsageError, match=message):
        run[0].plot(**options)
    assert plt.get_fignums() == before


def test_settings_of_a_backend_that_the_first_plot_loads_stay(run, tmp_path):
    """A notebook's backend turns the interactive mode on when the first figure loads it."""
    (tmp_path / "backend_of_a_notebook.py").write_text(
        "import matplotlib\nfrom matplotlib.backends.backend_agg import *\nmatplotlib.interactive(True)\n"
    )
    code = (
        "import sys, momus\ncomparison = momus.read_comparison(sys.argv[1])\nax = comparison.plot()\n"
        "import matplotlib\nprint(matplotlib.is_interactive(), matplotlib.rcParams['font.size'], len(ax.patches) > 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(run[1])],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "MPLBACKEND": "module://backend_of_a_notebook", "PYTHONPATH": str(tmp_path)},
    )
    assert done.stdout.split() == ["True", "10.0", "True"]


def test_one_corpus_has_no_ranks():
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    comparison = momus.compare(texts(20, 0), {"g": texts(20, 2)}, fit=texts(20, 1), critics=["length"], **QUICK)
    with pytest.raises(UsageError, match=r"no ranks(.|\n)*two or more"):
        comparison.plot("ranks")
    assert plt.get_fignums() == before


def test_tables_for_papers_are_escaped(run):
    latex, markdown = run[0].to_latex(), run[0].to_markdown()
    assert latex.count(r"\toprule") == 1
    assert r"\frac{" not in latex
    assert r"\$\textbackslash{}frac\{" in latex
    assert "<script>" not in markdown
    assert "&lt;script&gt;" in markdown
