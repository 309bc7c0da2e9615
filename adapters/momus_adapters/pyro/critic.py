"""Any Pyro program with per-document latents, as a critic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import pyro
import torch

from momus.critic import (
    Critic,
    Draws,
    EvidenceMixin,
    LogPrior,
    Note,
    Reporting,
    Rows,
    Statistic,
    StatisticsMixin,
)
from momus.critic.hooks import DeviceMixin, ReadingMixin, is_fitted
from momus.errors import FittingError, UsageError
from momus.estimator import Estimator, construct, parametrized
from momus.numeric.types import Floats
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.tokens import Tokenizer
from momus_adapters.features import BAG
from momus_adapters.pyro.programs import (
    Programs,
    arrays_of,
    numerics,
    shape_of,
    train,
)
from momus_adapters.pyro.sampling import Draw, Sampler
from momus_adapters.saved import Tensors, resolve, save_named

Program = str | Callable[..., Any]
Count = Annotated[int, Range(1)]


@dataclass(frozen=True)
class PyroDraws(Draws):
    """Draws from the guide, flattened to (n, S, d), with expectations under the guide for each document.

    Attributes
    ----------
    sites
        float array (n, L): E log P_c of each latent site, in nats; their sum is E log P_c(z).
    errors
        float array (n,): Monte-Carlo standard errors of the sum (0 where the expectation is exact).
    """

    sites: Floats
    errors: Floats


@parametrized
class PyroCritic(Critic[PyroDraws], StatisticsMixin, EvidenceMixin, DeviceMixin, ReadingMixin):
    """z is the latents that a Pyro model samples per document; P_c is their prior, the guide their posterior.

    The contract: ``model(x, size)`` and ``guide(x, size)`` take the rows of a batch of documents, a float tensor
    (B, …), and the number ``size`` of documents that the batch represents. Both open one plate over documents with
    ``momus_adapters.pyro.documents(x, size)``. Latents sampled inside the plate belong to a document (numbers, vectors,
    discrete values, further plates within the document), and the guide has a site for each of them. The guide computes
    its posterior from ``x`` (amortised or exact), and thus works for any document. Sites with
    ``infer={"enumerate": "parallel"}`` in the guide are summed out exactly; the others are drawn S times.

    What documents share is a parameter: a latent outside of the plate is refused. A class (a torch.nn.Module or
    PyroModule) is instantiated for each fit as ``cls(**options)``, with ``shape`` (of a row) and ``rows`` (of the
    real text, for initialisation; none when loading) if its constructor takes them. Construct networks in such
    classes, never at module level, where two critics would share them. Parameters of both programs live in a
    separate parameter store.

    Draws are keyed by a hash of a document's text: a score depends on neither the batch nor the order. There are rules
    for the normal family, gamma, beta, Dirichlet, categorical, Bernoulli, and all distributions with an inverse
    distribution function (see `momus_adapters.pyro.keyed`). For other families, the guide runs on one document at a
    time, with a generator seeded by the document's hash: correct, but with B times the calls.

    Parameters
    ----------
    model, guide
        ``"package.module:name"``, or the function or class itself. Only objects that can be imported by name can be
        saved, and loading a critic imports the modules that it names.
    features
        A callable from a `Corpus` to an array (n, …), its name, or an `Estimator` class with ``fit(corpus)`` whose
        fitted instances are such callables, which is instantiated for each fit and saved with the critic. A method
        ``unscored`` of the callable says why documents have no features; otherwise those that are not finite are none.
        Default: word counts, see `momus_adapters.features.BagOfWords`.
    model_options, guide_options, feature_options
        Plain keyword arguments of these.
    draws
        S, draws per document.
    steps, batch, rate, decay
        SVI: steps, documents per step, learning rate of ADAM, its total decay.
    seed
        Seeds the order of documents, SVI, and the draws.

    Examples
    --------
    Subclass to give your critic a name:

    >>> import numpy as np, pyro, pyro.distributions as dist, torch
    >>> from momus import Corpus
    >>> from momus_adapters.pyro import documents
    >>> def lengths(corpus):
    ...     return np.log(corpus.characters)[:, None]
    >>> def model(x, size):
    ...     mu = pyro.param("mu", torch.tensor(0.0))
    ...     with documents(x, size):
    ...         z = pyro.sample("z", dist.Normal(mu, 1.0))
    ...         pyro.sample("x", dist.Normal(z, 0.5), obs=x[:, 0])
    >>> def guide(x, size):
    ...     mean = 0.2 * pyro.param("mu", torch.tensor(0.0)) + 0.8 * x[:, 0]  # the exact posterior
    ...     with documents(x, size):
    ...         pyro.sample("z", dist.Normal(mean, 0.2 ** 0.5))
    >>> class LogLength(PyroCritic):
    ...     name, axis = "log-length", "length of documents"
    >>> critic = LogLength(model=model, guide=guide, features=lengths, steps=300, rate=0.1)
    >>> critic = critic.fit(Corpus.from_texts(["a" * 100, "b" * 400] * 20))
    >>> bool(abs(critic.parameters_.arrays()["mu"] - np.log(200)) < 0.1)
    True
    """

    name = "pyro"
    axis = "latents of a Pyro program"
    question = "Are the latents of a Pyro program as likely under its prior as those of real text?"
    reporting = Reporting(
        limits="It cannot see what its program and its features leave out.",
    )

    model: Program
    guide: Program
    features: Program = BAG
    model_options: dict[str, Any] | None = None
    guide_options: dict[str, Any] | None = None
    feature_options: dict[str, Any] | None = None
    draws: Count = 32
    steps: Count = 2000
    batch: Count = 64
    rate: float = 0.01
    decay: float = 0.1
    seed: int = 0

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer of the features, once fitted."""
        return getattr(self._features(), "tokenizer", None) if is_fitted(self) else None

    _new_parameters = _new_weights = Tensors

    def fit(self, real: Corpus) -> Self:
        """Fit the features, then the model and the guide by SVI.

        Raises
        ------
        UsageError
            A program cannot be imported or run, or violates the contract.
        FittingError
            Fewer than two documents have features, or the ELBO is no longer finite.
        """
        features = self._new_features()
        if isinstance(features, Estimator):
            learner: Any = features
            self.features_ = learner.fit(real)
        usable = [i for i, reason in enumerate(self.unscored(real)) if reason is None]
        if len(usable) < 2:
            raise FittingError(
                f"{len(usable)} of {counted(len(real), 'document')} of {real.name!r} have features",
                hint="give more real text",
            )
        rows = self._rows(real.take(usable))
        self.shape_ = list(rows.shape[1:])
        with numerics(self.device):
            torch.manual_seed(self.seed)
            programs = Programs.of(self, rows)
            x = torch.as_tensor(rows, dtype=torch.float64, device=self.device)
            self.plates_, _ = shape_of(programs, x)
            self.curve_ = train(programs, x, self)
            parameters = dict(pyro.get_param_store().items())
            programs.check_networks(list(parameters))
            self.parameters_, self.weights_ = Tensors.of(arrays_of(parameters)), Tensors.of(programs.weights())
        with numerics(self.device):
            sampler = self._sampler()
            self.sites_ = list(sampler.draw(x[:2], torch.arange(2, device=self.device), 1).sites)
            self.exact_ = sampler.nothing_drawn(x)
        return self

    def _sampler(self) -> Sampler:
        programs = Programs.of(self, np.zeros((0, *self.shape_)))
        programs.restore(self.weights_.arrays())
        parameters = {k: torch.as_tensor(v, device=self.device) for k, v in self.parameters_.arrays().items()}
        return Sampler(programs, parameters, self.seed, self.plates_)

    def _new_features(self) -> Callable[[Corpus], Any]:
        """The unfitted features: a callable, or an instance of an `Estimator` class.

        Raises
        ------
        UsageError
            There is no such callable, or options are given for a function.
        """
        features = resolve(self.features, "features")
        if isinstance(features, type) and issubclass(features, Estimator):
            learner: Any = construct(features, self.feature_options or {}, place=f"features {features.__name__}")
            return learner  # type: ignore[no-any-return]
        if self.feature_options:
            raise UsageError(
                "feature_options are given, but features is not an Estimator class", hint="leave feature_options out"
            )
        return features

    def _features(self) -> Any:
        """The fitted features, or those that the parameters name."""
        return vars(self).get("features_") or self._new_features()

    def _rows(self, corpus: Corpus) -> Floats:
        """Compute the features of a corpus, float64 (n, …), and check that there is one row per document.

        Raises
        ------
        UsageError
            The callable returns anything else.
        """
        values = self._features()(corpus)
        if hasattr(values, "todense"):  # a sparse matrix
            values = values.todense()
        rows = np.asarray(values.detach().cpu() if hasattr(values, "detach") else values, dtype=np.float64)
        if rows.ndim == 0 or len(rows) != len(corpus):
            raise UsageError(
                f"features returns an array of shape {rows.shape} for {len(corpus)} documents",
                hint="return an array with one row per document, in order",
            )
        return rows

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Return the reason for each document that has no features."""
        unscored = getattr(self._features(), "unscored", None)
        if unscored is not None:
            return list(unscored(batch))
        finite = [bool(np.isfinite(row).all()) for row in self._rows(batch)] if len(batch) else []
        return [None if good else "features are not finite" for good in finite]

    def project(self, batch: Corpus) -> PyroDraws:
        """Draw from the guide, S times for each document, and score the draws under the model."""
        rows = self._rows(batch)
        keys = torch.from_numpy(batch.hashes.astype(np.uint64).view(np.int64).copy())
        count = 1 if self.exact_ else self.draws
        with torch.no_grad(), numerics(self.device):
            sampler = self._sampler()
            x = torch.as_tensor(rows, dtype=torch.float64, device=self.device)
            draws = sampler.draw(x, keys.to(self.device), count)
            return _averaged(draws, count, self.sites_)

    def log_prior(self, latents: PyroDraws) -> LogPrior:
        """E log P_c(z), with its Monte-Carlo standard error."""
        total = latents.sites.sum(axis=1)
        errors = None if self.exact_ else latents.errors
        return LogPrior(total, np.ones(len(total), dtype=np.int64), errors)

    def sufficient_statistics(self, latents: PyroDraws) -> Mapping[str, Rows]:
        """Contribution of each latent site to Latent NLL, with a column of ones: (n, 2) per site."""
        ones = np.ones(len(latents))
        return {f"site_{n}": np.column_stack([-latents.sites[:, i], ones]) for i, n in enumerate(self.sites_)}

    def statistics(self) -> Sequence[Statistic]:
        """Latent NLL of each site, if there are several."""
        several = self.sites_ if len(self.sites_) > 1 else []
        return tuple(
            Statistic.ratio(
                f"nll_{n}",
                f"site_{n}",
                f"Latent NLL of {n}",
                ("more predictable", "less predictable"),
                unit="nats per document",
            )
            for n in several
        )

    def notes(self) -> list[Note]:
        """The final ELBO, and how expectations are computed."""
        last = self.curve_[-max(1, len(self.curve_) // 10) :]
        spread = last.std(ddof=1) / np.sqrt(len(last)) if len(last) > 1 else float("nan")
        how = "exact" if self.exact_ else f"by {self.draws} draws per document"
        return [
            Note(
                f"ELBO {last.mean():.4g} ± {spread:.2g} nats per document, over the last {len(last):,} of "
                f"{len(self.curve_):,} steps; {sum(v.size for v in self.parameters_.arrays().values()):,} parameters; "
                f"expectations {how}."
            )
        ]

    def save(self, folder: str | Path) -> None:
        """Write the critic; programs and features are stored by name.

        Raises
        ------
        StoreError
            One of them cannot be imported by name: a lambda, or a function defined inside a function.
        """
        save_named(self, folder, "model", "guide", "features")


def _averaged(draws: Draw, count: int, names: list[str]) -> PyroDraws:
    """Average the draws of each document."""

    def host(value: torch.Tensor) -> Floats:
        """Rows (n · S, …) as an array (n, S, …)."""
        rows = np.asarray(value.double().cpu().numpy())
        return rows.reshape(len(rows) // count, count, *rows.shape[1:])

    sites = np.stack([host(draws.sites[n]) for n in names], axis=2)  # (n, S, L)
    errors = sites.sum(axis=2).std(axis=1) / np.sqrt(max(count - 1, 1))
    return PyroDraws(host(draws.values), sites=sites.mean(axis=1), errors=errors)
