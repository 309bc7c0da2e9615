"""Studies with people: blinded passages to judge, their answers, and what these say about corpora and critics.

>>> from momus.text.corpus import Corpus
>>> texts = {n: Corpus.from_texts([f"Story {i} of {n}." for i in range(20)], name=n) for n in ("real", "model")}
>>> study, _ = make_study(None, texts, Protocol(items=10, raters=2, words=0, checks=1))
>>> study.raters, study.design.balance.per_corpus
(['rater-1', 'rater-2'], {'real': 5, 'model': 5})
"""

from momus_people.answers import RaterAnswers, read_answers
from momus_people.build import create, make_study
from momus_people.models import Judgements, QualityEstimate, estimate
from momus_people.power import Need, needs
from momus_people.protocol import Protocol, preset, read_protocol
from momus_people.result import StudyResult, analysed
from momus_people.store import Study, read_study

__all__ = [
    "Judgements",
    "Need",
    "Protocol",
    "QualityEstimate",
    "RaterAnswers",
    "Study",
    "StudyResult",
    "analysed",
    "create",
    "estimate",
    "make_study",
    "needs",
    "preset",
    "read_answers",
    "read_protocol",
    "read_study",
]
