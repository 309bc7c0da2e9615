"""A scorer of Inspect made from a saved critic."""

from __future__ import annotations

import math
from pathlib import Path

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from momus_training.answers import saved_critics


@scorer(metrics={"*": [mean(), stderr()]})  # type: ignore[untyped-decorator]
def momus_scorer(critic: str | Path, trust: bool = False) -> Scorer:
    """Score answers with a saved critic.

    The values of a sample are ``latent_nll`` (in nats, per step for critics of sequences), ``reference`` (that of its
    target) and ``difference`` (answer − target); of a run folder, all its critics of documents have these, with the
    name of the critic before (``length_difference``). Only differences are meaningful. A text that the critic cannot
    score has NaN, as has a sample without a target; Inspect leaves NaN out of its metrics. The explanation has the
    reason.

    Parameters
    ----------
    critic
        Folder of a saved critic, such as ``run/critics/length``, or a run folder.
    trust
        See `momus.load_critic`.
    """
    saved = saved_critics(critic, trust=trust)
    group = saved[0].folder != Path(critic).absolute()

    async def score(state: TaskState, target: Target) -> Score:
        texts = [state.output.completion, *([target.text] if target.text else [])]
        value: dict[str, str | int | float | bool | None] = {}
        unscored, steps = [], {}
        for one in saved:
            prefix = f"{one.name}_" if group else ""
            answer, *references = one.score(texts)
            steps[one.name] = answer.steps
            target_value = references[0].value if references else math.nan
            # every sample has the same keys, which Inspect's metrics need
            value |= {
                f"{prefix}latent_nll": answer.value,
                f"{prefix}reference": target_value,
                f"{prefix}difference": answer.value - target_value,
            }
            unscored += [
                f"{prefix}{name}: {scored.reason}"
                for name, scored in zip(("answer", "target"), [answer, *references], strict=False)
                if not math.isfinite(scored.value)
            ]
        return Score(
            value=value,
            answer=state.output.completion,
            explanation="; ".join(unscored) or None,
            metadata={"steps": steps},
        )

    return score
