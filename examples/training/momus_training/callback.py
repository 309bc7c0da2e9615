"""Critics that monitor a language model during training with the ``Trainer`` of ``transformers``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from momus.critic import Critic
from momus.critic.hooks import check_fitted, overlap
from momus.critic.scores import Scores
from momus.errors import UsageError
from momus.inference.sequential import Look
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.verdicts.judge import judge
from momus.verdicts.verdict import Verdict
from momus_training.repeated import RepeatedTests
from momus_training.rollouts import Mode, Reward, Rollouts

if TYPE_CHECKING:
    import pandas as pd


Generate = Callable[[Any, int], Sequence[str]]
COLUMNS = ("critic", "statistic", "real_value", "generated_value", "difference", "low", "high", "p")
ALWAYS = ("p_always", "alarm")
COUNTS = ("n_real", "n_generated", "unscored_generated")


class CriticCallback(TrainerCallback):  # type: ignore[misc]
    """Score texts of the model in training with fitted critics, and compare them with held-out real text.

    At each look, ``generate(model, step)`` returns texts. The model is then in evaluation mode, no gradient is kept,
    and torch's generators are seeded before and restored afterwards: the callback does not change training. Trainers of
    TRL that write completions anyway (GRPO, RLOO, online DPO) need no ``generate``: wrap a reward function with
    `watch`, and each look takes the completions since the last one. Completions of one prompt then belong together in
    each test.

    For each critic, the headline statistic and Latent NLL (Latent PPL of sequences) of the texts, generated − real and
    its bootstrap interval over documents are logged as ``momus/CRITIC/STATISTIC`` with ``…/difference``, ``…/low`` and
    ``…/high``: in the trainer's ``state.log_history`` and in `history`. `attach` logs them through the trainer, and
    so in the trackers that ``report_to`` names.

    A training run is looked at many times, so a ``p`` below 0.05 at some look means little. Headline statistics also
    have ``p_always`` and ``alarm``: the probability of *any* false alarm, of any critic at any look, is at most
    `alpha`. p-values are adjusted over the critics by Holm's method, and α is spent over the looks
    (`momus.inference.sequential.spent`), which allows for the one real sample that all looks share. Small p-values are
    computed again with as many permutations as the level of the look needs.

    Parameters
    ----------
    critics
        Fitted critics.
    real
        Held-out real text: not the text that the critics were fitted on, and preferably not the model's training text.
    generate
        Function of the model and the step that returns texts; None takes the trainer's own, see `watch`.
    every
        Steps between two looks; 0 looks at each evaluation of the trainer.
    start
        Whether to look before the first step too.
    permutations, resamples
        Settings of the tests and intervals, see `momus.inference`; ``p`` itself is not adjusted.
    alpha
        The level over all critics and looks.
    looks
        Planned number of looks, which then share most of α evenly; None: taken from the trainer's number of steps if
        ``every`` is set, otherwise unlimited.
    rollouts
        How many completions to keep between two looks, the newest.
    seed
        Seeds generation, permutations and resamples.

    Attributes
    ----------
    repeated
        The tests over all looks. Its ``sequences`` hold the looks so far by critic, see
        `momus.inference.sequential.Looks`: to continue their count in another process, save each by ``to_json`` and
        set them there; without this a resumed training counts anew.
    history
        One dict per look, critic and statistic: step, epoch, values, difference, interval, p, p_always and alarm (None
        for other than headline statistics), and the numbers of scored and unscored documents.
    """

    def __init__(
        self,
        critics: Sequence[Critic[Any]],
        real: Corpus | Sequence[str],
        generate: Generate | None = None,
        *,
        every: int = 0,
        start: bool = False,
        permutations: int = 199,
        resamples: int = 999,
        alpha: float = 0.05,
        looks: int | None = None,
        rollouts: int = 512,
        seed: int = 0,
    ) -> None:
        self.critics = list(critics)
        self.real = real if isinstance(real, Corpus) else Corpus.from_texts(real, name="real")
        self.generate = generate
        self.every = every
        self.start = start
        self.settings: dict[str, Any] = {"permutations": permutations, "resamples": resamples, "seed": seed}
        self.seed = seed
        self.history: list[dict[str, Any]] = []
        self.repeated = RepeatedTests(self.settings, alpha, looks)
        self._scores: list[Scores] = []
        self._rollouts = Rollouts(rollouts)
        self._trainer: Any = None
        if every < 0:
            raise UsageError(f"every is {every}", hint="give a number of steps, or 0 to look at each evaluation")
        if start and generate is None:
            raise UsageError("start=True without generate", hint="there are no completions before the first step")
        names = [critic.name for critic in self.critics]
        if len(set(names)) < len(names):
            raise UsageError(f"two critics share a name: {', '.join(names)}", hint="give each critic its own name")
        for critic in self.critics:
            check_fitted(critic)

    def watch(self, reward: Reward | None = None) -> Reward:
        """Wrap one reward function of a trainer of TRL, so that looks take the completions that it gets.

        ``GRPOTrainer(reward_funcs=callback.watch(reward), callbacks=[callback], …)``. The function does what it did.
        If rewards are models, add ``callback.watch()`` with a weight of 0, see `Rollouts.watch`.
        """
        return self._rollouts.watch(reward)

    def attach(self, trainer: Any) -> Any:
        """Add the callback to a trainer, log through it, and return it.

        A callback of ``transformers`` does not know its trainer: without this, numbers reach no tracker.
        """
        self._trainer = trainer
        trainer.add_callback(self)
        return trainer

    def frame(self) -> pd.DataFrame:
        """`history` as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.history, columns=["step", "epoch", *COLUMNS, *ALWAYS, *COUNTS])

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Score the real text once.

        Raises
        ------
        UsageError
            There is neither ``generate`` nor a reward function to `watch`.
        """
        if self.generate is None and not self._rollouts.watched:
            raise UsageError(
                "the callback has no texts to look at",
                hint="give it generate=…, or wrap a reward function: watch(reward)",
            )
        self._rollouts.model = kwargs.get("model")
        self._look_at_real()
        if self.repeated.planned is None and self.every and state.max_steps > 0:
            self.repeated.planned = state.max_steps // self.every + self.start or None
        if self.start:
            self.look(kwargs["model"], state)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Look after every ``every`` steps."""
        if self.every and state.global_step % self.every == 0:
            self.look(kwargs["model"], state)

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Look at each evaluation, unless ``every`` is set; at completions of the evaluation, if it wrote any."""
        if not self.every:
            self.look(kwargs["model"], state, "eval" if self._rollouts.has("eval") else "train")

    def look(self, model: Any, state: Any, mode: Mode = "train") -> list[Verdict]:
        """Generate, or take completions; score, compare and log; return the verdicts.

        Without new completions there is no look, and a warning.

        Raises
        ------
        UsageError
            ``generate`` returns something other than texts.
        """
        self._look_at_real()
        name = f"step-{state.global_step}"
        if self.generate is None:
            corpus = self._rollouts.take(name, mode)
            if not len(corpus):
                warnings.warn(f"no completions since the last look: none at {name}", stacklevel=2)
                return []
        else:
            corpus = Corpus.from_texts(self._generated(self.generate, model, int(state.global_step)), name=name)
        scored = [critic.score(corpus) for critic in self.critics]
        verdicts = []
        for critic, real, generated in zip(self.critics, self._scores, scored, strict=True):
            rows = judge(critic, real, generated, **self.settings)
            latent = "latent_ppl" if critic.sequence else "latent_nll"
            verdicts += [v for v in rows if v.headline or v.statistic == latent]
        looks = self.repeated.add(self.critics, self._scores, scored, verdicts)
        self._record(verdicts, looks, state)
        return verdicts

    def _record(self, verdicts: Sequence[Verdict], looks: dict[str, Look], state: Any) -> None:
        """Add a look to `history`, and write its numbers to the logs of the training; missing values are left out."""
        when = {"step": int(state.global_step), "epoch": float(state.epoch or 0.0)}
        numbers: dict[str, float | None] = {}
        for verdict in verdicts:
            row, look = verdict.row(), looks.get(verdict.critic) if verdict.headline else None
            always = {k: None if look is None else getattr(look, k) for k in ALWAYS}
            self.history.append({**when, **{k: row[k] for k in COLUMNS}, **always, **{k: row[k] for k in COUNTS}})
            name = f"momus/{verdict.critic}/{verdict.statistic}"
            numbers[name] = verdict.generated_value
            numbers |= {f"{name}/{k}": row[k] for k in ("difference", "low", "high")}
            numbers |= {f"{name}/{k}": value for k, value in always.items()}
        logged = {k: float(v) for k, v in numbers.items() if v is not None}
        if self._trainer is not None:
            self._trainer.log(logged)
        else:
            state.log_history.append({**logged, "epoch": state.epoch, "step": state.global_step})

    def _look_at_real(self) -> None:
        if self._scores:
            return
        for critic in self.critics:
            shared = overlap(critic, self.real)
            if shared:
                warnings.warn(
                    f"critic {critic.name!r} was fitted on {shared} of {counted(len(self.real), 'document')} of the "
                    "real text",
                    stacklevel=2,
                )
            self._scores.append(critic.score(self.real))

    def _generated(self, generate: Generate, model: Any, step: int) -> list[str]:
        import torch

        training = model.training
        devices = range(torch.cuda.device_count())
        model.eval()
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=devices):
                torch.manual_seed(self.seed)
                texts = generate(model, step)
        finally:
            model.train(training)
        if isinstance(texts, str) or not texts or not all(isinstance(t, str) for t in texts):
            raise UsageError(
                f"generate returned {type(texts).__name__} at step {step}, not a non-empty list of strings",
                hint="return a list with at least one string",
            )
        return list(texts)
