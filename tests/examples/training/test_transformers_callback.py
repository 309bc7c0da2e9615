"""A real training run of a tiny language model with a critic looking on."""

import string

import numpy as np
import pytest
import torch

from momus import Corpus
from momus.critic import Critic
from momus.critic.powers import headline_of
from momus.errors import NotFittedError, UsageError
from momus.inference import holm
from momus.inference.sequential import Looks, spent
from momus.verdicts.judge import judge

pytest.importorskip("accelerate", reason="the Trainer of transformers needs accelerate")
from momus_critics.length import Length
from momus_critics.unigram import Unigram
from momus_training import repeated as module
from momus_training.callback import CriticCallback

LETTERS = string.ascii_lowercase + " ."
LINE = "the cat sat on the mat. "


@pytest.fixture(scope="module")
def tokenizer():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {c: i for i, c in enumerate(["<pad>", "<unk>", *LETTERS])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    backend.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", unk_token="<unk>")


def network(tokenizer):
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    sizes = {"n_layer": 1, "n_head": 2, "n_embd": 32, "n_positions": 64}
    ids = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    return GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **sizes, **ids))


def trained(tokenizer, folder, callback=None, attach=False, **options):
    from transformers import Trainer, TrainingArguments

    ids = tokenizer(LINE * 2)["input_ids"]
    data = [{"input_ids": ids[i : i + 24], "labels": ids[i : i + 24]} for i in range(24)]
    arguments = TrainingArguments(
        str(folder),
        max_steps=12,
        per_device_train_batch_size=8,
        learning_rate=3e-2,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        logging_steps=4,
        save_strategy="no",
        **options,
    )
    callbacks = [callback] if callback is not None and not attach else None
    trainer = Trainer(network(tokenizer), arguments, train_dataset=data, eval_dataset=data[:4], callbacks=callbacks)
    if attach:
        callback.attach(trainer)
    trainer.train()
    return trainer


def generator(tokenizer, n=24):
    def generate(model, step):
        start = tokenizer(["t"] * n, return_tensors="pt")["input_ids"]
        ids = model.generate(start, max_new_tokens=30, do_sample=True, eos_token_id=None)
        return tokenizer.batch_decode(ids)

    return generate


@pytest.fixture(scope="module")
def real():
    rng = np.random.default_rng(0)
    return Corpus.from_texts([(LINE * 3)[k : k + 31] for k in rng.integers(0, 24, 60)], name="real")


@pytest.fixture(scope="module")
def critics(real):
    fit = Corpus.from_texts([(LINE * 4)[k:60] for k in range(24)], name="fit")
    return [Unigram().fit(fit), Length().fit(fit)]


def test_training_is_watched_and_not_disturbed(tokenizer, critics, real, tmp_path):
    callback = CriticCallback(critics, real, generator(tokenizer), every=4, start=True, permutations=99, resamples=99)
    watched = trained(tokenizer, tmp_path / "a", callback)
    alone = trained(tokenizer, tmp_path / "b")
    for a, b in zip(watched.model.parameters(), alone.model.parameters(), strict=True):
        assert torch.equal(a, b)
    frame = callback.frame()
    assert sorted(set(frame["step"])) == [0, 4, 8, 12]
    assert callback.repeated.planned == 4
    assert {looks.number for looks in callback.repeated.sequences.values()} == {4}
    assert set(frame["critic"]) == {"unigram", "length"}
    assert (frame["n_real"] == 60).all()
    assert (frame["n_generated"] + frame["unscored_generated"] == 24).all()
    words = frame[(frame["critic"] == "unigram") & frame["statistic"].isin(["latent_nll", "latent_ppl"])]
    assert words["difference"].iloc[-1] < words["difference"].iloc[0]  # it learns the words of the text
    assert (words["low"] <= words["high"]).all()
    logged = [row for row in watched.state.log_history if any(k.startswith("momus/unigram") for k in row)]
    assert [row["step"] for row in logged] == [0, 4, 8, 12]
    assert [*callback.frame()][:4] == ["step", "epoch", "critic", "statistic"]


def test_numbers_are_those_of_a_comparison(tokenizer, critics, real):
    texts = [LINE, "zzz zzz.", "cat cat"] * 5
    callback = CriticCallback(critics, real, lambda model, step: texts, permutations=99, resamples=99, seed=3)
    state = type("State", (), {"global_step": 7, "epoch": 0.5, "log_history": []})()
    found = callback.look(network(tokenizer), state)
    own = Corpus.from_texts(texts, name="step-7")
    expected = [
        v
        for critic in critics
        for v in judge(critic, critic.score(real), critic.score(own), permutations=99, resamples=99, seed=3)
    ]
    assert all(v in expected for v in found)
    assert state.log_history[0]["step"] == 7


def test_each_evaluation_and_the_trainers_own_log(tokenizer, critics, real, tmp_path):
    callback = CriticCallback(critics[1:], real, generator(tokenizer, 6), permutations=99, resamples=99)
    trainer = trained(tokenizer, tmp_path, callback, attach=True, eval_strategy="steps", eval_steps=6)
    assert sorted(set(callback.frame()["step"])) == [6, 12]
    names = {k for row in trainer.state.log_history for k in row}
    assert {f"momus/length/ks{end}" for end in ("", "/difference", "/low", "/high")} <= names


def state_at(step):
    return type("State", (), {"global_step": step, "epoch": 0.5, "log_history": [], "max_steps": 12})()


def test_always_valid_p_is_holm_over_critics_and_spending_over_looks(tokenizer, critics, real):
    batches = [[LINE[k:] for k in range(12)], [LINE[:k] for k in range(6, 18)], ["zzz zzz zzz zzz zzz zzz ."] * 12]
    callback = CriticCallback(
        critics, real, lambda model, step: batches[step], permutations=99, resamples=99, alpha=0.1, seed=3
    )
    least = {critic.name: 1.0 for critic in critics}
    for look, batch in enumerate(batches, start=1):
        state = state_at(look - 1)
        callback.look(network(tokenizer), state)
        level = spent(0.1, look) / 2
        p = []
        for critic in critics:
            scores = critic.score(real), critic.score(Corpus.from_texts(batch, name=f"step-{look - 1}"))
            verdict = next(v for v in judge(critic, *scores, permutations=99, resamples=0, seed=3) if v.headline)
            finer = int(np.ceil(4 / level)) - 1
            if verdict.p <= 0.05 and finer > verdict.method.permutations:
                (verdict,) = judge(critic, *scores, permutations=finer, resamples=0, seed=3, only_headline=True)
            p.append(verdict.p)
        for critic, adjusted in zip(critics, holm(p), strict=True):
            least[critic.name] = min(least[critic.name], adjusted * 0.1 / spent(0.1, look), 1.0)
            frame = callback.frame()
            rows = frame[(frame["step"] == look - 1) & (frame["critic"] == critic.name)]
            headline = rows[rows["statistic"] == headline_of(critic)].iloc[0]
            assert headline["p_always"] == pytest.approx(least[critic.name])
            assert headline["alarm"] == (adjusted <= spent(0.1, look))
            others = rows[rows["statistic"] != headline_of(critic)]
            assert others["p_always"].isna().all()
            assert others["alarm"].isna().all()
            logged = state.log_history[0]
            assert logged[f"momus/{critic.name}/{headline_of(critic)}/alarm"] == float(headline["alarm"])
    assert callback.frame()["alarm"].iloc[-4:].dropna().all()  # nonsense is found at the third look


def test_looks_that_cannot_alarm_are_named(tokenizer, critics, real, monkeypatch):
    monkeypatch.setattr(module, "MOST", 99)
    nonsense = ["zzz zzz zzz zzz zzz zzz ."] * 12
    callback = CriticCallback(critics[:1], real, lambda model, step: nonsense, permutations=99, resamples=9, looks=20)
    with pytest.warns(UserWarning, match=r"with 99 permutations p ≥ 0\.01; the level of this look is 0\.0023"):
        callback.look(network(tokenizer), state_at(1))
    assert callback.repeated.sequences["unigram"].p_always > 0.05


def test_looks_are_planned_and_resumed(tokenizer, critics, real):
    options = {"permutations": 99, "resamples": 9}
    callback = CriticCallback(critics[1:], real, lambda model, step: [LINE] * 4, every=5, **options)
    callback.on_train_begin(None, state_at(0), None)
    assert callback.repeated.planned == 2  # steps 5 and 10 of 12
    kept = Looks(planned=2)
    kept.add(p=0.3)
    callback.repeated.sequences = {"length": Looks.from_json(kept.to_json())}
    callback.look(network(tokenizer), state_at(5))
    assert callback.repeated.sequences["length"].number == 2


def test_mistakes_are_named(tokenizer, critics, real):
    assert issubclass(Unigram, Critic)
    with pytest.raises(NotFittedError):
        CriticCallback([Length()], real, lambda model, step: ["a"])
    with pytest.raises(UsageError, match="every is -1"):
        CriticCallback(critics, real, lambda model, step: ["a"], every=-1)
    for wrong in ({"alpha": 0}, {"looks": 0}):
        with pytest.raises(UsageError, match=r"alpha is 0|planned=0"):
            CriticCallback(critics, real, lambda model, step: ["a"], **wrong)
    with pytest.raises(UsageError, match="two critics share a name: length, length"):
        CriticCallback([critics[1]] * 2, real, lambda model, step: ["a"])
    state = type("State", (), {"global_step": 1, "epoch": 0.0, "log_history": []})()
    for wrong in ("text", [], [1]):
        with pytest.raises(UsageError, match="at step 1"):
            CriticCallback(critics, real, lambda model, step, w=wrong: w).look(network(tokenizer), state)
    fit = Corpus.from_texts([(LINE * 4)[k:60] for k in range(24)])
    with pytest.warns(UserWarning, match="was fitted on 24 of 24"):
        CriticCallback(critics[1:], fit, lambda model, step: ["a b", "c"]).look(network(tokenizer), state)
