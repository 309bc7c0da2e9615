"""Controls: texts with known behaviour, and reference processes with known answers."""

from momus.controls.ngrams import NGramSampler
from momus.controls.processes import pitman_yor, simon
from momus.controls.segments import SegmentProcess
from momus.controls.shuffles import shuffle_corpus, shuffle_ngrams

__all__ = ["NGramSampler", "SegmentProcess", "pitman_yor", "shuffle_corpus", "shuffle_ngrams", "simon"]
