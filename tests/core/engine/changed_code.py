"""What a test does before and after the code of a critic is edited: python changed_code.py FOLDER before|after."""

import json
import sys
from pathlib import Path

import momus
from momus.calibration.calibrate import calibrate
from momus.critic.registry import make_critics, named
from momus.engine.scoring import score_parts
from momus.errors import StoreError
from momus.rows.folder import RowFolder

SOURCE = """
from dataclasses import dataclass

import momus
import numpy as np


@dataclass(frozen=True)
class Counts:
    values: np.ndarray

    def __len__(self):
        return len(self.values)


class Mine(momus.Critic[Counts]):
    name = "mine"
    axis = "length"

    def fit(self, real):
        z = self.project(real).values
        self.mean_, self.sd_ = float(z.mean()), float(z.std()) + 0.01
        return self

    def project(self, batch):
        return Counts(np.log1p(np.array([COUNT for d in batch], dtype=float)))

    def log_prior(self, z):
        return momus.LogPrior.of_vectors(-(((z.values - self.mean_) / self.sd_) ** 2) / 2)
"""
BEFORE, AFTER = SOURCE.replace("COUNT", "len(d.text.split())"), SOURCE.replace("COUNT", "d.text.count('ab ab')")


def compared(folder: Path, **options):
    """Values of the comparison, and its warnings."""
    texts = [folder / f"{name}.jsonl" for name in ("real", "made", "fit")]
    made = momus.compare(
        texts[0], {"made": texts[1]}, fit=texts[2], critics=[f"{folder}/mine.py:Mine"], permutations=99, **options
    )
    return {"values": [[v.real_value, v.generated_value, v.p] for v in made.verdicts], "warnings": made.warnings}


def calibrated(folder: Path, out: Path | None = None):
    """P-values of a calibration, and its warnings."""
    options = {
        "splits": 10,
        "power_splits": 10,
        "permutations": 99,
        "strengths": [0.5],
        "defects": ["length-truncation"],
    }
    made = calibrate(folder / "real.jsonl", critics=[f"{folder}/mine.py:Mine"], out=out, **options)
    return {"values": [[list(c.p), list(c.difference)] for c in made.cells], "warnings": made.warnings}


def scored(folder: Path, resume: bool = False):
    """How many documents were scored, or why none was."""
    (critic,) = make_critics([named(f"{folder}/mine.py:Mine")])
    if not resume:
        critic.fit(folder / "fit.jsonl").save(folder / "fitted")
    try:
        run = score_parts([folder / "fitted"], [folder / "made.jsonl"], folder / "rows", part_size=20, resume=resume)
    except StoreError as error:
        return {"refused": error.message}
    if not resume:
        RowFolder(folder / "rows").record(1).unlink()
    return {"scored": sum(done.documents for done in run.done[run.kept :])}


def before(folder: Path):
    """Run everything once."""
    compared(folder, out=folder / "run")
    return {"score": scored(folder), "calibrate": calibrated(folder, folder / "calibration")}


def after(folder: Path):
    """Run everything again in the same folders."""
    return {
        "reuse": compared(folder, reuse=folder / "run"),
        "resume": compared(folder, out=folder / "run", resume=True),
        "score": scored(folder, resume=True),
        "calibrate": calibrated(folder, folder / "calibration"),
    }


if __name__ == "__main__":
    print("RESULT", json.dumps({"before": before, "after": after}[sys.argv[2]](Path(sys.argv[1]))))
