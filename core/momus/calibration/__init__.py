"""Calibration on a user's own text: each critic's false-alarm rate, and the smallest defect that it detects."""

from momus.calibration.calibrate import calibrate
from momus.calibration.plan import CalibrationPlan
from momus.calibration.store import Calibration

__all__ = ["Calibration", "CalibrationPlan", "calibrate"]
