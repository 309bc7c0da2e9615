"""gensim LDA models as critics.

Load a model that gensim saved with gensim, and pass the object: its files hold pickles, which Momus never reads. The
result is a `CodeMixing` critic like any other, and is saved without pickle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from momus.errors import UsageError
from momus.estimator import construct
from momus.plugins import CRITICS, load_plugin

if TYPE_CHECKING:
    from gensim.models import LdaModel


def critic_of(model: LdaModel, **params: object) -> Any:
    """Build a fitted critic, a ``momus_critics.code_mixing.CodeMixing``, from a gensim LDA model.

    Parameters
    ----------
    model
        A fitted ``LdaModel`` or ``LdaMulticore`` with its dictionary (``id2word``).
    params
        Parameters of `CodeMixing` for tokenization and sampling. The tokenization must be that of the text that the
        model was fitted on.

    Raises
    ------
    UsageError
        The object is no such model.

    >>> from gensim.corpora import Dictionary
    >>> from gensim.models import LdaModel
    >>> texts = [["eins", "zwei"], ["one", "two"]] * 20
    >>> dictionary = Dictionary(texts)
    >>> bags = [dictionary.doc2bow(t) for t in texts]
    >>> critic = critic_of(LdaModel(bags, 2, dictionary, alpha="auto", passes=20, random_state=0))
    >>> sorted(sorted(words.split()) for words in critic.topic_words(2))
    [['eins', 'zwei'], ['one', 'two']]
    """
    try:
        phi, alpha, names = np.asarray(model.get_topics()), np.asarray(model.alpha), model.id2word
        words = [str(names[i]) for i in range(phi.shape[1])]
    except (AttributeError, KeyError, TypeError) as error:
        raise UsageError(
            f"{type(model).__name__} is no gensim LDA model with a dictionary ({error})",
            hint="give an LdaModel that was fitted with id2word",
        ) from error
    critic: Any = load_plugin(CRITICS, "code-mixing")
    return construct(critic, {**params, "n_topics": len(alpha)}).adopt(
        alpha, phi, words, f"gensim {type(model).__name__}"
    )
