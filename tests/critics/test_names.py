"""Names: known sentences, the process against enumeration and simulation, planted names."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import gammaln

import momus
from momus import Corpus
from momus_critics.fits.known import unseen_types
from momus_critics.names import Names, fit_pitman_yor, read_names
from momus_critics.prose.reading import read_prose

from .measured import measured


def names_of(*texts):
    z = read_names(read_prose(Corpus.from_texts(texts).tokens(Names().tokenizer)))
    return [{z.names[i] for i in z.codes[a:b].tolist()} for a, b in pairwise(z.offsets.tolist())]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Then Ann met Bob in Paris. Bob left.", {"Ann", "Bob", "Paris"}),
        ("Rain fell. It was on Monday, I think, and GOD knew.", set()),
        ("# The Weight Of Rain\n\nIt was late.", set()),
        ("The Roof And The Rain In May\n\nIt was late.", set()),
        ("It is so.\n\n1. **Time Management**: Plan with Ann.\n2. **Notes On Rain**\n\n## Key Resources", {"Ann"}),
        ("I say this: then Ann left. And so did Bob Hall: he ran.", {"Ann", "Bob", "Hall"}),
        ("“Come in,” said Ann. “Ann?” he asked.", {"Ann"}),
        ("they met ann in paris.", set()),
        ("", set()),
    ],
)
def test_names_of_known_sentences(text, names):
    assert names_of(text) == [names]


def test_a_word_is_a_name_in_its_own_document_only():
    assert names_of("So Hope left. Hope was gone.", "Hope is all. It was late.") == [{"Hope"}, set()]


def log_partition(counts, d, theta):
    """log p of a partition: seats are taken one after the other (Pitman 1995)."""
    total, n, v = 0.0, 0, 0
    for c in counts:
        for j in range(c):
            total += np.log((theta + v * d if j == 0 else j - d) / (theta + n)) if n else 0.0
            n, v = n + 1, v + (j == 0)
    return total


def test_the_fit_maximises_the_probability_of_the_partition():
    counts = [1] * 30 + [2] * 8 + [7] * 3
    d, theta = fit_pitman_yor(np.array(counts))
    best = log_partition(counts, d, theta)
    near = [(d * 1.05, theta), (d * 0.95, theta), (d, theta * 1.1), (d, theta * 0.9)]
    assert all(best > log_partition(counts, *x) - 1e-9 for x in near)
    assert gammaln(3) > 0


def test_the_fit_recovers_its_parameters():
    rng = np.random.default_rng(0)
    counts = []
    for n in range(20_000):
        p = np.append(np.array(counts) - 0.6, 8 + 0.6 * len(counts)) / (n + 8)
        k = rng.choice(len(p), p=p) if n else 0
        counts = [*counts, 1] if k == len(counts) else [*counts[:k], counts[k] + 1, *counts[k + 1 :]]
        if n > 3000:
            break
    d, theta = fit_pitman_yor(np.array(counts))
    assert d == pytest.approx(0.6, abs=0.06)
    assert theta == pytest.approx(8, rel=0.6)


def test_a_known_name_or_a_new_one_has_probability_one():
    critic = Names().fit(corpus(30, 0))
    p = np.exp(critic._log_probabilities([*critic.names_, "Zoltan"]))
    assert p[:-1].sum() + unseen_types(critic.documents_) * p[-1] == pytest.approx(1)


def test_text_of_new_names_alone_is_less_usual():
    """As one name, all new ones would be commoner than most known ones."""

    def named(n, start, shared):
        texts = []
        for i in range(start, start + n):
            own = [f"{chr(65 + i // 26 % 26)}{chr(97 + i % 26)}{x}" for x in ("ela", "ora", "inu")]
            texts.append(f"So {shared or own[2]} met {own[0]} and then {own[1]} left.")
        return Corpus.from_texts(texts)

    critic = Names().fit(named(60, 0, "Ann"))
    assert critic.score(named(60, 200, "")).latent_ppl > critic.score(named(60, 100, "Ann")).latent_ppl


def test_beside_text_without_names_longer_documents_lack_none():
    """Their scores differed by the number of words alone, .04 %, and could be told apart."""
    critic = Names().fit(Corpus.from_texts(["it rains again here."] * 30))
    texts = ["it rains.", "it rains again and again, and it is cold here.", "He met Ann."]
    scores = critic.score(Corpus.from_texts(texts))
    assert scores.nll[0] == scores.nll[1] < scores.nll[2]


def test_the_score_is_that_of_its_parts():
    critic = Names().fit(corpus(30, 0))
    z = critic.project(Corpus.from_texts(["So Ann met Zoltan there."]))
    mean = critic.rate_ * 5
    expected = critic._log_probabilities(["Ann", "Zoltan"]).sum() + 2 * np.log(mean / (1 + mean)) - np.log1p(mean)
    prior = critic.log_prior(z)
    assert prior.values.tolist() == pytest.approx([expected])
    assert prior.steps.tolist() == [3]


POOL = [f"{a}{b}" for a in ("An", "Be", "Ca", "Do", "Ed", "Fe") for b in ("ra", "lo", "mi", "nus", "rek", "tta", "vin")]


def corpus(n, seed, everyone=""):
    rng = np.random.default_rng(seed)
    out = []
    for i in range(n):
        one, other = rng.choice([*POOL, "Ann"], 2, replace=False)
        lead = everyone or one
        out.append(f"It was late when {lead} came to {other}. They met {lead} at number {i} of {seed}.")
    return Corpus.from_texts(out, name=f"t{seed}")


def test_statistics_of_known_texts():
    critic = Names().fit(corpus(30, 0))
    values = measured(critic, Corpus.from_texts(["So Ann met Zoltan.", "So it was."]))
    assert values["named_share"] == pytest.approx(0.5)
    assert values["known_share"] == 0.5
    assert values["name_rate"] == pytest.approx(1000 * 2 / 7)


def test_one_name_in_every_document_is_found_and_named():
    texts = {"same": corpus(80, 2), "changed": corpus(80, 3, everyone="Elena")}
    found = momus.compare(corpus(80, 1), texts, fit=corpus(80, 0), critics=["names"], permutations=499, resamples=99)
    rows = {(v.generated, v.statistic): v for v in found.verdicts}
    assert rows["changed", "recurring_names"].p <= 0.01
    assert rows["changed", "latent_nll"].p <= 0.01
    assert rows["same", "recurring_names"].p > 0.01
    critic = Names().fit(corpus(80, 0))
    table = critic.evidence(*(critic.summarize(critic.project(t)) for t in (corpus(80, 1), texts["changed"])))[0]
    assert table.rows[0] == ("Elena", 0.0, 100.0, 100.0)
    assert table.overuse.items[0].text == "Elena"


def test_names_are_marked_with_what_real_text_has_of_them():
    critic = Names().fit(corpus(40, 0))
    marked = critic.explain(Corpus.from_texts(["So Ann met Zoltan there."]))
    assert [(s.text.strip(), s.label) for s in marked.steps if s.label] == [("Ann", "name"), ("Zoltan", "new name")]
