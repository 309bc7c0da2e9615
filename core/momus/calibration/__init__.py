"""Calibration on a user's own text: the false-alarm rate of each critic, and how small a defect it detects."""

from momus.calibration.calibrate import Calibration, calibrate
from momus.calibration.plan import Plan

__all__ = ["Calibration", "Plan", "calibrate"]
