"""Parameters have a schema: a wrong value is refused with the name, the value and what is allowed."""

import datetime
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from arpa import KneserNey

from momus import Critic
from momus.cli import main
from momus.conformance.corpora import answers, documents, prose
from momus.critic import LogPrior, RunningTextCritic
from momus.critic.hooks import is_fitted
from momus.critic.registry import critic_class, make_critics
from momus.errors import MomusError, UsageError
from momus.estimator import check_params, construct, parameter_names
from momus.parameters import Range, ranges_of
from momus.plugins import CRITICS
from momus.text.tokens import get_tokenizer

if TYPE_CHECKING:
    from decimal import Decimal as Odd  # an annotation that cannot be resolved when the program runs

ODD: list[Any] = [
    *("false", "", "x", "3", "\0", "\ud800", "a" * 10_000, b"x", True, False, None),
    *(0, -1, -2, 1, 0.5, -0.5, 1.5, float("nan"), float("inf"), 10**400, 2**63, 2**70, 10**12),
    *([], [1], ["a"], [None], {}, {"a": 1}, (1, 2), datetime.date(2020, 1, 1), [[[[[]]]]]),
]
SHIPPED = sorted(e.name for e in entry_points(group=CRITICS) if e.module.startswith("momus_critics"))
CLASSES = {name: critic_class(name) for name in SHIPPED}
QUICK: dict[str, dict[str, Any]] = {
    "code-mixing": {"sweeps": 2, "starts": 1, "chains": 1},
    "passages": {"n_states": 6},
    "topics": {"steps": 2, "n_topics": 2},
}
"""Parameters with which critics whose fits take long are fitted in a moment."""
TREES = "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog))))\n"


@pytest.fixture(scope="module")
def needed(tmp_path_factory):
    """Parameters without which a critic cannot be fitted, or not in a moment, by critic."""
    folder = tmp_path_factory.mktemp("needed")
    (folder / "trees.mrg").write_text(TREES * 20, encoding="utf-8")
    table = documents(24).tokens(get_tokenizer("words"))
    scorers = []
    for order in (3, 2):
        path = folder / f"{order}.arpa"
        KneserNey(order=order).fit(table.ids, table.offsets, table.vocabulary).write_arpa(path)
        scorers.append({"scorer": "kenlm", "path": str(path)})
    return QUICK | {
        "pcfg": {"treebank": str(folder / "trees.mrg")},
        "templates": {"tagger": "spacy"},
        "distortion": {"language_scorer": scorers[0], "model_scorer": scorers[1]},
    }


def text_for(name):
    """A small text that a critic can be fitted on."""
    if issubclass(CLASSES[name], RunningTextCritic):
        return prose(100_000)
    return answers(24) if name == "diversity" else documents(24)


LONG = ("code-mixing", "passages", "taylor", "templates", "topics")
"""Critics that take a second and more to fit with each odd value."""


def parameters():
    marks = {name: [pytest.mark.slow] * (name in LONG) for name in SHIPPED}
    return [pytest.param(n, p, marks=marks[n]) for n in SHIPPED for p in parameter_names(CLASSES[n])]


def test_every_shipped_critic_is_fuzzed():
    assert len(SHIPPED) == 35
    assert len(parameters()) > 100
    assert set(QUICK) < set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_text_of_the_fuzz_is_enough_for_a_fit(name, needed):
    if name in ("coreference", "templates"):
        pytest.importorskip("spacy")
    if name == "distortion":
        pytest.importorskip("kenlm")
    text = text_for(name)
    assert CLASSES[name](**needed.get(name, {})).fit(text).score(text).n_scored >= 1


@pytest.mark.usefixtures("working_directory")  # values may be names of files
@pytest.mark.parametrize(("name", "parameter"), parameters())
def test_odd_values_are_refused_with_words_or_work(name, parameter, needed):
    text, refused = text_for(name), 0
    for value in ODD:
        try:
            critic = construct(CLASSES[name], {**needed.get(name, {}), parameter: value}, place=f"[{name}]")
            critic.fit(text).score(text)
        except MomusError as error:
            refused += f"{parameter} is " in error.message
    assert refused >= 15  # no parameter takes more than half of these values


@pytest.mark.parametrize("name", SHIPPED)
def test_the_defaults_are_allowed_and_all_ranges_name_parameters(name):
    cls = CLASSES[name]
    check_params(cls())
    assert set(ranges_of(cls)) - {"seed"} <= set(parameter_names(cls))


@pytest.mark.parametrize(
    ("name", "parameter", "value", "allowed"),
    [
        ("length", "lower", "false", "true or false"),
        ("length", "bins", "x", "a whole number"),
        ("length", "bins", True, "a whole number"),
        ("length", "bins", -2, "a number of at least 0"),
        ("length", "bins", 2.5, "a whole number"),
        ("code-mixing", "smoothing", float("nan"), "a finite number"),
        ("sections", "expectation", "chian", "'chain', 'exact', 'map'"),
        ("topics", "without", "abc", "a list or nothing"),
        ("topics", "without", [1], "each item a text"),
        ("topics", "seed", 2**80, "63 bits"),
        ("mauve", "options", 3, "a table of names and values or nothing"),
    ],
)
def test_the_error_names_critic_parameter_value_and_what_is_allowed(name, parameter, value, allowed):
    with pytest.raises(UsageError) as caught:
        make_critics([name], {name: {parameter: value}})
    text = str(caught.value)
    assert text.startswith(f"[{name}]: {parameter} is ")
    assert allowed in text
    assert f"correct {parameter}" in text


class Plugged(Critic):
    """A critic as somebody else would write it: annotations, and one range."""

    name, axis = "plugged", "nothing"

    def __init__(
        self,
        *,
        depth: Annotated[int, Range(1, 9)] = 2,
        mode: Literal["a", "b"] = "a",
        names: "list[str] | None" = None,
        scale: "Odd" = 1,
    ) -> None:
        self.depth, self.mode, self.names, self.scale = depth, mode, names, scale

    def fit(self, real):
        return self

    def project(self, batch):
        return list(batch)

    def log_prior(self, latents):
        import numpy as np

        return LogPrior(np.zeros(len(latents)), np.ones(len(latents)))


@pytest.mark.parametrize(
    "params", [{"depth": 0}, {"depth": "2"}, {"mode": "c"}, {"names": [1]}, {"scale": float("nan")}]
)
def test_plugins_get_the_checks_from_their_annotations(params):
    with pytest.raises(UsageError, match=f"plugged: {next(iter(params))} is"):
        Plugged(**params).fit(documents(24))
    assert is_fitted(Plugged(depth=9, mode="b", names=["x"], scale=object()).fit(documents(24)))


TOML = {
    "deep list": "[length]\nbins = " + "[" * 5000 + "]" * 5000,
    "400 digits": "[length]\nbins = " + "9" * 400,
    "5000 digits": "[length]\nbins = " + "9" * 5000,
    "date": "[length]\nbins = 2020-01-01",
    "text for true": '[length]\nlower = "false"',
    "not a number": "[length]\nbins = nan",
    "not UTF-8": None,
    "deep table": "[" + ".".join(["a"] * 3000) + "]",
}


@pytest.mark.parametrize("kind", TOML)
def test_odd_configurations_are_worded(kind, tmp_path, monkeypatch, capsys):
    config = tmp_path / "c.toml"
    config.write_bytes(b"[length]\nbins = \xff" if TOML[kind] is None else TOML[kind].encode())
    (tmp_path / "a.jsonl").write_text('{"text": "a b c"}\n' * 9, encoding="utf-8")
    words = [
        "fit",
        "length",
        "--real",
        str(tmp_path / "a.jsonl"),
        "--out",
        str(tmp_path / "o"),
        "--config",
        str(config),
    ]
    monkeypatch.setattr("sys.argv", ["momus", *words])
    with pytest.raises(SystemExit) as end:
        main()
    told = capsys.readouterr().err
    if kind == "deep table":  # tables of no critic that is asked for
        assert end.value.code in (0, 2, 4)
    else:
        assert end.value.code == 2, told
    assert "internal error" not in told
