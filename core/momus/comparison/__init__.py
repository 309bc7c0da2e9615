"""Comparisons: critics fitted on real text, and real and generated text tested against each other."""

from momus.comparison.compare import compare
from momus.comparison.folder import RunFolder, read_comparison
from momus.comparison.judge import judge
from momus.comparison.result import Comparison, CriticResult
from momus.comparison.settings import Settings
from momus.comparison.verdict import Verdict

__all__ = ["Comparison", "CriticResult", "RunFolder", "Settings", "Verdict", "compare", "judge", "read_comparison"]
