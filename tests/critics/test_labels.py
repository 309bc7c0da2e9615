"""Critics of labels: each type is found, recovered, holds its level and conforms; strange labels are told in words."""

import json
import pickle
from itertools import pairwise

import numpy as np
import pytest

import momus
from momus import Corpus, Document, Section
from momus.calibration.calibrate import calibrate
from momus.conformance import check_critic, check_names
from momus.critic.registry import critic_class, load_critic
from momus.errors import FittingError, MomusError, UsageError
from momus_critics.labels import label_class
from momus_critics.labels.process import OTHER

from .measured import measured

P = {"warm": 0.6, "curt": 0.3, "flat": 0.1}
HAS = {"short": 0.1, "polite": 0.5, "sure": 0.8}
MOVES = {"ask": {"ask": 0.2, "search": 0.8}, "search": {"search": 0.3, "answer": 0.7}, "answer": {"ask": 0.4, "": 0.6}}


def category(rng):
    return str(rng.choice(list(P), p=list(P.values())))


def yes_no(rng):
    return json.dumps(bool(rng.random() < 0.2))


def labels(rng):
    return json.dumps([name for name, p in HAS.items() if rng.random() < p])


def number(rng):
    return f"{rng.normal(3, 2):.6f}"


def share(rng):
    return f"{rng.beta(2, 5):.6f}"


def moves(rng):
    state, steps = "ask", []
    while state:
        steps.append(state)
        state = str(rng.choice(list(MOVES[state]), p=list(MOVES[state].values())))
    return json.dumps(steps)


DRAWS = {"category": category, "yes-no": yes_no, "set": labels, "number": number, "share": share, "sequence": moves}


def text(values, name="text", groups=None):
    documents = [
        Document(f"{name}{i}", (Section(f"words of {name} {i}"),), False, fields={} if v is None else {"tone": v})
        for i, v in enumerate(values)
    ]
    return Corpus.from_documents(documents, name=name)


def drawn(kind, n, seed=0, name="text"):
    rng = np.random.default_rng(seed)
    return text([DRAWS[kind](rng) for _ in range(n)], name)


def fitted_on(values):
    return label_class("tone")().fit(text(values))


def fitted(kind, n=400):
    return label_class("tone")().fit(drawn(kind, n))


@pytest.mark.parametrize("kind", DRAWS)
def test_the_type_is_read_off_the_values_and_said(kind):
    critic = fitted(kind, 60)
    assert critic.kind_ == kind
    assert "tone is read as" in critic.notes()[0]
    assert critic.sequence == (kind == "sequence")


@pytest.mark.parametrize("kind", ["category", "set", "sequence"])
def test_a_named_type_wins(kind):
    values = [json.dumps(v) for v in (["a"], ["b"], ["a"], ["b"])] if kind != "category" else ["1", "2", "3", "1"]
    critic = label_class("tone")(kind=kind).fit(text(values))
    assert critic.kind_ == kind
    assert critic.score(text(values)).n_scored == 4


def test_shares_of_categories_are_recovered():
    process = fitted("category").process_
    assert process.labels_ == [*P, OTHER]
    assert process.shares_[:3] == pytest.approx(list(P.values()), abs=0.06)
    assert -np.log(process.shares_[1]) == pytest.approx(fitted("category").score(text(["curt"])).nll[0])


def test_the_share_of_yes_is_recovered():
    critic = fitted("yes-no")
    assert measured(critic, drawn("yes-no", 400, 1))["yes_share"] == pytest.approx(0.2, abs=0.06)
    assert critic.score(text(["Yes", "true", "1"])).nll.tolist() == pytest.approx(
        [-np.log(critic.process_.shares_[0])] * 3
    )


def test_labels_of_sets_are_recovered():
    critic = fitted("set")
    values = measured(critic, drawn("set", 400, 1))
    assert [values[f"{name}_share"] for name in HAS] == pytest.approx(list(HAS.values()), abs=0.08)
    assert values["mean_labels"] == pytest.approx(1.4, abs=0.15)


def test_a_normal_and_a_beta_are_recovered():
    normal, beta = fitted("number").process_, fitted("share").process_
    assert (normal.mean_, normal.sd_) == pytest.approx((3, 2), abs=0.3)
    assert (beta.alpha_, beta.beta_) == pytest.approx((2, 5), rel=0.25)
    # a density: it integrates to 1
    grid = np.linspace(0, 1, 2001)
    assert np.trapezoid(np.exp(beta.log_density(grid)), grid) == pytest.approx(1, abs=0.01)


def test_transitions_and_ends_of_sequences_are_recovered():
    process = fitted("sequence").process_
    at = {label: k for k, label in enumerate(process.labels_)} | {"": process.states}
    for state, following in MOVES.items():
        for other, p in following.items():
            assert process.transitions_[at[state], at[other]] == pytest.approx(p, abs=0.06)


def test_a_step_that_is_left_out_is_named():
    real = drawn("sequence", 120, 1, "real")
    lacking = [
        json.dumps([m for m in json.loads(v) if m != "search" or i % 3]) for i, v in enumerate(real.field("tone"))
    ]
    critic = label_class("tone")().fit(drawn("sequence", 120))
    human, mine = (critic.score(t) for t in (real, text(lacking, "mine")))
    shares, errors, _ = critic.evidence(human.summary, mine.summary)
    assert errors.rows[0][0] == "ask → answer"
    assert shares.rows[0][0] == "search"
    assert mine.latent_ppl > 1.1 * human.latent_ppl
    assert measured(critic, text(lacking))["search_documents"] == pytest.approx(2 / 3, abs=0.1)


def test_an_irregular_step_is_one_that_chance_explains_better():
    critic = fitted("sequence")
    process, steps = critic.process_, ["search", "search", "ask", "answer"]
    at = [process.states, *(process.labels_.index(step) for step in steps), process.states]
    expected = []
    for before, after in pairwise(at):
        chance, chain = 0.01 * process.chance[after], 0.99 * process.transitions_[before, after]
        expected.append(chance / (chance + chain))
    assert measured(critic, text([json.dumps(steps)]))["irregular_share"] == pytest.approx(np.mean(expected))
    # "answer" is never followed by itself, and "search" is never followed by "ask"
    usual, doubled = ["ask", "search", "answer"], ["ask", "search", "answer", "answer"]
    values = [measured(critic, text([json.dumps(moves)]))["irregular_share"] for moves in (usual, doubled)]
    assert values[0] < 0.02 < 0.15 < values[1]


def test_soft_labels_count_as_expected_labels():
    soft = text([json.dumps({"warm": 0.75, "cold": 0.25})] * 40)
    critic = label_class("tone")().fit(soft)
    assert critic.kind_ == "category"
    assert critic.process_.shares_[:2] == pytest.approx([30.5 / 41.5, 10.5 / 41.5])
    assert measured(critic, soft)["warm_share"] == pytest.approx(0.75)
    expected = -0.75 * np.log(30.5 / 41.5) - 0.25 * np.log(10.5 / 41.5)
    assert critic.score(soft).latent_nll == pytest.approx(expected)


def test_sure_labels_stand_among_unsure_ones():
    soft = fitted_on([json.dumps({"yes": 0.75, "no": 0.25}), "yes", "no", "true"] * 10)
    assert (soft.kind_, measured(soft, text(["yes", '{"yes": 0.5, "no": 0.5}'] * 10))["yes_share"]) == ("yes-no", 0.75)
    assert fitted_on([json.dumps({"warm": 0.75, "cold": 0.25}), "warm", "no"] * 10).kind_ == "category"
    assert fitted_on([json.dumps({"warm": 0.75, "cold": 0.75}), json.dumps({"warm": 1})] * 10).kind_ == "set"


def test_soft_steps_count_as_expected_transitions():
    steps = [{"ask": 0.5, "answer": 0.5}, "answer"]
    critic = label_class("tone")().fit(text([json.dumps(steps)] * 20))
    process = critic.process_
    ask, answer = (process.labels_.index(label) for label in ("ask", "answer"))
    assert process.counts_[ask, answer] == pytest.approx(10)
    assert process.counts_[process.states, ask] == pytest.approx(10)
    assert measured(critic, text([json.dumps(steps)] * 20))["ask_documents"] == pytest.approx(0.5)


@pytest.mark.parametrize("kind", DRAWS)
def test_each_type_conforms(kind):
    checks = [name for name in check_names(slow=False) if name != "saved_critics_load_in_a_fresh_process"]
    report = check_critic(label_class("tone")(), drawn(kind, 60), checks=checks)
    assert report.ok, str(report)


def test_a_saved_critic_loads_by_its_name_alone(tmp_path):
    critic = fitted("sequence", 40)
    critic.save(tmp_path)
    label_class.cache_clear()  # as in another process
    loaded = load_critic(tmp_path)
    assert loaded.name == "label-tone"
    assert loaded.score(drawn("sequence", 9, 3)).nll.tolist() == critic.score(drawn("sequence", 9, 3)).nll.tolist()


def test_a_critic_can_be_sent_to_another_process():
    critic = critic_class("label-tone")().fit(drawn("set", 40))
    assert pickle.loads(pickle.dumps(critic)).process_.labels_ == critic.process_.labels_


@pytest.mark.parametrize("kind", DRAWS)
def test_halves_of_one_text_do_not_differ_more_often_than_the_level(kind):
    cell = calibrate(
        drawn(kind, 160, 1), fit=drawn(kind, 80), critics=["label-tone"], defects=[], sizes=[(20, 20)], splits=40,
        permutations=199, wide=99,
    ).cells[0]  # fmt: skip
    assert cell.tested == 40
    assert cell.alarms(0.05) <= 7  # P < .005 at a rate of .05


MIXED = {
    "a word among numbers": ["1", "2.5", "n/a", "4"],
    "a list among words": ["warm", '["warm"]', "cold", "cold"],
    "a number among probabilities": ['{"a": 1}', '{"a": 1}', "3", '{"b": 1}'],
}


@pytest.mark.parametrize("values", MIXED.values(), ids=MIXED)
def test_mixed_types_are_an_error_that_names_the_document(values):
    with pytest.raises(FittingError, match=r"document 'text\d': its label 'tone' is .*, where 3 documents of 4 have"):
        label_class("tone")().fit(text(values))


STRANGE = {
    "nested lists": ('[["a"], ["b"]]', "its label is nested"),
    "nested mappings": ('{"a": {"b": 1}}', "a probability of its labels is no number from 0 to 1"),
    "NaN": ("NaN", "its label is not a finite number"),
    "huge": ("1e400", "its label is not a finite number"),
    "digits": ("9" * 4000, "its label is not a finite number"),
    "long": ("x" * 300, "its label is a text of 300 characters"),
}


@pytest.mark.parametrize(("value", "reason"), STRANGE.values(), ids=STRANGE)
def test_labels_that_cannot_be_read_are_refused_in_words(value, reason):
    with pytest.raises(FittingError, match=reason):
        label_class("tone")().fit(text([value] * 4))


@pytest.mark.parametrize("value", ["[" * 100_000, "\x1b[31m\u202e", "{}", "温暖", "", '{"a": NaN}'])
def test_hostile_labels_of_scored_documents_get_words(value):
    for kind in DRAWS:
        scores = fitted(kind, 30).score(text([value]))
        assert scores.n_scored or scores.reasons[0]
        assert "\x1b" not in str(scores.z)


@pytest.mark.parametrize("n", [30, 3000])
def test_labels_that_differ_in_every_document_are_no_labels(n):
    with pytest.raises(FittingError, match=rf"{n:,} labels, of which {n:,} occur once: these are texts, not labels"):
        label_class("tone")().fit(text([f"label {i}" for i in range(n)]))


def test_rare_and_new_labels_are_others():
    critic = label_class("tone")().fit(text([f"l{i % 250}" for i in range(750)]))
    assert len(critic.process_.labels_) == 201
    assert critic.process_.shares_[-1] == pytest.approx(150.5 / (750 + 100.5), rel=1e-3)
    assert critic.score(text(["new"])).nll[0] == pytest.approx(-np.log(critic.process_.shares_[-1]))


def test_a_constant_number_says_how_to_read_it():
    with pytest.raises(FittingError, match="nothing varies"):
        label_class("tone")().fit(text(["3", "3", "3"]))


def test_documents_without_a_label_are_counted():
    scores = fitted("category").score(text(["warm", None, '["warm"]']))
    assert scores.unscored == {"no tone": 1, "its label is a list": 1}


def test_a_few_real_labels_of_another_type_are_left_out_with_a_warning():
    critic = label_class("tone")().fit(text(["1", "2.5", "NaN", "4"]))
    assert critic.skipped_ == 1
    assert critic.notes()[1].warning


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "a/b"])
def test_a_name_that_fits_no_critic_is_an_error(name):
    with pytest.raises(MomusError, match=r"name|label"):
        critic_class(f"label-{name}")


def test_an_unknown_type_is_an_error_that_lists_the_types():
    with pytest.raises(UsageError, match="kind"):
        momus.compare(drawn("set", 20), {"b": drawn("set", 9, name="b")}, critics=["length"], labels=["tone:colour"])
