"""Weights & Biases: numbers, a table of verdicts, and the report as a panel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from momus_adapters.trackers.tracked import COLUMNS, ComparisonTracker, Tracked

STEP = "momus/step"


class WandbTracker(ComparisonTracker):
    """Send results to Weights & Biases.

    The place is ``PROJECT`` or ``ENTITY/PROJECT``; without one, the active run (``wandb.run``), else the project
    ``momus``. ``WANDB_MODE=offline`` writes into the folder ``wandb`` and needs no account. Runs that are created here
    record neither code nor git nor the machine nor standard output.
    """

    def send(self, tracked: Tracked, place: str, *, run: str, step: int | None, options: Mapping[str, Any]) -> str:
        """Send a comparison; returns the address of the run, or its folder if it is offline."""
        import wandb

        active = wandb.run if not place and not options else None
        entity, _, project = place.rpartition("/")
        target = active or wandb.init(
            **{
                "project": project or "momus",
                "entity": entity or None,
                "name": run,
                "job_type": "momus",
                "reinit": "create_new",
                "settings": wandb.Settings(
                    save_code=False,
                    disable_git=True,
                    console="off",
                    quiet=True,
                    x_disable_meta=True,
                    x_disable_stats=True,
                    x_disable_machine_info=True,
                ),
                **options,
            }
        )
        try:
            target.config.update({"momus": tracked.settings}, allow_val_change=True)
            content: dict[str, Any] = dict(tracked.numbers)
            content["momus/verdicts"] = wandb.Table(columns=list(COLUMNS), data=tracked.table(), allow_mixed_types=True)
            if tracked.report is not None:
                content["momus/report"] = wandb.Html(str(tracked.report), inject=False)
            if step is not None:
                target.define_metric(STEP)
                target.define_metric("momus/*", step_metric=STEP)
                content[STEP] = step
            target.log(content)
        finally:
            if active is None:
                target.finish()
        return f"run {target.name!r}: {target.dir.removesuffix('/files') if target.offline else target.url}"

    def add(self, numbers: Mapping[str, float], step: int, folder: str) -> bool:
        """Add numbers to ``wandb.run``, on the axis ``train/global_step`` that the Trainer of transformers uses."""
        import wandb

        if wandb.run is None:
            return False
        wandb.run.log({**numbers, "train/global_step": step, STEP: step})
        return True
