"""Critics that look at the completions of a real online trainer of TRL, which generates nothing for them."""

import asyncio
import functools
import string

import numpy as np
import pytest
import torch

from momus import Corpus
from momus.errors import UsageError

pytest.importorskip("accelerate", reason="the Trainer of transformers needs accelerate")
from momus_critics.length import Length
from momus_critics.unigram import Unigram
from momus_training.callback import CriticCallback
from momus_training.rollouts import Rollouts

LINE = "the cat sat on the mat. "
PROMPTS = ["the ", "a cat ", "on ", "sat "]


@pytest.fixture(scope="module")
def critics():
    fit = Corpus.from_texts([(LINE * 4)[k : k + 20] for k in range(24)], name="fit")
    return [Unigram().fit(fit), Length().fit(fit)]


@pytest.fixture(scope="module")
def real():
    rng = np.random.default_rng(0)
    return Corpus.from_texts([(LINE * 3)[k : k + 16] for k in rng.integers(0, 24, 60)], name="real")


def vowels(prompts, completions, **keywords):
    return [float(sum(c.count(v) for v in "aeiou")) for c in completions]


def test_completions_of_a_prompt_belong_together_and_are_taken_once(critics, real):
    rollouts = Rollouts(most=6)
    reward = rollouts.watch(vowels)
    assert reward.__name__ == "vowels"
    assert reward(prompts=["p", "p", "q", "q"], completions=["a", "be", "", "axe"], extra=1) == [1.0, 1.0, 0.0, 2.0]
    chat = [{"role": "assistant", "content": "<think>Hm.</think>Well."}]
    question = [{"role": "user", "content": "Who?"}]
    Rollouts.watch(rollouts_of_chats := Rollouts(), None)(prompts=[question] * 2, completions=[chat, chat])
    chats = rollouts_of_chats.take("step-1")
    assert [d.text for d in chats] == ["Well."] * 2, "reasoning is no part of the text"
    assert len(set(chats.prompts)) == 1
    reward(prompts=["r"] * 4, completions=["x y", "z", "u", "v"])
    corpus = rollouts.take("step-2")
    assert [d.text for d in corpus] == ["", "axe", "x y", "z", "u", "v"], "the newest six"
    assert corpus.prompts == ["q", "q", "r", "r", "r", "r"]
    assert len(rollouts.take("step-3")) == 0


def test_other_kinds_of_reward_functions():
    async def later(prompts, completions, **keywords):
        return [1.0] * len(completions)

    rollouts = Rollouts()
    assert asyncio.run(rollouts.watch(later)(prompts=["p"], completions=["a"])) == [1.0]
    assert len(rollouts.take("step-1")) == 1
    part = Rollouts().watch(functools.partial(vowels, scale=2))
    assert (part.__name__, part(prompts=["p"], completions=["a"])) == ("partial", [1.0])
    with pytest.raises(UsageError, match="a reward function is watched already"):
        rollouts.watch(vowels)
    with pytest.raises(UsageError, match=r"Linear is no reward function(.|\n)*reward_weights"):
        Rollouts().watch(torch.nn.Linear(1, 1))
    with pytest.raises(UsageError, match="rollouts is 0"):
        Rollouts(0)


def test_evaluation_has_completions_of_its_own():
    rollouts = Rollouts()
    reward = rollouts.watch(vowels)
    rollouts.model = torch.nn.Linear(1, 1)
    reward(prompts=["p"], completions=["in training"])
    rollouts.model.eval()
    reward(prompts=["p"], completions=["in evaluation"])
    assert rollouts.has("eval")
    assert [d.text for d in rollouts.take("e", "eval")] == ["in evaluation"]
    assert [d.text for d in rollouts.take("t")] == ["in training"]


def test_a_callback_without_texts_is_refused(critics, real):
    with pytest.raises(UsageError, match=r"start=True without generate"):
        CriticCallback(critics, real, start=True)
    with pytest.raises(UsageError, match=r"no texts to look at(.|\n)*watch\(reward\)"):
        CriticCallback(critics, real).on_train_begin(None, None, None)
    callback = CriticCallback(critics, real, resamples=9, permutations=99)
    callback.watch(vowels)
    state = type("State", (), {"global_step": 3, "epoch": 0.5, "log_history": [], "max_steps": 3})()
    with pytest.warns(UserWarning, match="no completions since the last look: none at step-3"):
        assert callback.look(None, state) == []
    assert callback.repeated.sequences == {}, "no look is spent"


# A real training with TRL


def tokenizer():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {c: i for i, c in enumerate(["<pad>", "<unk>", "<end>", *string.ascii_lowercase, " ", "."])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    backend.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="<pad>", unk_token="<unk>", eos_token="<end>", padding_side="left"
    )


def trained(kind, reward, callbacks, folder, **options):
    """Train a GPT-2 of random weights for six steps."""
    import trl
    from datasets import Dataset
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    characters = tokenizer()
    config = GPT2Config(
        vocab_size=len(characters), n_layer=1, n_head=2, n_embd=32, n_positions=64, eos_token_id=2, pad_token_id=0
    )
    arguments = getattr(trl, f"{kind}Config")(
        output_dir=str(folder),
        max_steps=6,
        per_device_train_batch_size=8,
        per_device_eval_batch_size=8,
        num_generations=4,
        max_completion_length=12,
        learning_rate=1e-3,
        beta=0.0,  # no reference model, which RLOO loads by name
        use_cpu=True,
        bf16=False,
        disable_tqdm=True,
        logging_steps=2,
        save_strategy="no",
        **options,
    )
    data = Dataset.from_dict({"prompt": PROMPTS * 6})
    trainer = getattr(trl, f"{kind}Trainer")(
        model=GPT2LMHeadModel(config),
        reward_funcs=reward,
        args=arguments,
        train_dataset=data,
        eval_dataset=data.select(range(8)),
        processing_class=characters,
        callbacks=callbacks,
    )
    trainer.train()
    return trainer


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["GRPO", "RLOO"])
def test_online_trainers_are_watched_without_a_second_generation(kind, critics, real, tmp_path, monkeypatch):
    pytest.importorskip("trl", reason="pip install trl")
    pytest.importorskip("tensorboard", reason="pip install -e examples/training[tensorboard]")
    from transformers import GPT2LMHeadModel

    calls, seen = [], []
    generate = GPT2LMHeadModel.generate
    monkeypatch.setattr(
        GPT2LMHeadModel, "generate", lambda *args, **keywords: calls.append(1) or generate(*args, **keywords)
    )

    def reward(prompts, completions, **keywords):
        seen.extend(completions)
        return vowels(prompts, completions)

    callback = CriticCallback(critics, real, every=2, permutations=99, resamples=99)
    watched = trained(kind, callback.watch(reward), [callback], tmp_path / "a", report_to=[])
    generations, rollouts = len(calls), list(seen)
    alone = trained(kind, reward, [], tmp_path / "b", report_to=[])
    assert len(calls) == 2 * generations, "the callback generates nothing"
    assert rollouts == seen[len(rollouts) :], "it does not change the training"
    for a, b in zip(watched.model.parameters(), alone.model.parameters(), strict=True):
        assert torch.equal(a, b)
    frame = callback.frame()
    assert sorted(set(frame["step"])) == [2, 4, 6]
    assert callback.planned == 3
    headline = frame[frame["critic"].eq("length") & frame["statistic"].eq("ks")]
    assert (headline["n_generated"] + headline["unscored_generated"]).sum() == len(rollouts) == 48
    assert headline["p_always"].notna().all()
    assert {looks.number for looks in callback.repeated.sequences.values()} == {3}
    steps = [row["step"] for row in watched.state.log_history if "momus/length/ks" in row]
    assert steps == [2, 4, 6]


@pytest.mark.slow
def test_completions_of_an_evaluation_are_looked_at(critics, real, tmp_path):
    pytest.importorskip("trl", reason="pip install trl")
    callback = CriticCallback(critics, real, permutations=99, resamples=99)
    trained(
        "GRPO",
        callback.watch(vowels),
        [callback],
        tmp_path,
        report_to=[],
        eval_strategy="steps",
        eval_steps=3,
        num_generations_eval=2,
    )
    frame = callback.frame()
    length = frame[frame["critic"].eq("length") & frame["statistic"].eq("ks")]
    assert length["step"].tolist() == [3, 6]
    assert (length["n_generated"] + length["unscored_generated"]).tolist() == [16, 16], (
        "8 prompts, two completions each"
    )
