"""A metric of lm-evaluation-harness made from a saved critic; the harness itself is not imported."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from momus_training.answers import saved_critics

Metric = Callable[..., dict[str, float]]


def critic_metric(critic: str | Path, *, trust: bool = False, name: str = "latent_nll") -> Metric:
    """Make a metric for the ``metric_list`` of a task that generates text.

    Put it into a module beside the task's YAML, and name it there as ``metric: !function MODULE.VARIABLE`` with
    ``aggregation: !function MODULE.mean_of_scored``. For each answer it returns ``NAME``, its Latent NLL in nats (per
    step for critics of sequences), and ``NAME_difference`` to that of the reference, if there is one. What the critic
    cannot score is NaN.

    Of a run folder, it is a group of metrics, ``NAME_CRITIC`` and ``NAME_CRITIC_difference`` for each critic of
    documents; answers that a critic cannot score have none of that critic.

    Parameters
    ----------
    critic
        Folder of a saved critic, such as ``run/critics/length``, or a run folder.
    trust
        See `momus.load_critic`.
    name
        Name of the metric.
    """
    saved = saved_critics(critic, trust=trust)
    group = saved[0].folder != Path(critic).absolute()

    def metric(references: Sequence[object], predictions: Sequence[object], **_: object) -> dict[str, float]:
        answer = _first(predictions)
        reference = _first(references)
        texts = [answer, reference] if reference else [answer]
        values: dict[str, float] = {}
        for one in saved:
            scores, key = one.score(texts), f"{name}_{one.name}" if group else name
            values[key] = scores[0].value
            if reference:
                values[f"{key}_difference"] = scores[0].value - scores[1].value
        # the harness averages the metrics of a group itself, and a mean with NaN is NaN
        return {k: v for k, v in values.items() if math.isfinite(v)} if group else values

    metric.__name__ = metric.__qualname__ = name  # lm-eval calls the metric by it
    return metric


def _first(texts: Sequence[object]) -> str:
    """The first text; repeated answers that no filter took apart come as a list."""
    text: object = texts
    while isinstance(text, list | tuple):
        text = text[0] if text else ""
    return "" if text is None else str(text)


def mean_of_scored(values: Sequence[float]) -> float:
    """Mean of the values that exist, NaN if there are none.

    >>> mean_of_scored([1.0, float("nan"), 3.0])
    2.0
    """
    scored = [v for v in values if math.isfinite(v)]
    return sum(scored) / len(scored) if scored else math.nan
