"""Distortion of sequence probabilities (LeBrun et al. 2022)."""

from momus_critics.distortion.critic import Distortion

__all__ = ["Distortion"]
