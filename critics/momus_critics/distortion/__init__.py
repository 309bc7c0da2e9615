"""Distortion of sequence probabilities (LeBrun et al. 2022)."""

from momus_critics.distortion.critic import Distortion
from momus_critics.distortion.estimation import Estimates, estimates, perturbed, random_strings
from momus_critics.distortion.study import Study, draw_language, study

__all__ = ["Distortion", "Estimates", "Study", "draw_language", "estimates", "perturbed", "random_strings", "study"]
