"""MLflow: metrics, parameters, and the report and the verdicts as artifacts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from momus_adapters.trackers.tracked import ComparisonTracker, Tracked

BATCH = 500
"""Metrics per request; MLflow takes 1,000."""


class MlflowTracker(ComparisonTracker):
    """Send results to MLflow.

    The place is the name of an experiment; without one, the active run, else the experiment ``momus``. The server or
    folder is that of ``MLFLOW_TRACKING_URI``, as everywhere in MLflow.
    """

    def send(self, tracked: Tracked, place: str, *, run: str, step: int | None, options: Mapping[str, Any]) -> str:
        """Send a comparison; returns the experiment and the id of the run."""
        import mlflow
        from mlflow.tracking import MlflowClient

        client = MlflowClient()
        active = mlflow.active_run() if not place and not options else None
        if active is not None:
            identifier, home = active.info.run_id, "the active run"
        else:
            experiment = client.get_experiment_by_name(place or "momus")
            number = client.create_experiment(place or "momus") if experiment is None else experiment.experiment_id
            identifier = client.create_run(number, **{"run_name": run, **options}).info.run_id
            home = f"experiment {place or 'momus'!r}"
        status = "FAILED"
        try:
            self._metrics(client, identifier, tracked.numbers, step or 0)
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

    def add(self, numbers: Mapping[str, float], step: int, folder: str) -> bool:
        """Add numbers to the active run."""
        import mlflow
        from mlflow.tracking import MlflowClient

        active = mlflow.active_run()
        if active is None:
            return False
        self._metrics(MlflowClient(), active.info.run_id, numbers, step)
        return True

    def _metrics(self, client: Any, identifier: str, numbers: Mapping[str, float], step: int) -> None:
        from time import time

        from mlflow.entities import Metric

        now = int(time() * 1000)
        metrics = [Metric(name, value, now, step) for name, value in numbers.items()]
        for start in range(0, len(metrics), BATCH):
            client.log_batch(identifier, metrics=metrics[start : start + BATCH])
