"""Experiment trackers that results are sent to: Weights & Biases, MLflow, TensorBoard."""

from __future__ import annotations

from pathlib import Path
from time import time
from typing import Any

from momus.outputs import write_own
from momus.runs.manifest import REPORT_KIND
from momus_training.tracked import COLUMNS, ComparisonTracker, Tracked

STEP = "momus/step"


class WandbTracker(ComparisonTracker):
    """Send results to Weights & Biases.

    The place is ``PROJECT`` or ``ENTITY/PROJECT``; without one, the active run (``wandb.run``), else the project
    ``momus``. ``WANDB_MODE=offline`` writes into the folder ``wandb`` and needs no account. Runs that are created here
    record neither code nor git nor the machine nor standard output.
    """

    def send(self, tracked: Tracked, place: str, *, run: str, step: int | None) -> str:
        """Send a comparison; returns the address of the run, or its folder if it is offline."""
        import wandb

        active = wandb.run if not place else None
        entity, _, project = place.rpartition("/")
        target = active or wandb.init(
            project=project or "momus",
            entity=entity or None,
            name=run,
            job_type="momus",
            reinit="create_new",
            settings=wandb.Settings(
                save_code=False,
                disable_git=True,
                console="off",
                quiet=True,
                x_disable_meta=True,
                x_disable_stats=True,
                x_disable_machine_info=True,
            ),
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


BATCH = 500
"""Metrics per request; MLflow takes 1,000."""


class MlflowTracker(ComparisonTracker):
    """Send results to MLflow.

    The place is the name of an experiment; without one, the active run, else the experiment ``momus``. The server or
    folder is that of ``MLFLOW_TRACKING_URI``, as everywhere in MLflow.
    """

    def send(self, tracked: Tracked, place: str, *, run: str, step: int | None) -> str:
        """Send a comparison; returns the experiment and the id of the run."""
        import mlflow
        from mlflow.entities import Metric
        from mlflow.tracking import MlflowClient

        client = MlflowClient()
        active = mlflow.active_run() if not place else None
        if active is not None:
            identifier, home = active.info.run_id, "the active run"
        else:
            experiment = client.get_experiment_by_name(place or "momus")
            number = client.create_experiment(place or "momus") if experiment is None else experiment.experiment_id
            identifier = client.create_run(number, run_name=run).info.run_id
            home = f"experiment {place or 'momus'!r}"
        status = "FAILED"
        try:
            now = int(time() * 1000)
            metrics = [Metric(name, value, now, step or 0) for name, value in tracked.numbers.items()]
            for start in range(0, len(metrics), BATCH):
                client.log_batch(identifier, metrics=metrics[start : start + BATCH])
            # parameters of a run cannot be changed: tags can, when a run gets several comparisons
            for name, value in tracked.settings.items():
                client.set_tag(identifier, f"momus.{name.replace(' ', '_')}"[:250], value)
            folder = "momus" if step is None else f"momus/step-{step}"
            client.log_dict(identifier, {"verdicts": tracked.rows}, f"{folder}/verdicts.json")
            client.log_text(identifier, tracked.markdown, f"{folder}/answer.md")
            if tracked.report is not None:
                client.log_artifact(identifier, str(tracked.report), folder)
            status = "FINISHED"
        finally:
            if active is None:
                client.set_terminated(identifier, status)
        return f"{home}, run {identifier}"


class TensorboardTracker(ComparisonTracker):
    """Write results as events of TensorBoard; neither TensorFlow nor torch is needed.

    The place is a folder, ``runs`` by default; a run is a folder in it. TensorBoard shows no HTML: the report is copied
    beside the event file. Runs of one name with different steps form curves.
    """

    def send(self, tracked: Tracked, place: str, *, run: str, step: int | None) -> str:
        """Write a comparison; returns the folder of the run."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.plugins.scalar.summary_v2 import scalar_pb
        from tensorboard.plugins.text.summary_v2 import text_pb
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        folder = Path(place or "runs").expanduser() / run
        settings = "\n".join(f"    {name}: {value}" for name, value in tracked.settings.items())
        summaries = [scalar_pb(name, value) for name, value in tracked.numbers.items()]
        summaries += [text_pb("momus/answer", tracked.markdown), text_pb("momus/settings", settings)]
        writer = EventFileWriter(str(folder))
        try:
            for summary in summaries:
                writer.add_event(Event(wall_time=time(), step=step or 0, summary=summary))
        finally:
            writer.close()
        if tracked.report is not None:
            name = "report.html" if step is None else f"report-{step}.html"
            write_own(folder / name, tracked.report.read_bytes(), REPORT_KIND)
        return f"folder {folder}"
