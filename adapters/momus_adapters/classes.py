"""A critic whose posterior is a classifier of texts: z is the class of a document."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from momus.critic import Critic, EvidenceMixin, LogPrior, Pooled, Reporting, StateSequences, resource
from momus.critic.fitted import Fitted
from momus.critic.hooks import DeviceMixin, check_fitted, is_fitted
from momus.errors import FittingError, StoreError, UsageError
from momus.estimator import Estimator, construct, fitted_state, parametrized
from momus.evidence import Evidence, Table
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus.text.counting import counted

SHOWN = 30


@parametrized
class DocumentClasses(Critic[StateSequences], EvidenceMixin, DeviceMixin):
    """z is the class of a document, P_c the class shares of real text; E log P_c(z) = Σ_k P(k | x) log π_k.

    Parameters
    ----------
    classifier
        A fitted object with ``predict_proba`` (of texts: begin a pipeline of scikit-learn with a vectorizer) and
        ``classes_``, or the name ``"package.module:name"`` of a callable that returns one, or of a
        `momus.estimator.Estimator`. An object serves this process alone: what is saved has no classifier.
    classifier_options
        Plain keyword arguments, for a classifier that is given by name.
    smoothing
        Additive constant for the counts of classes.

    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["cat dog cat", "dog cat", "stock bond", "bond stock stock"] * 5
    >>> model = make_pipeline(TfidfVectorizer(), MultinomialNB()).fit(texts, ["pets", "pets", "money", "money"] * 5)
    >>> critic = DocumentClasses(classifier=model).fit(Corpus.from_texts(texts[:2] * 9 + texts[2:4]))
    >>> [round(x, 1) for x in critic.score(Corpus.from_texts(["cat", "bond"], name="new")).nll.tolist()]
    [0.3, 1.5]
    """

    name = "document-classes"
    axis = "classes of documents"
    question = "Are the classes of documents, as a classifier sees them, distributed as in real text?"
    reporting = Reporting(
        directions={
            "latent_nll": ("in more usual classes", "in less usual classes"),
            "posterior_entropy": ("less varied in classes", "more varied in classes"),
        },
        limits="It cannot see what its classes do not tell apart, nor the errors of its classifier.",
    )

    classifier: Any
    classifier_options: dict[str, Any] | None = None
    smoothing: float = 1.0

    def fit(self, real: Corpus) -> Self:
        """Estimate the shares of the classes from their expected counts on real text, plus `smoothing`.

        Raises
        ------
        UsageError
            The classifier has no ``predict_proba`` or ``classes_``.
        """
        if not self.smoothing > 0:
            raise UsageError(f"smoothing is {self.smoothing}", hint="give a number above 0")
        self.classes_ = [str(c) for c in np.asarray(self._live().classes_).tolist()]
        usable = real.take([i for i, reason in enumerate(self.unscored(real)) if reason is None])
        if len(usable) < self.min_documents:
            raise FittingError(
                f"critic {self.name!r}: {len(usable)} of {counted(len(real), 'document')} of {real.name!r} can be "
                "classified",
                hint="give more real text",
            )
        counts = self._probabilities(usable).sum(axis=0) + self.smoothing
        self.shares_ = counts / counts.sum()
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        state.probabilities("shares_", (len(state.texts("classes_", least=1, distinct=False)),))

    def _live(self) -> Any:
        """The classifier as an object; one that has a name is made once in a process."""
        classifier = self.classifier
        if isinstance(classifier, str):
            if not classifier:
                raise UsageError(
                    f"critic {self.name!r} has no classifier",
                    hint="give an object with predict_proba; to score with a saved critic, fit it with one by name",
                )
            options = self.classifier_options or {}
            named = resolve(classifier)
            of_momus = isinstance(named, type) and issubclass(named, Estimator)
            if is_fitted(self) and options and not of_momus:  # a folder must not choose a call and its arguments
                raise StoreError(
                    f"{classifier!r} is not called with options from a folder",
                    hint="fit the critic again, or name a callable without options",
                )
            classifier = resource(_called, classifier, options)
        if isinstance(classifier, Estimator):
            classifier.device = self.device  # type: ignore[attr-defined]
        for attribute in ("predict_proba", "classes_"):
            if not hasattr(classifier, attribute):
                raise UsageError(
                    f"classifier {type(classifier).__name__} has no {attribute}",
                    hint="give a fitted classifier with probabilities",
                )
        return classifier

    def _probabilities(self, batch: Corpus) -> Floats:
        """P(k | x) of each document by its own text, float array (n, K)."""
        p = np.asarray(self._live().predict_proba([d.text for d in batch]), dtype=np.float64)
        if p.shape != (len(batch), len(self.classes_)):
            raise UsageError(
                f"the classifier returns an array of shape {p.shape} for {len(batch)} texts and "
                f"{len(self.classes_)} classes",
                hint="predict_proba must return one row per text and one column per class",
            )
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def project(self, batch: Corpus) -> StateSequences:
        """Classify every document: a sequence of one state each."""
        p = self._probabilities(batch)
        return StateSequences(p.argmax(axis=1), np.arange(len(p) + 1), p)

    def log_prior(self, latents: StateSequences) -> LogPrior:
        """E log P_c(z), exact under the posterior."""
        return LogPrior(np.asarray(latents.marginals @ np.log(self.shares_)), np.ones(len(latents), dtype=np.int64))

    def summarize(self, latents: StateSequences) -> Pooled:
        """Expected documents of each class."""
        return Pooled(len(latents), {"visits": np.asarray(latents.marginals, dtype=np.float64).sum(axis=0)})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Shares of classes, ordered by difference."""
        a, b = (s.arrays["visits"] / max(float(s.arrays["visits"].sum()), 1e-300) for s in (real, generated))
        order = np.argsort(-np.abs(b - a), kind="stable")[:SHOWN]
        rows = [(self.classes_[i], *(round(100 * float(v), 2) for v in (a[i], b[i], b[i] - a[i]))) for i in order]
        note = f"{real.documents:,} real and {generated.documents:,} generated documents; expected under the posterior."
        columns = ("class", "real %", "generated %", "difference")
        return [Table(f"{self.name}-visits", "Shares of classes", columns, rows, note=note)]

    def save(self, folder: str | Path) -> None:
        """Write the critic: a classifier by its name, an `Estimator` by its class and parameters, no other object."""
        check_fitted(self)
        params: dict[str, Any] = {}
        if isinstance(self.classifier, Estimator):
            cls = type(self.classifier)
            params["classifier"] = f"{cls.__module__}:{cls.__qualname__}"
            params["classifier_options"] = self.classifier.get_params(deep=False)
        elif not isinstance(self.classifier, str):
            params["classifier"] = ""
        named = type(self)(**{**self.get_params(deep=False), **params})
        vars(named).update(fitted_state(self))
        Critic.save(named, folder)


def _called(name: str, options: Mapping[str, Any]) -> Any:
    named: Any = resolve(name)
    if isinstance(named, type) and issubclass(named, Estimator):
        return construct(named, options, place="classifier")
    return named(**options)


def resolve(name: str) -> Callable[..., Any]:
    """Look up a function or class by its name ``package.module:name``; its module is imported.

    Raises
    ------
    UsageError
        The name does not exist, is not callable, or belongs to Python's own library, which has no models but has
        functions that a saved critic must not be able to call.

    >>> resolve("momus.text.vocabulary:normalize_title").__name__
    'normalize_title'
    """
    module, colon, path = name.partition(":")
    if not colon or not module or not path:
        raise UsageError(f"classifier is {name!r}", hint='write it as "package.module:name"')
    if module.partition(".")[0] in sys.stdlib_module_names and module != "__main__":
        raise UsageError(f"classifier is {name!r}, from Python's own library", hint="name an object of another package")
    try:
        target: Any = pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"classifier {name!r} cannot be imported: {error}", hint="install its package, or correct the name"
        ) from error
    if not callable(target):
        raise UsageError(
            f"classifier {name!r} is {type(target).__name__}, which cannot be called", hint="name a function"
        )
    return target  # type: ignore[no-any-return]
