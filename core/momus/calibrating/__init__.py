"""Calibrating critics on a user's own text: how often each cries wolf, and how small a defect it sees."""

from momus.calibrating.plan import Plan
from momus.calibrating.running import Calibration, calibrate

__all__ = ["Calibration", "Plan", "calibrate"]
