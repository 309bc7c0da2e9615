"""Controls: shuffled and sampled texts, planted defects, and reference processes with known answers."""

from momus.controls.defects import DEFECTS
from momus.controls.ngrams import NGramSampler, shuffle_corpus, shuffle_ngrams
from momus.controls.planting import Change, Defect, Planted
from momus.controls.processes import pitman_yor, simon

__all__ = [
    "DEFECTS",
    "Change",
    "Defect",
    "NGramSampler",
    "Planted",
    "pitman_yor",
    "shuffle_corpus",
    "shuffle_ngrams",
    "simon",
]
