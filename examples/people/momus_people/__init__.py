"""Studies with people: blinded passages to judge, their answers, and what these say about corpora and critics.

>>> from momus.text.corpus import Corpus
>>> texts = {n: Corpus.from_texts([f"Story {i} of {n}." for i in range(20)], name=n) for n in ("real", "model")}
>>> study, _ = make_study(None, texts, Protocol(items=10, raters=2, words=0, checks=1))
>>> study.raters
['rater-1', 'rater-2']
"""

from momus_people.answers import RaterAnswers, read_answers
from momus_people.protocol import Protocol, read_protocol
from momus_people.result import StudyResult, analysed
from momus_people.study import Study, make_study, read_study, write_study

__all__ = [
    "Protocol",
    "RaterAnswers",
    "Study",
    "StudyResult",
    "analysed",
    "make_study",
    "read_answers",
    "read_protocol",
    "read_study",
    "write_study",
]
