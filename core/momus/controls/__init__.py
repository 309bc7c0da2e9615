"""Controls: shuffled and sampled texts, planted defects, and reference processes with known answers."""

from momus.controls.defects import DEFECTS
from momus.controls.planting import Change, Defect, Planted
from momus.controls.processes import pitman_yor, shuffle_corpus, shuffle_ngrams, simon

__all__ = [
    "DEFECTS",
    "Change",
    "Defect",
    "Planted",
    "pitman_yor",
    "shuffle_corpus",
    "shuffle_ngrams",
    "simon",
]
