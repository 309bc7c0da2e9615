"""Critics that monitor a language model during training with the ``Trainer`` of ``transformers``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from momus.comparison.judge import judge
from momus.comparison.verdict import Verdict
from momus.critic import Critic, Scores
from momus.errors import UsageError
from momus.text.corpus import Corpus

if TYPE_CHECKING:
    import pandas as pd

Generate = Callable[[Any, int], Sequence[str]]
COLUMNS = ("critic", "statistic", "real_value", "generated_value", "difference", "low", "high", "p")
COUNTS = ("n_real", "n_generated", "unscored_generated")


class CriticCallback(TrainerCallback):  # type: ignore[misc]
    """Score texts of the model in training with fitted critics, and compare them with held-out real text.

    At each look, ``generate(model, step)`` returns texts. The model is then in evaluation mode, no gradient is kept,
    and torch's generators are seeded before and restored afterwards: the callback does not change training. For each
    critic, the headline statistic and Latent NLL (Latent PPL of sequences) of the texts, generated − real and its
    bootstrap interval over documents are written to the trainer's logs as ``momus/CRITIC/STATISTIC`` with
    ``…/difference``, ``…/low`` and ``…/high``, and to `history`.

    Parameters
    ----------
    critics
        Fitted critics.
    real
        Held-out real text: not the text that the critics were fitted on, and preferably not the model's training text.
    generate
        Function of the model and the step that returns texts.
    every
        Steps between two looks; 0 looks at each evaluation of the trainer.
    start
        Whether to look before the first step too.
    permutations, resamples, confidence
        Settings of the tests and intervals, see `momus.inference`; p is not adjusted for repeated looks.
    seed
        Seeds generation, permutations and resamples.

    Attributes
    ----------
    history
        One dict per look, critic and statistic: step, epoch, values, difference, interval, p, and the numbers of
        scored and unscored documents.
    """

    def __init__(
        self,
        critics: Sequence[Critic[Any]],
        real: Corpus | Sequence[str],
        generate: Generate,
        *,
        every: int = 0,
        start: bool = False,
        permutations: int = 199,
        resamples: int = 999,
        confidence: float = 0.95,
        seed: int = 0,
    ) -> None:
        self.critics = list(critics)
        self.real = real if isinstance(real, Corpus) else Corpus.from_texts(real, name="real")
        self.generate = generate
        self.every = every
        self.start = start
        self.settings = {"permutations": permutations, "resamples": resamples, "confidence": confidence, "seed": seed}
        self.seed = seed
        self.history: list[dict[str, Any]] = []
        self._scores: list[Scores] = []
        self._trainer: Any = None
        if every < 0:
            raise UsageError(f"every is {every}", hint="give a number of steps, or 0 to look at each evaluation")
        for critic in self.critics:
            critic.check_fitted()

    def attach(self, trainer: Any) -> Any:
        """Add the callback to a trainer, log through it (its other loggers then see the numbers), and return it."""
        self._trainer = trainer
        trainer.add_callback(self)
        return trainer

    def frame(self) -> pd.DataFrame:
        """`history` as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.history, columns=["step", "epoch", *COLUMNS, *COUNTS])

    def save(self, path: str | Path) -> Path:
        """Write `history` as CSV."""
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        self.frame().to_csv(path, index=False)
        return Path(path)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Score the real text once."""
        self._look_at_real()
        if self.start:
            self.look(kwargs["model"], state)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Look after every ``every`` steps."""
        if self.every and state.global_step % self.every == 0:
            self.look(kwargs["model"], state)

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Look at each evaluation, unless ``every`` is set."""
        if not self.every:
            self.look(kwargs["model"], state)

    def look(self, model: Any, state: Any) -> list[Verdict]:
        """Generate, score, compare and log; return the verdicts.

        Raises
        ------
        UsageError
            ``generate`` returns something other than texts.
        """
        self._look_at_real()
        texts = self._generated(model, int(state.global_step))
        corpus = Corpus.from_texts(texts, name=f"step-{state.global_step}")
        verdicts = []
        for critic, real in zip(self.critics, self._scores, strict=True):
            rows = judge(critic, real, critic.score(corpus), **self.settings)  # type: ignore[arg-type]
            latent = "latent_ppl" if critic.sequence else "latent_nll"
            verdicts += [v for v in rows if v.headline or v.statistic == latent]
        epoch = float(state.epoch or 0.0)
        for verdict in verdicts:
            row = verdict.row()
            columns = {k: row[k] for k in (*COLUMNS, *COUNTS)}
            self.history.append({"step": int(state.global_step), "epoch": epoch, **columns})
        self._log({k: v for verdict in verdicts for k, v in _logged(verdict).items()}, state)
        return verdicts

    def _look_at_real(self) -> None:
        if self._scores:
            return
        for critic in self.critics:
            shared = critic.overlap(self.real)
            if shared:
                warnings.warn(
                    f"critic {critic.name!r} was fitted on {shared} of {len(self.real)} documents of the real text",
                    stacklevel=2,
                )
            self._scores.append(critic.score(self.real))

    def _generated(self, model: Any, step: int) -> list[str]:
        import torch

        training = model.training
        devices = range(torch.cuda.device_count())
        model.eval()
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=devices):
                torch.manual_seed(self.seed)
                texts = self.generate(model, step)
        finally:
            model.train(training)
        if isinstance(texts, str) or not texts or not all(isinstance(t, str) for t in texts):
            raise UsageError(
                f"generate returned {type(texts).__name__} at step {step}, not a non-empty list of strings",
                hint="return a list with at least one string",
            )
        return list(texts)

    def _log(self, numbers: dict[str, float], state: Any) -> None:
        if self._trainer is not None:
            self._trainer.log(numbers)
        else:
            state.log_history.append({**numbers, "epoch": state.epoch, "step": state.global_step})


def _logged(verdict: Verdict) -> dict[str, float]:
    """Numbers of a verdict for the trainer's logs; missing values are left out."""
    name = f"momus/{verdict.critic}/{verdict.statistic}"
    numbers = {name: verdict.generated_value}
    numbers |= {f"{name}/{k}": getattr(verdict, k) for k in ("difference", "low", "high")}
    return {k: float(v) for k, v in numbers.items() if v is not None}
